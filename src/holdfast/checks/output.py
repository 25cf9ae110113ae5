"""What a command printed: a hash of all of it, and its beginning and its end without likely secrets.

Nothing is looked for while it streams by, so that a command which prints much is not held up: only what is kept, told
or written to a file is searched for secrets.
"""

from __future__ import annotations

import os
import re
from _collections_abc import Callable, Iterator
from contextlib import contextmanager

from holdfast.core.secrets import DEFAULT, HELD, Secrets, marked
from holdfast.errors import HoldfastError
from holdfast.plain.terminal import ESCAPES

HEAD, TAIL = 256 << 10, 768 << 10
"""How many bytes of the beginning and of the end are kept."""
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"


class Output:
    """The output of one command, standard output and error in one stream.

    `hear` gets it as it comes. Where it is data, `shown` makes it what people read; it gets nothing at the end.
    """

    def __init__(
        self,
        secrets: Secrets = DEFAULT,
        hear: Callable[[bytes], None] | None = None,
        shown: Callable[[bytes], bytes] | None = None,
    ) -> None:
        from hashlib import blake2b

        self.hash = blake2b(digest_size=16)
        self.size = 0
        self.redacted: dict[str, int] = {}
        """How many likely secrets are not in the text, by kind; known once it was asked for."""
        self._secrets = secrets
        self._hear = hear
        self._shown = shown
        self._head, self._end = bytearray(), bytearray()
        self._text: tuple[int, str] = 0, ""

    def take(self, chunk: bytes) -> None:
        if not chunk:
            return
        self.hash.update(chunk)
        if self._hear is not None:
            self._hear(chunk)
        self._keep(self._shown(chunk) if self._shown else chunk)

    def end(self) -> None:
        if self._shown:
            self._keep(self._shown(b""))

    def _keep(self, chunk: bytes) -> None:
        self.size += len(chunk)
        if len(self._head) < HEAD + HELD:
            self._head += chunk[: HEAD + HELD - len(self._head)]
        self._end += chunk
        if len(self._end) > 2 * (TAIL + HELD):
            del self._end[: -(TAIL + HELD)]

    def text(self) -> str:
        """All of it, or its beginning and its end with a line between them: safe to print, and without secrets."""
        if self._text[0] != self.size:
            self._text = self.size, self._kept()
        return self._text[1]

    def _kept(self) -> str:
        self.redacted = {}
        before = self.size - len(self._end)
        if before <= len(self._head):
            return self._plain(bytes(self._head[:before] + self._end), 0, self.size)
        head = self._plain(bytes(self._head), 0, HEAD)
        end = bytes(self._end[-(TAIL + HELD) :])
        tail = self._plain(end, len(end) - TAIL, len(end))
        return f"{head}\n[{self.size - HEAD - TAIL} bytes are not kept]\n{tail}"

    def tail(self, most: int) -> str:
        """The end of the text, of at most so many bytes."""
        encoded = self.text().encode()
        return encoded[max(len(encoded) - most, 0) :].decode("utf-8", "ignore")

    def last_line(self) -> str:
        """The last whole line that says something. What is not over may become a secret."""
        end = bytes(self._end[-HELD:])
        lines = self._plain(end, 0, max(end.rfind(b"\n"), end.rfind(b"\r")) + 1).split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _plain(self, data: bytes, start: int, end: int) -> str:
        """A part of the data, safe to print and without secrets; of one at its edge nothing is left."""
        text = data.decode("latin-1")
        found = self._secrets.find(text) if self._secrets.redact else []
        for one in found:
            start = one.end if one.start < start < one.end else start
            end = one.start if one.start < end < one.end else end
        inside = [
            one.replace(start=one.start - start, end=one.end - start) for one in found if start <= one.start < end
        ]
        kept = marked(text[start:end], inside, self.redacted).encode("latin-1")
        return re.sub(_CONTROLS, "", re.sub(ESCAPES, "", kept.decode("utf-8", "replace")))


@contextmanager
def logged(output: Output, file: str) -> Iterator[None]:
    """Keeps what was printed in a file, if one is named, however the command ends."""
    try:
        yield
    finally:
        if file:
            _write(output, file)


def _write(output: Output, file: str) -> None:
    """A check counts also where its output cannot be kept."""
    from holdfast.files.replace import make_directories, write_private

    try:
        make_directories(os.path.dirname(file), 0o700)
        write_private(file, output.text().encode())
    except (OSError, HoldfastError):
        pass
