"""A cancelled session never was."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFound
from tests.systems.story.sessions.scene import DRAFT, below, files


def test_cancel_leaves_nothing_of_the_session(s, root, project, draft):
    s.write("s", "acts/one.md", b"changed\n")
    s.delete("s", "acts/two.md")
    finished = project.start({**DRAFT, "name": "short"}, "other", session="s")
    for step in ("plan", "write"):
        finished.begin(step)
        finished.done(step)
    s.use("")
    other = project.start({**DRAFT, "name": "apart"}, "elsewhere")
    s.cancel("s")
    assert s.list() == []
    assert s.active() == ""
    kept = {
        *(f"acts/{name}.md" for name in ("one", "two", "three")),
        f"workspace/workflow-state/{other.id}.json",
        "workspace/workflow-state/index.json",
        f"workspace/logs/workflow-orchestration/{other.id}.log",
    }
    found = files(root)
    assert found.keys() == kept
    assert found["acts/one.md"] == b"one as it was\n"
    assert [workflow.id for workflow in project.list()] == [other.id]
    for folder in ("journal", "slots", "state"):
        assert all(other.ulid in path for path in below(root, folder))
    for gone in (draft, finished):
        with pytest.raises(NotFound):
            project.workflow(gone.id)
    assert project.wired.store.finished_count() == 0
    other.note("and on we go")


def test_a_cancelled_name_can_be_used_again(s):
    s.cancel("s")
    s.create("s")
    assert s.status("s")["changes"] == {"modified": [], "created": [], "deleted": []}


def test_a_document_of_another_dialect_goes_too_unless_it_is_another_workflows_by_now(s, root, project):
    skill = {**DRAFT, "dialect": "skill"}
    gone = project.start(skill, "one", session="s")
    first = project.start(skill, "two", session="s")
    first.cancel("again")
    second = project.start(skill, "two")
    assert first.id == second.id
    s.cancel("s")
    documents = {path for path in files(root) if path.startswith(".claude/workflow-state/active/")}
    assert documents == {f".claude/workflow-state/active/{second.id}.json"}
    assert gone.id != second.id
    assert [one.ulid for one in project.list()] == [second.ulid]


def test_copies_of_what_was_approved_in_the_session_go_with_it(s, root, project):
    approved = {**DRAFT, "name": "asked", "step": [{"id": "plan", "approval": {"by": "relayed"}}, {"id": "write"}]}
    (root / "plan.md").write_text("a plan\n")
    inside = project.start(approved, "one", session="s")
    s.use("")
    outside = project.start(approved, "two")
    for workflow in (inside, outside):
        workflow.begin("plan").done("plan", {"plan": str(root / "plan.md")}).approve("plan")
    assert len(below(root, "approved")) == 2
    s.cancel("s")
    (kept,) = below(root, "approved")
    assert outside.ulid in kept
