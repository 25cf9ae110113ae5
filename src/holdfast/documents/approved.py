"""Copies of what people decided about, so that the next time they are asked they can be shown what is different.

They are a convenience and bounded: nothing depends on them, and users may delete them to save room. The name of a
copy begins with its workflow's ULID, so that it goes when the workflow is forgotten.
"""

from __future__ import annotations

import os

from holdfast.core import covered
from holdfast.core.names import is_name
from holdfast.core.state import State
from holdfast.machine.place import Place, read_regular
from holdfast.plain.digest import digest

FOLDER = "approved"
LARGEST = 256 << 10
KEPT = 200


def keep(place: Place, state: State, step: str, changes: bytes = b"") -> None:
    """Copies the files that a step was approved for. One that has changed since, or cannot be copied, is left out.

    `changes` are what a branch changes, where that is one of them.
    """
    told = digest(changes) if 0 < len(changes) <= LARGEST else ""
    folder, base = os.path.join(place.home, FOLDER), place.base(state.worktree)
    grant, others = state.step(step).grant, covered.is_of_others(state, step)
    for name, artifact in covered.files(state, step).items():
        hashed = grant.hashes.get(name, "") if grant and others else artifact.hash
        content = changes if told == hashed else read_regular(os.path.join(base, artifact.path), LARGEST)
        name = f"{state.ulid}-{hashed}"
        if content is None or digest(content) != hashed or os.path.exists(os.path.join(folder, name)):
            continue
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            _write(folder, name, content)
            _prune(folder)
        except OSError:
            return  # the approval itself is durable


def copy(place: Place, ulid: str, hashed: str) -> bytes | None:
    """What was approved with this hash in a workflow, if a copy of it was kept."""
    path = os.path.join(place.home, FOLDER, f"{ulid}-{hashed}")
    content = read_regular(path, LARGEST) if is_name(hashed) else None
    return content if content is not None and digest(content) == hashed else None


def _write(folder: str, name: str, content: bytes) -> None:
    made = os.path.join(folder, f".{name}.{os.urandom(4).hex()}")
    fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with open(fd, "wb") as file:
        file.write(content)
    os.replace(made, os.path.join(folder, name))


def _prune(folder: str) -> None:
    with os.scandir(folder) as found:
        files = sorted(found, key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
    for entry in files[: max(0, len(files) - KEPT)]:
        os.unlink(entry.path)
