"""Which files a session may hold: nothing of Holdfast or git, and nothing outside of the project."""

from __future__ import annotations

import os

import pytest

from holdfast.errors import Conflict, UsageError
from tests.systems.story.sessions.scene import files

REFUSED = [
    "session.json",
    "workflow-state/a.json",
    "generation-runs/a",
    "planning-runs/a",
    "deleted-archive/a",
    "retries-archive/a",
    "logs/a",
    ".holdfast/config.toml",
    ".git/hooks/post-commit",
    ".GIT/config",
    "acts/.git/config",
    "workspace/sessions/t/acts/one.md",
    "workspace/workflow-state/a.json",
    "workspace/session.lock",
    "../outside.md",
    "/etc/passwd",
    "acts",
    "acts/a\nb.md",
    "a\0b",
    "x" * 1001,
    "",
    ".",
]


@pytest.mark.parametrize("path", REFUSED)
def test_a_path_that_is_not_the_sessions_to_change_is_refused(s, root, path):
    before = files(root)
    for call in (s.path, s.read, s.delete, lambda name, file: s.write(name, file, b"x")):
        with pytest.raises(UsageError):
            call("s", path)
    assert files(root) == before


def test_a_link_that_leads_out_is_refused(s, root, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/one.md").write_text("outside\n")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "file.md").symlink_to(tmp_path / "outside/one.md")
    (root / ".git").mkdir()
    (root / "hidden").symlink_to(root / ".git")
    for path in ("out/one.md", "file.md", "hidden/config"):
        with pytest.raises(UsageError):
            s.write("s", path, b"x")
    assert (tmp_path / "outside/one.md").read_text() == "outside\n"


def test_a_link_inside_the_project_names_the_file_it_leads_to(s, root):
    (root / "short").symlink_to("acts")
    assert s.write("s", "short/one.md", b"changed\n") == "acts/one.md"
    assert s.read("s", "acts/one.md") == b"changed\n"


def test_a_link_in_the_sessions_folder_is_not_written_through(s, root, tmp_path):
    (tmp_path / "outside").mkdir()
    (root / "workspace/sessions/s/acts").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError) as refused:
        s.write("s", "acts/one.md", b"x")
    assert refused.value.code == "symlink"
    assert os.listdir(tmp_path / "outside") == []


def test_a_link_in_place_of_a_sessions_folder_is_no_session(sessions, root, tmp_path):
    (tmp_path / "outside").mkdir()
    (root / "workspace/sessions").mkdir(parents=True)
    (root / "workspace/sessions/t").symlink_to(tmp_path / "outside")
    for call in (sessions.create, sessions.use, sessions.cancel, lambda name: sessions.commit(name, force=True)):
        with pytest.raises(UsageError):
            call("t")
    assert (tmp_path / "outside").exists()
    assert "error" in sessions.list()[0]


def test_what_an_editor_put_into_the_folder_and_must_not_be_committed_is_reported(s, root, tmp_path):
    folder = root / "workspace/sessions/s"
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / ".git/hooks/post-commit").write_text("#!/bin/sh\n")
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "workspace/workflow-state").mkdir(parents=True)
    (folder / "workspace/workflow-state/forged.json").write_text("{}")
    (root / "hidden").symlink_to(root / ".holdfast")
    (folder / "hidden").mkdir()
    (folder / "hidden/config.toml").write_text("")
    s.write("s", "acts/one.md", b"changed\n")
    before = files(root)
    with pytest.raises(Conflict) as refused:
        s.commit("s", force=True)
    found = refused.value.facts["conflicts"]
    assert isinstance(found, list)
    assert {one["path"]: one["reason"] for one in found} == {
        ".git/hooks/post-commit": "path_refused",
        "link.md": "symlink",
        "workspace/workflow-state/forged.json": "path_refused",
        "hidden/config.toml": "path_refused",
    }
    assert files(root) == before
