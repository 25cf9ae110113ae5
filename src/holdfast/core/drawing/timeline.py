"""What happened when, as a picture: a row for each step that began, and one for each agent that held a lease."""

from __future__ import annotations

from _collections_abc import Iterable, Iterator

from holdfast.core import events as ev
from holdfast.core import lifecycle, moment, queries
from holdfast.core.apply import Record, apply
from holdfast.core.drawing import svg
from holdfast.core.drawing.scale import Scale
from holdfast.core.drawing.svg import Picture
from holdfast.core.plan import ancestors
from holdfast.core.state import Lease, State

MARGIN, NAMES, TIMES, CHART = 24.0, 236.0, 84.0, 900.0
"""The border, the column of names, the column of durations, and the width of the rest."""
TOP, ROW, BAR = 112.0, 30.0, 14.0
MOST_ROWS = 150
"""How many rows there are at most: the newest."""
DAY = 108.0
"""How wide the label of a day is."""
BESIDE = 19.0
"""Between the middles of two marks of a row."""
_CLOSED = lifecycle.FINISHED | {lifecycle.PENDING}
_FADED = frozenset({lifecycle.FAILED, lifecycle.BLOCKED, lifecycle.ESCALATED})
_ENDS = frozenset({"completed", "overridden", "skipped", "failed", "blocked", "escalated"})
"""The moves that end a bar, or begin one in which nothing is done."""
_SENT_BACK = {"revised": "changes asked for", "rejected": "rejected"}


class _Row:
    def __init__(self, name: str, said: str) -> None:
        self.name, self.said = name, said
        self.bars: list[tuple[float, float, str]] = []
        """From, until, and a status, or `lease`."""
        self.marks: list[tuple[float, str, str, str, str]] = []
        """When, the sign, its colours, its shape, and what it means in words."""
        self.open: tuple[float, str] | None = None

    def turn(self, at: float, status: str) -> None:
        """A bar ends here, and another one begins unless nothing is to be done."""
        if self.open:
            self.bars.append((self.open[0], at, self.open[1]))
        worked = status in lifecycle.OPEN | lifecycle.STUCK or status == "lease"
        self.open = (at, status) if worked else None

    def worked(self) -> float:
        return sum(end - begin for begin, end, status in self.bars if status not in lifecycle.STUCK)


def timeline(records: Iterable[Record], now: str) -> Picture:
    """Times are seconds apart where much happened, and stretches in which nothing happened are folded."""
    story = _Story()
    for record in records:
        story.take(record)
    story.end(moment.to_epoch(now))
    return _drawn(story)


class _Story:
    """Goes through the journal once."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.steps: dict[str, _Row] = {}
        self.leases: dict[str, _Row] = {}
        self.moments: list[float] = []
        self._held: dict[int, tuple[_Row, Lease, float]] = {}
        self._reviewed: set[str] = set()

    def take(self, record: Record) -> None:
        at = max(moment.to_epoch(record.at), self.moments[-1] if self.moments else 0.0)
        self.moments.append(at)
        self._reviewed = {event.step for event in record.events if isinstance(event, ev.Reviewed)}
        for event in record.events:
            self.state = apply(self.state, event, record.at, record.actor)
            if isinstance(event, (ev.Moved, ev.Adopted, ev.Restored, ev.Amended)):
                self._follow(event, at)
            self._happened(event, at, record.actor.label)

    def _follow(self, event: ev.Event, at: float) -> None:
        assert self.state is not None
        moved = {event.step, *ancestors(event.step)} if isinstance(event, ev.Moved) else {*self.state.plan.paths}
        for path in {*moved, *(() if isinstance(event, ev.Moved) else self.steps)}:
            status = self.state.step(path).status if path in self.state.plan else lifecycle.PENDING
            row = self.steps.get(path)
            if row is None:
                if status in _CLOSED or not self._has_row(path):
                    continue
                row = self.steps[path] = _Row(self.state.plan.step(path).label, path)
            if status != (row.open[1] if row.open else ""):
                row.turn(at, status)

    def _has_row(self, path: str) -> bool:
        """Whether a step is worked on itself: a branch only where somebody checks or approves it as a whole."""
        assert self.state is not None
        return self.state.plan.is_leaf(path) or self.state.plan.step(path).gated

    def _happened(self, event: ev.Event, at: float, by: str) -> None:
        match event:
            case ev.Moved():
                self._moved(event, at, by)
            case ev.Checked():
                passed = event.evidence.passed
                sign = lifecycle.DONE if passed else lifecycle.FAILED
                said = f"check {event.name} {'passed' if passed else 'failed'}"
                self._mark(event.step, at, sign, sign, "square", said)
            case ev.Reviewed():
                approved = event.verdict.verdict == "approved"
                said = f"review by {event.verdict.by or by}: {event.verdict.verdict.replace('_', ' ')}"
                sign = lifecycle.DONE if approved else lifecycle.FAILED
                self._mark(event.step, at, sign, "review", "diamond", said)
            case ev.Granted():
                said = f"approved by {event.grant.by or by}" + (f": {event.grant.variant}" * bool(event.grant.variant))
                self._mark(event.step, at, lifecycle.DONE, "approval", "diamond", said)
            case ev.Leased():
                lease = event.lease
                name = f"{lease.role} · {lease.step}" if lease.step else lease.role
                row = self.leases.setdefault(name, _Row(name, f"lease of {name}"))
                self._release(event.took_over, at)
                self._held[lease.token] = (row, lease, at)
                row.turn(at, "lease")
            case ev.Beat() if event.token in self._held:
                row, lease, _ = self._held[event.token]
                self._held[event.token] = (row, lease, at)
            case ev.Released():
                self._release(event.token, at)
            case _:
                pass

    def _moved(self, event: ev.Moved, at: float, by: str) -> None:
        if event.move in _SENT_BACK and event.step not in self._reviewed:
            self._mark(event.step, at, lifecycle.FAILED, "approval", "diamond", f"{_SENT_BACK[event.move]} by {by}")
        elif event.move in _ENDS and self.state is not None:
            status, why = self.state.step(event.step).status, event.reason or event.feedback
            self._mark(event.step, at, status, status, "circle", f"{event.move}{f': {why}' * bool(why)}")

    def _mark(self, step: str, at: float, sign: str, role: str, shape: str, said: str) -> None:
        if step in self.steps:
            self.steps[step].marks.append((at, sign, role, shape, said))

    def _release(self, token: int, at: float) -> None:
        """A lease ends when it is released or taken over, or its holder was silent for too long."""
        if token in self._held:
            row, lease, heard = self._held.pop(token)
            row.turn(min(at, heard + lease.ttl), "")

    def end(self, now: float) -> None:
        state = self.state
        assert state is not None
        mark = state.cancelled
        over = moment.to_epoch(state.finished_at) if state.finished_at else moment.to_epoch(mark.at) if mark else now
        over = max([over, *self.moments[-1:]])
        for token in list(self._held):
            self._release(token, over)
        for row in self.steps.values():
            row.turn(over, "")
        self.moments.append(over)


def _drawn(story: _Story) -> Picture:
    state = story.state
    assert state is not None
    ends = [end for row in story.leases.values() for _, end, _ in row.bars]
    scale = Scale([*story.moments, *ends], CHART)
    rows = list(story.steps.values())
    left_out = max(0, len(rows) - MOST_ROWS)
    rows = rows[left_out:]
    leases = list(story.leases.values())[-MOST_ROWS:]
    left = MARGIN + NAMES
    chart = max(scale.width, CHART)
    drawn = [_row(row, scale, left, TOP + ROW * number) for number, row in enumerate(rows)]
    below = TOP + ROW * len(rows) + (40 if leases else 0)
    held = [_row(row, scale, left, below + ROW * number) for number, row in enumerate(leases)]
    bottom = below + ROW * len(leases)
    right = max([left + chart, *(end for _, end in drawn)])
    width = right + TIMES + MARGIN
    title = state.title or state.subject or state.id
    many = len(story.steps)
    summary = f"{queries.status(state).replace('_', ' ')}, {many} step{'s' * (many != 1)} began"
    summary += f", the first {left_out} are left out" if left_out else ""
    shapes = [
        svg.text("text", MARGIN, 32, svg.clipped(title, width - 2 * MARGIN, 18, bold=True), size=18, bold=True),
        svg.text("faint", MARGIN, 53, svg.clipped(f"{state.id} · {summary}", width - 2 * MARGIN)),
        *_stripes(len(rows), TOP, width),
        *_stripes(len(leases), below, width),
        *_axis(scale, left, bottom),
        svg.text("faint", MARGIN, below - 12, "Leases", size=12, bold=True) if leases else "",
        *(shape for shape, _ in (*drawn, *held)),
        *_folds(scale, left, bottom),
        *(svg.text("faint", width - MARGIN, TOP + ROW * n + 19.5, _span(row), size=12, anchor="end")
          for n, row in enumerate(rows)),
        *_legend(rows, bottom + 30),
    ]  # fmt: skip
    description = f"{state.id}: {summary}. {_told(rows)}"
    return Picture(width, bottom + 54, f"The timeline of {title}", description, "".join(shapes))


def _row(row: _Row, scale: Scale, left: float, y: float) -> tuple[str, float]:
    """A row, and where it ends to the right: marks of one moment are beside each other."""
    middle = y + ROW / 2
    shapes = [svg.text("text", MARGIN, middle + 4.5, svg.clipped(row.name, NAMES - 16))]
    for begin, end, status in row.bars:
        x, w = left + scale.at(begin), max(2.0, scale.at(end) - scale.at(begin))
        said = f"{status.replace('_', ' ')}, {moment.span(end - begin)}"
        role = f"{status}-bar" if status in _FADED else status
        shapes.append(svg.group(said, svg.rect(role, x, middle - BAR / 2, w, BAR, corner=min(3.0, w / 2))))
    last = left - BESIDE
    for at, sign, role, shape, said in sorted(row.marks, key=lambda one: one[0]):
        last = max(left + scale.at(at), last + BESIDE)
        shapes.append(svg.group(said, svg.mark(sign, last, middle, role=role, shape=shape)))
    return svg.group(row.said, *shapes), last + BESIDE / 2


def _stripes(many: int, top: float, width: float) -> Iterator[str]:
    for number in range(0, many, 2):
        yield svg.rect("band", MARGIN / 2, top + ROW * number, width - MARGIN, ROW, corner=4)


def _axis(scale: Scale, left: float, bottom: float) -> Iterator[str]:
    """The day and times of day."""
    day, free = "", 0.0
    for at, x in scale.ticks():
        said = moment.from_epoch(at)
        yield svg.stroke("grid", f"M{left + x:.1f} {TOP - 8:.1f}V{bottom:.1f}", width=1)
        yield svg.text("faint", left + x, TOP - 14, said[11:19], size=11, anchor="middle")
        if said[:10] != day and x >= free:
            day, free = said[:10], x + DAY
            yield svg.text("faint", left + x, TOP - 30, f"{day} UTC", size=11, bold=True)


def _folds(scale: Scale, left: float, bottom: float) -> Iterator[str]:
    """The rests, as a torn strip over everything."""
    for begin, end, seconds in scale.folds:
        x = left + (begin + end) / 2
        yield svg.rect("page", x - 5, TOP - 4, 10, bottom - TOP + 4)
        zigzag = "".join(f"l{-4 if n % 2 else 4} 6" for n in range(int((bottom - TOP + 4) / 6)))
        yield svg.group(
            f"nothing happened for {moment.span(seconds)}",
            svg.stroke("grid", f"M{x - 2:.1f} {TOP - 4:.1f}{zigzag}", width=1.5),
            svg.text("faint", x, bottom + 12, moment.span(seconds), size=10.5, anchor="middle"),
        )


def _span(row: _Row) -> str:
    return moment.span(row.worked()) if row.bars else ""


def _told(rows: list[_Row]) -> str:
    return "; ".join(f"{row.name} {_span(row)}".rstrip() for row in rows[:12])


def _legend(rows: list[_Row], y: float) -> Iterator[str]:
    x = MARGIN
    bars = {status for row in rows for begin, end, status in row.bars if begin < end}
    for status in (one for one in lifecycle.STATUSES if one in bars):
        word = status.replace("_", " ")
        yield svg.rect(f"{status}-bar" if status in _FADED else status, x, y - 5, 18, 10, corner=3)
        yield svg.text("faint", x + 24, y + 4, word, size=12)
        x += 44 + svg.wide(word, 12)
    there = {(shape, role if shape == "diamond" else "") for row in rows for _, _, role, shape, _ in row.marks}
    for shape, role, word in (("square", "", "check"), ("diamond", "review", "review"),
                              ("diamond", "approval", "approval"), ("circle", "", "end of a try")):  # fmt: skip
        if (shape, role) in there:
            yield svg.mark(lifecycle.DONE, x + 7, y, role=role or lifecycle.DONE, shape=shape, size=6.5)
            yield svg.text("faint", x + 20, y + 4, word, size=12)
            x += 40 + svg.wide(word, 12)
