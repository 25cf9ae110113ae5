"""A host as a process of its own, below a keeper that ends it when the runner wants that, or is gone."""

from __future__ import annotations

import os
import sys
from _collections_abc import Mapping
from contextlib import suppress

from holdfast.core.remedy import shell
from holdfast.errors import NotFound
from holdfast.files.locks import locked
from holdfast.runner.folder import Folder
from holdfast.runner.host import Started

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

GRACE = 10
"""Seconds between the request to end and the end by force."""
PASSED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "VIRTUAL_ENV"),
)
"""The variables that every host gets where they are set."""


def environment(given: Mapping[str, str], names: tuple[str, ...], own: Mapping[str, str]) -> dict[str, str]:
    """All that a host finds in its environment: what is listed, and nothing else."""
    return {**{name: given[name] for name in (*PASSED, *names) if name in given}, **own}


class Process:
    """A turn of a host that runs now. It writes its output to a file itself: nothing of it is lost with the runner."""

    def __init__(self, started: Started, cwd: str, env: Mapping[str, str], folder: Folder, session: str) -> None:
        import subprocess

        program = found(started.argv[0], env, cwd)
        keeper = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keeper.py")
        alone = wait_for_last(folder)
        words = [sys.executable, "-I", "-S", keeper, str(GRACE), str(alone), started.stdin, program, *started.argv[1:]]
        out, err = folder.open_output(f"{session}.jsonl"), folder.open_output(f"{session}.err")
        try:
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                cwd=cwd,
                env={**env, **started.env},
                pass_fds=(alone,),
                start_new_session=True,
            )
        finally:
            for fd in (out, err, alone):
                os.close(fd)

    @property
    def code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float) -> None:
        """Until it ends, at most so long."""
        from subprocess import TimeoutExpired

        with suppress(TimeoutExpired):
            self._process.wait(seconds)

    def end(self) -> int:
        """Ends it, if it has not ended, and waits until nothing of it is left."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        return self._process.wait()


def wait_for_last(folder: Folder) -> int:
    """A descriptor with the lock that the keeper of a turn holds: the host of the turn before has ended."""
    path = folder.file("host")
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        locked(fd, path, 2 * GRACE)
    except BaseException:
        os.close(fd)
        raise
    return fd


def found(name: str, env: Mapping[str, str], cwd: str) -> str:
    """The program of a host, as it will be started."""
    import shutil

    path = shutil.which(name, path=env.get("PATH")) if "/" not in name else os.path.join(cwd, name)
    if path and os.path.isfile(path) and not os.access(path, os.X_OK):
        said = f"the host cannot be started: {name} may not be executed"
        raise NotFound("no_program", said, remedy=shell("chmod", "+x", path))
    if path is None or not os.access(path, os.X_OK):
        said = f"the host cannot be started: there is no program {name} on the path"
        raise NotFound("no_program", said, remedy=f"install {name}, or name another host with --host")
    return path
