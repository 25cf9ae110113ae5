"""Files that the user's index tells git not to look at: what is changed in them is in no commit, and git shows none."""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast import git
from holdfast.core.remedy import Remedy, shell
from holdfast.git.command import git as run

_SKIPPED, _ASSUMED = "skip-worktree", "assume-unchanged"


def seeing(repo: git.Repository, paths: Sequence[str]) -> tuple[Remedy, ...]:
    """The commands that make git look at those of the files that it passes over."""
    if not paths:
        return ()
    asked = ("ls-files", "-z", "-v", "--full-name", "--")
    listed = os.fsdecode(run(repo.top, *asked, *paths, env={"GIT_LITERAL_PATHSPECS": "1"})[1]).split("\0")[:-1]
    marks = {row[2:]: row[:1] for row in listed}
    found = {
        _SKIPPED: [path for path, mark in marks.items() if mark in "Ss"],
        _ASSUMED: [path for path, mark in marks.items() if mark.islower()],
    }
    told = ((flag, files) for flag, files in found.items() if files)
    texts = ("git is told to pass over it", "then")
    return tuple(
        shell("git", "-C", repo.top, "update-index", f"--no-{flag}", "--", *files, text=text)
        for text, (flag, files) in zip(texts, told, strict=False)
    )
