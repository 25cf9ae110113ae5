"""How a session ends: committed or cancelled, and whole even when the process dies on the way.

What is to be done is written down for good first, as a plan in `.holdfast/sessions/`. Until the plan is there, nothing
has changed. From then on every part of it can be done twice, and the next process does what is left. A plan that is
carried out is kept: a command that was interrupted has its answer when it is repeated.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core.remedy import shell
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import Broken
from holdfast.files.replace import durable_write, remove
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact, parse
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.wired import Wired
from holdfast.systems.story.sessions import layout as layouts
from holdfast.systems.story.sessions import runs
from holdfast.systems.story.sessions.changes import COPIED, DELETED_HERE, Change, Changes
from holdfast.systems.story.sessions.files import content, drop, drop_folder, hash_of, mode_of, settle, walk
from holdfast.systems.story.sessions.layout import DELETED, RECORD, RETRIES, WORKSPACE, Layout, refused_path
from holdfast.systems.story.sessions.record import free_lock

COMMIT, CANCEL = "commit", "cancel"
_DONE = ".done"


def plans(wired: Wired) -> str:
    """The folder of plans, which is changed under the lock `sessions`."""
    return os.path.join(wired.place.home, "sessions")


def pending(wired: Wired) -> bool:
    """Whether a process may have left something unfinished: one look into one folder."""
    try:
        return any(not name.endswith(_DONE) for name in os.listdir(plans(wired)))
    except FileNotFoundError:
        return False


def finish(wired: Wired) -> list[str]:
    """Does what dead processes left undone, with the lock held; the names of the sessions that ended by it."""
    done = []
    for file in sorted(os.listdir(plans(wired))):
        path = os.path.join(plans(wired), file)
        if file.endswith(".tmp"):
            remove(path)  # its writer died before anything had happened
            continue
        name, _, kind = file.removesuffix(".json").rpartition(".")
        if layouts.is_session_name(name) and kind in (COMMIT, CANCEL):
            plan = _read(path)
            layout = Layout(wired.place, name, plan["worktree"])
            _do(wired, layout, kind, plan)
            done.append(name)
    return done


def answer(wired: Wired, layout: Layout, kind: str) -> Mapping[str, Any] | None:
    """The answer of the command that ended the session of this name; None when it did not end like this."""
    path = _plan_path(wired, layout, kind, _DONE)
    plan = _read(path) if os.path.lexists(path) else {}
    return plan["said"] if plan.get("worktree") == layout.worktree and not layout.exists() else None


def forget(wired: Wired, layout: Layout) -> None:
    """A session of this name begins: what became of an earlier one is no answer any more."""
    for kind in (COMMIT, CANCEL):
        remove(_plan_path(wired, layout, kind, _DONE))


def commit(
    wired: Wired, layout: Layout, changes: Changes, states: list[State], archive: str, said: Mapping[str, Any]
) -> None:
    """The plan is the point from which there is no way back. Conflicts have been ruled out. `said` is the answer."""
    for change in changes.all:
        if change.source:
            settle(layout.copy_of(change.source), layout.full(layout.folder))
    files = [[c.kind, c.source, c.target, c.before, c.after] for c in changes.all]
    plan = {"files": files, "workflows": [state.ulid for state in states], "archive": archive, "said": said}
    _begin(wired, layout, COMMIT, plan)


def cancel(wired: Wired, layout: Layout) -> None:
    ulids = runs.named(wired, layout)
    files = runs.traces(wired, layout, loaded(wired, ulids, quietly=True))
    _begin(wired, layout, CANCEL, {"files": files, "workflows": ulids, "said": {}})


def free_archive(layout: Layout) -> str:
    """A folder in the archives that no earlier session of this name has used."""
    number, name = 1, layout.name
    while any(os.path.lexists(layout.full(f"{WORKSPACE}/{folder}/{name}")) for folder in (DELETED, RETRIES)):
        number += 1
        name = f"{layout.name}.{number}"
    return name


def _begin(wired: Wired, layout: Layout, kind: str, plan: dict[str, Any]) -> None:
    plan = {"session": layout.name, "worktree": layout.worktree, **plan}
    durable_write(_plan_path(wired, layout, kind), compact(plan).encode(), dir_mode=0o700, alone=True)
    _do(wired, layout, kind, plan)


def _plan_path(wired: Wired, layout: Layout, kind: str, ending: str = ".json") -> str:
    return os.path.join(plans(wired), f"{layout.name}.{kind}{ending}")


def _read(path: str) -> dict[str, Any]:
    try:
        plan = parse(content(path) or b"")
        if not isinstance(plan, dict) or not {"worktree", "files", "workflows", "said"} <= plan.keys():
            raise ValueError("not a plan")
    except ValueError:
        said = f"{path} cannot be read: a session was being committed or cancelled, and nobody knows how far it came"
        way = shell("rm", path, text="look at the files, then", who="person")
        raise Broken("plan_broken", said, remedy=way, facts={"path": path}) from None
    return plan


def _do(wired: Wired, layout: Layout, kind: str, plan: Mapping[str, Any]) -> None:
    if kind == COMMIT:
        changes = [Change(*file) for file in plan["files"]]
        for change in changes:
            _apply(wired, layout, change, plan["archive"])
        runs.carry_over(wired, layout, plan["workflows"])
        _keep_late(wired, layout, changes, plan["workflows"])
    else:
        late = runs.named(wired, layout)
        runs.forget(wired, layout, list(dict.fromkeys((*plan["workflows"], *late))), plan["files"])
    drop_folder(layout.full(layout.folder))
    layout.clear_staged()
    free_lock(layout.top, layout.name)
    os.replace(_plan_path(wired, layout, kind), _plan_path(wired, layout, kind, _DONE))


def _apply(wired: Wired, layout: Layout, change: Change, archive: str) -> None:
    if change.kind == COPIED:
        return
    if change.kind == DELETED_HERE:
        _delete(layout, change.target, archive)
        return
    source, target = layout.copy_of(change.source), layout.full(change.target)
    data = content(source)
    if data is None:
        return  # its copy goes once the project has it
    if layout.inside(change.target) != change.target:
        raise refused_path(change.target, "leads elsewhere by now")
    there = content(target)
    if there is not None and digest(there) not in (change.before, digest(data)):
        wired.documents.quarantine(change.target, there, f"changed while the session {layout.name} was committed")
    if there != data:
        durable_write(target, data, mode_of(target, mode_of(source)), alone=True)
    drop(source)


def _delete(layout: Layout, path: str, archive: str) -> None:
    """Moved to the archive: the copy first."""
    data = content(layout.full(path))
    if data is None:
        return
    kept = layout.full(f"{WORKSPACE}/{DELETED}/{archive}/{path}")
    durable_write(kept, data, mode_of(layout.full(path)), alone=True)
    drop(layout.full(path))


def _keep_late(wired: Wired, layout: Layout, changes: list[Change], ulids: list[str]) -> None:
    """What somebody wrote into the folder after the plan was made goes to quarantine, not away."""
    unchanged = {change.source: change.after for change in changes if change.kind == COPIED}
    for path, kind in list(walk(layout.full(layout.folder))):
        known = path == RECORD or (path in unchanged and unchanged[path] == hash_of(layout.copy_of(path)))
        if kind != "file" or known or runs.is_view(wired, layout, path, ulids):
            continue
        data = content(layout.copy_of(path)) or b""
        wired.documents.quarantine(path, data, f"written while the session {layout.name} was committed")
