"""`holdfast session …`: real commands in real processes, typed by an agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests import forked
from tests.systems.story.sessions.scene import files


@pytest.fixture
def holdfast(root):
    def run(*words, code=0, given="", cwd=root):
        command = [sys.executable, "-P", "-m", "holdfast", *words]
        done = subprocess.run(command, cwd=cwd, input=given, capture_output=True, text=True)
        assert done.returncode == code, done
        assert "Traceback" not in done.stderr
        return done.stdout if "--json" not in words else json.loads(done.stdout)

    return run


def test_a_session_from_its_beginning_to_its_commit(holdfast, root, tmp_path):
    made = holdfast("session", "create", "s", "--description", "chapter two", "--json")
    assert (made["name"], made["description"], made["status"]) == ("s", "chapter two", "INACTIVE")
    assert holdfast("session", "use", "s", "--json") == {"active": "s", "before": ""}
    holdfast("session", "write", "one.md", given="from standard input\n", cwd=root / "acts")
    (tmp_path / "text").write_text("from a file\n")
    holdfast("session", "write", "acts/new.md", "--from", str(tmp_path / "text"))
    assert holdfast("session", "read", "acts/one.md") == "from standard input\n"
    assert holdfast("session", "read", "acts/one.md", "--json")["content"] == "from standard input\n"
    copy = holdfast("session", "path", "acts/three.md").strip()
    assert copy == str(root / "workspace/sessions/s/acts/three.md")
    holdfast("session", "delete", "acts/two.md")
    holdfast("session", "retry", "acts/one.md", "--reason", "too long")
    said = holdfast("session", "status", "--json")
    assert said["status"] == "ACTIVE"
    assert said["changes"] == {"modified": ["acts/one.md"], "created": ["acts/new.md"], "deleted": ["acts/two.md"]}
    assert "~ acts/one.md" in holdfast("session", "status", "s")
    assert [one["name"] for one in holdfast("session", "list", "--json")["sessions"]] == ["s"]
    assert "holdfast session commit s --force" in holdfast("session", "commit", "s")
    assert holdfast("session", "commit", "s", "--json")["committed"] is False
    assert (root / "acts/two.md").exists()
    assert holdfast("session", "commit", "s", "--force", "--json")["committed"] is True
    assert files(root)["acts/one.md"] == b"from standard input\n"
    assert files(root)["acts/new.md"] == b"from a file\n"
    assert not (root / "acts/two.md").exists()
    assert holdfast("session", "list", "--json") == {"sessions": [], "total": 0}


def test_a_conflict_has_its_exit_code_and_is_settled_by_keep(holdfast, root):
    holdfast("session", "create", "s")
    holdfast("session", "write", "acts/one.md", "--session", "s", given="mine\n")
    (root / "acts/one.md").write_text("theirs\n")
    assert "acts/one.md: changed" in holdfast("session", "commit", "s")
    error = holdfast("session", "commit", "s", "--force", "--json", code=5)["error"]
    assert error["code"] == "session_conflict"
    assert error["facts"]["conflicts"] == [{"path": "acts/one.md", "reason": "changed"}]
    holdfast("session", "keep", "acts/one.md", "--session", "s")
    holdfast("session", "commit", "s", "--force")
    assert (root / "acts/one.md").read_text() == "mine\n"


def test_the_ways_out_of_a_conflict_are_about_the_session_that_has_it(holdfast, root):
    for name in ("s1", "s2"):
        holdfast("session", "create", name)
        holdfast("session", "write", "acts/one.md", "--session", name, given=f"of {name}\n")
    (root / "acts/one.md").write_text("late\n")
    holdfast("session", "use", "s2")
    error = holdfast("session", "commit", "s1", "--force", "--json", code=5)["error"]
    ways = [one["command"] for one in error["remedies"] if "command" in one]
    sides = [f"holdfast session {side} acts/one.md --session s1" for side in ("keep", "drop")]
    assert ways == sides
    holdfast(*ways[0].split()[1:])
    assert holdfast("session", "commit", "s2", "--force", "--json", code=5)["error"]["code"] == "session_conflict"
    assert (root / "acts/one.md").read_text() == "late\n"


def test_a_copy_that_is_dropped_is_kept_aside_and_the_project_s_file_holds(holdfast, root):
    holdfast("session", "create", "s")
    holdfast("session", "write", "acts/one.md", "--session", "s", given="mine\n")
    holdfast("session", "delete", "acts/two.md", "--session", "s")
    (root / "acts/one.md").write_text("theirs\n")
    (root / "acts/two.md").write_text("theirs\n")
    error = holdfast("session", "commit", "s", "--force", "--json", code=5)["error"]
    assert "PATH" in error["remedy"]
    kept = holdfast("session", "drop", "acts/one.md", "--session", "s", "--json")["kept"]
    assert (root / kept).read_text() == "mine\n"
    assert holdfast("session", "drop", "acts/two.md", "--session", "s", "--json")["kept"] == ""
    assert holdfast("session", "drop", "acts/two.md", "--session", "s", "--json", code=4)["error"]["code"] == "no_file"
    holdfast("session", "commit", "s", "--force")
    assert [(root / f"acts/{name}.md").read_text() for name in ("one", "two")] == ["theirs\n"] * 2


def test_leaving_a_session_and_having_none(holdfast):
    assert holdfast("session", "use", "--json", code=2)["error"]["code"] == "bad_usage"
    assert holdfast("session", "status", "--json", code=4)["error"]["code"] == "no_session"
    assert holdfast("session", "read", "acts/one.md", "--json", code=4)["error"]["code"] == "no_session"
    holdfast("session", "create", "s")
    holdfast("session", "use", "s")
    assert holdfast("session", "use", "--none", "--json") == {"active": "", "before": "s"}
    assert holdfast("session", "create", "../x", "--json", code=2)["error"]["code"] == "bad_name"


def test_an_agent_cancels_only_with_yes(holdfast, root):
    holdfast("session", "create", "s")
    refused = holdfast("session", "cancel", "s", "--json", code=2)["error"]
    assert (refused["code"], refused["remedy"]) == ("not_confirmed", "holdfast session cancel s --yes")
    assert (root / "workspace/sessions/s").exists()
    holdfast("session", "cancel", "s", "--yes")
    assert not (root / "workspace/sessions/s").exists()


@pytest.mark.parametrize(("answer", "is_gone"), [(b"y\n", True), (b"\n", False)])
def test_a_person_is_asked_before_a_session_is_cancelled(holdfast, root, answer, is_gone):
    holdfast("session", "create", "s")
    ours, theirs = forked.terminal()
    words, ends = ("session", "cancel", "s"), (theirs, theirs, theirs)
    process = forked.start(words, ends, env=dict(os.environ), cwd=root, session=True)
    os.close(theirs)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(ours, 4096)
    os.write(ours, answer)
    code = process.wait()
    os.close(ours)
    assert code == (0 if is_gone else 1)
    assert (root / "workspace/sessions/s").exists() is not is_gone
