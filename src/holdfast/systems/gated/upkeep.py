"""What becomes of a feature's document that is found: the journal that git keeps beside it says what happened."""

from __future__ import annotations

import os
from _collections_abc import Iterator, Mapping

from holdfast.core import remedies
from holdfast.core.remedy import Remedy
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import Conflict, HoldfastError
from holdfast.systems.gated import words
from holdfast.systems.seam.found import Found
from holdfast.systems.seam.parts import Upkeep
from holdfast.systems.seam.wired import Wired

_FINALIZED = "finalized"


def _slug(path: str) -> str:
    return os.path.basename(os.path.dirname(path))


def _lost(worktree: str, path: str) -> bool:
    name = os.path.basename(path)
    if name != words.DOCUMENT or not words.is_slug(_slug(path)) or os.path.lexists(os.path.join(worktree, path)):
        return False
    return any(os.path.isfile(file) for file in _beside(worktree, path)[1:])


def _beside(worktree: str, path: str) -> list[str]:
    """What a feature leaves in its folder: its description, and the status of its phases."""
    left = [words.DESCRIPTION, *(f"{phase}/{words.STATUS_FILE}" for phase in words.PHASES)]
    return [os.path.join(worktree, os.path.dirname(path), name) for name in left]


def _recover(worktree: str, path: str) -> Remedy | None:
    return remedies.recover(_slug(path)) if any(map(os.path.isfile, _beside(worktree, path))) else None


def _journaled(wired: Wired, found: Found) -> bool:
    """An old commit shows a document as it once was, with the journal of then, which is known here."""
    from holdfast.systems.gated import journal_copy

    slug = _slug(found.path)
    data = journal_copy.kept(wired, slug)
    if data is not None and journal_copy.is_known(wired, slug, data):
        return not _is_taken_back(wired, found, data)
    over, id = found.document.get("status") == _FINALIZED, found.id or slug
    return any(entry.id == id and (over or entry.status != _FINALIZED) for entry in wired.store.find(id))


def _is_taken_back(wired: Wired, found: Found, journal: bytes) -> bool:
    """Whether a document says that a cancelled feature continues, beside a journal that says it is cancelled.

    That is an edit by hand. With an older document, git brings the older journal.
    """
    if found.wrong is not None or not _says_that_it_goes_on(found.document):
        return False
    from holdfast.systems.seam import returned

    state = returned.known(wired, found)
    if state is None or state.cancelled is None or not returned.goes_on(wired, state, found):
        return False
    return wired.store.examine_copy(journal, found.path).state.cancelled is not None


def _says_that_it_goes_on(document: Mapping[str, Any]) -> bool:
    """An end, an escalation or a word that nobody knows takes nothing back: those are edits, and refused."""
    try:
        said: str = words.WORKFLOW.decode(document.get("status"))
        return said == "in_progress"
    except HoldfastError:
        return False


def _adopt(wired: Wired, found: Found, or_known: bool) -> State | None:
    """What the journal beside a document says, if git keeps one: the document itself can only claim."""
    from holdfast.systems.gated import journal_copy

    slug = _slug(found.path)
    data = journal_copy.kept(wired, slug)
    if data is None:
        return None
    if not journal_copy.is_known(wired, slug, data):
        journal_copy.require_settled(wired, slug)
        wired.prepare()
        journal_copy.put_back(wired, slug)
        wrong = journal_copy.take(wired, slug, wired.place.key())
        if wrong is not None:
            raise wrong
    elif _is_taken_back(wired, found, data):
        from holdfast.systems.seam import returned

        return returned.take(wired, found)
    elif not or_known:
        said = f"{slug} has a journal here, which continues from what is in {found.path}"
        facts = {"workflow": slug, "path": found.path}
        raise Conflict("already_started", said, remedy=remedies.named("status", {"workflow": slug}), facts=facts)
    return journal_copy.known(wired, slug)


def _copy(wired: Wired, state: State) -> tuple[str, bytes | None]:
    from holdfast.systems.gated import journal_copy

    return journal_copy.name(state.id), journal_copy.kept(wired, state.id)


def _findings(wired: Wired, state: State) -> Iterator[tuple[HoldfastError, str]]:
    from holdfast.systems.gated import journal_copy, journal_history

    wrong = journal_copy.take(wired, state.id, state.worktree, only_look=True)
    if wrong is None and not words.is_deleted(state) and not wired.is_elsewhere(state):
        wrong = journal_history.wrong(wired, state)
    if wrong is not None:
        yield wrong, journal_copy.name(state.id)
    from holdfast.systems.gated.delivery import clones

    if not words.is_deleted(state) and (apart := clones.apart(wired, state)):
        yield apart, ""


def _leftovers(wired: Wired) -> Iterator[HoldfastError]:
    from holdfast.systems.gated.delivery import leftovers

    return leftovers.found(wired)


def _branch(id: str) -> str:
    return f"{words.BRANCHES}{id}" if words.is_slug(id) else ""


UPKEEP = Upkeep(
    name=_slug,
    branch=_branch,
    lost=_lost,
    recover=_recover,
    journaled=_journaled,
    adopt=_adopt,
    copy=_copy,
    findings=_findings,
    leftovers=_leftovers,
)
