"""Whether the review file of a phase that waits for a person still says what was read of it, and where it does."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core import lifecycle, moment, remedies
from holdfast.core.names import fitting
from holdfast.core.remedy import Remedy, shell
from holdfast.core.state import State
from holdfast.errors import HoldfastError, Refused
from holdfast.git import changes as git_changes
from holdfast.git import history
from holdfast.git.command import git as run
from holdfast.systems.gated import words, workspace
from holdfast.systems.seam.wired import Wired


def changed(wired: Wired, state: State, *, only_newer: bool = False) -> Refused | None:
    """What an approval is refused for where a review file does not say any more what was read of it.

    Where neither the folder nor HEAD has the file, what was read of it is in the journal alone. With `only_newer`, a
    file that nobody wrote since it was read is not read again.
    """
    base = wired.place.base(state.worktree)
    repository = git.find(base)
    for phase in state.plan.children(""):
        step = state.step(phase)
        if step.status != lifecycle.WAITING or not step.reviewed or not step.verdicts:
            continue
        path, last = words.review_file(state, phase), step.verdicts[-1]
        full = os.path.join(base, path)
        is_there = os.path.lexists(full)
        if not is_there and (repository is None or git.head_blob(repository, full) is None):
            continue
        if only_newer and is_there and os.lstat(full).st_mtime < moment.to_epoch(last.at):
            continue
        try:
            decision, _ = workspace.reviewed(wired, state, phase)
        except HoldfastError as wrong:
            decision = wrong.message
        if decision != last.verdict:
            said = f"{path} is not as it was read, when it said {last.verdict}: {decision}"
            back = _restore(repository, full, path, (last.verdict, last.feedback)) if repository else ()
            ways = (*back, remedies.reject(phase, workflow=state.ulid, text="to have the work done again"))
            return Refused("review_changed", said, remedy=ways, facts={"path": path, "step": phase})
    return None


def _restore(repository: git.Repository, full: str, path: str, read: tuple[str, str]) -> tuple[Remedy, ...]:
    """The command that brings the review back as it was read, from the newest commit that has it so."""
    inside = git.inside(repository, full)
    if inside is None:
        return ()
    head = git_changes.in_head(repository, [inside]).get(inside, "")
    for blob, commit in history.versions(repository, inside).items():
        if _said(repository, blob) == read:
            source = "HEAD" if blob == head else commit[:12]
            return (shell("git", "restore", f"--source={source}", "--", path, text="to take that back"),)
    return ()


def _said(repository: git.Repository, blob: str) -> tuple[str, str] | None:
    """The decision and the feedback of a review that git has."""
    import tempfile

    from holdfast.systems.gated import review_file

    with tempfile.TemporaryDirectory() as folder:
        full = os.path.join(folder, "review.md")
        with open(full, "wb") as file:
            file.write(run(repository.top, "cat-file", "blob", blob)[1])
        try:
            found = review_file.read(full, "review.md")
        except HoldfastError:
            return None
    return found.decision, fitting(found.feedback)
