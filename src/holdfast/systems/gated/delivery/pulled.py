"""Features that came with git: what another clone did goes on here."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.documents.reconcile import GIT
from holdfast.git import history as git_history
from holdfast.machine import place as places
from holdfast.systems.gated import journal_copy, words
from holdfast.systems.seam.wired import Wired


def take_over(wired: Wired) -> list[str]:
    """Every journal that extends what is known here is taken; what is wrong with those that cannot be."""
    place, troubles = wired.place, []
    folder = os.path.join(place.worktree, words.HOME)
    if place.repository is None or git.busy(place.repository) or not os.path.isdir(folder):
        return []
    _finalized_elsewhere(wired)
    for slug in filter(words.is_slug, sorted(os.listdir(folder))):
        if os.path.isfile(os.path.join(folder, slug, words.JOURNAL)):
            places.prepare(place, insist=wired.settings.allow_unsafe_fs)
            wrong = journal_copy.take(wired, slug, place.key())
            if wrong is not None:
                troubles.append(f"{wrong.message} ({wrong.remedy})")
    return troubles


def _finalized_elsewhere(wired: Wired) -> None:
    """A completed feature whose folder a commit took away, and said so, was finalized in another clone."""
    place = wired.place
    repository, wanted = place.repository, ("gated", "completed", place.key())
    for entry in wired.store.entries():
        gone = not os.path.lexists(os.path.join(place.worktree, words.HOME, entry.id))
        if repository is None or not gone or (entry.dialect, entry.status, entry.worktree) != wanted:
            continue
        document = f"{words.HOME}/{entry.id}/{words.DOCUMENT}"
        inside = os.path.relpath(os.path.join(place.worktree, document), repository.top)
        newest = git_history.newest_of(repository, inside)
        if newest and "\nWorkflow-Status: finalized\n" in git_history.message(repository, newest):
            done = cmd.Together((cmd.Finalize(elsewhere=True), cmd.Record({"workspace": words.DELETED})))
            wired.execute(entry.ulid, done, GIT)
