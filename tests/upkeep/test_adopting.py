"""Documents without a journal: adopted whole, once, and claiming nothing that was not seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from holdfast.core import queries
from holdfast.core.plan import Plan
from holdfast.errors import Broken, Conflict, HoldfastError, NotFound, Refused, UsageError
from holdfast.systems.seam import adoption
from tests.trusted import trust_file

ACTIVE = ".claude/workflow-state/active"
GATED = """
name = "ship"
[[step]]
id = "plan"
approval = { by = "human" }
[[step]]
id = "test"
checks = [ { name = "unit", run = ["touch", "ran"], run_by = "engine" } ]
[[step]]
id = "push"
"""


def ship(**phases: str) -> dict:
    return {
        "_schema": {"version": "1.0", "skill": "ship"},
        "workflow": {
            "id": "ship-1",
            "status": "in_progress",
            "created_at": "2026-01-01T10:00:00Z",
            "updated_at": "2026-01-01T10:00:00Z",
        },
        "context": {},
        "state_machine": {"phases": [{"name": name, "status": status} for name, status in phases.items()]},
        "checkpoints": {},
        "history": [],
    }


def write(site, name: str, text: str | bytes, *, old: bool = True) -> str:
    path = site.root / ACTIVE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    if old:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return f"{ACTIVE}/{name}"


@pytest.mark.parametrize("name", ["common", "dev", "tdd"])
def test_an_example_of_the_convention_is_adopted_and_still_says_the_same(site, name):
    path = site.example(name)
    before = json.loads(path.read_text())
    (state,) = adoption.adopt(site.open().wired, [str(path)])
    assert state.id == before["workflow"]["id"]
    assert json.loads(path.read_text()) == before
    assert [record.command for record in site.open().wired.store.history(state.ulid)] == ["adopt"]


def test_looking_again_after_an_adoption_finds_nothing_edited(site):
    path = site.example("dev")
    adoption.adopt(site.open().wired, [str(path)])
    later = site.open().workflow("dev-evt-infra-a1b2")
    assert later.refresh().state.revision == 1
    assert later.state.alerts == ()


def test_without_paths_every_orphan_is_adopted_and_the_index_lists_them(site):
    site.example("dev")
    site.example("tdd")
    assert adoption.orphans(site.open().wired) == [
        f"{ACTIVE}/dev-evt-infra-a1b2.json",
        f"{ACTIVE}/tdd-auth-login-b2c3.json",
    ]
    adopted = adoption.adopt(site.open().wired)
    assert sorted(state.id for state in adopted) == ["dev-evt-infra-a1b2", "tdd-auth-login-b2c3"]
    assert adoption.orphans(site.open().wired) == []
    assert adoption.adopt(site.open().wired) == []
    listed = json.loads((site.root / ".claude/workflow-state/index.json").read_text())["active_workflows"]
    assert [(item["id"], item["feature"]) for item in listed] == [
        ("dev-evt-infra-a1b2", "features/foundation/event-infrastructure.md"),
        ("tdd-auth-login-b2c3", "Add login method to AuthService"),
    ]


def test_asking_for_the_only_workflow_adopts_the_only_document(site):
    site.example("dev")
    status = site.open("agent").workflow().status()
    assert status["workflow_id"] == "dev-evt-infra-a1b2"
    assert status["step"] == "task_execution/2/green"


def test_a_name_that_is_unknown_finds_the_document_by_id_by_file_or_by_the_beginning_of_either(site):
    site.example("dev", stem="dev-ed6828a3")
    site.example("tdd")
    assert site.open().workflow("tdd-auth").id == "tdd-auth-login-b2c3"
    assert site.open().workflow("dev-ed6828a3").id == "dev-evt-infra-a1b2"
    assert site.open().workflow("dev-evt-infra-a1b2").id == "dev-evt-infra-a1b2"


def test_a_document_stays_in_the_file_that_scripts_look_for(site):
    path = site.example("dev", stem="dev-ed6828a3")
    workflow = site.open().workflow()
    workflow.note("from Holdfast")
    assert json.loads(path.read_text())["history"][-1]["note"] == "from Holdfast"
    assert sorted(os.listdir(path.parent)) == ["dev-ed6828a3.json"]
    document = json.loads(path.read_text())
    document["context"]["from"] = "a script"
    path.write_text(json.dumps(document))
    assert site.open().workflow().state.context["from"] == "a script"
    assert adoption.orphans(site.open().wired) == []


def test_several_documents_are_named_and_none_is_guessed(site):
    site.example("dev")
    site.example("tdd")
    with pytest.raises(NotFound) as unknown:
        site.open().workflow()
    assert unknown.value.remedy.endswith("holdfast adopt")
    orphans = adoption.orphans(site.open().wired)
    assert len(orphans) == 2
    assert unknown.value.facts["documents"] == orphans


def test_of_several_documents_the_one_of_this_branch_is_meant(repository):
    repository.example("dev")
    repository.example("tdd")
    repository.git("checkout", "-q", "-b", "feat/user-auth")
    assert repository.open().workflow().id == "tdd-auth-login-b2c3"


def test_nothing_to_adopt_is_simply_not_found(site):
    with pytest.raises(NotFound) as unknown:
        site.open().workflow("dev-1")
    assert unknown.value.code == "no_workflow"
    assert "documents" not in unknown.value.facts
    assert not site.home.exists()


def test_a_second_adoption_of_the_same_workflow_is_a_conflict(site):
    path = site.example("dev")
    adoption.adopt(site.open().wired, [str(path)])
    with pytest.raises(Conflict) as conflict:
        adoption.adopt(site.open().wired, [str(path)])
    assert conflict.value.code == "already_active"


def test_processes_that_look_at_the_same_document_first_adopt_it_once(site):
    site.example("dev")
    program = "import holdfast, sys; print(holdfast.open(sys.argv[1]).workflow().ulid)"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([sys.executable, "-c", program, str(site.root)], **pipes) for _ in range(6)]
    answers = [process.communicate() for process in started]
    assert [complaint for _, complaint in answers if complaint] == []
    assert len({ulid for ulid, _ in answers}) == 1
    assert len(list(site.home.glob("journal/*/*.jsonl"))) == 1


@pytest.mark.parametrize("comes", ["started", "resumed"])
def test_a_workflow_that_is_just_coming_is_not_taken_for_an_orphan(site, comes):
    """Its document is in place before everybody has been told."""
    project = site.open()
    steps = {"name": "small", "step": [{"id": "one"}]}
    workflow = project.start(steps, "x").cancel("for now")
    seen = []
    settle = project.wired.store.settle

    def look_first(*known):
        seen.append(adoption.orphans(site.open().wired))
        settle(*known)

    project.wired.store.settle = look_first
    if comes == "started":
        project.start(steps, "y")
    else:
        workflow.resume()
    assert seen == [[]]


def test_what_is_only_claimed_opens_nothing_until_a_person_confirms(site):
    site.definition("ship", GATED)
    write(site, "ship-1.json", json.dumps(ship(plan="completed", test="pending", push="pending")))
    workflow = site.open("agent").workflow("ship-1")
    with pytest.raises(Refused) as refused:
        workflow.begin("test")
    assert refused.value.code == "step_blocked"
    with pytest.raises(Refused) as refused:
        workflow.approve("plan")
    assert refused.value.code == "person_needed"
    person = site.open("human").workflow("ship-1")
    assert person.approve("plan").begin("test").state.step("test").status == "active"


def test_commands_of_a_definition_that_nobody_trusted_are_not_run(site):
    """Document and definition may both come with a clone."""
    path = site.definition("ship", GATED)
    document = json.dumps(ship(plan="pending", test="pending", push="pending"))
    write(site, "ship-1.json", document)
    workflow = site.open().workflow("ship-1")
    assert workflow.state.plan.step("plan").approval is not None
    with pytest.raises(Refused) as refused:
        workflow.check("unit")
    assert refused.value.code == "untrusted"

    trust_file(site.open(), str(path))
    with pytest.raises(Refused) as refused:
        workflow.check("unit")
    assert refused.value.code == "wrong_status"


def test_a_definition_that_is_broken_is_mended_first(site):
    site.definition("ship", "name = 3")
    write(site, "ship-1.json", json.dumps(ship(plan="pending")))
    with pytest.raises(UsageError) as refused:
        adoption.adopt(site.open().wired)
    assert refused.value.code == "bad_definition"


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"7", b"\xff\xfe", b'{"a": "\\ud800"}', b'{"a":' * 200 + b"1" + b"}" * 200, b"\0" * 4096],
)
def test_a_broken_document_is_kept_in_quarantine_and_a_fresh_start_is_possible(site, data):
    path = write(site, "dev-x.json", data)
    site.example("tdd")
    with pytest.raises(Broken) as broken:
        adoption.adopt(site.open().wired)
    assert broken.value.code == "document_broken"
    assert broken.value.facts["adopted"] == ["tdd-auth-login-b2c3"]
    quarantined: Any = broken.value.facts["quarantined"]
    kept = site.root / quarantined[path]
    assert kept.read_bytes() == data
    assert (kept.parent / f"{kept.name}.reason").read_text().strip()
    assert not (site.root / path).exists()
    assert adoption.orphans(site.open().wired) == []


def test_a_document_that_may_still_be_being_written_is_left_alone(site):
    path = write(site, "dev-x.json", '{"workflow": ', old=False)
    with pytest.raises(Conflict) as conflict:
        adoption.adopt(site.open().wired)
    assert conflict.value.code == "being_written"
    assert (site.root / path).read_text() == '{"workflow": '


@pytest.mark.parametrize("text", ["{}", '{"workflow": {"id": "x"}}', '{"name": "package", "version": "1.0.0"}'])
def test_json_that_is_no_workflow_is_refused_and_left_where_it_is(site, text):
    path = write(site, "thing.json", text)
    with pytest.raises(UsageError) as refused:
        adoption.adopt(site.open().wired, [str(site.root / path)])
    assert refused.value.code == "not_a_workflow"
    assert (site.root / path).read_text() == text
    with pytest.raises(NotFound):
        site.open().workflow()


def test_paths_outside_the_project_and_files_that_are_links_are_refused(site, tmp_path):
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text(json.dumps(ship(plan="pending")))
    link = site.root / ACTIVE / "link.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    for path in (str(elsewhere), str(link), "/etc/passwd"):
        with pytest.raises(UsageError):
            adoption.adopt(site.open().wired, [path])
    with pytest.raises(UsageError):
        adoption.adopt(site.open().wired)
    with pytest.raises(UsageError) as refused:
        adoption.adopt(site.open().wired, [str(site.root / "README.md")])
    assert refused.value.code == "no_dialect"


def test_a_document_that_is_too_large_is_refused(site):
    path = site.root / write(site, "big.json", b"{}")
    with open(path, "ab") as file:
        file.truncate(17 << 20)
    with pytest.raises(UsageError) as refused:
        adoption.adopt(site.open().wired)
    assert refused.value.code == "too_large"


def test_a_document_that_says_it_is_over_goes_where_finished_ones_lie(site):
    for status, engine in (("completed", "completed"), ("abandoned", "cancelled")):
        document = ship(plan="completed", test="in_progress")
        document["workflow"].update(id=f"over-{status}", status=status)
        path = write(site, f"over-{status}.json", json.dumps(document))
        (state,) = adoption.adopt(site.open().wired, [str(site.root / path)])
        assert queries.status(state) == engine
        assert not (site.root / path).exists()
        assert site.json(f".claude/workflow-state/completed/over-{status}.json")["workflow"]["status"] == status


def test_a_paused_document_stays_paused(site):
    document = ship(plan="in_progress")
    document["workflow"]["status_detail"] = "paused"
    write(site, "ship-1.json", json.dumps(document))
    assert site.open().workflow().status()["detail"] == "paused"


def test_a_clone_goes_on_where_the_document_says_the_work_was(repository, tmp_path):
    """The journal stays behind; the document travels with git."""
    project = repository.open("human")
    steps = [{"id": "plan"}, {"id": "work", "step": [{"id": "a"}, {"id": "b"}]}, {"id": "publish"}]
    workflow = project.start({"name": "small", "step": steps}, "subject")
    workflow.begin("plan").done("plan").begin("work/a").done("work/a")
    repository.git("add", "-f", ACTIVE)
    repository.git("commit", "-q", "-m", "work in progress")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(repository.root), str(clone)], check=True)
    found = repository.open("agent", at=str(clone)).workflow(workflow.id)
    assert found.id == workflow.id
    assert found.ulid != workflow.ulid
    assert found.status()["current_step_name"] == "work"
    git = ["git", "status", "--porcelain", "--untracked-files=no"]
    assert subprocess.run(git, cwd=clone, check=True, capture_output=True, text=True).stdout == ""


def test_each_worktree_adopts_its_own_documents(repository, tmp_path):
    repository.git("worktree", "add", "-q", "-b", "feat/user-auth", str(tmp_path / "second"))
    path = repository.example("tdd")
    (tmp_path / "second" / ACTIVE).mkdir(parents=True)
    os.rename(path, tmp_path / "second" / ACTIVE / path.name)
    assert adoption.orphans(repository.open().wired) == []
    workflow = repository.open(at=str(tmp_path / "second")).workflow()
    assert workflow.state.worktree == str(tmp_path / "second")
    assert isinstance(workflow.state.plan, Plan)


def test_adopting_waits_for_one_that_is_under_way(site):
    """A lock that somebody holds is waited for, and told about when that takes too long."""
    path = site.example("dev")
    holder = site.open()
    entered, leave = threading.Event(), threading.Event()
    start = holder.wired.engine.start

    def slow(*args, **named):
        entered.set()
        leave.wait(30)
        return start(*args, **named)

    holder.wired.engine.start = slow
    thread = threading.Thread(target=adoption.adopt, args=(holder.wired, [str(path)]))
    thread.start()
    try:
        assert entered.wait(30)
        with pytest.raises(HoldfastError) as busy:
            adoption.adopt(site.open(wait=0.05).wired, [str(path)])
        assert busy.value.code == "lock_timeout"
    finally:
        leave.set()
        thread.join()
    assert len(site.open().list()) == 1
