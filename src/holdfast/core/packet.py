"""The resume packet: one text that gets any agent going again that does not know what was done before."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping, Sequence

from holdfast.core import lifecycle, moment, queries, remedies, tasks
from holdfast.core.answers import ALERTS_FOR
from holdfast.core.commands import Facts
from holdfast.core.packet_parts import Line, Part, assembled, clean, json_object, listed, reading, short, told, unread
from holdfast.core.remedy import Scope, typed
from holdfast.core.remedy import told as typable
from holdfast.core.state import Progress, State, Try
from holdfast.plain.plainjson import spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.packet_parts import Required

NEWEST = 5
"""How many failures, notes and things learned are told."""
NEWEST_FILES = 10
CALLED = 100
"""How much of a title stands in what an agent is asked to say."""
TAIL = 3
"""How many lines of a failed check's output are told."""
ITEM, FAILURE, DESCRIPTION = 300, 500, 800
WHOLE = 4000
"""How long an item is told where there is room for all of them."""
_WORDS = {
    lifecycle.PENDING: "not_started",
    **dict.fromkeys((lifecycle.ACTIVE, lifecycle.IN_REVIEW), "in_progress"),
    **dict.fromkeys((lifecycle.WAITING, *lifecycle.STUCK), "blocked"),
    **dict.fromkeys(lifecycle.FINISHED, "completed"),
}
_REASONED = ("mark", "blocked", "failed", "escalated")
"""Kinds of blockers whose message ends with a reason."""
_IMPORTANCE = (
    *("position", "next command", "actions", "step", "gate", "held", "progress", "reading"),
    *("reminders", "alerts", "failures"),
    *("do not do again", "context", "notes", "learned", "other workflows"),
)
"""What is kept first. The next command is short, so the actions lose nothing by coming after it."""
_KEEPSAKE = ("position", "after compaction", "next command", "reading", "last failure", "reminders", "alerts")


def packet(
    state: State,
    facts: Facts,
    *,
    session: str = "",
    required: Sequence[Required] = (),
    others: Sequence[str] = (),
    occasion: str = "compact",
    limit: int = 9000,
) -> str:
    """What a session is told that takes the workflow up, in at most `limit` characters from 600 on."""
    how = (state, facts, session, required, others, occasion, limit)
    text, is_whole = _packet(*how, item=WHOLE)
    return text if is_whole else _packet(*how, item=ITEM)[0]


def _packet(
    state: State,
    facts: Facts,
    session: str,
    required: Sequence[Required],
    others: Sequence[str],
    occasion: str,
    limit: int,
    *,
    item: int,
) -> tuple[str, bool]:
    """The text, and whether everything fitted with items of that length."""
    banner = "WORKFLOW RESTORED AFTER COMPACTION" if occasion == "compact" else "WORKFLOW RESUMED"
    name = _named(state, limit)
    ids = f"Packet: {queries.packet_id(state, session)}, workflow id: {name}"
    learned = [f"{one.type}: {_lesson(one.lesson, one.pattern)}" for one in state.learnings if one.type != _AVOID]
    notes = [f"{note.get('at', '')} {note.get('by', '')}: {note.get('text', '')}" for note in state.notes]
    body = (
        _position(state, f"===== {banner} =====", ids, limit),
        *_step(state, facts, name),
        _held(state, facts, session, name),
        _reading(required),
        Part("reminders", "Key Reminders:", listed(state.reminders, item)),
        Part("context", "Context:", json_object(state.context)),
        Part("alerts", "What happened to its document:", listed(_alerts(state, facts), item)),
        Part("failures", "Last failures:", listed(_failures(state), max(FAILURE, item))),
        Part("do not do again", "Do not do again:", listed(dict.fromkeys(_mistakes(state)), item)),
        Part("learned", "Learned:", listed(learned[: -NEWEST - 1 : -1], item)),
        Part("notes", "Notes:", listed(notes[: -NEWEST - 1 : -1], item)),
        Part("other workflows", "Other active workflows:", listed(others, item)),
    )
    closing = (_actions(state, session, name, has_reading=any(_readable(required))), _next(state, facts, name, limit))
    text = assembled(body, closing, _IMPORTANCE, limit, name)
    return text, len(text) <= limit and "\n(cut" not in text


def keepsake(state: State, facts: Facts, *, required: Sequence[Required] = (), limit: int = 2000) -> str:
    """What whoever is about to sum up a conversation must keep of the workflow."""
    name = _named(state, limit)
    again = f"If no resume packet came with it, run: {typed(remedies.resume_packet(), _scope(state, name))}"
    body = (
        _position(state, "Keep in the summary, word for word:", f"Workflow id: {name}", limit),
        _next(state, facts, name, limit),
        Part("reading", "Required reading:", reading(required)),
        Part("reminders", "Key Reminders:", listed(state.reminders, ITEM)),
        Part("last failure", "Last failure:", listed(_failures(state)[:1], ITEM)),
        Part("alerts", "What happened to its document:", listed(_alerts(state, facts)[:1], ITEM)),
    )
    closing = (Part("after compaction", "After compaction:", (Line(again, whole=True),)),)
    return assembled(body, closing, _KEEPSAKE, limit, name)


def _named(state: State, limit: int) -> str:
    """What commands call the workflow: its id, and where that would take up the room, the ULID."""
    return clean(state.id) if len(state.id) <= limit // 9 else state.ulid


def _scope(state: State, name: str) -> Scope:
    """A packet is read later, when other workflows may be active: its commands name the workflow always."""
    return Scope(active={state.ulid: name}, about=state.ulid)


def _position(state: State, heading: str, ids: str, limit: int) -> Part:
    """Where the work is. With little room every value is short, so that each of them is there."""
    most = min(200, limit // 20)
    at, top = queries.current(state), _top(state)
    label = short(clean(state.plan.step(top).label), most)
    lines = [
        told(f"Workflow: {state.title or state.subject or state.type}", most + 10),
        told(f"Type: {state.type}", most + 6),
        told(f"Phase: {_phase(state)} - {label} ({_WORDS[state.step(top).status]})", most + 60),
    ]
    if at and at != top:
        lines.append(told(f"Step: {at} - {short(clean(state.plan.step(at).label), most)}", 3 * most))
    word = queries.status(state)
    if word != "in_progress":
        reason = _reason(state, word)
        lines.append(told(f"Status: {word}{f' - {reason}' if reason else ''}", most + 30))
    return Part("position", heading, (Line(ids, whole=True), *lines), limit * 9 // 20)


def _top(state: State) -> str:
    return state.plan.children("")[queries.top_number(state) - 1]


def _phase(state: State) -> str:
    return f"{queries.top_number(state)}/{len(state.plan.children(''))}"


def _reason(state: State, word: str) -> str:
    """Why the whole workflow has this status."""
    marks = {"paused": state.paused, "cancelled": state.cancelled, "finalized": state.finalized}
    mark = marks.get(word)
    if mark:
        return mark.reason
    stuck = next((path for path in state.plan.paths if state.step(path).status == word), "")
    reason = state.step(stuck).reason if stuck else ""
    return f"{stuck}: {reason}" if reason else stuck


def _step(state: State, facts: Facts, name: str) -> Iterator[Part]:
    """The work of the open step, what is in its way, and how far it is."""
    at = queries.current(state)
    if at is None:
        return
    step, progress = state.plan.step(at), state.step(at)
    unnamed = [name for name in step.outputs if name not in progress.artifacts]
    work = [told(f"Work: {step.description}", DESCRIPTION + 6)] if step.description else []
    if step.agents:
        work.append(told(f"Agents: {', '.join(step.agents)}", ITEM))
    if unnamed:
        work.append(told(f"Outputs to be named: {', '.join(unnamed)}", ITEM))
    yield Part("step", "The step's work:", tuple(work))
    yield Part("gate", "What is in the way:", tuple(_gate(state, at, facts, name)))
    yield Part("progress", "So far:", tuple(_so_far(state, progress)))


def _gate(state: State, at: str, facts: Facts, name: str) -> Iterator[Line]:
    """The blockers in our own words. Reasons that somebody wrote are told, as data, with the status and failures."""
    reason = state.paused.reason if state.paused else state.step(at).reason
    for one in queries.blockers(state, at, facts):
        ours = one.message.removesuffix(f": {reason}") if one.kind in _REASONED else one.message
        yield Line(
            f"- {short(clean(ours), ITEM)} → {clean(typable(one.remedies, _scope(state, name)))}", whole=True, item=True
        )


def _so_far(state: State, progress: Progress) -> Iterator[Line]:
    names = tasks.tasks(state)
    if names:
        done = sum(state.step(path).status in lifecycle.FINISHED for path in names)
        yield Line(f"Tasks done: {done}/{len(names)}")
    files = progress.data.get("files_modified")
    if isinstance(files, (list, tuple)) and files:
        yield told("Files modified in this step, newest first:", ITEM)
        yield from listed(map(str, files[: -NEWEST_FILES - 1 : -1]), ITEM)


def _readable(required: Sequence[Required]) -> Iterator[bool]:
    return (one.standing == "there" for one in required)


def _reading(required: Sequence[Required]) -> Part:
    there = reading(required)
    said = "read every file now" if there else "no file of it can be read"
    return Part("reading", f"REQUIRED READING ({said}):", (*there, *unread(required)))


def _failures(state: State) -> list[str]:
    """The newest failures of all steps, newest first. A failure that was put down to another step is told once."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for path in state.plan.paths:
        progress = state.step(path)
        if progress.status in lifecycle.STUCK and progress.reason not in ("", *(one.reason for one in progress.tries)):
            found[(state.updated_at, path)] = (state.updated_at, f"{path} is {progress.status}: {progress.reason}")
        for one in progress.tries:
            found.setdefault((one.at, one.reason), (one.at, f"{path}, attempt {one.attempt} {_ended(one)}"))
        if progress.status in lifecycle.OPEN | lifecycle.STUCK:
            for name, seen in progress.evidence.items():
                if not seen.passed:
                    tail = seen.tail.strip().splitlines()[-TAIL:]
                    said = " / ".join(text for text in (seen.detail, *tail) if text.strip())
                    found[(seen.at, f"{path}#{name}")] = (seen.at, f"{path}, the check {name} failed: {said}")
    oldest_first = sorted(found.values(), key=lambda pair: pair[0])
    return [text.removesuffix(": ") for _, text in oldest_first[: -NEWEST - 1 : -1]]


def _ended(one: Try) -> str:
    """How a try ended, with what its result said beyond the reason."""
    violations, guidance = one.data.get("violations"), one.data.get("retry_guidance")
    texts = [_violation(item) for item in violations] if isinstance(violations, (list, tuple)) else []
    more = [text for text in texts if text not in one.reason]
    said = f"{one.ended}: {one.reason}"
    if more:
        said += f"; violations: {'; '.join(more)}"
    if guidance:
        said += f"; next time: {guidance if isinstance(guidance, str) else spaced(guidance)}"
    return said


def _violation(item: object) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    return str(item.get("message") or item.get("issue") or item.get("check") or spaced(dict(item)))


_AVOID = "antipattern"


def _mistakes(state: State) -> Iterator[str]:
    """What was tried or offered and is not wanted: antipatterns, then changes that were asked for, unfinished steps
    first, then options that were not chosen."""
    for one in reversed(state.learnings):
        if one.type == _AVOID:
            yield _lesson(one.lesson, one.pattern)
    for path in sorted(state.plan.paths, key=lambda path: state.step(path).status in lifecycle.FINISHED):
        progress = state.step(path)
        asked = [one.feedback for one in progress.verdicts if one.verdict == "needs_revision" and one.feedback]
        reasons = {one.reason for one in progress.tries}
        given = [text for text in progress.feedback if text not in reasons]
        yield from (f"{path}, changes asked for: {text}" for text in reversed(list(dict.fromkeys([*asked, *given]))))
    for path in state.plan.paths:
        yield from (f"{path}, rejected: {variant}" for variant in _not_chosen(state, path))


def _not_chosen(state: State, path: str) -> Iterator[str]:
    choice, progress = state.plan.step(path).choice, state.step(path)
    if choice is None or progress.grant is None or not progress.grant.variant:
        return
    offered = (*choice.options, *(grant.variant for grant in progress.past_grants))
    for variant in dict.fromkeys(offered):
        if variant and variant != progress.grant.variant:
            yield f"{variant} ({progress.grant.variant} was chosen)"


def _lesson(lesson: str, pattern: str) -> str:
    return f"{lesson} (pattern: {pattern})" if pattern else lesson


def _actions(state: State, session: str, name: str, *, has_reading: bool) -> Part:
    """What to do first. A title is somebody's text, so what has to be said stands among the data."""
    called = short(clean(state.title or state.subject or state.type), CALLED)
    restored = told(f"✅ Workflow restored: {called}, Phase {_phase(state)}", CALLED + 60).replace(whole=True)
    todo: list[tuple[str, tuple[Line, ...]]] = []
    if state.require_ack and not queries.has_caught_up(state, session):
        ack = typed(remedies.ack(queries.packet_id(state, session)), _scope(state, name))
        todo.append((f"First of all: {ack} (writes are refused until then)", ()))
    todo.append(("Acknowledge, say:", (restored,)))
    if has_reading:
        todo.append(("Read every file under REQUIRED READING.", ()))
    known = "here or in those files" if has_reading else "here"
    look = typed(remedies.status(), _scope(state, name))
    todo.append((f"Do not proceed on assumptions. What is not written {known}, look up: {look}", ()))
    numbered = ((Line(f"{number}. {text}", whole=True), *more) for number, (text, more) in enumerate(todo, 1))
    return Part("actions", "ACTION REQUIRED:", tuple(line for lines in numbered for line in lines))


def _held(state: State, facts: Facts, session: str, name: str) -> Part:
    """Another session that holds the whole workflow: until its hold runs out, this one may only look."""
    others = [
        lease
        for lease in state.leases.values()
        if not lease.step and not lease.agent and lease.session and lease.session != session
    ]
    live = [lease for lease in others if not lease.expired(facts.boot, facts.mono)]
    lines = [
        Line(f"- since {lease.at}, for {moment.span(lease.deadline - facts.mono)} more without a sign of life; if that")
        for lease in live
    ]
    scope = _scope(state, name)
    more = [
        Line(f"  session is gone, a person ends its hold: {typed(remedies.agent_end(lease.token), scope)}")
        for lease in live
    ]
    pairs = (line for pair in zip(lines, more, strict=True) for line in pair)
    return Part("held", "Another session is at work here, and writes are refused meanwhile:", tuple(pairs))


def _alerts(state: State, facts: Facts) -> list[str]:
    """What went wrong with the document of late, newest first: what an edit said and was not taken."""
    recent = [alert for alert in state.alerts if moment.between(alert.at, facts.now) < ALERTS_FOR]
    return [f"{alert.message}{f' (kept in {alert.kept})' if alert.kept else ''}" for alert in reversed(recent)]


def _next(state: State, facts: Facts, name: str, limit: int) -> Part:
    """The command that leads on; where it would take up the room, the one that tells it."""
    at = queries.current(state)
    if at is None:
        return Part("next command", "", (Line("All steps are done."),))
    found = queries.blockers(state, at, facts)
    scope, look = _scope(state, name), remedies.status()
    remedy = clean(typable(found[0].remedies if found else (look,), scope))
    if len(remedy) > limit // 4:
        remedy = typed(look, scope)
    return Part("next command", "", (Line(f"Next command: {remedy}", whole=True),))
