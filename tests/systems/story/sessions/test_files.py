"""Files of a session: copied on the first write, read through until then, and seen when an editor wrote them."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from holdfast.errors import Conflict, NotFound, UsageError
from holdfast.plain.digest import digest
from tests.systems.story.sessions.scene import files


def test_a_new_session_has_an_empty_index_of_workflows_and_a_record(sessions, root):
    made = sessions.create("work-on_2", "the second chapter")
    folder = root / "workspace/sessions/work-on_2"
    assert json.loads((folder / "workflow-state/index.json").read_text()) == {"workflows": []}
    said = json.loads((folder / "session.json").read_text())
    assert said.items() <= made.items()
    assert said == {
        "name": "work-on_2",
        "description": "the second chapter",
        "created_at": said["created_at"],
        "created_by": said["created_by"],
        "status": "INACTIVE",
        "cow_files": [],
        "changes": {"modified": [], "created": [], "deleted": []},
        "human_retries": [],
        "stats": {
            "modified": 0,
            "created": 0,
            "deleted": 0,
            "artifacts": 0,
            "human_retries": 0,
            "size_bytes": 0,
        },
    }
    assert said["created_at"].endswith("Z")
    assert said["created_by"]


def test_a_name_is_given_once(s):
    with pytest.raises(Conflict) as refused:
        s.create("s")
    assert refused.value.code == "session_exists"


@pytest.mark.parametrize("name", ["", "a.b", "a/b", "..", "a b", "ä", "a\n", "x" * 65, ".staged"])
def test_a_name_is_letters_digits_hyphens_and_underscores(sessions, root, name):
    before = files(root)
    with pytest.raises(UsageError) as refused:
        sessions.create(name)
    assert refused.value.code == "bad_name"
    assert files(root) == before


def test_the_longest_name_is_64_characters(sessions):
    sessions.create("-" + "x" * 63)
    assert [one["name"] for one in sessions.list()] == ["-" + "x" * 63]


def test_what_is_not_there_is_not_found(sessions):
    for call in (sessions.use, sessions.status, sessions.preview, sessions.cancel):
        with pytest.raises(NotFound) as missing:
            call("nowhere")
        assert missing.value.code == "no_session"


def test_a_write_leaves_the_project_alone_and_is_read_back(s, root):
    assert s.read("s", "acts/one.md") == b"one as it was\n"
    assert s.write("s", "acts/one.md", b"changed\n") == "acts/one.md"
    assert (root / "acts/one.md").read_text() == "one as it was\n"
    assert (root / "workspace/sessions/s/acts/one.md").read_text() == "changed\n"
    assert s.read("s", "acts/one.md") == b"changed\n"


def test_a_copy_remembers_what_it_was_made_from(s, root):
    s.write("s", "acts/one.md", b"changed\n")
    s.write("s", "acts/new.md", b"new\n")
    s.write("s", "acts/one.md", b"changed again\n")
    said = json.loads((root / "workspace/sessions/s/session.json").read_text())
    copies = {copy["path"]: copy for copy in said["cow_files"]}
    assert copies["acts/one.md"]["base"] == digest(b"one as it was\n")
    assert (copies["acts/one.md"]["type"], copies["acts/one.md"]["size_bytes"]) == ("modified", 14)
    assert (copies["acts/new.md"]["type"], copies["acts/new.md"]["base"]) == ("created", "")
    assert said["changes"] == {"modified": ["acts/one.md"], "created": ["acts/new.md"], "deleted": []}


def test_the_path_to_edit_holds_a_copy_with_the_same_mode(s, root):
    (root / "acts/one.md").chmod(0o755)
    copy = s.path("s", "acts/one.md")
    assert copy == str(root / "workspace/sessions/s/acts/one.md")
    assert Path(copy).read_text() == "one as it was\n"
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o755
    assert s.status("s")["changes"]["modified"] == []
    Path(copy).write_text("by an editor\n")
    assert s.path("s", "acts/one.md") == copy
    assert s.read("s", "acts/one.md") == b"by an editor\n"
    assert s.status("s")["changes"]["modified"] == ["acts/one.md"]


def test_the_path_of_a_new_file_has_a_folder(s):
    copy = s.path("s", "acts/deep/er/new.md")
    assert os.path.isdir(os.path.dirname(copy))
    assert not os.path.exists(copy)
    assert s.status("s")["changes"]["created"] == []
    Path(copy).write_text("new\n")
    assert s.status("s")["changes"]["created"] == ["acts/deep/er/new.md"]


def test_a_file_may_be_named_by_its_full_path(s, root):
    assert s.write("s", str(root / "acts/one.md"), b"") == "acts/one.md"
    assert s.read("s", "acts/../acts/one.md") == b""


def test_a_deleted_file_is_gone_in_the_session_alone(s, root):
    s.delete("s", "acts/one.md")
    with pytest.raises(NotFound):
        s.read("s", "acts/one.md")
    with pytest.raises(NotFound):
        s.delete("s", "acts/one.md")
    assert (root / "acts/one.md").exists()
    assert s.status("s")["changes"]["deleted"] == ["acts/one.md"]
    s.write("s", "acts/one.md", b"back\n")
    assert s.read("s", "acts/one.md") == b"back\n"
    assert s.status("s")["changes"] == {"modified": ["acts/one.md"], "created": [], "deleted": []}


def test_deleting_a_file_that_the_session_created_leaves_no_trace(s):
    s.write("s", "acts/new.md", b"new\n")
    s.delete("s", "acts/new.md")
    assert s.status("s")["cow_files"] == []
    with pytest.raises(NotFound):
        s.delete("s", "acts/never.md")


def test_files_that_an_editor_puts_into_the_folder_count(s, root):
    folder = root / "workspace/sessions/s"
    (folder / "acts").mkdir()
    (folder / "acts/one.md").write_text("by an editor\n")
    (folder / "notes.md").write_text("new\n")
    assert s.preview("s")["modified"] == ["acts/one.md"]
    assert s.preview("s")["created"] == ["notes.md"]
    assert s.read("s", "notes.md") == b"new\n"


def test_a_copy_that_an_editor_removes_is_no_change(s, root):
    s.write("s", "acts/one.md", b"changed\n")
    (root / "workspace/sessions/s/acts/one.md").unlink()
    assert s.read("s", "acts/one.md") == b"one as it was\n"
    assert s.preview("s")["modified"] == s.preview("s")["deleted"] == []


def test_a_retry_is_noted_and_keeps_what_was_there(s, root):
    s.write("s", "acts/one.md", b"first try\n")
    note = s.retry("s", "acts/one.md", "too long")
    s.write("s", "acts/one.md", b"second try\n")
    assert (note["file"], note["reason"]) == ("acts/one.md", "too long")
    assert (root / "workspace/sessions/s" / note["kept"]).read_text() == "first try\n"
    assert s.status("s")["human_retries"] == [note]
    assert s.retry("s", "acts/one.md", "too short")["kept"] != note["kept"]


def test_fields_that_others_added_to_the_record_are_kept(s, root):
    path = root / "workspace/sessions/s/session.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "colour": "green"}))
    s.write("s", "acts/one.md", b"changed\n")
    assert json.loads(path.read_text())["colour"] == "green"
