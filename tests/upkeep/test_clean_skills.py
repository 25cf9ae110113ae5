"""Starting a feature or a cycle tidies up after earlier ones; clearing everything is a person's doing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.core import moment
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.upkeep.clean import Cleaned, clean
from holdfast.upkeep.doctor import examine
from tests.workbench import Bench

HOUR, DAY = 3600, 86_400
STATE = Path(".claude/workflow-state")
SMALL = {"name": "small", "step": [{"id": "one"}]}


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    for name in ("a", "b", "c", "d", "e"):
        made.feature(f"features/{name}.md", "Write it down (no tests)", title=f"Feature {name}")
    made.save()
    return made


def ago(bench: Bench, seconds: float, kind: str = "human") -> Project:
    """The project as it was opened then: its clock is still."""
    project = bench.open(kind)
    world = project.wired.world
    then = moment.from_epoch(moment.to_epoch(world.now()) - seconds)
    world.now = lambda: then  # type: ignore[method-assign]
    return project


def begun(project: Project, bench: Bench, name: str) -> Workflow:
    workflow = project.start("dev", f"features/{name}.md", branch=f"feat/{name}")
    bench.git("switch", "-q", "main")
    return workflow


def cycle(project: Project, text: str) -> Workflow:
    return project.start("tdd", text, context={"test_command": "true"})


def statuses(bench: Bench) -> dict[str, str]:
    return {workflow.id: workflow.summary()["status"] for workflow in bench.open().list()}


def listed(bench: Bench) -> list[str]:
    """What the index of the convention names."""
    found = json.loads((bench.root / STATE / "index.json").read_text())
    return sorted(entry["id"] for entry in found["active_workflows"])


def archived(bench: Bench) -> set[str]:
    return {path.stem for path in (bench.root / ".holdfast" / "archive").glob("*.jsonl")}


def start(bench: Bench, name: str = "e") -> str:
    """A start by a process of its own: the id."""
    answer = bench.ok("start", "dev", f"features/{name}.md", "--json")
    bench.git("switch", "-q", "main")
    return answer.json["workflow_id"]


def test_a_start_archives_what_ended_a_day_ago_and_keeps_what_ended_since(bench):
    old = begun(ago(bench, 25 * HOUR), bench, "a").cancel("done with it")
    new = begun(ago(bench, 23 * HOUR), bench, "b").cancel("done with it")
    cycle_of_old = cycle(ago(bench, 25 * HOUR), "Add a form").cancel("done with it")
    made = start(bench)
    assert archived(bench) == {old.ulid, cycle_of_old.ulid}
    assert not (bench.root / STATE / "completed" / f"{old.id}.json").exists()
    assert (bench.root / STATE / "completed" / f"{new.id}.json").exists()
    assert listed(bench) == [made]


def test_the_age_counts_from_the_end_and_not_from_the_beginning(bench):
    workflow = begun(ago(bench, 6 * DAY), bench, "a")
    Workflow(ago(bench, HOUR).wired, workflow.state).cancel("only now")
    start(bench)
    assert archived(bench) == set()


def test_a_start_gives_up_what_stood_still_for_a_week(bench):
    stale = begun(ago(bench, 7 * DAY + HOUR), bench, "a")
    fresh = begun(ago(bench, 7 * DAY - HOUR), bench, "b")
    quiet = cycle(ago(bench, 8 * DAY), "Add a form")
    made = start(bench)
    shown = json.loads((bench.root / STATE / "completed" / f"{stale.id}.json").read_text())
    assert shown["workflow"]["status"] == "abandoned"
    assert not (bench.root / STATE / "active" / f"{stale.id}.json").exists()
    assert listed(bench) == sorted([made, fresh.id])
    assert (bench.root / STATE / "completed" / f"{quiet.id}.json").exists()
    assert archived(bench) == set()


def test_what_was_given_up_can_be_taken_up_again(bench):
    stale = begun(ago(bench, 8 * DAY), bench, "a")
    start(bench)
    assert bench.open("human").workflow(stale.id).resume().status()["status"] == "in_progress"
    assert stale.id in listed(bench)


def test_what_waits_is_blocked_failed_or_paused_is_never_given_up(bench):
    then = ago(bench, 90 * DAY)
    step = "task_execution/1"
    kept = [
        begun(then, bench, "a").block(step, "no database"),
        begun(then, bench, "b").fail(step, "no luck"),
        begun(then, bench, "c").pause("lunch"),
    ]
    made = start(bench)
    assert listed(bench) == sorted([made, *(workflow.id for workflow in kept)])
    assert archived(bench) == set()


def test_a_cycle_tidies_up_too(bench):
    stale = begun(ago(bench, 8 * DAY), bench, "a")
    ended = begun(ago(bench, 2 * DAY), bench, "b").cancel("done with it")
    bench.ok("start", "tdd", "Add a form", "--set", "test_command=sh run.sh")
    assert stale.id not in listed(bench)
    assert archived(bench) == {ended.ulid}


def test_other_workflows_tidy_nothing_and_are_not_tidied(bench):
    stale = begun(ago(bench, 8 * DAY), bench, "a")
    bench.write(".holdfast/workflows/small.toml", 'name = "small"\n[[step]]\nid = "one"\n')
    small = ago(bench, 90 * DAY).start("small", "x")
    over = ago(bench, 90 * DAY).start("small", "y").cancel("done with it")
    bench.ok("start", "small", "z")
    assert {stale.id, small.id} <= set(listed(bench))
    start(bench)
    assert stale.id not in listed(bench)
    assert small.id in listed(bench)
    assert archived(bench) == set()
    assert (bench.root / STATE / "completed" / f"{over.id}.json").exists()


def test_a_definition_of_ones_own_that_is_called_dev_is_not_given_up(bench):
    bench.write(".holdfast/workflows/tdd.toml", 'name = "tdd"\n[[step]]\nid = "one"\n')
    mine = ago(bench, 90 * DAY).start("tdd", "x")
    start(bench)
    assert mine.id in listed(bench)


def test_resuming_tidies_nothing(bench):
    stale = begun(ago(bench, 8 * DAY), bench, "a")
    begun(bench.open(), bench, "b")
    bench.git("switch", "-q", "feat/b")
    bench.ok("start", "dev", "features/b.md", "--resume")
    assert stale.id in listed(bench)


def test_work_that_stood_still_is_resumed_rather_than_given_up_when_it_is_asked_for(bench):
    stale = begun(ago(bench, 8 * DAY), bench, "a")
    bench.git("switch", "-q", "feat/a")
    assert bench.ok("start", "dev", "features/a.md", "--resume", "--json").json["ulid"] == stale.ulid


def test_nothing_is_wrong_after_tidying_up(bench):
    begun(ago(bench, 8 * DAY), bench, "a")
    begun(ago(bench, 2 * DAY), bench, "b").cancel("done with it")
    start(bench)
    assert [finding.message for finding in examine(bench.open()).findings if finding.level != "ok"] == []


def test_tidying_for_skills_leaves_everything_else_alone(bench):
    over = ago(bench, 2 * DAY).start(SMALL, "x").cancel("done with it")
    ended = begun(ago(bench, 2 * DAY), bench, "a").cancel("done with it")
    project = bench.open()
    assert clean(project, now=project.wired.world.now(), skills=True).archived == (ended.id,)
    assert clean(project, now=project.wired.world.now()).archived == (over.id,)
    assert clean(project, now=project.wired.world.now(), skills=True) == Cleaned()


def test_an_agent_cannot_clear_everything(bench):
    start(bench, "a")
    before = bench.everything()
    for words in (("--active",), ("--active", "--yes"), ("--active", "--all")):
        answer = bench.agent("clean", *words, "--json")
        assert (answer.code, answer.error["code"]) == (3, "person_needed")
    assert bench.everything() == before


def test_an_agent_may_ask_what_clearing_would_do(bench):
    made = start(bench, "a")
    before = bench.everything()
    assert bench.ok("clean", "--active", "--dry-run", "--json").json["abandoned"] == [made]
    assert bench.everything() == before


def test_a_person_is_asked_before_everything_is_cleared(bench):
    start(bench, "a")
    before = bench.everything()
    for says in ("n", "", "maybe"):
        answer = bench.person("clean", "--active", says=says)
        assert (answer.code, "Clear all state? [y/N]" in answer.out) == (1, True), answer
    assert bench.everything() == before


def test_a_person_clears_everything(bench):
    first, second = start(bench, "a"), start(bench, "b")
    answer = bench.person("clean", "--active", says="y")
    assert answer.code == 0, answer
    assert listed(bench) == []
    for folder in ("active", "completed"):
        assert list((bench.root / STATE / folder).glob("*.json")) == []
    assert len(archived(bench)) == 2
    assert f"abandoned: {first}" in answer.out
    assert f"abandoned: {second}" in answer.out
    assert statuses(bench) == {}
    assert start(bench, "c") in listed(bench)


def test_a_person_clears_what_waits_and_is_blocked_too(bench):
    bench.ok("start", "dev", "features/a.md")
    bench.ok("block", "task_execution/1", "--reason", "no database")
    assert bench.person("clean", "--active", "--yes").code == 0
    assert listed(bench) == []


def test_clearing_in_one_worktree_leaves_the_others_alone(bench, tmp_path, monkeypatch):
    linked = tmp_path / "linked"
    bench.git("worktree", "add", "-q", "--detach", str(linked))
    monkeypatch.chdir(linked)
    elsewhere = bench.open(at=linked).start("dev", "features/b.md")
    monkeypatch.chdir(bench.root)
    start(bench, "a")
    assert bench.person("clean", "--active", "--yes").code == 0
    assert [workflow.ulid for workflow in bench.open().list(status="active")] == [elsewhere.ulid]


def test_all_puts_finished_ones_away_whatever_their_age(bench):
    ended = begun(bench.open("human"), bench, "a").cancel("done with it")
    running = start(bench, "b")
    assert bench.ok("clean", "--all", "--json").json["archived"] == [ended.id]
    assert listed(bench) == [running]
