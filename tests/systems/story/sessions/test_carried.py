"""What a committed session leaves in the project: paths that lead to the files."""

from __future__ import annotations

import pytest

import holdfast
from holdfast.systems.story.sessions import Sessions

STORY = {"name": "tale", "dialect": "story", "step": [{"id": "write", "outputs": ["draft", "log"]}]}


def test_outputs_that_are_copies_of_project_files_are_named_where_the_project_has_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acts").mkdir()
    project = holdfast.open(str(tmp_path))
    sessions = Sessions(project.wired)
    sessions.create("dusk")
    workflow = project.start(STORY, "one", session="dusk")
    copy = sessions.write("dusk", "acts/one.md", b"prose\n")
    log = f"workspace/sessions/dusk/generation-runs/{workflow.id}/log.txt"
    (tmp_path / log).write_text("log\n")
    assert copy
    workflow.begin("write").done("write", {"draft": "workspace/sessions/dusk/acts/one.md", "log": log})
    sessions.commit("dusk", force=True)
    found = holdfast.open(str(tmp_path)).workflow(workflow.ulid).state.step("write").artifacts
    assert {name: artifact.path for name, artifact in found.items()} == {
        "draft": "acts/one.md",
        "log": f"workspace/generation-runs/{workflow.id}/log.txt",
    }
    assert all((tmp_path / artifact.path).is_file() for artifact in found.values())


def test_a_file_that_the_session_deleted_is_not_copied_back_unasked(tmp_path):
    (tmp_path / "a.md").write_text("a\n")
    sessions = Sessions(holdfast.open(str(tmp_path)).wired)
    sessions.create("dusk")
    sessions.delete("dusk", "a.md")
    with pytest.raises(holdfast.Refused) as refused:
        sessions.path("dusk", "a.md")
    assert refused.value.code == "deleted_here"
