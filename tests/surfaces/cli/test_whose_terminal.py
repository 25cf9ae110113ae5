"""Whose terminal it is: a person's word is taken at a terminal of their own, for a key pressed after the question.

Each test runs real processes at a real terminal, detached from whatever runs the tests. An agent host is a program with
the name of one.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.surfaces.cli.desk import APPROVE
from tests.tiers import need

FORGEABLE = Path(__file__).parents[3] / "docs/explanation/gates-and-trust.md"


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
    assert "sign-off was not rejected" in desk.types("holdfast reject sign-off --feedback more", answer="n")
    assert desk.project.step("sign-off") == "waiting"
    assert "not confirmed; nothing was changed" in desk.types("holdfast extend --iterations 1", answer="n")
    shown = desk.types("holdfast extend --iterations 1", answer="")
    assert "Extend the bound on iterations from 5 to 6? [Y/n]" in shown
    assert "the bounds are now: iterations 6" in shown


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
    if cheat == "setsid":
        need("root")  # nobody else may take a terminal from its session
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


def test_a_refusal_says_once_why_a_terminal_is_no_persons(desk):
    for command in ("holdfast web --port 0", APPROVE):
        assert desk.types(f"{desk.host('claude')} {command}").count("claude (process") == 1


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


def test_what_is_started_by_the_clock_is_no_person(desk, tmp_path):
    """By `at`, with a terminal that the job makes for itself. The jobs of the machine are left alone."""
    need("root", "mounts", "script", "atd")
    said, spool = tmp_path / "said", "/var/spool/cron"
    asks = desk.host("asks", f"cd {desk.project.root}; {APPROVE} 2>{said}.err; mv {said}.err {said}")
    job = desk.host("job", f"(sleep 2; echo y; sleep 2) | script -qec {asks} /dev/null")
    own = f"mount -t tmpfs own {spool}; mkdir {spool}/atjobs {spool}/atspool; touch {spool}/atjobs/.SEQ"
    runs = desk.host("runs", f"{own}; chown -R daemon:daemon {spool}; echo {job} | at now; atd -s; sleep 30")
    desk.types(f"timeout --foreground 40 unshare --mount --pid --fork --kill-child --mount-proc {runs}", until=said)
    assert "this terminal is no person's" in said.read_text()
    assert not desk.approved


PUSH = """\
import fcntl, os, sys, termios, time
terminal = os.open("/dev/tty", os.O_RDWR)
def push(line):
    for key in line.encode():
        fcntl.ioctl(terminal, termios.TIOCSTI, bytes([key]))
push(sys.argv[1] + "\\n")
while not os.path.exists(sys.argv[2]):
    time.sleep(0.5)
    push("y\\n")
"""
SENDS = {
    "tmux send-keys": (
        "tmux -L own -f /dev/null new-session sh",
        "tmux -L own send-keys '{}' Enter",
        "tmux -L own capture-pane -p",
    ),
    "screen -X stuff": (
        "screen -c /dev/null -S own sh",
        "screen -S own -X stuff '{}^M'",
        "screen -S own -X hardcopy shown; cat shown",
    ),
}
"""How a person opens it, how an agent sends keys to it, and how it sees the question."""


def forged(desk, line: str, end: Path) -> None:
    """No program of the same user can tell. So the question names what is approved, and the page names the way."""
    out = desk.types(line, answer=None, until=end)
    assert desk.approved
    assert "Approve sign-off?" in out


@pytest.mark.parametrize("way", SENDS)
def test_keys_that_an_agent_sends_to_a_persons_terminal_are_told_from_no_others(desk, tmp_path, way):
    need(way.partition(" ")[0])
    end, (opens, sends, shows) = tmp_path / "end", SENDS[way]
    sent = sends.format(f"{APPROVE}; echo >{end}; exit"), sends.format("y")
    agent = desk.host("agent", f"sleep 2; {sent[0]}; until ({shows}) | grep -q y/N; do sleep 0.2; done; {sent[1]}")
    runs = f"setsid {desk.host('claude')} {agent} </dev/null >/dev/null 2>&1 & {opens}"
    forged(desk, f"timeout --foreground 50 sh -c {shlex.quote(runs)}", end)
    assert f"`{way}`" in FORGEABLE.read_text()


def test_keys_that_an_agent_pushes_into_its_own_terminal_are_told_from_no_others(desk, tmp_path):
    need("TIOCSTI")
    end, push = tmp_path / "end", tmp_path / "push.py"
    push.write_text(PUSH)
    agent = desk.host("agent", f"sleep 2; python3 {push} '{APPROVE}; echo >{end}; exit' {end}")
    forged(desk, f"{desk.host('claude')} {agent} </dev/null >/dev/null 2>&1 & sh -i", end)
    assert "`TIOCSTI`" in FORGEABLE.read_text()


def test_a_program_is_no_person_at_whatever_terminal_it_runs(desk):
    program = "import holdfast; holdfast.open('.').workflow().approve('sign-off')"
    assert "only a person may approve sign-off" in desk.types(f'python3 -c "{program}"')
    assert not desk.approved
