"""A project from Python: starting workflows, finding them again, and what the next process makes of it."""

from __future__ import annotations

import os
import subprocess

import pytest

import holdfast
from holdfast.core.reading import read
from holdfast.errors import Conflict, HoldfastError, NotFound, Refused, UsageError
from holdfast.machine import settings
from holdfast.project.project import open_project
from tests.actors import acting

SHAPE = {"name": "release", "title": "Release {subject}", "step": [{"id": "build"}, {"id": "publish"}]}
TOML = """
name = "ship"
[[step]]
id = "pack"
checks = [{ name = "tests", run = ["true"], run_by = "engine" }]
[[step]]
id = "send"
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def opened(folder, *, person=False, **environ):
    return open_project(str(folder), settings=acting({**os.environ, **environ}, person=person))


@pytest.fixture
def project(root):
    return opened(root)


# Opening


def test_opening_writes_nothing(root):
    project = holdfast.open(".")
    assert project.list() == []
    assert project.root == str(root)
    assert os.listdir(root) == []


def test_a_refused_start_writes_nothing(project, root):
    with pytest.raises(HoldfastError):
        project.start("no-such-definition")
    with pytest.raises(HoldfastError):
        project.start({"name": "x"})
    assert os.listdir(root) == []


def test_a_folder_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(NotFound):
        holdfast.open(str(tmp_path / "nowhere"))


# Starting


@pytest.mark.parametrize("shape", [SHAPE, read(SHAPE)], ids=["values", "a definition"])
def test_a_workflow_starts_from_values(project, shape):
    work = project.start(shape, "1.4.0", context={"channel": "beta"})
    assert (work.state.type, work.state.subject, work.state.title) == ("release", "1.4.0", "Release 1.4.0")
    assert work.state.context == {"channel": "beta"}
    assert (
        work.id
        == "release-"
        + subprocess.run("echo 1.4.0 | md5sum | cut -c1-8", shell=True, capture_output=True, text=True).stdout.strip()
    )


def test_a_workflow_starts_by_the_name_of_its_file(root):
    (root / ".holdfast/workflows").mkdir(parents=True)
    (root / ".holdfast/workflows/ship.toml").write_text(TOML)
    project = opened(root)
    work = project.start("ship")
    assert work.state.source == ".holdfast/workflows/ship.toml"
    with pytest.raises(Refused) as caught:
        work.begin("pack").check("tests")
    assert caught.value.code == "untrusted"


def test_python_values_are_trusted_to_run_their_checks(project):
    work = project.start({"name": "x", "step": [{"id": "a", "checks": [{"name": "tests", "run": ["true"]}]}]})
    assert work.begin("a").check("tests").passed
    assert work.done("a").state.finished_at


def test_one_that_is_active_is_refused_and_says_how_to_go_on(project):
    first = project.start(SHAPE, "1.0")
    with pytest.raises(Refused) as caught:
        project.start(SHAPE, "1.0")
    assert caught.value.facts["ulid"] == first.ulid
    assert f"holdfast next -w {first.ulid}" in caught.value.remedy
    assert "--fresh" in caught.value.remedy
    assert project.start(SHAPE, "2.0").id != first.id


def test_a_fresh_start_gives_up_the_one_that_is_active(project):
    first = project.start(SHAPE, "1.0")
    second = project.start(SHAPE, "1.0", fresh=True)
    assert (second.id, second.ulid != first.ulid) == (first.id, True)
    assert first.refresh().state.cancelled
    assert project.workflow(first.id).ulid == second.ulid
    assert second.document()["workflow"]["status"] == "in_progress"


def test_the_same_key_again_is_the_same_workflow_and_other_words_are_a_conflict(project, root):
    first = project.start(SHAPE, "1.0", key="k1")
    assert opened(root).start(SHAPE, "1.0", key="k1").ulid == first.ulid
    with pytest.raises(Conflict):
        opened(root).start(SHAPE, "2.0", key="k1")
    first.cancel()
    assert opened(root).start(SHAPE, "1.0", key="k1").ulid == first.ulid


@pytest.mark.parametrize(
    "bad", [{"subject": "x" * 1001}, {"subject": "\0"}, {"context": {"no name": 1}}, {"key": "a b"}]
)
def test_words_that_cannot_be_kept_are_refused(project, bad):
    with pytest.raises(UsageError):
        project.start(SHAPE, **{"subject": "s", **bad})
    assert project.list() == []


# Finding


def test_a_workflow_is_found_by_id_ulid_or_the_beginning_of_either(project, root):
    work = project.start(SHAPE, "1.0")
    for word in (work.id, work.ulid, work.id[:10], work.ulid[:20], ""):
        assert opened(root).workflow(word).ulid == work.ulid


def test_without_a_name_it_must_be_the_only_active_one(project, root):
    with pytest.raises(NotFound) as caught:
        project.workflow()
    assert caught.value.code == "no_workflow"
    first, second = project.start(SHAPE, "1.0"), project.start(SHAPE, "2.0")
    with pytest.raises(UsageError) as several:
        opened(root).workflow()
    assert several.value.code == "ambiguous_workflow"
    candidates = several.value.facts["candidates"]
    assert isinstance(candidates, list)
    assert {one["ulid"] for one in candidates} == {first.ulid, second.ulid}
    first.cancel()
    assert opened(root).workflow().ulid == second.ulid


def test_a_beginning_that_several_share_is_ambiguous(project, root):
    project.start(SHAPE, "1.0"), project.start(SHAPE, "2.0")
    with pytest.raises(UsageError) as caught:
        opened(root).workflow("release-")
    assert caught.value.exit_code == 2
    with pytest.raises(NotFound):
        opened(root).workflow("other")


def test_a_finished_one_makes_no_beginning_ambiguous_with_an_active_one(project, root):
    project.start(SHAPE, "1.0").cancel()
    active = project.start(SHAPE, "2.0")
    assert opened(root).workflow("release-").ulid == active.ulid


def test_a_finished_one_is_found_by_name(project, root):
    work = project.start(SHAPE, "1.0")
    work.begin("build").done("build").begin("publish").done("publish")
    assert opened(root).workflow(work.id).state.finished_at


def test_of_several_with_one_id_the_active_one_is_meant_and_else_the_newest(project, root):
    ulids = [project.start(SHAPE, "1.0", fresh=True).ulid for _ in range(3)]
    assert opened(root).workflow("release-2542b796").ulid == ulids[2]
    opened(root).workflow(ulids[2]).cancel()
    assert opened(root).workflow("release-2542b796").ulid == ulids[2]
    assert opened(root).workflow(ulids[0]).ulid == ulids[0]


def test_workflows_of_this_branch_are_meant_first(root):
    for words in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    on_main = opened(root).start(SHAPE, "1.0")
    subprocess.run(["git", "checkout", "-q", "-b", "side"], cwd=root, check=True)
    on_side = opened(root).start(SHAPE, "2.0")
    assert opened(root).workflow().ulid == on_side.ulid
    subprocess.run(["git", "checkout", "-q", "main"], cwd=root, check=True)
    assert opened(root).workflow().ulid == on_main.ulid


def test_the_list_is_filtered_by_status_type_and_session(project, root):
    first = project.start(SHAPE, "1.0", session="s1")
    second = project.start({"name": "other", "step": [{"id": "a"}]}, "2.0")
    third = project.start(SHAPE, "3.0")
    third.cancel()
    second.begin("a").block("a", "no network")

    def listed(**how):
        return {work.ulid for work in opened(root).list(**how)}

    assert listed() == {first.ulid, second.ulid, third.ulid}
    assert listed(type="release") == {first.ulid, third.ulid}
    assert listed(session="s1") == {first.ulid}
    assert listed(status="in_progress") == {first.ulid, second.ulid} - {second.ulid}
    assert listed(status="blocked") == {second.ulid}
    assert listed(status="cancelled") == listed(status="abandoned") == {third.ulid}
    assert listed(status="completed") == set()


def test_the_list_judges_documents_too(project, root):
    work = project.start(SHAPE, "1.0")
    (root / f".claude/workflow-state/active/{work.id}.json").unlink()
    assert [one.state.cancelled is not None for one in opened(root).list()] == [True]


# Working


def test_a_step_is_begun_and_done_around_its_work(project, root):
    work = project.start({"name": "x", "step": [{"id": "a", "outputs": ["log"]}, {"id": "b"}]})
    (root / "log.txt").write_text("done")
    with work.step("a") as step:
        assert work.state.step("a").status == "active"
        step.artifact("log", "log.txt")
    assert work.state.step("a").artifacts["log"].path == "log.txt"
    with pytest.raises(ZeroDivisionError), work.step("b"):
        raise ZeroDivisionError("by zero")
    assert (work.state.step("b").status, work.state.step("b").reason) == ("failed", "by zero")


def test_a_person_is_told_from_an_agent(root):
    shape = {"name": "x", "step": [{"id": "a", "approval": {"by": "human"}}]}
    work = opened(root).start(shape).begin("a")
    with pytest.raises(Refused):
        opened(root).workflow().approve("a")
    hosted = settings.read({**os.environ, "CLAUDECODE": "1"}, terminal=True, surface="test")
    with pytest.raises(Refused):
        open_project(str(root), settings=hosted).workflow().approve("a")
    opened(root, person=True).workflow().approve("a")
    assert work.refresh().state.finished_at


def test_two_processes_see_each_other_at_every_step(project, root):
    mine = project.start(SHAPE, "1.0")
    yours = opened(root).workflow()
    mine.begin("build")
    yours.done("build")
    mine.begin("publish")
    assert yours.refresh().state == mine.state
    assert [record.command for record in mine.history()] == ["start", "begin", "done", "begin"]


def test_an_artifact_outside_the_project_is_refused(project, tmp_path):
    work = project.start(SHAPE, "1.0").begin("build")
    (tmp_path / "secret").write_text("x")
    for path in ("../secret", str(tmp_path / "secret")):
        with pytest.raises(UsageError) as caught:
            work.done("build", {"log": path})
        assert caught.value.code == "outside_root"


def test_a_snapshot_can_be_gone_back_to(project, root):
    work = project.start(SHAPE, "1.0").begin("build")
    number = work.snapshot("before")
    work.done("build").begin("publish")
    opened(root).workflow().restore(number)
    assert {path: work.refresh().state.step(path).status for path in ("build", "publish")} == {
        "build": "active",
        "publish": "pending",
    }


def test_an_agent_with_a_lease_goes_on_and_one_without_waits(project, root):
    work = project.start(SHAPE, "1.0")
    token = work.start_agent("coder", "build")
    with pytest.raises(HoldfastError) as caught:
        opened(root).workflow().begin("build")
    assert caught.value.code == "lease_held"
    opened(root, HOLDFAST_TOKEN=token).workflow().begin("build")
    work.end_agent(token)
    opened(root).workflow().done("build")


@pytest.mark.parametrize("value", [object(), float("nan"), "\ud800", {1, 2}])
def test_what_json_cannot_hold_is_refused_before_anything_is_written(root, value):
    project = opened(root)
    with pytest.raises(UsageError, match="JSON"):
        project.start(SHAPE, "1.0", context={"k": value})
    workflow = project.start(SHAPE, "1.0")
    with pytest.raises(UsageError, match="JSON"):
        workflow.record({"k": value})
    assert workflow.refresh().state.revision == 1


def test_a_step_is_named_by_its_number_too(tmp_path):
    workflow = holdfast.open(str(tmp_path)).start({"name": "plain", "step": [{"id": "one"}, {"id": "two"}]}, "it")
    with workflow.step(1):
        pass
    assert workflow.begin(2).path(2) == "two"
    assert workflow.state.step("one").status == "done"
