"""What was put where: the bytes of every file before, so that it can be as if nobody had been there.

The record is the person's own, outside of any project: what a file held before may be secret, and is true on this
machine only.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode

from holdfast.core.remedy import shell
from holdfast.core.value import Any, Value
from holdfast.errors import Broken
from holdfast.files.replace import durable_write, read_file, remove
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import parse

VERSION = 1


class Kept(Value):
    """One file: what it held before, None where there was none; and the digest of what was written."""

    before: bytes | None
    after: str
    since: str = ""
    """The digest of what is written over, until all is written: a crash may leave the one or the other."""


class Record(Value):
    files: dict[str, Kept] = {}
    folders: tuple[str, ...] = ()
    """Those that were made on the way."""

    def is_untouched(self, path: str, data: bytes | None) -> bool:
        """Whether a file is as it was left."""
        kept = self.files.get(path)
        return kept is not None and data is not None and digest(data) in (kept.after, kept.since)


def place(data_dir: str, host: str, scope: str, base: str) -> str:
    name = f"{host}-{scope}-{digest(os.path.realpath(base).encode())[:16]}.json"
    return os.path.join(data_dir, "holdfast", "installed", name)


def read(path: str) -> Record:
    """What is known; nothing where nothing was put in from here."""
    try:
        data = parse(read_file(path))
        files = {
            name: Kept(_bytes(kept["before"]), str(kept["after"]), str(kept.get("since", "")))
            for name, kept in data["files"].items()
        }
        return Record(files, tuple(map(str, data["folders"])))
    except FileNotFoundError:
        return Record()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as wrong:
        said = f"what is known of an installation cannot be read: {path}"
        facts = {"path": path, "reason": str(wrong)[:200]}
        raise Broken("broken_record", said, remedy=shell("mv", path, f"{path}.broken"), facts=facts) from None


def write(path: str, record: Record) -> None:
    def shown(data: bytes | None) -> str | None:
        return None if data is None else b64encode(data).decode()

    files = {
        name: {"before": shown(kept.before), "after": kept.after, **({"since": kept.since} if kept.since else {})}
        for name, kept in record.files.items()
    }
    data = {"version": VERSION, "files": files, "folders": list(record.folders)}
    durable_write(path, json.dumps(data, indent=1).encode() + b"\n", 0o600, dir_mode=0o700, alone=True)


def forget(path: str) -> None:
    """Without the record, and without the folder when it was the last."""
    remove(path)
    try:
        os.rmdir(os.path.dirname(path))
        os.rmdir(os.path.dirname(os.path.dirname(path)))
    except OSError:
        pass


def _bytes(shown: Any) -> bytes | None:
    return None if shown is None else b64decode(shown, validate=True)
