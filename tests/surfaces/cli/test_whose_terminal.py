"""Whose terminal it is: a person's word is taken at a terminal of their own, for a key pressed after the question.

Each test runs real processes at a real terminal, detached from whatever runs the tests. An agent host is a program with
the name of one.
"""

from __future__ import annotations

import os
import pty
import select
import sys
import time
from pathlib import Path

import pytest

from tests import forked
from tests.surfaces.cli.conftest import Project
from tests.tiers import need

PATIENCE = 60
APPROVE = "holdfast approve sign-off"
RUNS = '"$@"; exit $?'
"""What a host does: it runs what it is told, and stays above it."""


class Desk:
    """A person's terminal, with a shell line in it; whatever asks a question there gets an answer."""

    def __init__(self, project: Project, programs: Path) -> None:
        self.project, self.programs = project, programs
        path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.env = {**project.env, "PATH": path, "TERM": "xterm", "TMUX_TMPDIR": str(programs), "SHELL": "/bin/sh"}
        self.env["SCREENDIR"] = str(programs / "screens")
        (programs / "screens").mkdir(mode=0o700)

    def host(self, name: str, does: str = RUNS) -> str:
        path = self.programs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)
        return str(path)

    def types(self, line: str, *, answer: str = "y", ahead: str = "", until: Path | None = None) -> str:
        """All that is shown until the line has ended, or there is a file."""
        primary, secondary = pty.openpty()
        if ahead:
            os.write(primary, ahead.encode())
        ends = (secondary, secondary, secondary)
        words = ["sh", "-c", line]
        process = forked.Process(words, ends, env=self.env, cwd=self.project.root, session=True, program=words)
        os.close(secondary)
        out, answered, deadline = b"", 0, time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not (until and until.exists()):
            if not select.select([primary], [], [], 0.1)[0]:
                continue
            try:
                out += os.read(primary, 65536)
            except OSError:  # the other end of the terminal is gone
                break
            if out.count(b"[y/N] ") + out.count(b"[Y/n] ") > answered:
                answered += 1
                os.write(primary, f"{answer}\n".encode())
        if until and until.exists():
            process.kill()
        process.wait()
        os.close(primary)
        return out.decode(errors="replace").replace("\r\n", "\n")

    @property
    def approved(self) -> bool:
        return self.project.step("sign-off") == "done"


@pytest.fixture
def desk(project, tmp_path):
    project.until("sign-off").ok("begin", "sign-off")
    folder = tmp_path / "programs"
    folder.mkdir()
    return Desk(project, folder)


def test_a_person_approves_with_a_key_pressed_after_the_question(desk):
    shown = desk.types(APPROVE)
    assert "Approve sign-off? [y/N] y" in shown
    assert desk.approved


@pytest.mark.parametrize("line", [APPROVE, f"{APPROVE} --yes", f"{APPROVE} --yes --json"])
def test_what_was_typed_before_the_question_does_not_count(desk, line):
    """Not even where the answer is given with the command: the key is pressed after the question."""
    shown = desk.types(f"sleep 0.2; {line}", ahead="y\ny\ny\n", answer="n")
    assert "Approve sign-off? [" in shown
    assert not desk.approved


def test_with_yes_the_key_is_enter(desk):
    assert "[Y/n]" in desk.types(f"{APPROVE} --yes", answer="")
    assert desk.approved


def test_a_command_without_a_question_of_its_own_takes_a_key_too(desk):
    desk.project.ok("done", "sign-off")
    assert "nobody confirmed it" in desk.types("holdfast reject sign-off --feedback more", answer="n")
    assert desk.project.step("sign-off") == "waiting"
    assert "Reject sign-off? [Y/n]" in desk.types("holdfast reject sign-off", answer="")
    assert desk.project.step("sign-off") == "failed"


CHEATS = {
    "as it is": APPROVE,
    "without its variables": f"env -u CLAUDECODE -i PATH=$PATH HOME=$HOME {APPROVE}",
    "script": f"script -qec '{APPROVE}' /dev/null",
    "setsid": f"setsid --ctty --wait {APPROVE}",
    "nohup": f"nohup {APPROVE}",
    "pty.spawn": f"python3 -c 'import pty; pty.spawn(\"{APPROVE}\".split())'",
    "another name": f"sh -c 'exec -a bash {APPROVE}'",
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_an_agent_host_above_is_seen_whatever_lies_between(desk, cheat):
    line = CHEATS[cheat].replace("sh -c 'exec -a", "bash -c 'exec -a")
    shown = desk.types(f"{desk.host('claude')} {line}")
    assert "this terminal is no person's: claude (process" in shown or cheat in ("nohup",), shown
    assert not desk.approved


@pytest.mark.parametrize(
    "program",
    ["codex", "opencode", "cursor-agent", "lib/@anthropic-ai/claude-code/cli.js", "share/claude/versions/2.1.0"],
)
def test_a_host_goes_by_its_name_or_by_its_package(desk, program):
    assert "this terminal is no person's" in desk.types(f"{desk.host(program)} {APPROVE}")
    assert not desk.approved


@pytest.mark.parametrize("program", ["code", "idea", "emacs", "nvim", "make"])
def test_the_terminal_of_an_editor_is_a_persons(desk, program):
    desk.types(f"{desk.host(program)} script -qec '{APPROVE}' /dev/null")
    assert desk.approved


def test_who_left_the_shell_of_the_terminal_is_no_person(desk, tmp_path):
    """A process that an agent left behind still has the person's terminal, and none of its ancestors."""
    said = tmp_path / "said"
    left = f"({APPROVE} </dev/tty 2>{said}; echo >{said}.end) &"
    desk.types(f"{desk.host('claude')} sh -c '{left}'; sleep 30", until=Path(f"{said}.end"))
    assert "it was detached from the shell of its terminal" in said.read_text() or "claude" in said.read_text()
    assert not desk.approved


MULTIPLEXERS = {
    "tmux": ("tmux -L own -f /dev/null new-session -d", "tmux -L own attach", "tmux -L own kill-server"),
    "screen": ("screen -c /dev/null -S own -dm", "screen -r own", "screen -S own -X quit"),
}


@pytest.mark.parametrize("program", MULTIPLEXERS)
def test_a_multiplexer_that_nobody_is_attached_to_is_no_persons(desk, tmp_path, program):
    need(program)
    said = tmp_path / "said"
    start, _, end = MULTIPLEXERS[program]
    inside = desk.host("inside", f"{APPROVE} 2>{said}; echo >{said}.end; sleep 30")
    desk.types(f"{desk.host('claude')} {start} {inside}; sleep 30", until=Path(f"{said}.end"))
    desk.types(end)
    assert "nobody is attached to" in said.read_text()
    assert not desk.approved


@pytest.mark.parametrize("program", MULTIPLEXERS)
@pytest.mark.parametrize("host", ["claude", "code"])
def test_behind_a_multiplexer_its_client_counts(desk, tmp_path, program, host):
    """A client below an agent host is the agent's, any other a person's, whoever started the server."""
    need(program)
    said = tmp_path / "said"
    start, attach, end = MULTIPLEXERS[program]
    wait = f"while [ ! -e {said}.go ]; do sleep 0.1; done"
    inside = desk.host("inside", f"{wait}; {APPROVE} 2>{said}; echo >{said}.end; sleep 30")
    attaching = f"(sleep 1; echo >{said}.go) & {desk.host(host)} {attach}"
    desk.types(f"{start} {inside}; {attaching}", until=Path(f"{said}.end"))
    desk.types(end)
    assert desk.approved is (host == "code")
    if host == "claude":
        assert "this terminal is no person's: claude (process" in said.read_text()


def test_a_program_is_no_person_at_whatever_terminal_it_runs(desk):
    program = "import holdfast; holdfast.open('.').workflow().approve('sign-off')"
    assert "only a person may approve sign-off" in desk.types(f'python3 -c "{program}"')
    assert not desk.approved
