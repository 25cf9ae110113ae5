"""The inbox: what hooks noted in passing, without starting the engine. It is folded in when somebody looks next.

A note is one line of JSON. What a process that dies on the way had begun with is folded again: the history may then
tell something twice, and the work is where it stood.
"""

from __future__ import annotations

import fcntl
import os
from _collections_abc import Iterable, Mapping
from stat import S_ISREG

from holdfast.core import commands as cmd
from holdfast.core.names import is_name, is_ulid
from holdfast.core.value import Any
from holdfast.errors import Broken, Conflict, HoldfastError, NotFound
from holdfast.plain import ulid
from holdfast.plain.plainjson import object_in
from holdfast.project.seats import LONGEST, bound, hook_of
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.registry import dialect, own_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.project import Project

NAME = "inbox"
LARGEST = 16 << 20
MOST_FILES = 200
AGENT_TTL = 3600
"""Seconds after which an agent that was seen to start, and never to end, counts as gone."""


def fold(project: Project) -> None:
    """Takes every note over. What cannot be understood, or is about no workflow, is left out."""
    for path in _taken(project.wired.place.home):
        _folded(project, path)


def _taken(home: str) -> list[str]:
    """The notes so far, out of the way of those to come; and what a process that died had begun with."""
    own = os.path.join(home, f"{NAME}-{ulid.new()}")
    try:
        os.rename(os.path.join(home, NAME), own)
    except FileNotFoundError:
        pass
    names = sorted(name for name in os.listdir(home) if is_ulid(name.removeprefix(f"{NAME}-")))
    return [os.path.join(home, name) for name in names]


def _folded(project: Project, path: str) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    try:
        if not S_ISREG(os.fstat(fd).st_mode):
            return
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a hook may still be writing, another process be folding it
        with open(fd, "rb", closefd=False) as file:
            _take_over(project, _notes(file.read(LARGEST)))
        os.unlink(path)
    except (BlockingIOError, Conflict):
        pass  # somebody is at it, or at the workflow: it is folded the next time
    except FileNotFoundError:
        pass
    finally:
        os.close(fd)


def _notes(data: bytes) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for line in data.splitlines():
        note = object_in(line) or {}
        session = note.get("session")
        if isinstance(session, str) and session and session.isprintable():
            found.append(note)
    return found


def _take_over(project: Project, notes: list[Mapping[str, Any]]) -> None:
    at: dict[str, str] = {}
    asked: dict[tuple[str, str], list[cmd.Command]] = {}
    documents = _documents(project) if any(_own(note) for note in notes) else {}
    for note in notes:
        session = note["session"][:LONGEST]
        if session not in at:
            state = bound(project, session)
            at[session] = state.ulid if state else ""
        named = note.get("workflow") if is_ulid(note.get("workflow")) else _named(note, documents)
        if named and note.get("by") == "name" and at[session]:
            named = ""  # a name may be in any text: a session that is at a workflow leaves it for an id only
        if named and named != at[session]:
            at[session] = str(named)
            before = asked.pop((str(named), session), [])
            asked[str(named), session] = [*before, cmd.Sit()]  # to the end: where it sat down last is where it is
        if at[session]:
            asked.setdefault((at[session], session), []).extend(_commands(note))
    for (ulid_, session), commands in asked.items():
        if commands:
            _execute(project, ulid_, session, _together(commands))


def _together(commands: list[cmd.Command]) -> list[cmd.Command]:
    """The files of many notes as one: each would carry the whole list of them into the journal. Costs add up."""
    touched = dict.fromkeys(path for one in commands if isinstance(one, cmd.Touch) for path in one.paths)
    spent = sum(one.micros for one in commands if isinstance(one, cmd.Spend))
    rest = [one for one in commands if not isinstance(one, cmd.Touch | cmd.Spend)]
    before = [one for one in rest if isinstance(one, cmd.Sit)]
    after = [one for one in rest if not isinstance(one, cmd.Sit)]
    files = [cmd.Touch(tuple(touched)[-MOST_FILES:])] if touched else []
    return [*before, *files, *([cmd.Spend(spent)] if spent else ()), *after]


def _execute(project: Project, ulid_: str, session: str, commands: list[cmd.Command]) -> None:
    """All at once; where one of them is refused, each by itself, so that the others count."""
    if not _is_over(project, ulid_, session, cmd.Together(tuple(commands))):
        for command in commands:
            _is_over(project, ulid_, session, command)


def _is_over(project: Project, ulid_: str, session: str, command: cmd.Command) -> bool:
    """Whether nothing more is to be done about a command; False when the rules refuse it.

    A deletion of the document is decided first: the command would show it again.
    """
    wired = project.wired
    try:
        state = wired.store.load(ulid_)
        if not wired.documents.is_there(state, dialect(state.dialect).document.path(state)):
            wired.reconciler.reconcile(state, writing=True)
        wired.reconciler.settle(wired.engine.execute(ulid_, command, hook_of(session)))
    except (NotFound, Broken):
        pass  # the workflow is gone: what was noted of it matters to nobody
    except HoldfastError as refusal:
        if refusal.code == "lock_timeout":
            raise
        return False
    return True


def _commands(note: Mapping[str, Any]) -> Iterable[cmd.Command]:
    match note.get("event"):
        case "PostToolUse":
            paths = [path for path in _paths(note) if not _is_own(path)]
            return [cmd.Touch(tuple(paths))] if paths else []
        case "SubagentStart" if _agent(note):
            role = note.get("type")
            return [cmd.StartAgent(str(role) if is_name(role) else "agent", "", AGENT_TTL, _agent(note))]
        case "SubagentStop" if _agent(note):
            return [cmd.EndAgent(agent=_agent(note))]
        case "PreCompact":
            trigger = note.get("trigger")
            return [cmd.Compacted(str(trigger) if is_name(trigger) else "")]
        case "PostCompact":
            trigger = note.get("trigger")
            return [cmd.Remember("compaction_finished", {"trigger": trigger} if is_name(trigger) else {})]
        case "Cost":
            micros = str(note.get("micros"))
            return [cmd.Spend(int(micros))] if micros.isascii() and micros.isdigit() and 0 < len(micros) < 13 else []
        case "SessionEnd":
            reason = note.get("reason")
            return [cmd.Leave(str(reason) if is_name(reason) else "")]
    return []


def _agent(note: Mapping[str, Any]) -> str:
    agent = note.get("agent")
    return str(agent) if is_name(agent, 100) else ""


def _paths(note: Mapping[str, Any]) -> list[str]:
    paths = note.get("paths")
    listed = paths if isinstance(paths, list) else []
    return [path for path in listed if isinstance(path, str) and path.isprintable() and 0 < len(path) <= 1000]


def _is_own(path: str) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in own_paths())


def _own(note: Mapping[str, Any]) -> bool:
    return any(_is_own(path) for path in _paths(note))


def _documents(project: Project) -> dict[str, str]:
    """The documents of the active workflows: a session that writes one by hand is at that workflow."""
    from holdfast.systems.seam.adoption import adopt_at_once

    wired = project.wired
    adopt_at_once(wired)
    here = [entry.ulid for entry in wired.store.active() if entry.worktree == wired.place.key()]
    return {dialect(state.dialect).document.path(state): state.ulid for state in loaded(wired, here)}


def _named(note: Mapping[str, Any], documents: Mapping[str, str]) -> str:
    return next((documents[path] for path in _paths(note) if path in documents), "")
