"""`holdfast feature recover`: a feature whose state is lost continues, from its journal or from what is left of it.

A journal needs nobody's word. What was only put together from files and commits is shown to a person, who confirms it.
"""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.needs import Needs
from holdfast.core.recognition import own
from holdfast.core.remedy import shell
from holdfast.core.state import Actor, Grant, State
from holdfast.core.value import Any, Value
from holdfast.engine.ports import AHEAD, FORKED, UNKNOWN, Standing
from holdfast.errors import Broken, Conflict, HoldfastError, NotFound, UsageError
from holdfast.git.changes import has_branch
from holdfast.systems.gated import journal_copy, journal_history, subject, words, workspace
from holdfast.systems.gated.delivery import clones, evidence, forks
from holdfast.systems.gated.delivery.reconstruction import Clue, Recovery, put_together
from holdfast.systems.gated.document import DIALECT
from holdfast.systems.seam import adoption
from holdfast.systems.seam.found import Found, give_up_gone, parsed
from holdfast.systems.seam.wired import Wired

__all__ = ["Clue", "Rebuilt", "Recovery", "chosen", "confirm", "reconstruct", "recover"]

_RECOVER = "Recover the state"
_REBUILT = "it does not say what the journal says"


class Rebuilt(Value):
    """A feature whose journal is known, and what was put in place again from it."""

    state: State
    said: tuple[str, ...]


def recover(wired: Wired, slug: str, take: str = "") -> Rebuilt | Recovery:
    """Rebuilds what a journal tells. Without one, what can be put together, which somebody has to `confirm`."""
    decided = _left_out(wired, slug, take)
    joined = _joined(wired, slug, take)
    decided += _left_out(wired, slug, take) if joined else ()
    found = _recovered(wired, slug, take, decided=bool(decided))
    if not isinstance(found, Rebuilt):
        return found
    sent = clones.send(wired, found.state) if joined or decided else ()
    return Rebuilt(found.state, (*decided, *joined, *found.said, *sent))


def _left_out(wired: Wired, slug: str, take: str) -> tuple[str, ...]:
    """A journal that a merge left out is applied where it continues the one here, else decided about by a person."""
    state, repository = _known(wired, slug), wired.place.repository
    if state is None or repository is None or words.is_deleted(state) or wired.is_elsewhere(state):
        return ()
    if git.busy(repository):
        journal_copy.require_settled(wired, slug)
    left = None if _comes_first(wired, slug, take) else journal_history.found(wired, state)
    if left is None:
        return ()
    if left.standing.kind == AHEAD:
        journal_copy.taken(wired, slug, wired.place.key(), left.data)
        said = f"{journal_copy.name(slug)} is applied as commit {left.commit[:12]} has it"
        return (said, *workspace.as_in(wired, state, left.commit))
    _, said = forks.decided(wired, slug, left.standing, take, state, left.data)
    return (said, *(workspace.as_in(wired, state, left.commit) if take == forks.GIT else ()))


def _comes_first(wired: Wired, slug: str, take: str) -> bool:
    """Whether the copy in the working tree is the one to decide about, or is to be taken and damaged there alone."""
    try:
        standing = _standing(wired, slug, take)
    except Broken:
        return not journal_copy.is_committed(wired, slug, wired.place.key())
    return standing is not None and standing.kind == FORKED


def _joined(wired: Wired, slug: str, take: str) -> tuple[str, ...]:
    """Where the branch and its remote went different ways, both are brought together first."""
    state = _known(wired, slug)
    repository = wired.place.repository
    if repository and git.busy(repository):
        journal_copy.require_settled(wired, slug)
    return clones.join(wired, state, take) if state is not None and not words.is_deleted(state) else ()


def _recovered(wired: Wired, slug: str, take: str, *, decided: bool) -> Rebuilt | Recovery:
    standing = _standing(wired, slug, take)
    if standing is not None and standing.kind in (UNKNOWN, AHEAD, FORKED):
        journal_copy.require_settled(wired, slug)
    wrong = _take(wired, slug) if standing is not None and standing.kind in (UNKNOWN, AHEAD) else None
    state = _known(wired, slug)
    if standing is not None and state is not None and (wrong is not None or standing.kind == FORKED):
        ours = wired.store.load(standing.ulid) if standing.kind == FORKED else state
        data = journal_copy.read(wired, slug, wired.place.key())
        assert data is not None
        taken, said = forks.decided(wired, slug, standing, take, ours, data)
        return Rebuilt(taken, (said, *_rebuilt(wired, taken, decided=True)))
    if state is not None:
        return Rebuilt(state, _rebuilt(wired, state, decided=decided))
    if wrong is not None and wrong.code == "lines_missing":
        raise wrong  # a person decides about these lines first: then the copy is taken as it is
    if take:
        raise UsageError("nothing_to_take", f"{slug} has no journal here", remedy=remedies.recover(slug))
    return reconstruct(wired, slug)


def _take(wired: Wired, slug: str) -> HoldfastError | None:
    """What git brought is taken over as it would be by any command; what is wrong with it where it cannot be."""
    wired.prepare()
    return journal_copy.take(wired, slug, wired.place.key())


def chosen(wired: Wired, word: str) -> str:
    """The feature that is meant: the one that is named, the only one, or the only one of this branch."""
    if word:
        if not words.is_slug(word):
            said = f"{word[:80]!r} cannot be the slug of a feature"
            raise UsageError("bad_slug", said, remedy=f"name a folder below {words.HOME}/", facts={"slug": word[:200]})
        return word
    top = os.path.join(wired.place.worktree, words.HOME)
    names = sorted(os.listdir(top)) if os.path.isdir(top) else []
    found = [name for name in names if words.is_slug(name) and os.path.isdir(os.path.join(top, name))]
    branch = wired.place.branch()
    for meant in (found, [name for name in found if branch == f"feature/{name}"]):
        if len(meant) == 1:
            return meant[0]
    if not found:
        raise no_feature(f"{words.HOME}/", "there is no folder of a feature here")
    said = f"several features are here: {', '.join(found[:8])}"
    facts = {"features": found}
    raise UsageError("ambiguous_feature", said, remedy=remedies.recover(found[0], text="name one"), facts=facts)


def no_feature(path: str, why: str) -> NotFound:
    back = shell("git", "restore", path, text="if it was deleted")
    ways = (back, remedies.start("feature", subject.TITLE, text="begin one"))
    return NotFound("no_feature", why, remedy=ways, facts={"path": path})


def reconstruct(wired: Wired, slug: str) -> Recovery:
    """What the files, the reviews and git's history say of a feature. Nothing is written."""
    left = evidence.gather(wired.place, slug)
    if left is None:
        path = f"{words.HOME}/{slug}/{words.DESCRIPTION}"
        refusal = no_feature(path, f"there is no {path}, so nothing proves that there was a feature {slug}")
        branch, repository = f"{words.BRANCHES}{slug}", wired.place.repository
        if repository and git.branch(repository) != branch and has_branch(repository, branch):
            refusal.message = f"there is no {path}, and {branch} is not checked out"
            refusal.remedies = (shell("git", "switch", branch, text="look there"), *refusal.remedies[:1])
        raise refusal
    return put_together(slug, left)


def confirm(wired: Wired, recovery: Recovery) -> Rebuilt:
    """A person says that a reconstruction is right: the feature gets a journal that begins with it."""
    slug = recovery.slug
    actor = wired.settings.actor
    wired.settings.require_person("confirm a state that was put together from what is left", remedies.recover(slug))
    home = f"{words.HOME}/{slug}"
    beside = {f"{home}/{phase}/{words.STATUS_FILE}": status for phase, status in recovery.statuses.items()}
    path = f"{home}/{words.DOCUMENT}"
    found = Found(path, DIALECT, document=recovery.document)
    state, document = adoption.understood(wired, found, beside)
    state = _confirmed(wired, state, actor)
    wired.prepare()
    with wired.store.exclusively("starting"):
        if _known(wired, slug) is not None or reconstruct(wired, slug) != recovery:
            said = f"what is left of {slug} has changed since it was shown"
            raise Conflict("changed_meanwhile", said, remedy=remedies.recover(slug), facts={"slug": slug})
        _refuse_second(wired, slug)
        wanted = {**beside, path: document, journal_copy.name(slug): None}
        kept = _put_aside(wired, state, wanted, "it was lost or broken")
        data = wired.documents.read(state, path)
        give_up_gone(wired)
        after = adoption.begun(wired, state, document, found.replace(data=data or b""), actor)
    after = adoption.marked(wired, state, after, actor)
    aside = (f"{file} as it was is kept in {where}" for file, where in kept.items())
    return Rebuilt(after, (*aside, *workspace.commit(wired, after, _RECOVER)))


def _refuse_second(wired: Wired, slug: str) -> None:
    """Worktrees share their journals: what one of them works on is lost in none."""
    place = wired.place
    for entry in journal_copy.live(wired, slug):
        said = f"{slug} has a journal already: its worktree is {place.base(entry.worktree)}"
        ways = (shell("cd", place.base(entry.worktree), text="continue there"),)
        facts = {"workflow": slug, "ulid": entry.ulid, "worktree": place.base(entry.worktree)}
        raise Conflict("already_active", said, remedy=ways, facts=facts)


def _confirmed(wired: Wired, state: State, actor: Actor) -> State:
    """The approvals are no mere claims of a document any more."""
    facts = wired.world.facts(state, Needs(answer=cmd.Approve("")))
    grant = Grant(facts.now, actor.label, facts.person, 0)
    progress = {
        path: one.replace(grant=own(grant.replace(attempt=one.attempt), state.ulid, path, facts)) if one.grant else one
        for path, one in state.progress.items()
    }
    return state.replace(progress=progress)


def _put_aside(wired: Wired, state: State, wanted: dict[str, Any], why: str) -> dict[str, str]:
    """Keeps a copy of every file that says something else than it should, and lets it be replaced: what went where."""
    documents, kept = wired.documents, {}
    for path, value in wanted.items():
        data = documents.read(state, path)
        if data is not None and (value is None or parsed(data) != value):
            kept[path] = documents.quarantine(path, data, why)
            documents.accept(state, path, data)
    return kept


def _known(wired: Wired, slug: str) -> State | None:
    """The feature whose journal is here: the one that runs, else the newest."""
    store, here = wired.store, wired.place.key()
    same = [e for e in store.find(slug) if (e.id, e.dialect, e.worktree) == (slug, "gated", here)]
    found = []
    for entry in sorted(same, key=lambda one: (one.active, one.ulid), reverse=True):
        try:
            found.append(store.load(entry.ulid))
        except NotFound:
            store.rebuild()  # the list names a journal that somebody took away
    over = os.path.isdir(os.path.join(wired.place.worktree, words.HOME, slug))
    return next((state for state in found if not (over and words.is_deleted(state))), None)


def _standing(wired: Wired, slug: str, take: str) -> Standing | None:
    """How the copy of the journal stands to the one here; a damaged one counts as none, unless it is to be taken."""
    data = journal_copy.read(wired, slug, wired.place.key())
    if data is None:
        return None
    try:
        return journal_copy.compared(wired, slug, wired.place.key(), data)
    except Broken as refusal:
        if refusal.code != "copy_damaged" or take == forks.GIT:
            raise
        return None


def _rebuilt(wired: Wired, state: State, *, decided: bool = False) -> tuple[str, ...]:
    """Puts the documents and the copy of a journal in place, and says which of them were not.

    `decided` says that a person chose this journal, so that what is there is no edit that could still be decided. So
    it is where the work is over.
    """
    documents = wired.documents
    path = DIALECT.document.path(state)
    if not path:
        return (f"{state.id} is finalized and its workspace is deleted: there is nothing to rebuild",)
    if documents.elsewhere(state, path):
        raise wired.branch_mismatch(state)
    copy = journal_copy.name(state.id)
    files = (path, *_views(state), copy)
    before = {file: documents.read(state, file) for file in files}
    decided = decided or not queries.is_active(state)
    if not decided:
        state = wired.reconciler.reconcile(state)
    wanted = {path: documents.value(state), **_views(state)}
    torn = (file for file in wanted if decided or parsed(documents.read(state, file) or b"") is None)
    broken = {file: wanted[file] for file in torn}
    kept = _put_aside(wired, state, broken, _REBUILT)
    wired.reconciler.settle(wired.engine.show(state))
    kept |= _copied(wired, state)
    workspace.committed(wired, state, _RECOVER)
    after = {file: documents.read(state, file) for file in files}
    return tuple(_told(file, before[file], kept.get(file, "")) for file in files if after[file] != before[file])


def _copied(wired: Wired, state: State) -> dict[str, str]:
    """A copy that is damaged, or that a person decided against, gives way to the journal: what went where."""
    name = journal_copy.name(state.id)
    data = journal_copy.read(wired, state.id, state.worktree)
    if data is None or journal_copy.is_known(wired, state.id, data):
        return {}
    kept = wired.documents.quarantine(name, data, _REBUILT)
    journal_copy.write(wired, state)
    return {name: kept}


def _views(state: State) -> dict[str, Any]:
    assert DIALECT.views is not None
    return {path: made() for path, made in DIALECT.views(state).items()}


def _told(file: str, before: bytes | None, kept: str) -> str:
    if before is None:
        return f"{file} was missing and is put in place again"
    return f"{file} is written again" + (f"; what was there is in {kept}" if kept else "")
