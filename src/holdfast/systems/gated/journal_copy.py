"""The copy of a feature's journal that travels with git: how it stands to the journal here, and what follows."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.remedy import Remedy, one_of, shell
from holdfast.core.state import State
from holdfast.documents.reconcile import GIT
from holdfast.engine.ports import AHEAD, BEHIND, FORKED, LARGEST_COPY, UNKNOWN, Copy, Entry, Standing
from holdfast.errors import Broken, Conflict, HoldfastError, Refused
from holdfast.files.replace import durable_write
from holdfast.git import changes as git_changes
from holdfast.git.changes import unmerged
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.systems.gated import merges, words
from holdfast.systems.gated.journal_trust import require_sound
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def name(slug: str) -> str:
    return f"{words.HOME}/{slug}/{words.JOURNAL}"


def read(wired: Wired, slug: str, worktree: str) -> bytes | None:
    full = _full(wired, slug, worktree)
    return None if os.path.islink(full) else read_regular(full, LARGEST_COPY)


def kept(wired: Wired, slug: str) -> bytes | None:
    """The copy in this working tree; where somebody took it away or went back to an older one, the one that git has."""
    here = wired.place.key()
    return _newest(wired, slug, here, read(wired, slug, here))


def _newest(wired: Wired, slug: str, worktree: str, data: bytes | None) -> bytes | None:
    committed = _committed(wired, slug, worktree)
    return committed if committed and committed.startswith(data or b"") else data


def put_back(wired: Wired, slug: str) -> None:
    """A copy that was taken out of this working tree, and that git still has, is in its place again."""
    here = wired.place.key()
    with _alone(wired):
        data = _committed(wired, slug, here)
        if data is not None and not read(wired, slug, here):
            durable_write(_full(wired, slug, here), data, mode=0o644, alone=True)


def write(wired: Wired, state: State) -> None:
    """The journal here takes the place of its copy, whatever that says."""
    with _alone(wired):
        data = wired.store.export(state.ulid)
        durable_write(_full(wired, state.id, state.worktree), data, mode=0o644, alone=True)


def _alone(wired: Wired) -> AbstractContextManager[object]:
    """An older copy must not follow a newer one."""
    return wired.store.exclusively("starting")


def _full(wired: Wired, slug: str, worktree: str) -> str:
    return os.path.join(wired.place.base(worktree), name(slug))


def _committed(wired: Wired, slug: str, worktree: str) -> bytes | None:
    repository = wired.place.repository
    return git.head_blob(repository, _full(wired, slug, worktree)) if repository else None


def take(wired: Wired, slug: str, worktree: str, *, only_look: bool = False) -> HoldfastError | None:
    """Takes over a copy that extends what is known here; what is wrong with it where it can neither be taken nor left.

    Nearly always a journal here begins with these very bytes, and then the copy need not be understood. To `only_look`
    takes nothing, and says what a person has to decide.
    """
    data = read(wired, slug, worktree)
    if data is None or is_known(wired, slug, data):
        return None
    under_way = merging(wired, slug)
    if under_way is not None:
        return under_way
    data = _newest(wired, slug, worktree, data) or data
    try:
        standing = compared(wired, slug, worktree, data)
        if standing.kind in (UNKNOWN, AHEAD) and not only_look:
            wired.reconciler.settle(wired.engine.show(taken(wired, slug, worktree, data)))
    except (Broken, Conflict) as refusal:
        if refusal.code == "lines_missing":
            refusal.remedies = (remedies.doctor(),)
        elif isinstance(refusal, Broken):
            back = () if is_committed(wired, slug, worktree) else (shell("git", "restore", name(slug)),)
            refusal.remedies = (*back, remedies.recover(slug))
        return refusal
    return forked(slug, standing) if standing.kind == FORKED else None


def is_committed(wired: Wired, slug: str, worktree: str) -> bool:
    """Whether HEAD has the copy as it is in the working tree."""
    return _committed(wired, slug, worktree) == read(wired, slug, worktree)


def taken(wired: Wired, slug: str, worktree: str, data: bytes) -> State:
    """The state after a copy that continues what is here, or that a person decided for in another clone."""
    copy = wired.store.examine_copy(data, name(slug))
    require_sound(wired, slug, worktree, copy.state)
    if wired.store.compare(data, name(slug)).kind != FORKED:
        return wired.store.fast_forward(data, name(slug))
    state, kept = superseded(wired, slug, copy)
    said = f"a person decided in another clone that the journal of {slug} that came with git holds"
    said += f"; the one that was here is kept in {kept}"
    wired.changes.append(said)
    return state


def superseded(wired: Wired, slug: str, copy: Copy) -> tuple[State, str]:
    """A copy takes the place of the journal here, which is kept: the state, and where."""
    kept = f"here-{digest(wired.store.export(copy.ulid))[:12]}"
    state = wired.store.supersede(copy.data, kept, name(slug))
    return state, f".holdfast/archive/{copy.ulid}-{kept}.jsonl"


def take_over(wired: Wired) -> list[str]:
    """Every journal that extends what is known here is taken; what is wrong with those that cannot be."""
    place, troubles = wired.place, []
    folder = os.path.join(place.worktree, words.HOME)
    if place.repository is None or git.busy(place.repository):
        return []
    _finalized_elsewhere(wired)
    if not os.path.isdir(folder):
        return []
    for slug in filter(words.is_slug, sorted(os.listdir(folder))):
        if os.path.isfile(os.path.join(folder, slug, words.JOURNAL)):
            wired.prepare()
            wrong = take(wired, slug, place.key())
            if wrong is not None:
                troubles.append(f"{wrong.message} ({wrong.remedy})")
    return troubles


def _finalized_elsewhere(wired: Wired) -> None:
    """A feature whose folder a commit took away, and said so, was finalized: in another clone, or here to the end."""
    place = wired.place
    repository, wanted = place.repository, ("gated", True, place.key())
    for entry in wired.store.entries():
        gone = not os.path.lexists(os.path.join(place.worktree, words.HOME, entry.id))
        if repository is None or not gone or (entry.dialect, entry.to_finalize, entry.worktree) != wanted:
            continue
        if is_finalized(repository, place.worktree, entry.id):
            done = cmd.Together((cmd.Finalize(elsewhere=True), cmd.Record({queries.WORKSPACE: queries.DELETED})))
            wired.execute(entry.ulid, done, GIT)


def is_finalized(repository: git.Repository, base: str, slug: str, at: str = "HEAD") -> bool:
    """Whether a feature was finalized, by the history of a commit: the commit that took its document away says so."""
    from holdfast.git import history as git_history

    inside = os.path.relpath(os.path.join(base, words.HOME, slug, words.DOCUMENT), repository.top)
    newest = "" if git.head_blob(repository, inside, at) else git_history.newest_of(repository, inside, at)
    return bool(newest) and "\nWorkflow-Status: finalized\n" in git_history.message(repository, newest)


def compared(wired: Wired, slug: str, worktree: str, data: bytes) -> Standing:
    """How a copy stands to what is here. A feature has one journal: another one differs from it in its first line."""
    found = wired.store.compare(data, name(slug))
    if found.kind == FORKED:
        return found.replace(kind=_decided(wired, slug, found.ulid, data))
    ours = next((entry.ulid for entry in live(wired, slug) if entry.worktree == worktree), "")
    if found.kind != UNKNOWN or not ours:
        return found
    return found.replace(ulid=ours, kind=FORKED, ours=wired.store.load(ours).revision)


def _decided(wired: Wired, slug: str, ulid: str, data: bytes) -> str:
    """What a person decided about two journals that differ, in the clone that one of them came from."""
    theirs = wired.store.examine_copy(data, name(slug))
    ours = wired.store.examine_copy(wired.store.export(ulid), name(slug))
    if ours.sums[-1] in given_up(theirs.state):
        return AHEAD
    return BEHIND if theirs.sums[-1] in given_up(ours.state) else FORKED


def given_up(state: State) -> list[str]:
    """The sums of the lines that a person decided against."""
    kept = state.context.get(words.GIVEN_UP)
    return [one for one in kept if isinstance(one, str)] if isinstance(kept, (list, tuple)) else []


def live(wired: Wired, slug: str) -> list[Entry]:
    """The journals of a feature, of any worktree, that still say how it stands: it runs, or waits to be finalized."""
    return [
        entry for entry in _same(wired, slug) if wired.store.has(entry.ulid) and (entry.active or entry.to_finalize)
    ]


def require_settled(wired: Wired, slug: str) -> None:
    """In the middle of a merge nobody knows yet which journal git brings."""
    under_way = merging(wired, slug)
    if under_way is not None:
        raise under_way
    operation = git.busy(wired.place.repository) if wired.place.repository else None
    if operation:
        said = f"git is in the middle of a {operation}, and brings a journal of {slug}"
        raise Refused("git_busy", said, remedy=shell("git", "status"), facts={"operation": operation})


def merging(wired: Wired, slug: str) -> Refused | None:
    """What is said in the middle of a merge that left the files of a workspace for people to resolve.

    Nobody can: they follow from the journal, and a journal is not made of two. The merge is taken back, and Holdfast
    makes it with the one that a person takes.
    """
    repository = wired.place.repository
    operation = git.busy(repository) if repository else None
    if repository is None or operation not in ("merge", "rebase", "cherry-pick", "revert"):
        return None
    home = os.path.relpath(os.path.join(wired.place.worktree, words.HOME, slug), repository.top)
    files = unmerged(repository, home)
    if not files:
        return None
    said = f"git is in the middle of a {operation} that left {', '.join(files[:4])} to be resolved"
    said += ": Holdfast brings both sides together once it is taken back"
    ways: tuple[Remedy, ...] = (shell("git", operation, "--abort"), remedies.recover(slug, text="then"))
    theirs = git_changes.resolve(repository, "MERGE_HEAD") if operation == "merge" else None
    every = git_changes.unmerged(repository, "") if theirs else []
    kind = _kind_at(wired, slug, repository, theirs) if theirs else ""
    if theirs and merges.by_people(slug, repository, wired.place.worktree, kind, every):
        said = f"git is in the middle of a merge that left {', '.join(every[:4])} to be resolved"
        ways = merges.by_hand(slug, repository, wired.place.worktree, kind, every, "MERGE_HEAD")
        files = every
    return Refused("git_busy", said, remedy=ways, facts={"operation": operation, "files": files[:50]})


def _kind_at(wired: Wired, slug: str, repository: git.Repository, commit: str) -> str:
    """How the journal that a commit has stands to the one here; empty where it has none that can be read."""
    data = git.head_blob(repository, _full(wired, slug, wired.place.key()), commit)
    try:
        return compared(wired, slug, wired.place.key(), data).kind if data else ""
    except Broken:
        return ""


def is_known(wired: Wired, slug: str, data: bytes) -> bool:
    """Whether a journal here begins with these very bytes, or is them."""
    return any(wired.store.begins_with(entry.ulid, data) for entry in _same(wired, slug))


def _same(wired: Wired, slug: str) -> list[Entry]:
    return [entry for entry in wired.store.find(slug) if (entry.id, entry.dialect) == (slug, "gated")]


def known(wired: Wired, slug: str) -> State:
    """The feature whose journal is here: the one that runs, in this worktree first, else the newest."""
    here = wired.place.key()
    entry = max(_same(wired, slug), key=lambda one: (one.active, one.worktree == here, one.ulid))
    state = wired.store.load(entry.ulid)
    return wired.reconciler.reconcile(state) if entry.active else state


def forked(slug: str, standing: Standing) -> Conflict:
    said = f"the journal of {slug} that came with git and the one here went different ways after line {standing.common}"
    said += ": a person decides which one holds"
    facts = {"common": standing.common, "ours": standing.ours, "theirs": standing.theirs, "ulid": standing.ulid}
    return Conflict("journal_forked", said, remedy=remedies.recover(slug, take=one_of("git", "here")), facts=facts)
