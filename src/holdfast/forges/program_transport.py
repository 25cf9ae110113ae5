"""Requests by the user's own `gh` or `glab`: their login, which never passes through here.

Unlike a token of ours, these follow a redirect to another host, but they do not send the login there.
"""

from __future__ import annotations

import os
import selectors
import signal
import time
from _collections_abc import Mapping

from holdfast.forges import refusals
from holdfast.forges.transport import ANSWER_LIMIT, GRAPHQL, TIMEOUT_SECONDS, Answer, checked_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

_HEAD_LIMIT = 1 << 18
_NOT_LOGGED_IN = 4  # the exit code gh keeps for it


class ProgramTransport:
    """Asks the forge at `host` by the `api` command of the program at this path, run in the folder `top`."""

    refusal = None

    def __init__(
        self,
        program: str,
        top: str,
        host: str,
        timeout: float = TIMEOUT_SECONDS,
        *,
        environ: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> None:
        self.host = checked_host(host)
        self._name = os.path.basename(program)
        self.login = f"{self._name} auth login --hostname {host}"
        self._program = program
        self._top = top
        self._timeout = timeout
        self._environ = environ
        self._headers = headers

    def send(self, method: str, path: str, body: bytes = b"") -> Answer:
        sent = {**self._headers, **({"Content-Type": "application/json; charset=utf-8"} if body else {})}
        headers = [word for name, value in sent.items() for word in ("--header", f"{name}: {value}")]
        given = ("--input", "-") if body else ()
        argv = [self._program, "api", "--hostname", self.host, "--include", "--method", method, *headers, *given, path]
        try:
            code, printed, complaint = self._run(argv, body)
        except TimeoutError:
            raise refusals.unreachable(
                self.host, f"{self._name} had no whole answer within {self._timeout:g} s"
            ) from None
        except OSError as error:
            raise refusals.unreachable(
                self.host, f"{self._name} cannot be run in {self._top}: {error.strerror}"
            ) from None
        if len(printed) > ANSWER_LIMIT + _HEAD_LIMIT:
            raise refusals.odd(self.host, f"it is larger than {ANSWER_LIMIT >> 20} MiB")
        return self._read(path, code, printed, complaint)

    def _read(self, path: str, code: int, printed: bytes, complaint: bytes) -> Answer:
        """The answer in what was printed. The exit code is 1 for a refusal as well as for an answer that was cut off.

        Of GraphQL gh prints a body only when it has the whole of it and can read it itself.
        """
        head, _, body = printed.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").replace("\r\n", "\n").split("\n")
        status = first.split(" ")[1:2]
        said = complaint.decode("utf-8", "replace")
        if not first.startswith("HTTP/") or not status or not (status[0].isascii() and status[0].isdigit()):
            if code == _NOT_LOGGED_IN or f"{self._name} auth login" in said:
                raise refusals.unauthorized(self.host, self.login, said)
            raise refusals.unreachable(self.host, said or f"{self._name} ended with {code}")
        number = int(status[0][:3])
        if code and number < 300 and not (path == GRAPHQL and body.strip()):
            if "json" in said or "invalid character" in said:
                raise refusals.odd(self.host, said)
            raise refusals.unreachable(self.host, said or f"{self._name} ended with {code}")
        pairs = (line.partition(": ") for line in lines)
        return Answer(number, {name.lower(): value for name, _, value in pairs}, body)

    def _run(self, argv: list[str], body: bytes) -> tuple[int, bytes, bytes]:
        """Exit code, output and complaint of the program; TimeoutError and OSError where there is none."""
        import subprocess
        import tempfile

        with tempfile.TemporaryFile() as text:  # a file takes it all at once, whether it is ever read or not
            text.write(body)
            text.seek(0)
            process = subprocess.Popen(argv, cwd=self._top, env=self._environ, bufsize=0, start_new_session=True,
                                       stdin=text if body else subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        with process.stdout, process.stderr:
            try:
                printed, complaint = self._followed(process)
                return process.returncode, printed, complaint
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def _followed(self, process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
        """Both pipes to their end, or until there is more than an answer may have, within the time that is allowed."""
        import subprocess

        kept = (bytearray(), bytearray())
        deadline = time.monotonic() + self._timeout
        with selectors.DefaultSelector() as selector:
            for pipe, output in zip((process.stdout, process.stderr), kept, strict=True):
                assert pipe is not None
                selector.register(pipe, selectors.EVENT_READ, output)
            while selector.get_map() and max(map(len, kept)) <= ANSWER_LIMIT + _HEAD_LIMIT:
                ready = selector.select(max(deadline - time.monotonic(), 0))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    chunk = os.read(key.fd, 1 << 16)
                    key.data.extend(chunk)
                    if not chunk:
                        selector.unregister(key.fileobj)
            if not selector.get_map():
                try:
                    process.wait(max(deadline - time.monotonic(), 0))
                except subprocess.TimeoutExpired:
                    raise TimeoutError from None
        return bytes(kept[0]), bytes(kept[1])


def program_in(environ: Mapping[str, str], name: str) -> str:
    """The path of a program, or nothing. Relative entries of PATH do not count, as a repository could bring its own."""
    import shutil

    path = environ.get("PATH", os.defpath)
    fixed = os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part))
    return shutil.which(name, path=fixed) or ""
