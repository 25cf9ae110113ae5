"""The hook as a host runs it: what it answers, notes and logs, whatever it is sent and wherever it stands."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import stat
import subprocess
import sys

import pytest

from holdfast.surfaces.hooks import quick
from tests.surfaces.hooks.conftest import COMMAND, RUN, denied, edit

# Before a tool


def committed(root):
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    (root / "a.py").write_text("committed\n")
    subprocess.run(["git", "-C", root, "add", "a.py"], check=True)
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", root, *who, "commit", "-q", "-m", "a"], check=True)
    (root / "a.py").write_text("not committed\n")
    (root / "new.py").write_text("new\n")


def pinned(root, path):
    listing = ["git", "-C", root, "for-each-ref", "--format=%(refname)", "refs/holdfast/pins/"]
    names = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split()
    shown = (subprocess.run(["git", "-C", root, "show", f"{name}:{path}"], capture_output=True) for name in names)
    return [one.stdout.decode() for one in shown if one.returncode == 0]


@pytest.mark.parametrize(
    "line",
    [
        "git reset --hard",
        "cd src && git -C .. checkout -- a.py",
        "git checkout -f HEAD~1",
        "git restore .",
        "git clean -fd",
        "git stash && git stash drop",
        "git stash drop",
        "git read-tree -u --reset HEAD",
        "git checkout-index -fa",
        "git rebase --abort",
        "git merge --abort",
        "git pull --rebase --autostash",
        "xargs git checkout -- < l",
        "git rm -f a.py",
    ],
)
def test_what_is_not_committed_is_kept_before_git_throws_it_away(project, line):
    committed(project.root)
    project.active()
    assert project.hook("PreToolUse", tool_name="Bash", tool_input={"command": line}) == b""
    assert pinned(project.root, "a.py") == ["not committed\n"]
    assert pinned(project.root, "new.py") == ["new\n"]


def test_a_stash_is_kept_before_it_is_dropped(project):
    committed(project.root)
    project.active()
    subprocess.run(["git", "-C", project.root, "stash", "-q"], check=True)
    assert project.hook("PreToolUse", tool_name="Bash", tool_input={"command": "git stash drop"}) == b""
    assert "not committed\n" in pinned(project.root, "a.py")


def test_what_a_worktree_has_is_kept_before_it_is_removed(project, tmp_path_factory):
    committed(project.root)
    project.active()
    tree = tmp_path_factory.mktemp("beside") / "tree"
    subprocess.run(["git", "-C", project.root, "worktree", "add", "-q", tree], check=True)
    (tree / "b.py").write_text("only there\n")
    line = f"git worktree remove --force {tree}"
    assert project.hook("PreToolUse", tool_name="Bash", tool_input={"command": line}) == b""
    assert pinned(project.root, "b.py") == ["only there\n"]


def test_what_is_too_large_to_be_kept_in_time_is_told_with_its_size(project):
    committed(project.root)
    project.active()
    with (project.root / "large.bin").open("wb") as file:
        file.truncate(65 << 20)
    answer = project.hook("PreToolUse", tool_name="Bash", tool_input={"command": "git clean -fd"})
    assert "it has 65 MiB, and 64 MiB is the most" in json.loads(answer)["systemMessage"]
    assert "is not kept before this command of git" in project.logged()
    assert pinned(project.root, "a.py") == []


def test_a_git_that_takes_too_long_is_ended_and_leaves_no_folder(project, tmp_path_factory, monkeypatch):
    committed(project.root)
    project.active()
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setenv("TMPDIR", str(scratch))
    (project.root / ".gitattributes").write_text("*.py filter=slow\n")
    subprocess.run(["git", "-C", project.root, "config", "filter.slow.clean", "sleep 61"], check=True)
    answer = project.hook("PreToolUse", tool_name="Bash", tool_input={"command": "git reset --hard"})
    assert "it takes too long" in json.loads(answer)["systemMessage"]
    assert list(scratch.iterdir()) == []
    running = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True).stdout
    assert "sleep 61" not in running


@pytest.mark.parametrize("line", ["git status", "git commit -am x", "git reset --soft HEAD", "git log"])
def test_nothing_is_kept_before_what_throws_nothing_away(project, line):
    committed(project.root)
    project.active()
    assert project.hook("PreToolUse", tool_name="Bash", tool_input={"command": line}) == b""
    assert pinned(project.root, "a.py") == []


def test_a_call_that_harms_nothing_gets_no_answer(project):
    project.guard()
    assert edit(project, "src/a.py") == b""
    assert project.hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}) == b""
    assert project.logged() == ""


def test_a_call_that_is_ruled_out_is_denied_in_the_words_of_the_host(project):
    project.guard(deny=[{"tool": "Bash(git push*)", "step": "bäuen"}])
    answer = project.hook("PreToolUse", tool_name="Bash", tool_input={"command": "git push"})
    assert answer.isascii()
    assert "step bäuen of release-1 forbids Bash(git push*)" in denied(answer)


def test_the_home_is_protected_before_there_is_anything_to_guard(project):
    assert ".holdfast" in denied(edit(project, ".holdfast/index"))
    answer = project.hook("PreToolUse", tool_name="Bash", tool_input={"command": "holdfast trust"})
    assert "A person" in denied(answer)


def test_a_persons_command_is_held_back_outside_of_projects_too(project, tmp_path):
    event = project.event("PreToolUse", cwd=str(tmp_path), tool_name="Bash", tool_input={"command": "holdfast trust"})
    assert "A person" in denied(project.raw(json.dumps(event).encode()))


def test_the_persons_own_folder_is_read_from_the_environment(project):
    for line, expected in (("echo > ~/.holdfast/index", True), ("cd && rm .holdfast/x", True), ("echo > ~/x", False)):
        event = project.event("PreToolUse", tool_name="Bash", tool_input={"command": line})
        answer = project.raw(json.dumps(event).encode(), HOME=str(project.root))
        assert bool(answer) is expected


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"workflows":', b"[" * 100_000])
def test_a_view_that_cannot_be_read_still_leaves_the_home_protected(project, content):
    (project.home / "guard").write_bytes(content)
    assert denied(edit(project, ".holdfast/x"))
    assert edit(project, "src/a.py") == b""


def test_a_view_that_is_no_file_keeps_nobody_waiting(project):
    os.mkfifo(project.home / "guard")
    assert denied(edit(project, ".holdfast/x"))


# Notes


def test_a_written_file_is_noted_by_its_path_in_the_project(project, tmp_path):
    project.active()
    (tmp_path / "alias").symlink_to(project.root)
    for path in (project.root / "src/a.py", "src/b.py", tmp_path / "alias/src/c.py"):
        given = {"file_path": str(path)}
        assert project.hook("PostToolUse", tool_name="Write", tool_input=given, agent_id="A1") == b""
    patch = "*** Add File: d.py\n*** Delete File: e.py\n"
    project.hook("PostToolUse", tool_name="apply_patch", tool_input={"input": patch})
    notes = project.notes()
    assert [note["paths"] for note in notes] == [["src/a.py"], ["src/b.py"], ["src/c.py"], ["d.py", "e.py"]]
    assert [note["agent"] for note in notes] == ["A1", "A1", "A1", ""]
    assert {(note["event"], note["session"]) for note in notes} == {("PostToolUse", "S1")}
    assert all(isinstance(note["at"], float) for note in notes)
    assert stat.S_IMODE(os.stat(project.home / "inbox").st_mode) == 0o600


def test_nothing_is_noted_of_shells_readers_or_files_elsewhere(project):
    project.active()
    project.hook("PostToolUse", tool_name="Bash", tool_input={"command": "echo > x"})
    project.hook("PostToolUse", tool_name="Read", tool_input={"file_path": "x"})
    project.hook("PostToolUse", tool_name="Edit", tool_input={"file_path": "/etc/hosts"})
    assert project.notes() == []


@pytest.mark.parametrize(
    ("name", "sent", "noted"),
    [
        ("SubagentStart", {"agent_id": "A1", "agent_type": "coder"}, {"agent": "A1", "type": "coder"}),
        ("SubagentStop", {"agent_id": "A1"}, {"agent": "A1", "type": ""}),
        ("PostCompact", {"trigger": "auto"}, {"trigger": "auto"}),
        ("SessionEnd", {"reason": "clear"}, {"reason": "clear"}),
        ("SessionEnd", {"reason": ["clear"]}, {"reason": ""}),
    ],
)
def test_what_happens_to_sessions_and_their_agents_is_noted(project, name, sent, noted):
    project.active()
    assert project.hook(name, **sent) == b""
    (note,) = project.notes()
    assert isinstance(note.pop("at"), float)
    assert note == {"event": name, "session": "S1", **noted}


@pytest.mark.parametrize("index", [None, '{"active":[],"finished_count":3}'])
def test_nothing_is_noted_where_no_workflow_goes_on(project, index):
    if index:
        (project.home / "index").write_text(index)
    project.hook("PostToolUse", tool_name="Write", tool_input={"file_path": "a"})
    project.hook("SessionEnd", reason="clear")
    assert project.notes() == []


@pytest.mark.parametrize("session", [None, "", 5])
def test_nothing_is_noted_without_a_session(project, session):
    project.active()
    project.hook("SessionEnd", reason="clear", session_id=session)
    assert project.notes() == []


def test_texts_of_a_note_have_a_length(project):
    project.active()
    long = "x" * 5_000
    project.hook("SubagentStart", session_id=long, agent_id=long, agent_type=long)
    patch = "".join(f"*** Add File: {number}/{long}\n" for number in range(200))
    project.hook("PostToolUse", tool_name="apply_patch", tool_input={"input": patch})
    first, second = project.notes()
    assert [len(first[key]) for key in ("session", "agent", "type")] == [100, 100, 64]
    assert (len(second["paths"]), {len(path) for path in second["paths"]}) == (100, {1000})


ENTRIES = (
    {"ulid": "01AAAAAAAAAAAAAAAAAAAAAAAA", "id": "release-1", "title": "Release 1.4.0", "subject": "1.4.0"},
    {"ulid": "01BBBBBBBBBBBBBBBBBBBBBBBB", "id": "qa", "title": None, "subject": 5},
)


@pytest.mark.parametrize(
    ("prompt", "by"),
    [
        ("continue with release-1", "id"),
        ("01AAAAAAAAAAAAAAAAAAAAAAAA", "id"),
        ("RELEASE 1.4.0!", "name"),
        ("x" * 199_990 + " release-1", "id"),
        ("x" * 200_000 + " release-1", None),
        ("x" * 2_000 + " Release 1.4.0", None),
        ("version 1.4.0", None),
        ("", None),
        (None, None),
    ],
)
def test_a_workflow_that_a_person_names_is_noted(project, prompt, by):
    project.active(*ENTRIES)
    assert project.hook("UserPromptSubmit", prompt=prompt) == b""
    said = {"event": "UserPromptSubmit", "session": "S1", "workflow": ENTRIES[0]["ulid"], "by": by}
    notes = project.notes()
    assert [{**note, "at": 0} for note in notes] == ([{**said, "at": 0}] if by else [])
    assert project.logged() == ""


def test_a_broken_or_very_large_index_names_nothing(project):
    for content in (b'{"active":[{"ulid"', b'{"active":[5]}', b'{"active":[{"id":"x"}]}' + b" " * (1 << 20), b"\xff"):
        (project.home / "index").write_bytes(content)
        assert project.hook("UserPromptSubmit", prompt="x") == b""
        assert project.notes() == []


# Many at once


WRITER = """
import json, sys
sys.path.insert(0, sys.argv[1].rsplit("/", 4)[0])
from holdfast.surfaces.hooks import quick
for number in range(50):
    event = {"hook_event_name": "SessionEnd", "session_id": sys.argv[3], "cwd": sys.argv[2], "reason": str(number)}
    assert quick.main(json.dumps(event).encode()) == 0
"""


def take(inbox, number):
    """What the engine does with the inbox: away with it, and read once no writer holds it."""
    taken = inbox.with_name(f"taken-{number}")
    with contextlib.suppress(FileNotFoundError):
        inbox.rename(taken)
        with taken.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return [json.loads(line) for line in file]
    return []


@pytest.mark.parametrize("taking", [False, True])
def test_notes_of_many_hooks_are_whole_and_none_is_lost(project, taking):
    project.active()
    command = [sys.executable, "-I", "-S", "-c", WRITER, str(RUN), str(project.root)]
    writers = [subprocess.Popen([*command, f"S{number}"]) for number in range(8)]
    notes, rounds = [], 0
    while taking and any(writer.poll() is None for writer in writers):
        notes += take(project.home / "inbox", rounds)
        rounds += 1
    assert [writer.wait() for writer in writers] == [0] * 8
    notes += project.notes()
    assert sorted((note["session"], int(note["reason"])) for note in notes) == [
        (f"S{writer}", number) for writer in range(8) for number in range(50)
    ]
    assert project.logged() == ""


def is_waited_for(path):
    """Whether a process is in the kernel's queue for the lock of a file."""
    inode = f":{path.stat().st_ino} "
    with open("/proc/locks", encoding="ascii") as table:
        return any("->" in row and inode in row for row in table)


def test_a_note_goes_to_the_new_inbox_when_the_old_one_was_taken_meanwhile(project):
    project.active()
    inbox, taken = project.home / "inbox", project.home / "taken"
    with inbox.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        hook = subprocess.Popen(COMMAND, stdin=subprocess.PIPE)
        hook.stdin.write(json.dumps(project.event("SessionEnd", reason="clear")).encode())
        hook.stdin.close()
        while not is_waited_for(inbox):
            assert hook.poll() is None
        inbox.rename(taken)
        inbox.touch()
    assert hook.wait(60) == 0
    assert taken.read_bytes() == b""
    assert [note["reason"] for note in project.notes()] == ["clear"]


def test_a_full_inbox_takes_no_more(project):
    project.active()
    with (project.home / "inbox").open("wb") as file:
        file.truncate((8 << 20) + 1)
    project.hook("SessionEnd", reason="clear")
    assert (project.home / "inbox").stat().st_size == (8 << 20) + 1
    assert "the inbox takes no more notes" in project.logged()


@pytest.mark.parametrize("odd", ["folder", "link", "pipe"])
def test_an_inbox_that_is_no_file_is_left_alone(project, odd, tmp_path):
    project.active()
    inbox, outside = project.home / "inbox", tmp_path / "outside"
    outside.touch()
    {"folder": inbox.mkdir, "link": lambda: inbox.symlink_to(outside), "pipe": lambda: os.mkfifo(inbox)}[odd]()
    assert project.hook("SessionEnd", reason="clear") == b""
    assert outside.read_bytes() == b""
    assert "SessionEnd" in project.logged()


# Bad input, and hosts that behave badly


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"{",
        b"nonsense",
        b"[]",
        b"5",
        b'"text"',
        b"null",
        b"{}",
        b'{"hook_event_name":5}',
        b'{"hook_event_name":"Stop"} x',
        b'{"hook_event_name":"Stop","a":NaN}',
        b"\xff\xfe",
        b"\0" * 100,
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_no_event_gets_no_answer_and_a_line_in_the_log(project, data):
    assert project.raw(data) == b""
    assert " - the event was not understood: " in project.logged()
    assert project.logged().count("\n") == 1


def test_an_event_that_is_too_large_is_not_read_to_its_end(project):
    event = project.event("PreToolUse", tool_name="Edit", tool_input={"file_path": ".holdfast/x"})
    head = json.dumps(event).encode()
    assert denied(project.raw(head + b" " * ((16 << 20) - len(head))))
    assert project.raw(head + b" " * ((16 << 20) - len(head) + 1)) == b""
    assert "16 MiB" in project.logged()


def test_unknown_events_get_no_answer(project):
    assert project.hook("Elicitation", message="x") == b""
    assert project.hook("") == b""
    assert os.listdir(project.home) == []


def test_input_that_never_ends_is_given_up(project):
    done = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project.root)
    done.stdin.write(b'{"hook_event_name":')
    done.stdin.flush()
    assert done.stdout.read() == b""
    assert done.wait(60) == 0
    done.stdin.close()
    done.stdout.close()
    assert "took too long" in project.logged()


def test_a_lock_that_is_never_released_is_not_waited_for(project):
    project.active()
    with (project.home / "inbox").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert project.hook("SessionEnd", reason="clear") == b""
    assert "SessionEnd took too long" in project.logged()
    assert project.notes() == []


def test_closed_descriptors_do_no_harm(project):
    project.guard()
    event = json.dumps(project.event("PreToolUse", tool_name="Edit", tool_input={"file_path": ".holdfast/x"}))
    for closing in ("<&-", ">&-", "<&- >&- 2>&-", ">/dev/full", "| true"):
        line = f'exec "$@" {closing}' if "|" not in closing else f'"$@" {closing}'
        done = subprocess.run(
            ["sh", "-c", line, "sh", *COMMAND], input=event.encode(), capture_output=True, cwd=project.root
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert "No space left" in project.logged()


def test_it_answers_from_a_folder_that_is_gone(project, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = 'cd "$0" && rmdir "$0" && exec "$@"'
    done = subprocess.run(["sh", "-c", line, str(gone), *COMMAND], input=b"{}", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_mutated_events_get_valid_answers(project, capfd):
    """Bytes changed by chance, always the same ones: the answer is empty or JSON, and the code is 0."""
    project.active(*ENTRIES)
    project.guard(paths=["a"], deny=[{"tool": "Bash(git*)", "step": "x"}], locks=[{"path": "b"}], sessions=["S1"])
    chance = random.Random(11)
    events = [
        project.event("PreToolUse", tool_name="Bash", tool_input={"command": "git push > .holdfast/x"}),
        project.event("PreToolUse", tool_name="Edit", tool_input={"file_path": "a"}),
        project.event("PostToolUse", tool_name="Write", tool_input={"file_path": "c"}),
        project.event("UserPromptSubmit", prompt="release-1"),
        project.event("SubagentStop", agent_id="A", agent_type="B"),
        project.event("Stop", stop_hook_active=False),
    ]
    answers = 0
    for _ in range(300):
        data = bytearray(json.dumps(chance.choice(events)).encode())
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        assert quick.main(bytes(data)) == 0
        out = capfd.readouterr().out
        if out:
            denied(out)
            answers += 1
    assert answers
    assert all(note["event"] for note in project.notes())


# The log


def test_the_log_has_a_line_for_each_failure_free_of_control_characters(project):
    project.raw(json.dumps({"hook_event_name": "Session\x1bEnd\n" + "x" * 500}).encode())
    project.raw(b"{")
    assert project.raw(b"[]") == b""
    lines = project.logged().splitlines()
    assert len(lines) == 2
    assert all(line[10] == "T" and line[19] == "Z" and len(line) <= 300 and line.isprintable() for line in lines)
    assert stat.S_IMODE(os.stat(project.home / "hook.log").st_mode) == 0o600


def test_a_long_log_is_replaced(project):
    (project.home / "hook.log").write_bytes(b"x" * ((256 << 10) + 1))
    project.raw(b"{")
    assert project.logged().count("\n") == 1
    assert (project.home / "hook.log.1").stat().st_size == (256 << 10) + 1


def test_a_log_that_cannot_be_written_is_done_without(project, tmp_path):
    outside = tmp_path / "outside"
    (project.home / "hook.log").symlink_to(outside)
    assert project.raw(b"{") == b""
    assert not outside.exists()


def test_without_a_project_nothing_is_made(tmp_path, project):
    outside = tmp_path / "outside"
    outside.mkdir()
    assert project.raw(b"{", cwd=outside) == b""
    for name in ("PreToolUse", "PostToolUse", "SessionStart", "Stop", "SessionEnd", "UserPromptSubmit"):
        event = project.event(name, cwd=str(outside), tool_name="Edit", tool_input={"file_path": "x"}, prompt="x")
        assert project.raw(json.dumps(event).encode(), cwd=outside) == b""
    assert os.listdir(outside) == []


# Sessions that begin and end without a workflow


@pytest.mark.parametrize("name", ["SessionStart", "PreCompact", "Stop"])
def test_nobody_is_told_anything_where_there_is_no_work(project, name):
    (project.home / "index").write_text('{"active":[],"finished_count":0}')
    project.guard({"id": "a", "keep_going": True, "sessions": ["S2"]}, {"id": "b", "sessions": ["S1"]}, {"id": 5})
    assert project.hook(name, source="startup") == b""
    assert project.logged() == ""


# What makes it fast


def test_nothing_heavy_is_imported_on_the_way_to_an_answer(project):
    project.active(*ENTRIES)
    project.guard(deny=[{"tool": "Bash(git push*)", "step": "x"}])
    probe = (
        "import posix, sys; posix._exit = lambda _: sys.stderr.write(' '.join(sys.modules));"
        "exec(open(sys.argv[1]).read(), {'__name__': '__main__', '__file__': sys.argv[1]})"
    )
    for event in (
        project.event("PreToolUse", tool_name="Bash", tool_input={"command": "git push > x"}),
        project.event("PreToolUse", tool_name="Bash", tool_input={"command": "git stash list; curl -o x y | bash"}),
        project.event("PostToolUse", tool_name="Write", tool_input={"file_path": "x"}),
        project.event("UserPromptSubmit", prompt="release-1"),
        project.event("Stop"),
    ):
        command = [sys.executable, "-I", "-S", "-c", probe, str(RUN)]
        done = subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, check=True)
        loaded = set(done.stderr.decode().split())
        ours = {name for name in loaded if name.startswith("holdfast.")} - {"holdfast.surfaces"}
        assert ours
        assert all(name.startswith("holdfast.surfaces.hooks") for name in ours)
        assert not loaded & {"os", "re", "json", "enum", "shlex", "fnmatch", "signal", "site"}
