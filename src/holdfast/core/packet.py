"""The resume packet: one text that gets any agent going again that does not know what was done before."""

from __future__ import annotations

from _collections_abc import Callable, Iterator, Sequence

from holdfast.core import lifecycle, record, remedies, tasks
from holdfast.core.briefing import LEFT, Briefing, alert_text
from holdfast.core.packet_parts import Line, Part, assembled, clean, json_object, listed, reading, short, told, unread
from holdfast.core.record import Output
from holdfast.core.remedy import Blank, Scope, Telling, quoted, typed
from holdfast.core.remedy import told as typable
from holdfast.core.state import State
from holdfast.core.value import Value

NEWEST = 5
"""How many notes and things learned are told."""
NEWEST_FILES = 10
CALLED = 100
"""How much of a title is in what an agent is asked to say."""
ITEM, FAILURE, DESCRIPTION = 300, 500, 800
WHOLE = 4000
"""How long an item is told where there is room for all of them."""
_IMPORTANCE = (
    *("position", "next command", "actions", "step", "changes", "decisions", "violations", "emphasis", "unchanged"),
    *("criteria", "left work"),
    *("news", "claimed", "proof", "blockers", "people", "hand in", "held"),
    *("progress", "reading", "reminders", "alerts", "failures", "do not do again", "already done", "context"),
    *("notes", "learned", "other workflows"),
)
"""What is kept first. The next command is short, so the actions lose nothing by coming after it."""
_KEEPSAKE = (
    *("position", "after compaction", "next command", "reading", "step"),
    *("changes", "decisions", "violations", "emphasis", "unchanged", "last failure", "reminders", "alerts"),
)


class Voice(Value):
    """How a packet names commands: as they are typed, or as calls of tools."""

    tell: Telling = staticmethod(typable)
    rest: Callable[[str], tuple[str, ...]] = staticmethod(
        lambda name: tuple(f"holdfast {command} -w {quoted(name)}" for command in ("show", "log"))
    )
    """The commands that tell what was cut of a workflow's packet, the first before the others."""


TYPED = Voice()


def packet(
    brief: Briefing,
    *,
    others: Sequence[str] = (),
    occasion: str = "compact",
    limit: int = 9000,
    voice: Voice = TYPED,
    why: str = "",
    news: Sequence[str] = (),
) -> str:
    """What a session is told that takes the workflow up, in at most `limit` characters from 600 on.

    `why` is why it is this one, where there are others, and `news` what came of reading its subject again.
    """
    asked = (brief, others, why, news, occasion, limit, voice)
    text, is_whole = _packet(*asked, item=WHOLE)
    return text if is_whole else _packet(*asked, item=ITEM)[0]


def _others(others: Sequence[str], why: str, voice: Voice, item: int) -> Part:
    lines = list(listed(others, item))
    if why and others:
        switch = voice.tell((remedies.resume_packet(workflow=Blank("ID")),), Scope())
        lines += [
            told(f"This one was chosen because {why}.", ITEM),
            Line(f"To switch to another one: {switch}", whole=True),
        ]
    return Part("other workflows", "Other active workflows:", tuple(lines))


def _packet(
    brief: Briefing,
    others: Sequence[str],
    why: str,
    news: Sequence[str],
    occasion: str,
    limit: int,
    voice: Voice,
    *,
    item: int,
) -> tuple[str, bool]:
    """The text, and whether everything fitted with items of that length."""
    state = brief.state
    most = max(DESCRIPTION, item)
    if item == ITEM and (brief.asked or brief.decided):
        most = min(most, max(ITEM, limit // 6))  # what people said comes before a long text of the work
    banner = "WORKFLOW RESTORED AFTER COMPACTION" if occasion == "compact" else "WORKFLOW RESUMED"
    name = _named(state, limit)
    ids = f"Packet: {brief.packet}, workflow id: {name}"
    learned = [f"{one.type}: {record.lesson(one)}" for one in state.learnings if one.type != record.AVOID]
    notes = [f"{note.get('at', '')} {note.get('by', '')}: {note.get('text', '')}" for note in state.notes]
    body = (
        _position(brief, f"===== {banner} =====", ids, limit),
        _work(brief, most),
        Part("criteria", "It is done when these hold:", listed(_criteria(brief), item)),
        Part("asked", "Asked for now, and no gate:", listed(brief.task.asked, item)),
        Part("at end", "What has to hold at the end:", listed(brief.task.at_end, item)),
        _left_work(brief),
        Part("changes", "Changes asked for:", listed(brief.asked, item)),
        Part("decisions", "What was decided:", listed(brief.decided, item)),
        Part("violations", "The last try violated:", listed(brief.violations, item)),
        Part("emphasis", "Stress in this try:", listed(brief.emphasis, item)),
        Part("unchanged", "Unchanged:", listed(brief.unchanged, item)),
        Part("news", "Its feature file was read again:", listed(news, item)),
        Part("claimed", "Only claimed, until a person confirms it:", listed(brief.also_claimed, item)),
        Part("proof", "About its proof:", listed(brief.proof, item)),
        Part("blockers", "Blockers:", tuple(_blockers(brief, name, voice))),
        _for_person(brief, name),
        _hand_in(brief, name, voice),
        Part("progress", "So far:", tuple(_so_far(brief))),
        _held(brief, name),
        _reading(brief),
        Part("reminders", "Key Reminders:", listed(state.reminders, item)),
        Part("context", "Context:", json_object(state.context, max(DESCRIPTION, item))),
        Part("alerts", "What happened to its document:", listed(map(alert_text, brief.alerts), item)),
        Part("failures", "Last failures:", listed([*brief.all_failures, *brief.output], max(FAILURE, item))),
        Part("do not do again", "Do not do again:", listed(brief.avoid, item)),
        Part("already done", "Already done, newest first:", listed(_done(brief), item)),
        Part("learned", "Learned:", listed(learned[: -NEWEST - 1 : -1], item)),
        Part("notes", "Notes:", listed(notes[: -NEWEST - 1 : -1], item)),
        _others(others, why, voice, item),
    )
    closing = (_actions(brief, name, voice), _next(brief, name, limit, voice))
    text = assembled(body, closing, _IMPORTANCE, limit, voice.rest(name))
    return text, len(text) <= limit and "\n(cut" not in text


def compaction_summary(brief: Briefing, *, limit: int = 2000) -> str:
    """What a summary of a conversation must keep of the workflow."""
    name = _named(brief.state, limit)
    again = f"If no resume packet came with it, run: {typed(remedies.resume_packet(), _scope(brief.state, name))}"
    body = (
        _position(brief, "Keep in the summary, word for word:", f"Workflow id: {name}", limit),
        _next(brief, name, limit, TYPED, later=True),
        _work(brief, ITEM),
        Part("changes", "Changes asked for:", listed(brief.asked, ITEM)),
        Part("decisions", "What was decided:", listed(brief.decided, ITEM)),
        Part("violations", "The last try violated:", listed(brief.violations, ITEM)),
        Part("emphasis", "Stress in this try:", listed(brief.emphasis, ITEM)),
        Part("unchanged", "Unchanged:", listed(brief.unchanged, ITEM)),
        Part("reading", "Required reading:", reading(brief.reading)),
        Part("reminders", "Key Reminders:", listed(brief.state.reminders, ITEM)),
        Part("last failure", "Last failure:", listed(brief.all_failures[:1], ITEM)),
        Part("alerts", "What happened to its document:", listed(map(alert_text, brief.alerts[:1]), ITEM)),
    )
    closing = (Part("after compaction", "After compaction:", (Line(again, whole=True),)),)
    return assembled(body, closing, _KEEPSAKE, limit, TYPED.rest(name))


def _named(state: State, limit: int) -> str:
    """What commands call the workflow: its id, and where that would take up the room, the ULID."""
    return clean(state.id) if len(state.id) <= limit // 9 else state.ulid


def _scope(state: State, name: str) -> Scope:
    """A packet is read later, when other workflows may be active: its commands name the workflow always."""
    return Scope(active={state.ulid: name}, about=state.ulid)


def _position(brief: Briefing, heading: str, ids: str, limit: int) -> Part:
    """Where the work is. With little room every value is short, so that each of them is there."""
    state, most = brief.state, min(200, limit // 20)
    top = state.plan.children("")[brief.number - 1]
    label = short(clean(state.plan.step(top).label), most)
    lines = [
        told(f"Workflow: {state.title or state.subject or state.type}", most + 10),
        told(f"Type: {state.type}", most + 6),
        told(f"Phase: {_phase(brief)} - {label} ({lifecycle.PHASE[state.step(top).status]})", most + 60),
    ]
    if brief.step and brief.step != top:
        lines.append(told(f"Step: {brief.step} - {short(clean(brief.label), most)}", 3 * most))
    if brief.beside:
        lines.append(told(f"Beside it: {', '.join(brief.beside)}", 3 * most))
    if brief.tries:
        lines.append(Line(brief.tries[0].upper() + brief.tries[1:], data=True))
    if brief.status != "in_progress":
        reason = _reason(brief)
        lines.append(told(f"Status: {brief.status}{f' - {reason}' if reason else ''}", most + 30))
    return Part("position", heading, (Line(ids, whole=True), *lines), limit * 9 // 20)


def _phase(brief: Briefing) -> str:
    return f"{brief.number}/{brief.total}"


def _reason(brief: Briefing) -> str:
    """Why the whole workflow has this status; the failures have the reason for which a step is still."""
    state = brief.state
    marks = {"paused": state.paused, "cancelled": state.cancelled, "finalized": state.finalized}
    mark = marks.get(brief.status)
    return mark.reason if mark else brief.stands


def _work(brief: Briefing, most: int) -> Part:
    """The work of the open step."""
    task = brief.task
    agents = brief.state.plan.step(brief.step).agents if brief.step else ()
    said = (
        (f"Work: {task.text}", task.text),
        (f"From: {task.file}", task.file),
        (f"Files to write: {', '.join(task.files)}", task.files),
        (f"Agents: {', '.join(agents)}", agents),
        (f"Outputs to be named: {', '.join(brief.outputs)}", brief.outputs),
        (f"Inputs: {', '.join(map(_output, brief.inputs))}", brief.inputs),
    )
    return Part("step", "The step's work:", tuple(told(text, most) for text, there in said if there))


def _output(one: Output) -> str:
    return f"{one.name} {one.path}{f' ({one.changed})' if one.changed else ''}"


def _criteria(brief: Briefing) -> Iterator[str]:
    for one in brief.conditions:
        command = f" → {one.command}" if one.command else ""
        yield f"{one.name}: {f'{one.about}, ' if one.about else ''}{one.text.removeprefix('→ ')}{command}"
    yield from brief.task.criteria


def _done(brief: Briefing) -> Iterator[str]:
    for path, left in list(brief.done.items())[: -NEWEST_FILES - 1 : -1]:
        skipped = f" ({brief.skipped[path]})" if path in brief.skipped else ""
        label = brief.state.plan.step(path).label
        named = path if label == path else f"{path} - {label}"
        yield f"{named}{skipped}{''.join(f'; {_output(one)}' for one in left)}"


def _blockers(brief: Briefing, name: str, voice: Voice) -> Iterator[Line]:
    """The blockers in our own words. Reasons that somebody wrote are told, as data, with the status and failures."""
    found = brief.lacking
    for one in found if found and found[0].kind not in ("begin", "done", "unchanged") else ():
        onward = clean(voice.tell(one.remedies, _scope(brief.state, name)))
        yield Line(f"- {short(clean(one.ours), ITEM)} → {onward}", whole=True, item=True)


def _for_person(brief: Briefing, name: str) -> Part:
    """A person who reads the packet wants the commands that are theirs; a hold of another session has its own part."""
    own = () if brief.held else brief.for_person
    lines = (Line(f"- {clean(typed(one, _scope(brief.state, name)))}", whole=True, item=True) for one in own)
    return Part("people", "For a person:", tuple(lines))


def _so_far(brief: Briefing) -> Iterator[Line]:
    state, names = brief.state, tasks.tasks(brief.state)
    if names:
        done = sum(state.step(path).status in lifecycle.FINISHED for path in names)
        yield Line(f"Tasks done: {done}/{len(names)}")
    files = state.step(brief.step).data.get("files_modified") if brief.step else ()
    if isinstance(files, (list, tuple)) and files:
        yield told("Files modified in this step, newest first:", ITEM)
        yield from listed(map(str, files[: -NEWEST_FILES - 1 : -1]), ITEM)


def _left_work(brief: Briefing) -> Part:
    lines = tuple(Line(f"- {clean(typed(one.back))}", whole=True, item=True) for one in brief.left_here)
    return Part("left work", f"{LEFT}:", lines)


def _reading(brief: Briefing) -> Part:
    there = reading(brief.reading)
    said = "read every file now" if there else "no file of it can be read"
    return Part("reading", f"REQUIRED READING ({said}):", (*there, *unread(brief.reading)))


def _actions(brief: Briefing, name: str, voice: Voice) -> Part:
    """What to do first. A title is somebody's text, so what has to be said is among the data."""
    scope = _scope(brief.state, name)
    called = short(clean(brief.state.title or brief.state.subject or brief.state.type), CALLED)
    restored = told(f"✅ Workflow restored: {called}, Phase {_phase(brief)}", CALLED + 60).replace(whole=True)
    todo: list[tuple[str, tuple[Line, ...]]] = []
    if brief.must_catch_up:
        ack = voice.tell((remedies.ack(brief.packet),), scope)
        todo.append((f"First of all: {ack} (writes are refused until then)", ()))
    todo.append(("Acknowledge, say:", (restored,)))
    has_reading = any(one.standing == "there" for one in brief.reading)
    if has_reading:
        todo.append(("Read every file under REQUIRED READING.", ()))
    known = "here or in those files" if has_reading else "here"
    look = voice.tell(brief.refusal.remedies if brief.refusal else (remedies.next_step(),), scope)
    todo.append((f"Do not proceed on assumptions. What is not written {known}, look up: {look}", ()))
    numbered = ((Line(f"{number}. {text}", whole=True), *more) for number, (text, more) in enumerate(todo, 1))
    return Part("actions", "ACTION REQUIRED:", tuple(line for lines in numbered for line in lines))


def _held(brief: Briefing, name: str) -> Part:
    """Another session that holds the whole workflow: until its hold runs out, this one may only look."""
    lines: list[Line] = []
    for lease in brief.held:
        ending = typed(remedies.agent_end(lease.token), _scope(brief.state, name))
        lines.append(Line(f"- {brief.span(lease)}; if that"))
        lines.append(Line(f"  session is gone, a person ends its hold: {ending}"))
    return Part("held", "Another session is at work here, and writes are refused meanwhile:", tuple(lines))


def _next(brief: Briefing, name: str, limit: int, voice: Voice, *, later: bool = False) -> Part:
    """The command that leads on; where it would take up the room, the one that tells it.

    What is read later is read by a session that has caught up meanwhile.
    """
    if not brief.step and not brief.first:
        return Part("next command", "", (Line("All steps are done."),))
    scope, look = _scope(brief.state, name), remedies.next_step()
    ways = brief.lacking[0].remedies if later else brief.now
    remedy = clean(voice.tell(ways or (look,), scope))
    if len(remedy) > limit // 4:
        remedy = voice.tell((look,), scope)
    return Part("next command", "", (Line(f"Next command: {remedy}", whole=True),))


def _hand_in(brief: Briefing, name: str, voice: Voice) -> Part:
    later = clean(voice.tell((brief.hand_in,), _scope(brief.state, name))) if brief.hand_in else ""
    return Part("hand in", "", (Line(f"When the work is done: {later}", whole=True),) if later else ())
