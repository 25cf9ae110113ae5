"""What a hook answers when it needs the engine: before a compaction, at the start of a session, when an agent stops.

Answers are what Claude Code and Codex expect, which is told from the event. Nothing here may stop a host: the
caller catches everything, and an empty answer always allows.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.briefing import alert_text
from holdfast.core.packet import compaction_summary
from holdfast.core.packet_parts import clean
from holdfast.core.remedy import Scope, naming, told, typed
from holdfast.core.secrets import harmless
from holdfast.core.standing import position
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import Broken, HoldfastError
from holdfast.machine import place as places
from holdfast.machine import settings as settings_
from holdfast.plain.plainjson import compact
from holdfast.project import seats
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces.hooks import notes, quick
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.registry import asked_by, dialect, system, upkeep

LOCK_WAIT = 0.4
"""Seconds that a host waits for another process at most."""
MOST = 9500
"""Characters: a host replaces a longer context by the beginning of it."""
MOST_LOOKED_AT = 100
FRESH = ("startup", "clear")
"""Beginnings of a session that may have nothing to do with any workflow."""
UNREAD = "edit_unread"
"""The alert of a document whose text is shown, as nobody could read it."""
ENOUGH = 1.0
"""Seconds that have to be left of the time that a hook has, for a subject to be read again."""


def answer(event: Mapping[str, Any], folder: str) -> str:
    """What goes to standard output. What a person should hear of goes to the log."""
    said = event.get("session_id")
    session = harmless(said[: seats.LONGEST]) if isinstance(said, str) and said.isprintable() else ""
    project = project_of(folder, session)
    try:
        return _answers(project, event, session)
    finally:
        project.troubles.extend(_redacted(project))
        for said in dict.fromkeys(filter(None, (" ".join(project.wired.settled), *project.troubles))):
            notes.log(project.root, str(event.get("hook_event_name")), said)


def _redacted(project: Project) -> list[str]:
    """What is to be said of likely secrets, once."""
    if not (redacted := project.wired.engine.take_redacted()):
        return []
    from holdfast.core import secrets

    return [secrets.told(redacted)]


def _answers(project: Project, event: Mapping[str, Any], session: str) -> str:
    refusal = project.wired.store.read_only
    if refusal and refusal.code == "untrusted_owner":
        # What another user wrote is read when somebody asks for it, and not handed to every session.
        start, ways = event.get("hook_event_name") == "SessionStart", told(refusal.remedies, Scope(person=True))
        return _context("SessionStart", clean(f"Holdfast: {refusal.message}. For a person: {ways}")) if start else ""
    match event.get("hook_event_name"):
        case "PreCompact":
            return _before_compaction(project, event, session)
        case "SessionStart":
            return _with_ends(project, _at_start(project, event, session))
        case "Stop":
            return _at_stop(project, session)
        case "PostToolUse":
            return _after_write(project, event, session)
    return ""


def is_codex(event: Mapping[str, Any]) -> bool:
    """Codex names the turn in its events, and keeps its transcripts in a folder of its own."""
    transcript = event.get("transcript_path")
    name = os.path.basename(transcript) if isinstance(transcript, str) else ""
    return "turn_id" in event or name.startswith("rollout-") or "/.codex/" in str(transcript)


def project_of(folder: str, session: str) -> Project:
    """The project of a folder, as a hook of this session sees it."""
    from holdfast.project import wiring as bootstrap

    read = settings_.read(os.environ, terminal=False, surface="hook")
    settings = read.replace(actor=seats.hook_of(session), lock_wait=LOCK_WAIT)
    project = Project(bootstrap.wire(places.find(folder), settings), one_request=True)
    project.heal()
    return project


def _adopt(project: Project, *, notes_too: bool = False) -> None:
    """State files that agents wrote by themselves, and what notes speak of; what cannot be read is passed over."""
    wired = project.wired
    if wired.store.read_only:
        return
    top = wired.place.worktree
    traced = asked_by("traces", os.path.lexists, top)
    if any(system(name).adopt_at_once for name in traced):
        from holdfast.systems.seam.adoption import adopt_at_once

        wired.troubles.extend(adopt_at_once(wired))
    for name in traced if notes_too else ():
        wired.troubles.extend(upkeep(name).sightings(wired, wired.settings.actor))


def _before_compaction(project: Project, event: Mapping[str, Any], session: str) -> str:
    """Saves where the work is, and says what the summary should keep."""
    _adopt(project, notes_too=True)
    workflow = seats.chosen(project, session)[0]
    if workflow is None:
        return ""
    trigger = event.get("trigger")
    note = str(trigger) if trigger in ("manual", "auto") else ""
    try:
        workflow.compacted(note)
    except HoldfastError as failure:  # what the summary has to keep can be said all the same, and the rest later
        notes.log(project.root, "PreCompact", failure.message)
        if session:
            notes.leave(project.root, {"event": "PreCompact", "session": session, "trigger": note})
    return "" if is_codex(event) else compaction_summary(workflow.briefing())


def _with_ends(project: Project, answer: str) -> str:
    """An answer, and before it which workflows ended by what a file says."""
    wired, told = project.wired, ""
    over = [entry for entry in wired.store.entries() if not entry.active and entry.worktree == wired.place.key()]
    if over:
        from holdfast.surfaces.hooks import ended

        told = ended.told(project, over)
    text = "\n\n".join(filter(None, (told, answer)))
    return _context("SessionStart", text) if text else ""


def _at_start(project: Project, event: Mapping[str, Any], session: str) -> str:
    """What the session is told; empty where there is nothing to tell."""
    _adopt(project)
    source = event.get("source")
    broken: HoldfastError | None = None
    try:
        workflow, others = seats.chosen(project, session)
    except Broken as wrong:
        workflow, others, broken = None, [], wrong
        project.troubles.append(wrong.message)
    if workflow is None:
        return _without_journal(project, broken, session, str(source)) if project.troubles else ""
    if source in FRESH and not (session and session in workflow.state.seats):
        return _one_line(workflow, others)
    if source == "compact" and session and queries.has_caught_up(workflow.state, session):
        _count_compaction(workflow, project)
    from holdfast.machine import configuration

    try:
        most = min(MOST, configuration.resuming(project.root).packet_limit)
    except HoldfastError as mistake:  # in the project's settings: the packet matters more
        notes.log(project.root, str(event["hook_event_name"]), mistake.message)
        most = configuration.Resuming.packet_limit
    if project.wired.troubles and session and session not in workflow.state.seats:
        from holdfast.surfaces.hooks import fallback

        # The session may have written the file: it is not sent to the work of others instead.
        if text := fallback.unreadable(project, most // 2, since=workflow.state.updated_at):
            return f"{text}\n\n{_one_line(workflow, others)}"
    told = _taken_up(project, workflow).packet(occasion=str(source), others=others, limit=most)
    if project.wired.troubles or any(alert.code == UNREAD for alert in workflow.state.alerts):
        from holdfast.surfaces.hooks import fallback

        text = fallback.unreadable(project, most - len(told) - 2)
        told = f"{told}\n\n{text}" if text else told
    return told


def _taken_up(project: Project, workflow: Workflow) -> Workflow:
    """With what its subject says now, where there is time to read it: a packet without it is better than none."""
    import _signal  # type: ignore[import-not-found]

    if not 0 < _signal.getitimer(_signal.ITIMER_REAL)[0] < ENOUGH or not workflow.state.loads:
        return project.take_up(workflow)
    workflow.news = (f"not yet, as time was short: {typed(remedies.resume(), naming(workflow.state))}",)
    return workflow


def _without_journal(project: Project, wrong: HoldfastError | None, session: str, occasion: str) -> str:
    """What the session's own state file says, else the newest, where a journal cannot be read."""
    from holdfast.surfaces.hooks import fallback

    wrong = wrong or Broken("journal_in_doubt", project.troubles[0], remedy=remedies.doctor())
    return fallback.restored(project, wrong, session, occasion, MOST) or quick.UNREADABLE


def _count_compaction(workflow: Workflow, project: Project) -> None:
    """The hook before the compaction was lost: nobody has said yet that this session lost its context."""
    try:
        workflow.compacted()
    except HoldfastError as failure:
        notes.log(project.root, "SessionStart", failure.message)


def _one_line(workflow: Workflow, others: list[str]) -> str:
    """For a session that knows nothing yet: which work, where it is, what it waits for, and how to take it up."""
    brief = workflow.briefing()
    waits = brief.left.removeprefix(f"{brief.status}: ")
    ways = (remedies.resume_packet(),) if brief.step else brief.now
    onward = " or ".join(typed(way, naming(workflow.state)) for way in ways)
    listed = "; ".join((", ".join(filter(None, (position(brief), waits))), *others))
    return clean(f"Holdfast holds unfinished work here: {listed.removesuffix('.')}. To take it up: {onward}")


def _at_stop(project: Project, session: str) -> str:
    """Holds the agent at its work where the workflow asks for it."""
    state = seats.bound(project, session)
    wired = project.wired
    if state is None or wired.store.read_only:
        return ""
    state = wired.reconciler.reconcile(state)
    outcome = wired.engine.execute(state.ulid, cmd.Urge(), wired.settings.actor)
    after = wired.reconciler.settle(outcome)
    brief = Workflow(wired, after).briefing()
    if not outcome.changed or brief.first is None:
        return ""
    onward = told(brief.now, project.scope(after.ulid).replace(person=False))
    reason = f"{after.id} is not done: {brief.step} – {brief.first.message}. Continue: {onward}"
    return compact({"decision": "block", "reason": clean(reason)})


def _after_write(project: Project, event: Mapping[str, Any], session: str) -> str:
    """What became of a document that a tool or a shell line may have written: told while its author knows why.

    Where there are very many workflows, only the one of this session is looked at.
    """
    wired = project.wired
    if wired.store.read_only:
        return ""
    _adopt(project)
    own, given = seats.bound(project, session), event.get("tool_input")
    said, line = compact(given or {}), isinstance(given, Mapping) and "file_path" not in given
    here = [entry.ulid for entry in wired.store.active() if entry.worktree == wired.place.key()]
    known = loaded(wired, here if len(here) <= MOST_LOOKED_AT else [], quietly=True)
    named = [state for state in known if os.path.basename(dialect(state.dialect).document.path(state)) in said]
    written = _written(project, event, known) if line else named
    complete = bool(named) and not _goes_on(given)
    looked = {state.ulid: state for state in (*named, *written) or ([own] if own else known[:1])}
    after = [(state, seats.looked_at(project, state, complete=complete)) for state in looked.values()]
    if len(written) == 1:
        seats.sit(project, written[0], session)  # who writes it is at that workflow
    told = [clean(alert_text(alert)) for alert in wired.take_news(raised_here=True)]
    told += [clean(_ended(project, state)) for state, now in after if now.finished_at and not told]
    told += [clean(one) for one in dict.fromkeys((*wired.troubles, *_redacted(project)))]
    return _context("PostToolUse", "\n".join(f"Holdfast: {one}" for one in told)) if told else ""


def _ended(project: Project, state: State) -> str:
    """That a write completed a workflow that was so before, what became of its document, and how it continues again."""
    documents, path = project.wired.documents, dialect(state.dialect).document.path(state)
    left = (
        "is left as it is" if os.path.lexists(documents.full(state, path)) else "is deleted, as nothing is left to do"
    )
    again = typed(remedies.resume(workflow=state.ulid), naming(state))
    return f"{state.id} is completed by this write, and {path} {left}. If it is to continue after all: {again}"


def _written(project: Project, event: Mapping[str, Any], known: list[State]) -> list[State]:
    """The workflows whose documents were written while a shell line ran, and that nobody is known to have written.

    A line that only names a document may have read it.
    """
    from holdfast.surfaces.hooks.calls import begun

    documents, since = project.wired.documents, begun(dict(event))
    found = []
    for state in known:
        path = dialect(state.dialect).document.path(state)
        if _is_nobodys(project, state) or not documents.is_untouched(state, path):
            try:
                found += [state] if os.stat(documents.full(state, path)).st_mtime >= since else []
            except (OSError, HoldfastError):
                continue
    return found


def _is_nobodys(project: Project, state: State) -> bool:
    """Whether a document was found, and no session is known to be at its workflow."""
    first = next(iter(project.wired.store.history(state.ulid, until=1)), None) if not any(state.seats) else None
    return first is not None and first.actor.kind == "file"


def _goes_on(given: Any) -> bool:
    """Whether a shell line may have left a process in the background, which writes on."""
    if not isinstance(given, Mapping):
        return False
    return bool(given.get("run_in_background")) or "&" in compact(given.get("command")).replace("&&", "")


def _context(event: str, text: str) -> str:
    return compact({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
