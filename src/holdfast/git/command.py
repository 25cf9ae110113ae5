"""The one place that starts git: asking nobody, deaf to the variables of a git that surrounds it.

Hooks stay off: to look at a repository is not to run what it brings. Only what is done in the user's name, such as a
commit, runs with their hooks. The file system monitor is off in any case.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

TIMEOUT_SECONDS = 30
HOOKS_TIMEOUT_SECONDS = 600
LAST_SECONDS = 2
"""How long git may take to end when it is told to."""
OUTPUT_LINES = 20
OUTPUT_BYTES = 4000

_USERS = ("core.fsmonitor=false",)
_QUIET = (*_USERS, "core.hooksPath=/dev/null", "core.safecrlf=false", "core.splitIndex=false",
          "advice.addEmbeddedRepo=false")  # fmt: skip
_FOREIGN = frozenset(
    f"GIT_{name}"
    for name in ("DIR", "WORK_TREE", "IMPLICIT_WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "PREFIX",
                 "ALTERNATE_OBJECT_DIRECTORIES", "NAMESPACE", "SHALLOW_FILE", "GRAFT_FILE", "LITERAL_PATHSPECS",
                 "GLOB_PATHSPECS", "NOGLOB_PATHSPECS", "ICASE_PATHSPECS")
)  # fmt: skip


def git(
    top: str,
    *args: str,
    env: Mapping[str, str] | None = None,
    ok: Sequence[int] = (0,),
    hooks: bool = False,
    settings: Sequence[str] = (),
    stdin: bytes = b"",
    keep: Sequence[int] = (),
    seconds: float = TIMEOUT_SECONDS,
) -> tuple[int, bytes]:
    """Run git at the top of a working tree: its exit code, one of `ok`, and what it printed.

    With `hooks` it runs as the user's own command would, their hooks included, for at most ten minutes. Then what is
    printed comes from both streams, only the end of it is kept, and a failure carries it as the fact `output`.
    `settings` are written `key=value` and hold for this run. The descriptors `keep` stay open in git. Without `hooks`
    it may take so many `seconds`.
    """
    import tempfile

    surroundings = _surroundings(env) | ({} if hooks else {"GIT_OPTIONAL_LOCKS": "0"})
    chosen = (*(_USERS if hooks else _QUIET), *settings)
    argv = ["git", *(word for setting in chosen for word in ("-c", setting)), *args]
    if not hooks:
        code, output, complaint = _run(top, argv, args[0], surroundings, stdin, None, keep, seconds)
    else:
        with tempfile.TemporaryFile() as heard:  # whatever a hook leaves running would hold a pipe open
            code, _, _ = _run(top, argv, args[0], surroundings, stdin, heard, keep)
            heard.seek(max(heard.seek(0, os.SEEK_END) - OUTPUT_BYTES, 0))
            output = complaint = heard.read()
    if code in ok:
        return code, output
    said = plain_lines(complaint.decode("utf-8", "replace"))
    reason = next((line for line in said if line.startswith(("fatal: ", "error: "))), "".join(said[-1:]).strip())
    facts = {"output": "\n".join(said[-OUTPUT_LINES:])} if hooks else {}
    raise _failure(top, args[0], "git_failed", f"git {args[0]} failed: {reason or f'exit code {code}'}", facts)


def run_hook(top: str, path: str, env: Mapping[str, str]) -> None:
    """Run a hook of the user's as git does after a commit: how it ends changes nothing."""
    import tempfile

    with tempfile.TemporaryFile() as heard:
        try:
            _run(top, [path], "hook", _surroundings({"GIT_EDITOR": ":", **env}), b"", heard, ())
        except HoldfastError:
            pass


def _surroundings(env: Mapping[str, str] | None) -> dict[str, str]:
    known = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return known | {"GIT_TERMINAL_PROMPT": "0", "LANGUAGE": "C"} | dict(env or {})


def _run(
    top: str,
    argv: list[str],
    command: str,
    env: Mapping[str, str],
    stdin: bytes,
    heard: IO[bytes] | None,
    keep: Sequence[int],
    seconds: float = TIMEOUT_SECONDS,
) -> tuple[int, bytes, bytes]:
    """Run a command to its end; both its streams go to the file `heard`, where there is one."""
    import signal
    import subprocess

    timeout = seconds if heard is None else HOOKS_TIMEOUT_SECONDS
    source = subprocess.PIPE if stdin else subprocess.DEVNULL
    output, complaint = (subprocess.PIPE, subprocess.PIPE) if heard is None else (heard.fileno(), subprocess.STDOUT)
    try:
        process = subprocess.Popen(argv, cwd=top, env=env, stdin=source, stdout=output, stderr=complaint,
                                   start_new_session=True, pass_fds=keep)  # fmt: skip
    except OSError as error:
        if error.filename == top:
            raise _failure(top, command, "git_failed", f"cannot work in {top}: {error.strerror}") from error
        raise _failure(top, command, "git_missing", f"git cannot be run: {error.strerror}") from error
    try:
        printed, complained = process.communicate(stdin or None, timeout=timeout)
    except BaseException as error:
        if process.poll() is None:
            process.terminate()  # git then removes its lock files
            try:
                process.wait(LAST_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)  # the group, as a filter that git started may hold the pipes open
        except ProcessLookupError:
            pass
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise _failure(top, command, "git_timeout", f"git {command} took longer than {timeout} s") from None
        raise
    return process.returncode, printed or b"", complained or b""


def plain_lines(text: str) -> list[str]:
    """The lines of what a program printed, without escape sequences, control characters and what may be a password."""
    import re

    from holdfast.plain.terminal import ESCAPES

    text = re.sub(r"(?<=://)[^/\s@]*@", "", re.sub(ESCAPES, "", text))
    lines = ("".join(char for char in line if char.isprintable() or char == "\t") for line in text.splitlines())
    return [line for line in lines if line.strip()]


def _failure(
    top: str, command: str, code: str, message: str, more: Mapping[str, object] | None = None
) -> HoldfastError:
    from holdfast.core.remedy import shell
    from holdfast.git import shallow

    if cut := shallow.explains(top, message):
        return cut
    remedy = shell("git", "-C", top, "status")
    if "dubious ownership" in message:  # whose files git may believe is a person's to say
        remedy = shell("git", "config", "--global", "--add", "safe.directory", top, who="person")
    elif code == "git_missing":
        remedy = shell("git", "--version")
    return HoldfastError(code, message, remedy=remedy, facts={"command": command, "repository": top, **(more or {})})
