"""Projects that belong to another user: read by anybody who may, and left alone until a person trusts the owner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.core.naming import NAMES
from tests.tiers import need, rows
from tests.workbench import Bench

HOLDFAST = str(Path(sys.executable).parent / "holdfast")
STRANGER = 12345
DEFINITION = """\
name = "r"
[[step]]
id = "a"
checks = [ { name = "t", run = ["touch", "ran"], run_by = "engine" } ]
"""
READS = ("status", "next", "show", "list", "log", "resume-packet", "metrics", "diagram", "doctor", "workflows")
OUTSIDE = ("demo", "mcp", "hook", "statusline", "completion", "schema", "wait", "feature init")
"""Commands that write nothing into a project, or need more than a line to say what."""
GIVEN = {
    "start": ("r", "x"),
    "done": ("a", "-m", "m"),
    "check": ("t", "--run"),
    "workflows new": ("other",),
    "workflows check": (".holdfast/workflows/r.toml",),
    "install": ("claude-code",),
    "uninstall": ("claude-code",),
    "doctor": ("--repair",),
    "clean": ("--all", "--active", "--yes"),
    "set": ("k=v",),
    "session create": ("s",),
}


@pytest.fixture
def bench(tmp_path) -> Bench:
    """Somebody else's project, with a workflow whose check nobody but them has trusted."""
    need("root")
    made = Bench(tmp_path / "project")
    made.write(".holdfast/workflows/r.toml", DEFINITION)
    made.open().start("r").begin("a")
    return made


@pytest.fixture
def theirs(bench) -> Bench:
    for folder, _, files in os.walk(bench.root):
        os.chown(folder, STRANGER, STRANGER)
        for name in files:
            os.chown(os.path.join(folder, name), STRANGER, STRANGER)
    return bench


def files(root: Path) -> dict[str, tuple[int, bytes]]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in found}


def test_it_can_be_read(theirs):
    before = files(theirs.root)
    for words in READS:
        assert theirs.ok(words).code == 0
    said = theirs.ok("status", "--json").json["blockers"][0]
    assert said["kind"] == "read_only"
    assert f"belongs to uid {STRANGER}, and you are root (uid 0)" in said["message"]
    assert files(theirs.root) == before


@pytest.mark.parametrize(
    "name", rows([name for name in NAMES if name not in OUTSIDE], lambda name: str(name).split()[0])
)
def test_no_command_writes_or_runs_anything(theirs, name):
    """Whatever a command says, the project is as it was. Arguments that it lacks are filled in as it names them."""
    before = files(theirs.root)
    words = GIVEN.get(name, ("a", "x.md")[: NAMES[name][1].count("STEP") + NAMES[name][1].count("PATH")])
    answer = theirs.agent(*name.split(), *words)
    person = theirs.person(*name.split(), *words, says="y") if name not in ("trust",) else answer
    assert files(theirs.root) == before, (answer, person)


def test_a_check_that_was_trusted_does_not_run_there(theirs):
    Path(os.environ["XDG_CONFIG_HOME"], "holdfast").mkdir()
    assert theirs.agent("check", "t", "--run", "--json").error["code"] == "untrusted_owner"
    assert not (theirs.root / "ran").exists()


def test_a_folder_above_that_is_a_strangers_is_left_alone(theirs):
    """Where somebody puts `.holdfast` into a folder that all share, those who work below it are not made to use it."""
    own = theirs.root / "own"
    own.mkdir()
    before = files(theirs.root)
    answer = theirs.agent("note", "x", "--json", cwd=own)
    assert (answer.code, answer.error["code"]) == (3, "untrusted_owner")
    assert str(theirs.root) in answer.error["message"]
    assert files(theirs.root) == before


def test_the_remedy_works_as_it_is_typed(theirs):
    refused = theirs.agent("note", "x", "--json")
    assert refused.error["remedies"][0] == {"who": "agent", "text": "show this to a person and stop"}
    command = refused.error["remedies"][1]["command"]
    assert command == f"holdfast trust {theirs.root} --owner"
    assert theirs.agent(*command.split()[1:], "--json").error["code"] == "person_needed"
    declined = theirs.person(*command.split()[1:], says="n")
    assert f"belongs to uid {STRANGER}" in declined.out
    assert theirs.agent("note", "x").code == 3
    assert theirs.person(*command.split()[1:], says="y").code == 0
    theirs.ok("note", "x")
    assert theirs.person("trust", "--owner", "--remove").code == 0
    assert theirs.agent("note", "x").code == 3


def test_trust_is_in_one_user_and_one_project(theirs, tmp_path):
    assert theirs.person("trust", "--owner", "--yes").code == 0
    theirs.ok("note", "x")
    os.chown(theirs.root, STRANGER + 1, -1)
    assert theirs.agent("note", "x", "--json").error["facts"]["owner"] == STRANGER + 1
    os.chown(theirs.root, STRANGER, -1)
    moved = tmp_path / "moved"
    theirs.root.rename(moved)
    assert theirs.agent("note", "x", "--json", cwd=moved).error["code"] == "untrusted_owner"


def test_an_image_trusts_what_lies_below_a_folder_by_its_configuration(theirs):
    config = Path(os.environ["XDG_CONFIG_HOME"], "holdfast", "config.toml")
    config.parent.mkdir()
    config.write_text(f"trust = [{json.dumps(str(theirs.root.parent))}]\n")
    theirs.ok("note", "x")
    theirs.ok("check", "t", "--run")
    assert (theirs.root / "ran").exists()


def test_with_sudo_the_command_is_to_be_run_without_it(theirs):
    answer = theirs.person("note", "x", env={"SUDO_UID": str(STRANGER)})
    assert "run the same command without sudo" in answer.out


def test_what_root_owns_is_nobodys_stranger(bench):
    """The usual owner of a volume in a container: whether a user writes there is up to its permissions."""
    subprocess.run(["chmod", "-R", "a+rwX", bench.root], check=True)
    right = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    user = ("setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", *right)
    done = subprocess.run((*user, HOLDFAST, "note", "x"), cwd=bench.root, capture_output=True, text=True)
    assert done.returncode == 0, done


def test_hooks_leave_nothing_there_and_hand_no_text_of_a_stranger_to_the_agent(theirs):
    before = files(theirs.root)
    event: dict = {"session_id": "s", "cwd": str(theirs.root), "source": "compact", "tool_name": "Write", "prompt": "r"}
    event["tool_input"] = {"file_path": str(theirs.root / "x")}
    said = {}
    for name in ("SessionStart", "PreCompact", "Stop", "UserPromptSubmit", "PostToolUse", "SessionEnd"):
        sent = json.dumps({**event, "hook_event_name": name}).encode()
        said[name] = subprocess.run((HOLDFAST, "hook"), input=sent, capture_output=True, check=True).stdout.decode()
    subprocess.run((HOLDFAST, "statusline"), input=json.dumps(event).encode(), capture_output=True, check=True)
    context = json.loads(said.pop("SessionStart"))["hookSpecificOutput"]["additionalContext"]
    assert f"holdfast trust {theirs.root} --owner" in context
    assert "WORKFLOW RESUMED" not in context
    assert not any(said.values())
    assert files(theirs.root) == before


def test_what_root_writes_in_a_trusted_project_stays_its_owners(theirs):
    """Else the owner, outside of the container, could not read the journal any more."""
    assert theirs.person("trust", "--owner", "--yes").code == 0
    theirs.ok("start", "r", "two")
    theirs.ok("note", "x", "-w", theirs.ok("list", "--json").json["workflows"][0]["ulid"])
    event: dict = {"session_id": "s", "cwd": str(theirs.root), "reason": "clear", "hook_event_name": "SessionEnd"}
    for words in (("hook",), ("statusline",)):
        subprocess.run((HOLDFAST, *words), input=json.dumps(event).encode(), check=True, capture_output=True)
    assert (theirs.root / ".holdfast/statusline").exists()
    assert [str(path) for path in theirs.root.rglob("*") if path.lstat().st_uid != STRANGER] == []
