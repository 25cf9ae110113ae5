"""A commit: everything at once, or a list of what is in the way."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import Conflict, HoldfastError, NotFound
from holdfast.systems.story.sessions import Sessions
from tests.systems.story.sessions.scene import DRAFT, below, files


@pytest.fixture
def changed(s):
    s.write("s", "acts/one.md", b"changed\n")
    s.delete("s", "acts/two.md")
    s.write("s", "acts/new/four.md", b"new\n")
    return s


def test_without_force_a_commit_says_what_it_would_do_and_does_nothing(changed, root, draft):
    before = files(root)
    said = changed.commit("s")
    assert said == changed.preview("s")
    assert said == {
        "session": "s",
        "committed": False,
        "modified": ["acts/one.md"],
        "created": ["acts/new/four.md"],
        "deleted": ["acts/two.md"],
        "artifacts": [f"workspace/generation-runs/{draft.id}/plan.md"],
        "retries": [],
        "workflows": [{"workflow_id": draft.id, "ulid": draft.ulid, "workflow_type": "draft", "status": "in_progress"}],
        "conflicts": [],
    }
    assert files(root) == before


def test_a_commit_changes_the_project_and_ends_the_session(changed, root):
    changed.retry("s", "acts/one.md", "once more")
    changed.write("s", "acts/one.md", b"changed again\n")
    assert changed.commit("s", force=True)["committed"] is True
    assert files(root) == {
        "acts/one.md": b"changed again\n",
        "acts/three.md": b"three as it was\n",
        "acts/new/four.md": b"new\n",
        "workspace/deleted-archive/s/acts/two.md": b"two as it was\n",
        "workspace/retries-archive/s/1/acts/one.md": b"changed\n",
    }
    assert changed.active() == ""
    assert changed.list() == []
    assert not (root / "workspace/sessions/s").exists()
    assert [os.path.basename(path) for path in below(root, "sessions")] == ["s.commit.done"]
    assert changed.commit("s", force=True)["already"]
    with pytest.raises(NotFound):
        changed.commit("s")


def test_a_file_keeps_its_mode_and_a_new_one_brings_its_own(s, root):
    (root / "acts/one.md").chmod(0o640)
    s.write("s", "acts/one.md", b"changed\n")
    os.chmod(s.path("s", "acts/one.md"), 0o777)
    s.write("s", "run.sh", b"#!/bin/sh\n")
    os.chmod(s.path("s", "run.sh"), 0o755)
    s.commit("s", force=True)
    modes = [stat.S_IMODE((root / path).stat().st_mode) for path in ("acts/one.md", "run.sh")]
    assert modes == [0o640, 0o755]


def test_another_session_that_is_in_use_stays_in_use(changed):
    changed.create("t")
    changed.use("t")
    changed.commit("s", force=True)
    assert changed.active() == "t"


def test_a_second_session_of_the_same_name_has_archives_of_its_own(s, root):
    s.delete("s", "acts/one.md")
    s.commit("s", force=True)
    s.create("s")
    s.write("s", "acts/one.md", b"back\n")
    s.commit("s", force=True)
    s.create("s")
    s.delete("s", "acts/one.md")
    s.commit("s", force=True)
    archive = root / "workspace/deleted-archive"
    assert (archive / "s/acts/one.md").read_text() == "one as it was\n"
    assert (archive / "s.2/acts/one.md").read_text() == "back\n"


def test_every_conflict_is_reported_and_nothing_is_written(changed, root):
    changed.write("s", "acts/three.md", b"mine\n")
    (root / "acts/one.md").write_text("theirs\n")
    (root / "acts/two.md").write_text("theirs\n")
    (root / "acts/three.md").unlink()
    (root / "acts/new").mkdir()
    (root / "acts/new/four.md").write_text("theirs\n")
    before = files(root)
    with pytest.raises(Conflict) as refused:
        changed.commit("s", force=True)
    wanted = [
        {"path": "acts/new/four.md", "reason": "appeared"},
        {"path": "acts/one.md", "reason": "changed"},
        {"path": "acts/three.md", "reason": "vanished"},
        {"path": "acts/two.md", "reason": "changed"},
    ]
    assert refused.value.code == "session_conflict"
    assert refused.value.remedy
    assert sorted(refused.value.facts["conflicts"], key=lambda one: one["path"]) == wanted
    assert sorted(changed.preview("s")["conflicts"], key=lambda one: one["path"]) == wanted
    assert files(root) == before


def test_a_conflict_ends_when_somebody_says_that_the_sessions_file_holds(changed, root):
    (root / "acts/one.md").write_text("theirs\n")
    (root / "acts/two.md").write_text("theirs\n")
    changed.write("s", "acts/one.md", b"both\n")
    assert len(changed.preview("s")["conflicts"]) == 2
    changed.keep("s", "acts/one.md")
    changed.keep("s", "acts/two.md")
    changed.commit("s", force=True)
    assert (root / "acts/one.md").read_text() == "both\n"
    assert (root / "workspace/deleted-archive/s/acts/two.md").read_text() == "theirs\n"


def test_a_copy_that_was_not_changed_and_the_same_change_on_both_sides_are_no_conflict(s, root):
    s.path("s", "acts/one.md")
    s.write("s", "acts/two.md", b"same\n")
    s.delete("s", "acts/three.md")
    (root / "acts/one.md").write_text("theirs\n")
    (root / "acts/two.md").write_text("same\n")
    (root / "acts/three.md").unlink()
    said = s.commit("s", force=True)
    assert said["conflicts"] == said["modified"] == said["deleted"] == []
    assert (root / "acts/one.md").read_text() == "theirs\n"


def test_what_an_editor_wrote_into_the_folder_is_committed(s, root):
    Path(s.path("s", "acts/one.md")).write_text("by an editor\n")
    (root / "workspace/sessions/s/notes.md").write_text("new\n")
    s.commit("s", force=True)
    assert (root / "acts/one.md").read_text() == "by an editor\n"
    assert (root / "notes.md").read_text() == "new\n"


def test_a_new_file_conflicts_with_one_that_appeared_after_its_path_was_given_out(s, root):
    Path(s.path("s", "acts/new.md")).write_text("mine\n")
    (root / "acts/new.md").write_text("theirs\n")
    assert s.preview("s")["conflicts"] == [{"path": "acts/new.md", "reason": "appeared"}]


def test_a_running_workflow_goes_on_in_the_project(s, root, project, draft):
    s.commit("s", force=True)
    document = json.loads((root / f"workspace/workflow-state/{draft.id}.json").read_text())
    assert document["committed_from_session"] == "s"
    assert "session_name" not in document
    assert "sessions" not in json.dumps(document["generation"])
    plan = f"workspace/generation-runs/{draft.id}/plan.md"
    assert document["generation"]["steps"][0]["artifacts"] == {"plan": plan}
    assert (root / plan).read_text() == "the plan\n"
    listed = json.loads((root / "workspace/workflow-state/index.json").read_text())["workflows"]
    assert [one["state_file"] for one in listed] == [f"workspace/workflow-state/{draft.id}.json"]
    assert not (root / "workspace/sessions/s").exists()
    again = holdfast.open(str(root)).workflow(draft.id)
    again.begin("write")
    again.done("write")
    assert again.status()["status"] == "completed"
    assert again.state.alerts == ()


def test_the_folder_of_a_run_that_has_produced_nothing_is_there_after_the_commit(s, root, project):
    workflow = project.start(DRAFT, "scene", session="s")
    s.commit("s", force=True)
    assert (root / f"workspace/generation-runs/{workflow.id}").is_dir()


def test_finished_and_cancelled_workflows_are_carried_over_too(s, root, project, draft):
    draft.cancel("no longer wanted")
    finished = project.start({**DRAFT, "name": "short"}, "other", session="s")
    for step in ("plan", "write"):
        finished.begin(step)
        finished.done(step)
    s.use("")
    other = project.start({**DRAFT, "name": "apart"}, "elsewhere")
    s.commit("s", force=True)
    there = {path.name for path in (root / "workspace/workflow-state").iterdir()}
    assert there == {"index.json", *(f"{one.id}.json" for one in (draft, finished, other))}
    states = [project.wired.store.load(one.ulid) for one in (draft, finished, other)]
    assert [(state.session, state.own.get("story", {}).get("committed_from", "")) for state in states] == [
        ("", "s"),
        ("", "s"),
        ("", ""),
    ]


def test_an_edit_of_a_workflows_document_is_decided_before_the_commit(s, root, project, draft):
    path = root / f"workspace/sessions/s/workflow-state/{draft.id}.json"
    document = json.loads(path.read_text())
    document["generation"]["steps"][1]["status"] = "in_progress"
    path.write_text(json.dumps(document, indent=2))
    s.commit("s", force=True)
    assert project.workflow(draft.id).state.step("write").status == "active"


def test_artifacts_and_documents_that_are_in_the_way_are_conflicts(s, root, draft):
    there = [f"workspace/generation-runs/{draft.id}/plan.md", f"workspace/workflow-state/{draft.id}.json"]
    for path in there:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("something else\n")
    before = files(root)
    with pytest.raises(Conflict) as refused:
        s.commit("s", force=True)
    assert refused.value.facts["conflicts"] == [{"path": path, "reason": "appeared"} for path in there]
    assert files(root) == before


def test_the_session_stays_until_its_documents_are_in_place(s, root, project, draft):
    (root / "workspace/workflow-state").write_text("in the way\n")
    with pytest.raises(HoldfastError) as failed:
        s.commit("s", force=True)
    assert failed.value.code == "document_unreadable"
    assert (root / "workspace/sessions/s/session.json").exists()
    (root / "workspace/workflow-state").unlink()
    assert s.recover() == ["s"]
    assert (root / f"workspace/workflow-state/{draft.id}.json").exists()
    assert s.list() == []


def test_two_files_of_a_session_do_not_become_one(s, root):
    s.write("s", "workspace/generation-runs/a.md", b"one\n")
    (root / "workspace/sessions/s/generation-runs").mkdir()
    (root / "workspace/sessions/s/generation-runs/a.md").write_text("another\n")
    assert s.preview("s")["conflicts"] == [{"path": "workspace/generation-runs/a.md", "reason": "twice"}]


def test_commits_and_writes_of_many_processes_keep_apart(s, root):
    """Every write is either in the project or was refused because the session had gone; none is lost in between."""
    code = (
        "import sys, holdfast\nfrom holdfast.errors import NotFound\n"
        "from holdfast.systems.story.sessions import Sessions\n"
        f"s = Sessions(holdfast.open({str(root)!r}).wired)\n"
        "for number in range(8):\n"
        "    name = f'w{sys.argv[1]}-{number}.md'\n"
        "    try:\n        s.write('s', name, name.encode())\n"
        "    except NotFound:\n        break\n"
        "    print(name, flush=True)\n"
    )
    command = [sys.executable, "-P", "-c", code]
    writers = [subprocess.Popen([*command, str(n)], stdout=subprocess.PIPE, text=True) for n in range(3)]
    assert writers[0].stdout.readline() == "w0-0.md\n"
    s.commit("s", force=True)
    said = ["w0-0.md"]
    for writer in writers:
        said += writer.communicate()[0].split()
        assert writer.returncode == 0
    assert {path for path in files(root) if path.startswith("w") and path.endswith(".md")} == set(said)


def test_a_worktree_has_sessions_of_its_own(tmp_path):
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    (main / "one.md").write_text("one\n")
    for words in ("init -q", "add one.md", "commit -qm first", f"worktree add -q {linked}"):
        subprocess.run(["git", *words.split()], cwd=main, check=True)
    (main / ".holdfast").mkdir()
    here, there = Sessions(holdfast.open(str(main)).wired), Sessions(holdfast.open(str(linked)).wired)
    there.create("s")
    assert here.list() == []
    here.create("s")
    there.write("s", "one.md", b"changed\n")
    there.commit("s", force=True)
    assert (linked / "one.md").read_text() == "changed\n"
    assert (main / "one.md").read_text() == "one\n"
    assert [one["name"] for one in here.list()] == ["s"]
