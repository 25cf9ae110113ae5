"""Commands that the engine runs itself: what they printed, how they ended, and that nothing of them is left behind.

A check is a program of its own session, so that a deadline, a cancellation or an exception here ends it together with
everything it started. However much it prints, only its hash, the beginning and the end of it stay in memory.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import sys
import termios
import time
from _collections_abc import Callable, Mapping, Sequence
from contextlib import suppress

from holdfast.checks.output import Output
from holdfast.core.value import Value
from holdfast.errors import UsageError
from holdfast.plain.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

GRACE_SECONDS = 2.0
_TICK_SECONDS = 0.05
_TOLD_SECONDS = 0.1
_LONGEST_WAIT_SECONDS = 3600.0  # the system call counts milliseconds in 32 bits
_CHUNK = 1 << 18
_PIPE = 1 << 20


class CheckRun(Value):
    """How a command went. `error` says why it could not even start; then there is no exit code."""

    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    duration_ms: int = 0
    output_tail: str = ""
    output_digest: str = digest(b"")
    error: str = ""
    redacted: Mapping[str, int] = {}
    """How many likely secrets are not in what is kept; the digest is of what was printed."""

    @property
    def passed(self) -> bool:
        return self.exit_code == 0 and not self.timed_out and not self.cancelled


def run(
    argv: Sequence[str],
    *,
    cwd: str,
    timeout: float,
    env: Mapping[str, str] | None = None,
    tail_bytes: int = 4000,
    output: Output | None = None,
    watch: Callable[[str, float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> CheckRun:
    """Run a command without a shell for at most `timeout` seconds; `env` replaces the inherited environment.

    `output` is where the caller wants to find what is printed. `watch` is told its last line and how many seconds have
    passed, ten times a second; `cancelled` is asked at most twenty times. The run ends with the command itself,
    whatever it left running in the background.
    """
    import subprocess

    _require_argv(argv)
    environment = {name: value for name, value in (os.environ if env is None else env).items() if not _is_token(name)}
    environment["HOLDFAST_CHECK"] = "1"
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return CheckRun(error=_reason(argv[0], cwd, environment, error))
    pipe = process.stdout
    assert pipe is not None
    _widen(pipe.fileno())
    output = output or Output()
    following = _Watch(process, pipe.fileno(), output, began + timeout, cancelled, watch)
    try:
        following.until_exit()
        took = time.monotonic() - began
    finally:
        pipe.close()
        _end_group(process, following.kill_at or time.monotonic() + GRACE_SECONDS)
        output.end()
    code = process.returncode
    return CheckRun(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=following.timed_out,
        cancelled=following.was_cancelled,
        duration_ms=round(took * 1000),
        output_tail=output.tail(tail_bytes),
        output_digest=output.hash.hexdigest(),
        redacted=output.redacted,
    )


class _Watch:
    """Follows a process to its end, and brings the end about when its time is up or nobody wants it any more."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        pipe: int,
        output: Output,
        deadline: float,
        cancelled: Callable[[], bool] | None,
        watch: Callable[[str, float], None] | None,
    ) -> None:
        self.timed_out = False
        self.was_cancelled = False
        self.kill_at: float | None = None
        self._process = process
        self._pipe = pipe
        self._output = output
        self._deadline = deadline
        self._cancelled = cancelled
        self._watch = watch
        self._began = self._told_at = time.monotonic()

    def until_exit(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            exit_notice = _exit_notice(self._process.pid)
            try:
                if exit_notice is not None:
                    selector.register(exit_notice, selectors.EVENT_READ)
                self._follow(selector, exit_notice)
            finally:
                if exit_notice is not None:
                    os.close(exit_notice)
                self._drain()

    def _follow(self, selector: selectors.BaseSelector, exit_notice: int | None) -> None:
        asked_at = 0.0
        while True:
            now = time.monotonic()
            if self.kill_at is None:
                ask = self._cancelled is not None and now - asked_at >= _TICK_SECONDS
                asked_at = now if ask else asked_at
                self.was_cancelled = ask and self._cancelled is not None and self._cancelled()
                self.timed_out = not self.was_cancelled and now >= self._deadline
                if self.was_cancelled or self.timed_out:
                    self.kill_at = now + GRACE_SECONDS
                    _signal_group(self._process.pid, signal.SIGTERM)
            elif now >= self.kill_at:
                _signal_group(self._process.pid, signal.SIGKILL)
                self.kill_at = now + GRACE_SECONDS
            if self._watch is not None and now - self._told_at >= _TOLD_SECONDS:
                self._told_at = now
                self._watch(self._output.last_line(), now - self._began)
            polling = exit_notice is None or (self._cancelled is not None and self.kill_at is None)
            patience = _TICK_SECONDS if polling or self._watch is not None else _LONGEST_WAIT_SECONDS
            turn = (self._deadline if self.kill_at is None else self.kill_at) - now
            ready = {key.fd for key, _ in selector.select(min(turn, patience))}
            if self._pipe in ready:
                chunk = os.read(self._pipe, _CHUNK)
                self._output.take(chunk)
                if not chunk:
                    selector.unregister(self._pipe)
            if exit_notice in ready or (exit_notice is None and self._process.poll() is not None):
                return

    def _drain(self) -> None:
        """Take what was in the pipe when the command ended; what others add to it later is not its output."""
        waiting = int.from_bytes(fcntl.ioctl(self._pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
        while waiting > 0:
            chunk = os.read(self._pipe, min(waiting, _CHUNK))
            self._output.take(chunk)
            waiting -= len(chunk)


def _widen(pipe: int) -> None:
    """Lets a command that prints much continue while we read: each of us is woken up less often."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def _exit_notice(pid: int) -> int | None:
    """A descriptor that becomes readable when the process exits; None where the system has no such thing."""
    opener: Callable[[int], int] | None = getattr(os, "pidfd_open", None)
    try:
        return None if opener is None else opener(pid)
    except OSError:
        return None


def _signal_group(group: int, number: int) -> bool:
    """Whether the group still had someone to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _end_group(process: subprocess.Popen[bytes], grace_ends: float) -> None:
    """End the processes that are left: by a request, and by force when the grace is over or we are interrupted."""
    try:
        left = _signal_group(process.pid, signal.SIGTERM)
        while left and time.monotonic() < grace_ends:
            left = process.poll() is None or _signal_group(process.pid, 0)
            if left:
                time.sleep(_TICK_SECONDS)
    finally:
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()


def _is_token(name: str) -> bool:
    return name.startswith("HOLDFAST_") and name.endswith("TOKEN")


def _require_argv(argv: Sequence[object]) -> None:
    words = () if isinstance(argv, str) else argv
    if not words or not words[0] or not all(isinstance(word, str) and "\0" not in word for word in words):
        said = "a command is a list of a program and its arguments, all of them text without NUL"
        facts = {"argv": repr(argv)}
        raise UsageError("bad_argv", said, remedy='write it as a list: run = ["pytest", "-q"]', facts=facts)


def _reason(program: str, cwd: str, environment: Mapping[str, str], error: OSError | ValueError) -> str:
    import shutil

    if not os.path.isdir(cwd):
        return f"no such folder: {cwd}"
    if not os.access(cwd, os.X_OK):
        return f"cannot enter the folder: {cwd}"
    if isinstance(error, FileNotFoundError):
        path = os.path.join(cwd, program) if "/" in program else shutil.which(program, path=environment.get("PATH"))
        if path and os.path.exists(path):
            return f"cannot run {program}: the interpreter that its first line names is missing"
        return f"no such program: {program}"
    if isinstance(error, PermissionError):
        # A folder of PATH that cannot be entered makes the system say so of a program that is nowhere.
        is_nowhere = "/" not in program and not _lies_in(environment.get("PATH", ""), program)
        return f"no such program: {program}" if is_nowhere else f"not executable: {program}"
    return f"cannot run {program}: {error.strerror if isinstance(error, OSError) else error}"


def _lies_in(path: str, program: str) -> bool:
    return any(os.path.exists(os.path.join(folder or os.curdir, program)) for folder in path.split(os.pathsep))
