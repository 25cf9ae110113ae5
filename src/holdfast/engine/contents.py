"""What a step's work is, for a statement: every file with its SHA-256.

Holdfast's own hash has 128 bits. Who writes two files can search for a pair with the same one, so no proof
names it.
"""

from __future__ import annotations

import os

from holdfast.core import covered
from holdfast.core.facts import HandIn
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest


class Contents(Value):
    lines: tuple[tuple[str, str, str], ...]
    """Name, path and SHA-256 of each file; the hash is empty where there is none."""
    hashes: dict[str, str]
    """Holdfast's own hash of each artifact, of the contents that these lines name."""


def contents(base: str, top: str, state: State, path: str, handed: HandIn | None, largest: int) -> Contents:
    """The work of a step as it is in the worktree `base` of a repository at `top`.

    `handed` is what the system of the workflow says that it is; without that, it is the files that an approval is
    given for.
    """
    named = {name: one.path for name, one in covered.files(state, path).items()}
    if handed is not None:
        named = {name: one[0] for name, one in handed.parts.items()}
    lines, hashes = [], dict(handed.hashes) if handed else {}
    for name, file in sorted(named.items()):
        content = read(os.path.join(base, file), largest)
        if content is None and handed and name in handed.parts:
            lines += _parts(base, top, name, handed, largest)
            continue
        lines.append((name, file, sha256(content)))
        if content is not None:
            hashes[name] = digest(content)
        elif covered.is_of_others(state, path):
            hashes[name] = ""
    return Contents(tuple(lines), hashes)


def _parts(base: str, top: str, name: str, handed: HandIn, largest: int) -> list[tuple[str, str, str]]:
    """Of what the branch changes, each file; of what is there no more, the hash that was recorded."""
    if not handed.files:
        return [(name, handed.parts[name][0], sha256(handed.parts[name][1].encode()))]
    full = ((file, os.path.join(top, file)) for file in handed.files)
    return [(name, os.path.relpath(at, base), sha256(read(at, largest))) for _, at in full]


def sha256(content: bytes | None) -> str:
    """In hex; empty for what is not there."""
    if content is None:
        return ""
    import hashlib

    return hashlib.sha256(content).hexdigest()


def read(path: str, largest: int) -> bytes | None:
    """What is compared of a file: its content, and of a link where it leads to."""
    try:
        return os.fsencode(os.readlink(path)) if os.path.islink(path) else read_regular(path, largest)
    except OSError:
        return None
