"""The one place that starts git: only to read, asking nobody, deaf to the variables of a git that surrounds it.

Hooks and the file system monitor stay off: to look at a repository is not to run what it brings.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast.errors import HoldfastError

TIMEOUT_SECONDS = 30

_QUIET = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.safecrlf=false", "core.splitIndex=false",
          "advice.addEmbeddedRepo=false")  # fmt: skip
_FOREIGN = frozenset(
    f"GIT_{name}"
    for name in ("DIR", "WORK_TREE", "IMPLICIT_WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "PREFIX",
                 "ALTERNATE_OBJECT_DIRECTORIES", "NAMESPACE", "SHALLOW_FILE", "GRAFT_FILE", "LITERAL_PATHSPECS",
                 "GLOB_PATHSPECS", "NOGLOB_PATHSPECS", "ICASE_PATHSPECS")
)  # fmt: skip


def git(top: str, *args: str, env: Mapping[str, str] | None = None, ok: Sequence[int] = (0,)) -> tuple[int, bytes]:
    """Run git at the top of a working tree: its exit code, one of `ok`, and what it printed."""
    import signal
    import subprocess

    surroundings = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    surroundings |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LANGUAGE": "C", **(env or {})}
    argv = ["git", *(word for setting in _QUIET for word in ("-c", setting)), *args]
    try:
        process = subprocess.Popen(argv, cwd=top, env=surroundings, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip
    except OSError as error:
        if error.filename == top:
            raise _failure(top, args[0], "git_failed", f"cannot work in {top}: {error.strerror}") from error
        raise _failure(top, args[0], "git_missing", f"git cannot be run: {error.strerror}") from error
    try:
        output, complaint = process.communicate(timeout=TIMEOUT_SECONDS)
    except BaseException as error:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # the group, as a filter that git started may hold the pipes open
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            late = f"git {args[0]} took longer than {TIMEOUT_SECONDS} s"
            raise _failure(top, args[0], "git_timeout", late) from None
        raise
    if process.returncode in ok:
        return process.returncode, output
    said = [line for line in complaint.decode("utf-8", "replace").splitlines() if line.strip()]
    reason = next((line for line in said if line.startswith(("fatal: ", "error: "))), "".join(said[-1:]))
    reason = reason or f"exit code {process.returncode}"
    raise _failure(top, args[0], "git_failed", f"git {args[0]} failed: {reason}")


def _failure(top: str, command: str, code: str, message: str) -> HoldfastError:
    import shlex

    remedy = f"git -C {shlex.quote(top)} status"
    if "dubious ownership" in message:
        remedy = f"git config --global --add safe.directory {shlex.quote(top)}"
    elif code == "git_missing":
        remedy = "git --version"
    return HoldfastError(code, message, remedy=remedy, facts={"command": command, "repository": top})
