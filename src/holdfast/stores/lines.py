"""One line of a journal: how it is framed, sealed and recognised. Bytes in, values out.

A line holds its sequence number, the highest one its writer knew to be durable, the sum of the line before, the body,
and its own sum: it can be judged wherever it is, also behind damage.
"""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.value import Any, Value
from holdfast.errors import Broken, NotFound
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import scan

LONGEST_LINE = 16 << 20
FIRST = "0" * 16
"""What the first line has in place of the sum of the line before."""
_BLOCK, _NEAR = 1 << 16, 1 << 20
"""How much is read at a time, and at most, to find a line before a position."""
SEAL = len(b',"sum":"0123456789abcdef"}\n')


class Position(Value):
    """Where the last line that was read lies; a snapshot keeps it and `seek` takes it back."""

    seq: int
    start: int
    end: int
    sum: str


class Line(Value):
    """One command of the journal; `body` is the whole parsed line."""

    seq: int
    synced: int
    body: dict[str, Any]
    start: int
    end: int
    sum: str

    @property
    def position(self) -> Position:
        return Position(seq=self.seq, start=self.start, end=self.end, sum=self.sum)


def head(seq: int, synced: int, prev: str) -> bytes:
    return b'{"seq":%d,"synced":%d,"prev":"%s",' % (seq, synced, prev.encode())


def seal(text: bytes) -> bytes:
    return b',"sum":"' + digest(text)[:16].encode() + b'"}\n'


def sum_before(data: bytes, end: int) -> str:
    """The sum of the whole line that ends there."""
    return data[end - SEAL + 8 : end - 3].decode()


def parsed(raw: bytes, start: int) -> Line | None:
    """The line, if it is consistent in itself: its sum is right, and its head says what its JSON says."""
    size = len(raw)
    if size > LONGEST_LINE or raw[-SEAL:] != seal(raw[:-SEAL]) or raw.find(b"\n") != size - 1:
        return None
    try:
        text = raw.decode()
        body, end = scan(text)
        seq, synced = body["seq"], body["synced"]
        if end != len(text) - 1 or not 0 <= synced < seq or not raw.startswith(head(seq, synced, body["prev"])):
            return None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    place = {"seq": seq, "synced": synced, "body": body, "start": start, "end": start + size, "sum": body["sum"]}
    return Line.from_fields(place)


def near(fd: int, last: Position | Line | None, seq: int) -> Line | None:
    """The line of a sequence number, where it is among the last ones before a position; None where it is not.

    Who wants only what came after it need not read a long journal from its beginning.
    """
    if last is None or not 0 < seq <= last.seq:
        return None
    behind, start, data = last.seq - seq, last.end, b""
    while start > 0 and data.count(b"\n") < behind + 2 and len(data) < _NEAR:
        size = min(_BLOCK, start)
        start -= size
        data = os.pread(fd, size, start) + data
    texts = data.split(b"\n")[:-1]
    at = len(texts) - 1 - behind
    if at < 0 or (at == 0 and start > 0):
        return None
    line = parsed(texts[at] + b"\n", start + sum(len(text) + 1 for text in texts[:at]))
    return line if line is not None and line.seq == seq else None


def chained(lines: list[bytes], seq: int, end: str) -> bool:
    for text in reversed(lines):
        line = parsed(text + b"\n", 0)
        if line is None or (line.seq, line.sum) != (seq, end):
            return False
        seq, end = seq - 1, line.body["prev"]
    return True


def acknowledged(data: bytes, seq: int) -> bool:
    """Whether a line that is whole by its own sum, wherever it is in `data`, says that `seq` was durable.

    The newlines around it may be damaged too. What JSON continues after is a copy of a line that another one carries.
    """
    import re

    for begun in re.finditer(rb'\{"seq":\d{1,18},"synced":(\d{1,18}),"prev":"[0-9a-f]{16}",', data):
        if int(begun[1]) < seq:
            continue
        text, _, _ = data[begun.start() : begun.start() + LONGEST_LINE].partition(b"\n")
        for ended in re.finditer(rb',"sum":"[0-9a-f]{16}"\}(?![,}\]])', text):
            if ended[0] + b"\n" == seal(text[: ended.start()]):
                return True
    return False


def damaged(path: str, offset: int, seq: int) -> Broken:
    said = f"{path} is damaged at byte {offset}: line {seq} was acknowledged and cannot be read"
    return Broken("journal_damaged", said, remedy=remedies.doctor(), facts={"path": path, "offset": offset, "seq": seq})


def missing(path: str) -> NotFound:
    return NotFound("no_journal", f"there is no journal at {path}", remedy=remedies.listing(), facts={"path": path})
