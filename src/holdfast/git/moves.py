"""Moves of HEAD that change files: what a checkout, a reset or a merge does to a file, nobody wrote."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.git.command import git as run

NEWEST = 100
"""How many moves of HEAD are looked at."""
_WRITTEN = ("commit", "cherry-pick", "revert")
"""How the moves begin that record what somebody did here."""


def brought(repo: git.Repository, path: str) -> str:
    """The move of HEAD by which the file came to be as it is, or to be away; empty where somebody here wrote it."""
    name = git.inside(repo, path)
    if name is None or not os.path.exists(os.path.join(repo.git_dir, "logs", "HEAD")):
        return ""
    full = os.path.join(repo.top, name)
    data = _bytes(full)
    if git.head_blob(repo, path) != data:
        return "" if data is None else _taken_from(repo, name)
    listed = run(repo.top, "log", "-g", f"-n{NEWEST}", "--format=%H%x00%ct%x00%gs", "HEAD", ok=(0, 128))[1]
    moves = [line.split("\0", 2) for line in os.fsdecode(listed).splitlines() if line.count("\0") > 1]
    blobs = _blobs(repo, [f"{sha}:{name}" for sha, _, _ in moves])
    pairs = zip(moves, blobs, [*blobs[1:], ""], strict=False)
    recorded, how = next(
        (((sha, at), how) for (sha, at, how), blob, before in pairs if blob != before), (("", "0"), "")
    )
    if not how.startswith(_WRITTEN):
        return how if len(moves) > 1 else ""
    newest = os.stat(os.path.join(repo.git_dir, "logs", "HEAD")).st_mtime
    committed = newest if recorded[0] == moves[0][0] and how == moves[0][2] else int(recorded[1]) + 1
    return "restored as it was committed" if data is not None and os.stat(full).st_mtime > committed else ""


def _taken_from(repo: git.Repository, name: str) -> str:
    """The branch that has a file as it is there, and HEAD has not: a checkout of that file takes it from one."""
    form = ("for-each-ref", f"--count={NEWEST}", "--format=%(HEAD)%(refname)", "refs/heads", "refs/remotes")
    refs = [row.strip() for row in os.fsdecode(run(repo.top, *form)[1]).splitlines() if not row.startswith("*")]
    here = os.fsdecode(run(repo.top, "hash-object", "--", name, ok=(0, 128))[1]).strip()
    blobs = _blobs(repo, [f"{ref}:{name}" for ref in refs]) if here else []
    found = next((ref for ref, blob in zip(refs, blobs, strict=False) if blob == here), "")
    return f"taken from {found.removeprefix('refs/heads/')}" if found else ""


def _blobs(repo: git.Repository, names: list[str]) -> list[str]:
    """The object of each name; empty where there is none."""
    asked = "".join(f"{name}\n" for name in names)
    found = run(repo.top, "cat-file", "--batch-check=%(objectname)", stdin=os.fsencode(asked))[1]
    return ["" if line.endswith(b" missing") else os.fsdecode(line) for line in found.splitlines()]


def _bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(git.BLOB_LIMIT)
    except FileNotFoundError:
        return None
