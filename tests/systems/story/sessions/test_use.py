"""Which session is in use: it outlives the process that said so."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import holdfast
from holdfast.errors import Broken
from holdfast.systems.story.sessions import Sessions


def lock(root):
    return json.loads((root / "workspace/session.lock").read_text())


def elsewhere(root, code):
    """Runs Python in another process, which is over when this returns."""
    lines = (
        "import holdfast\nfrom holdfast.systems.story.sessions import Sessions\n"
        f"s = Sessions(holdfast.open({str(root)!r}).wired)\n{code}"
    )
    subprocess.run([sys.executable, "-P", "-c", lines], check=True, env=os.environ)


def test_one_session_at_a_time_is_in_use(sessions, root):
    sessions.create("a")
    sessions.create("b")
    assert sessions.active() == ""
    assert sessions.use("a") == ""
    assert sessions.use("b") == "a"
    assert sessions.active() == "b"
    said = lock(root)
    assert (said["active"], said["pid"]) == ("b", os.getpid())
    assert said["user"]
    assert said["updated_at"]
    assert {one["name"]: one["status"] for one in sessions.list()} == {"a": "INACTIVE", "b": "ACTIVE"}
    written = [json.loads((root / f"workspace/sessions/{n}/session.json").read_text())["status"] for n in "ab"]
    assert written == ["INACTIVE", "ACTIVE"]
    assert sessions.use("") == "b"
    assert sessions.active() == ""
    assert not (root / "workspace/session.lock").exists()


def test_a_process_that_ended_leaves_its_session_in_use_and_the_next_takes_over(sessions, root):
    elsewhere(root, "s.create('a'); s.use('a')")
    dead = lock(root)["pid"]
    assert dead != os.getpid()
    assert sessions.active() == "a"
    assert sessions.status("a")["status"] == "ACTIVE"
    sessions.write("a", "acts/one.md", b"changed\n")
    assert lock(root)["pid"] == os.getpid()


def test_a_session_is_crashed_when_its_process_died_in_the_middle_of_a_write_until_somebody_goes_on(s, root):
    elsewhere(root, "s.write('s', 'acts/one.md', b'first')")
    staged = root / "workspace/sessions/.staged/s"
    staged.write_text("half of")
    assert s.status("s")["status"] == "CRASHED"
    assert s.read("s", "acts/one.md") == b"first"
    s.write("s", "acts/two.md", b"second")
    assert s.status("s")["status"] == "ACTIVE"
    assert not staged.exists()


@pytest.mark.parametrize(
    "said", ["", "{", "[]", '{"active": "../x"}', '{"active": 7}', '{"active": "gone", "pid": "x"}']
)
def test_a_lock_that_says_nothing_sensible_is_no_obstacle(s, root, said):
    (root / "workspace/session.lock").write_text(said)
    assert s.active() == ""
    s.use("s")
    assert s.active() == "s"


def test_a_record_that_cannot_be_read_is_reported_and_can_be_cancelled(s, root):
    (root / "workspace/sessions/s/session.json").write_text('{"cow_files": [1]}')
    for call in (s.status, s.preview, lambda name: s.write(name, "acts/one.md", b"x")):
        with pytest.raises(Broken) as broken:
            call("s")
        assert broken.value.code == "session_broken"
    assert "error" in s.list()[0]
    s.cancel("s")
    assert s.list() == []


def test_looking_at_sessions_writes_nothing(tmp_path):
    sessions = Sessions(holdfast.open(str(tmp_path)).wired)
    assert (sessions.list(), sessions.active(), sessions.recover()) == ([], "", [])
    assert os.listdir(tmp_path) == []
