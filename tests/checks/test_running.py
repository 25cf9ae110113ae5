"""Commands that the engine runs, with real processes."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from holdfast.checks import running as checks
from holdfast.checks.output import Output
from holdfast.errors import UsageError
from holdfast.plain.digest import digest
from tests.processes import ends

LONG = 120.0  # far more than any of these commands takes; nobody waits for it
FOREVER = "import time\nwhile True: time.sleep(1)"


@pytest.fixture(params=["notified", "polling"], autouse=True)
def exits(request, monkeypatch):
    """Every behaviour holds where the system tells of an exit and where it must be asked."""
    if request.param == "polling":
        monkeypatch.delattr(os, "pidfd_open")
    return request.param


@pytest.fixture
def run(tmp_path):
    def run(*argv, timeout=LONG, hear=None, **named):
        return checks.run(argv, cwd=str(tmp_path), timeout=timeout, output=Output(hear=hear), **named)

    return run


@pytest.fixture
def python(run):
    def python(program, *args, **named):
        return run(sys.executable, "-c", program, *args, **named)

    return python


def pid_in(path):
    return int(path.read_text())


# --- how a command ends


def test_a_command_that_exits_with_zero_passed(python):
    done = python("print('fine')")
    assert done.passed
    assert (done.exit_code, done.signal, done.timed_out, done.cancelled, done.error) == (0, None, False, False, "")
    assert done.output_tail == "fine\n"
    assert done.duration_ms >= 0


def test_a_command_that_exits_with_anything_else_did_not(python):
    done = python("raise SystemExit(7)")
    assert (done.passed, done.exit_code, done.signal) == (False, 7, None)


def test_a_command_ended_by_a_signal_has_no_exit_code(python):
    done = python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (done.passed, done.exit_code, done.signal) == (False, None, signal.SIGSEGV)


def test_an_exit_code_of_zero_is_not_enough_when_the_end_was_forced():
    assert checks.CheckRun(exit_code=0).passed
    assert not checks.CheckRun(exit_code=0, timed_out=True).passed
    assert not checks.CheckRun(exit_code=0, cancelled=True).passed


def test_a_command_runs_in_its_folder_without_a_shell(run, tmp_path):
    done = run(sys.executable, "-c", "import os, sys; print(os.getcwd(), sys.argv[1:])", "$HOME; echo *", "a b")
    assert done.output_tail == f"{tmp_path} ['$HOME; echo *', 'a b']\n"


def test_standard_input_is_empty(python):
    assert python("import sys; print(repr(sys.stdin.read()))").output_tail == "''\n"


def test_a_command_leads_a_session_of_its_own(python):
    done = python("import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())")
    assert done.output_tail == "True\n"


# --- the environment


def test_the_environment_is_inherited_without_tokens_and_says_that_this_is_a_check(python, monkeypatch):
    monkeypatch.setenv("HOLDFAST_TOKEN", "secret")
    monkeypatch.setenv("HOLDFAST_ACTOR", "tester")
    monkeypatch.setenv("OTHER_TOKEN", "kept")
    names = ("HOLDFAST_TOKEN", "HOLDFAST_ACTOR", "OTHER_TOKEN", "HOLDFAST_CHECK")
    done = python(f"import os; print([os.environ.get(name) for name in {names}])")
    assert done.output_tail == "[None, 'tester', 'kept', '1']\n"


def test_a_given_environment_stands_in_for_the_inherited_one(python, monkeypatch):
    monkeypatch.setenv("INHERITED", "x")
    given = {"ONLY": "this", "HOLDFAST_TOKEN": "secret"}
    names = ("INHERITED", "ONLY", "HOLDFAST_TOKEN", "HOLDFAST_CHECK")
    done = python(f"import os; print([os.environ.get(name) for name in {names}])", env=given)
    assert done.output_tail == "[None, 'this', None, '1']\n"
    assert given == {"ONLY": "this", "HOLDFAST_TOKEN": "secret"}


# --- output


def test_both_streams_are_one_in_the_order_they_were_written(python):
    program = "import os\nfor n in range(50): os.write(1 + n % 2, b'%d ' % n)"
    assert python(program).output_tail.split() == [str(number) for number in range(50)]


def test_the_digest_is_of_everything_and_the_tail_of_the_end(python):
    done = python("import sys; sys.stdout.write('0123456789' * 300_000)", tail_bytes=25)
    assert done.output_digest == digest(b"0123456789" * 300_000)
    assert done.output_tail == "5678901234567890123456789"


def test_a_silent_command_has_the_digest_of_nothing(python):
    done = python("")
    assert (done.output_tail, done.output_digest) == ("", digest(b""))


def test_memory_does_not_grow_with_the_output(tmp_path, exits):
    program = f"""
import os, resource, sys
if {exits == "polling"}:
    del os.pidfd_open
from holdfast.checks import running as checks
from holdfast.checks.output import Output
run = lambda n: checks.run([sys.executable, "-c", f"import os\\nfor _ in range({{n}}): os.write(1, bytes(65536))"],
                           cwd=".", timeout={LONG})
run(16)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
done = run(512)
print(done.output_digest, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    source = str(Path(checks.__file__).parents[2])
    shown = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True,
                           env={"PYTHONPATH": source})  # fmt: skip
    hashed, growth_in_kib = shown.stdout.split()
    assert hashed == digest(bytes(512 * 65536))
    assert int(growth_in_kib) < 8 * 1024


def test_who_hears_it_gets_every_byte_as_it_comes(python):
    heard: list[bytes] = []
    done = python("import os; os.write(1, b'\\x1b[31m' + b'x' * 200_000)", hear=heard.append, tail_bytes=10)
    assert b"".join(heard) == b"\x1b[31m" + b"x" * 200_000
    assert b"" not in heard
    assert done.output_tail == "x" * 10


def test_it_is_heard_while_the_command_still_runs(python, tmp_path):
    program = """
import os, sys, time
os.write(1, b"ready")
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""
    done = python(program, str(tmp_path / "go"), hear=lambda _: (tmp_path / "go").touch())
    assert done.passed


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[1;31mred\x1b[0m \x1b[2Kline\x1b[?25l\x1b[38:2::1:2:3m!", "red line!"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        (b"\x1bPq#0;1\x1b\\b\x1b(Bc\x1b=d\x1b7e\x1bM", "bcde"),
        ("\x9b31mred\x9d0;title\x9cx".encode(), "redx"),
        (b"a\r\nb\tc\x00\x07\x08\x0b\x0c\x7f\x1b", "a\nb\tc"),
        ("\x85\x90é\x9f…".encode(), "é…"),
        (b"\x1b[31", "31"),
        (b"\x1b]0;never ends", "0;never ends"),
        (b"caf\xc3\xa9 \xff \xe2\x82", "café � �"),
    ],
)
def test_the_tail_is_plain_text(python, raw, shown):
    assert python(f"import os; os.write(1, {raw!r})").output_tail == shown


@pytest.mark.parametrize("limit", range(1, 9))
def test_the_tail_begins_with_a_whole_character(python, limit):
    tail = python("import os; os.write(1, 'aé€😀'.encode())", tail_bytes=limit).output_tail
    assert "aé€😀".endswith(tail)
    assert limit - 4 < len(tail.encode()) <= limit


@pytest.mark.parametrize("limit", range(1, 12))
def test_the_tail_does_not_begin_inside_an_escape_sequence(python, limit):
    tail = python("import os; os.write(1, b'ab\\x1b[1;31mcd')", tail_bytes=limit).output_tail
    assert "abcd".endswith(tail)
    assert tail.endswith("d")


def test_the_tail_stays_within_its_bytes_when_they_are_not_text(python):
    done = python("import os; os.write(1, b'\\x80' * 10_000)", tail_bytes=100)
    assert done.output_tail == "�" * 33


def test_no_tail_is_kept_when_none_is_asked_for(python):
    assert python("print('x')", tail_bytes=0).output_tail == ""


# --- time is up, or nobody wants it any more


def test_a_command_that_takes_too_long_is_asked_to_end(python):
    done = python(FOREVER, timeout=1)
    assert (done.passed, done.timed_out, done.cancelled) == (False, True, False)
    assert (done.exit_code, done.signal) == (None, signal.SIGTERM)


def test_what_a_command_says_while_it_ends_is_kept_and_does_not_count_as_passing(python, tmp_path):
    program = """
import signal, sys, time
def end(*_):
    print("cleaning up" + "." * 200_000, "done")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
open("begun", "w").close()
while True: time.sleep(1)
"""
    done = python(program, cancelled=(tmp_path / "begun").exists, tail_bytes=8)
    assert done.output_tail == ".. done\n"
    assert (done.exit_code, done.cancelled, done.passed) == (0, True, False)


def test_a_command_that_will_not_end_is_ended_by_force(run):
    done = run("sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done", timeout=1)
    assert (done.signal, done.timed_out, done.output_tail) == (signal.SIGKILL, True, "deaf\n")


def test_an_endless_flood_of_output_still_ends_in_time(python):
    done = python("import os\nwhile True: os.write(1, b'x' * 65536)", timeout=1)
    assert done.timed_out
    assert done.output_tail


def test_a_command_that_closed_its_output_is_still_waited_for(python):
    done = python("import os, time; os.close(1); os.close(2); time.sleep(0.2); os._exit(5)")
    assert (done.exit_code, done.timed_out) == (5, False)


@pytest.mark.parametrize("first", ["", "os.close(1); os.close(2); "])
def test_waiting_is_not_busy(python, monkeypatch, exits, first):
    waits = 0

    class Counting(selectors.DefaultSelector):
        def select(self, timeout=None):
            nonlocal waits
            waits += 1
            return super().select(timeout)

    monkeypatch.setattr(selectors, "DefaultSelector", Counting)
    done = python(f"import os, time; {first}time.sleep(0.5)")
    assert done.passed
    assert 1 <= waits <= (3 if exits == "notified" else 3 + done.duration_ms / 50)


def test_a_timeout_ends_the_grandchildren_too(run, tmp_path):
    assert run("sh", "-c", "sleep 1000 & echo $! > pid; wait", timeout=1).timed_out
    assert ends(pid_in(tmp_path / "pid"))


def test_a_limit_without_end_is_a_limit(python):
    assert python("", timeout=float("inf")).passed


def test_a_run_can_be_cancelled_from_outside(python, tmp_path):
    program = f"open('begun', 'w').close()\n{FOREVER}"
    done = python(program, cancelled=(tmp_path / "begun").exists)
    assert (done.passed, done.cancelled, done.timed_out, done.signal) == (False, True, False, signal.SIGTERM)


def test_a_cancelled_command_that_will_not_end_is_ended_by_force(python, tmp_path):
    program = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('begun', 'w').close()\n{FOREVER}"
    done = python(program, cancelled=(tmp_path / "begun").exists)
    assert (done.cancelled, done.signal) == (True, signal.SIGKILL)


def test_whether_to_cancel_is_asked_at_most_twenty_times_a_second_however_much_is_printed(python):
    asked = 0

    def count():
        nonlocal asked
        asked += 1
        return False

    program = "import os, time\nend = time.monotonic() + 0.5\nwhile time.monotonic() < end: os.write(1, b'x' * 4096)"
    done = python(program, cancelled=count)
    assert not done.cancelled
    assert 2 <= asked <= 1 + done.duration_ms / 50


# --- what is left behind


def leaving_behind(what):
    return f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {what!r}])
open("pid", "w").write(str(child.pid))
print("leader done")
"""


def test_a_grandchild_that_keeps_the_output_open_does_not_hold_us_and_is_ended(python, tmp_path):
    done = python(leaving_behind(FOREVER))
    assert (done.passed, done.output_tail) == (True, "leader done\n")
    assert ends(pid_in(tmp_path / "pid"))


def test_a_grandchild_has_time_to_end_well(python, tmp_path):
    tidy = f"""
import os, signal, sys, time
def end(*_):
    time.sleep(0.3)
    open("tidied", "w").close()
    os._exit(0)
signal.signal(signal.SIGTERM, end)
open("listening", "w").close()
{FOREVER}
"""
    program = leaving_behind(tidy) + "import os, time\nwhile not os.path.exists('listening'): time.sleep(0.01)\n"
    assert python(program).passed
    assert ends(pid_in(tmp_path / "pid"))
    assert (tmp_path / "tidied").exists()


def test_a_grandchild_deaf_to_requests_is_ended_by_force(python, tmp_path):
    deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('deaf', 'w').close()\n{FOREVER}"
    program = leaving_behind(deaf) + "import os, time\nwhile not os.path.exists('deaf'): time.sleep(0.01)\n"
    assert python(program).passed
    assert ends(pid_in(tmp_path / "pid"))


def test_a_grandchild_that_floods_the_output_does_not_hold_us(python, tmp_path):
    flood = "import os\nwhile True: os.write(1, b'x' * 65536)"
    assert python(leaving_behind(flood)).passed
    assert ends(pid_in(tmp_path / "pid"))


def test_a_grandchild_that_left_the_group_does_not_hold_us(python, tmp_path):
    program = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {FOREVER!r}], start_new_session=True)
open("pid", "w").write(str(child.pid))
print("leader done")
"""
    done = python(program)
    assert (done.passed, done.output_tail) == (True, "leader done\n")
    os.kill(pid_in(tmp_path / "pid"), signal.SIGKILL)


def test_nothing_of_the_commands_own_output_is_lost_when_it_exits(python):
    for _ in range(5):
        done = python("import os; os.write(1, b'x' * 60_000); os._exit(0)")
        assert done.output_digest == digest(b"x" * 60_000)


class Unexpected(Exception):
    pass


@pytest.mark.parametrize("where", ["hear", "watch", "cancelled"])
def test_an_exception_ends_the_command_before_it_propagates(python, tmp_path, where):
    program = f"import os; open('pid', 'w').write(str(os.getpid())); os.write(1, b'begun, a line')\n{FOREVER}"

    def fail(*_):
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            raise Unexpected
        return False

    with pytest.raises(Unexpected):
        python(program, **{where: fail})
    with pytest.raises(ProcessLookupError):
        os.kill(pid_in(tmp_path / "pid"), 0)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_command_and_all_it_started_before_it_propagates(python, tmp_path):
    program = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {FOREVER!r}])
open("child", "w").write(str(child.pid))
open("pid", "w").write(str(os.getpid()))
os.write(1, b"begun")
child.wait()
"""
    with pytest.raises(KeyboardInterrupt):
        python(program, hear=lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(ProcessLookupError):
        os.kill(pid_in(tmp_path / "pid"), 0)
    assert ends(pid_in(tmp_path / "child"))


@pytest.mark.usefixtures("interruptible")
def test_an_impatient_second_interrupt_still_leaves_nothing_behind(python, tmp_path):
    program = f"""
import os, signal
signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getppid(), signal.SIGINT))
open("pid", "w").write(str(os.getpid()))
os.write(1, b"begun")
{FOREVER}
"""
    with pytest.raises(KeyboardInterrupt):
        python(program, hear=lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(ProcessLookupError):
        os.kill(pid_in(tmp_path / "pid"), 0)


def test_a_run_works_in_a_thread_and_leaves_no_descriptor_open(python):
    open_before = sorted(os.listdir("/proc/self/fd"))
    done = []
    threads = [threading.Thread(target=lambda: done.append(python("print('x')"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.output_tail for one in done] == ["x\n"] * 4
    assert sorted(os.listdir("/proc/self/fd")) == open_before


# --- commands that cannot start


def refused(done):
    assert (done.passed, done.exit_code, done.signal, done.output_tail) == (False, None, None, "")
    return done.error


def test_a_program_that_does_not_exist_is_named(run):
    assert refused(run("no-such-program-here", "-q")) == "no such program: no-such-program-here"
    assert refused(run("./tool")) == "no such program: ./tool"


def test_a_program_is_looked_for_where_the_given_environment_says(run, tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    assert refused(run("tool")) == "no such program: tool"
    assert run("tool", env={"PATH": str(tmp_path)}).output_tail == "found\n"
    assert run("./tool").output_tail == "found\n"


def test_a_file_that_is_not_executable_is_named(run, tmp_path):
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    assert refused(run("./tool")) == "not executable: ./tool"
    assert refused(run("/")) == "not executable: /"


def test_a_script_whose_interpreter_is_missing_is_not_called_missing_itself(run, tmp_path):
    (tmp_path / "tool").write_text("#!/no/such/interpreter\n")
    (tmp_path / "tool").chmod(0o755)
    expected = "cannot run {}: the interpreter that its first line names is missing"
    assert refused(run("./tool")) == expected.format("./tool")
    assert refused(run("tool", env={"PATH": str(tmp_path)})) == expected.format("tool")


def test_a_file_that_is_no_program_says_why(run, tmp_path):
    (tmp_path / "tool").write_bytes(b"\x00\x01")
    (tmp_path / "tool").chmod(0o755)
    assert refused(run("./tool")) == "cannot run ./tool: Exec format error"


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    missing = str(tmp_path / "gone")
    assert refused(checks.run(["true"], cwd=missing, timeout=LONG)) == f"no such folder: {missing}"


def test_an_environment_that_no_process_can_have_is_an_error_of_the_run(run):
    assert refused(run("true", env={"NAME": "a\0b"})) == "cannot run true: embedded null byte"


@pytest.mark.parametrize("argv", [[], "ls -l", [""], ["echo", "a\0b"], ["echo", 1], [b"echo"], [None]])
def test_a_command_must_be_a_list_of_text_without_nul(argv, tmp_path):
    with pytest.raises(UsageError) as caught:
        checks.run(argv, cwd=str(tmp_path), timeout=LONG)
    assert caught.value.code == "bad_argv"
    assert "pytest" in caught.value.remedy
