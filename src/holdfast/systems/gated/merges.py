"""A merge of a feature's branch with that of another clone: which files one side decides, and what people resolve."""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast import git
from holdfast.core import remedies
from holdfast.core.remedy import Blank, Remedy, one_of, shell
from holdfast.engine.ports import AHEAD, FORKED
from holdfast.systems.gated import words


def made(slug: str, repository: git.Repository, base: str) -> list[str]:
    """The files of a workspace that Holdfast makes from the journal, from the top of the repository."""
    home = os.path.relpath(os.path.join(base, words.HOME, slug), repository.top)
    phases = (f"{phase}/{words.STATUS_FILE}" for phase in words.PHASES)
    return [f"{home}/{one}" for one in (words.JOURNAL, words.DOCUMENT, *phases)]


def whole(slug: str, repository: git.Repository, base: str, kind: str) -> list[str]:
    """What a merge takes from one side, by how the journals stand: all of the workspace, or what follows from them."""
    home = os.path.relpath(os.path.join(base, words.HOME, slug), repository.top)
    return [home] if kind in (AHEAD, FORKED) else made(slug, repository, base) if kind else []


def by_people(slug: str, repository: git.Repository, base: str, kind: str, files: Sequence[str]) -> list[str]:
    """Of the files that both sides of a merge changed, those that only people can resolve."""
    own = whole(slug, repository, base, kind)
    return [file for file in files if not any(f"{file}/".startswith(f"{one}/") for one in own)]


def by_hand(
    slug: str,
    repository: git.Repository,
    base: str,
    kind: str,
    files: Sequence[str],
    theirs: str,
    take: str | Blank = "",
) -> tuple[Remedy, ...]:
    """How a merge that is under way is ended, where both sides changed the same code or document.

    Of two journals that differ, the merge decides nothing: a person does afterwards.
    """
    people = by_people(slug, repository, base, kind, files)
    own = [file for file in files if file not in people]
    paths = whole(slug, repository, base, kind) if kind in (AHEAD, FORKED) else own
    side = theirs if kind == AHEAD or take == "git" else "HEAD"
    there = () if base == repository.top else ("-C", repository.top)
    restore = (shell("git", *there, "restore", f"--source={side}", "--staged", "--worktree", "--", *paths),)
    listed = ", ".join(people[:8]) + (", …" if len(people) > 8 else "")
    follows = "then " if own else ""
    forked = kind == FORKED
    return (
        *(restore if own else ()),
        shell("git", *there, "commit", "--no-edit", text=f"{follows}resolve {listed}, git add it, and"),
        remedies.recover(slug, take=take or one_of("git", "here"), text="then")
        if forked
        else remedies.go_on(text="then").given(slug=slug),
    )
