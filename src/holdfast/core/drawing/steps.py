"""The steps of a workflow as a picture: what follows what, what is inside of what, and where a failure leads to."""

from __future__ import annotations

from _collections_abc import Iterator, Sequence

from holdfast.core import lifecycle, policies, queries
from holdfast.core.definition import Step
from holdfast.core.diagram import MANY_STEPS
from holdfast.core.drawing import svg
from holdfast.core.drawing.layout import Box, Layout
from holdfast.core.drawing.svg import Picture
from holdfast.core.plan import parent
from holdfast.core.state import State

WIDTH, HEIGHT, LINE = 256.0, 36.0, 17.0
"""A box with its name alone, and what each line below the name adds."""
PAD, HEAD, MARGIN = 16.0, 42.0, 24.0
TITLE = 52.0
_CLOSED = lifecycle.FINISHED | {lifecycle.PENDING}
_RUN, _BESIDE = 4, 2
"""So many neighbours of one status are one box in a large tree, beside the ones next to what is worked on."""
_WORDS = {lifecycle.IN_REVIEW: "in review", lifecycle.WAITING: "waits for a person"}


def steps(state: State) -> Picture:
    """In a large tree, what is finished or has not begun is one box: a branch, or steps that follow each other."""
    return _Drawing(state).picture()


class _Drawing:
    def __init__(self, state: State) -> None:
        self._state = state
        self._plan = state.plan
        self._large = len(self._plan.paths) > MANY_STEPS
        self._runs: dict[str, list[str]] = {}
        """The steps that are one box, by the first of them."""
        self._shown: dict[str, str] = {}
        """Every step, with the box that shows it."""
        self._at: dict[str, tuple[float, float, Box]] = {}
        self._layout = self._laid("")

    def _laid(self, above: str) -> Layout:
        paths = self._folded(self._plan.children(above))
        boxes = [self._box(path) for path in paths]
        own = {path: path for path in paths}
        for path in paths:
            inside = [below for one in self._runs.get(path, [path]) for below in (one, *self._plan.below(one))]
            own.update(dict.fromkeys(inside, path))
        edges, backs = [], []
        for path in (below for one in self._plan.children(above) for below in (one, *self._plan.below(one))):
            edges += [(own[needed], own[path]) for needed in self._needed(path) if needed in own]
            back = self._back(path)
            if back in own and path in own and path == self._shown.get(path):
                backs.append((own[path], own[back]))
        return Layout(boxes, dict.fromkeys((a, b) for a, b in edges if a != b), [(a, b) for a, b in backs if a != b])

    def _folded(self, paths: Sequence[str]) -> list[str]:
        """In a large tree, neighbours without anything to see are told by one box."""
        runs: list[list[str]] = []
        for path in paths:
            status = self._state.step(path).status
            last = self._state.step(runs[-1][-1]).status if runs else ""
            if self._large and status == last and status in _CLOSED and self._follows(runs[-1][-1], path):
                runs[-1].append(path)
            else:
                runs.append([path])
        out = []
        for number, run in enumerate(runs):
            near = self._state.step(run[0]).status == lifecycle.PENDING and number > 0
            seen = _BESIDE if near else 0
            left = _BESIDE if not near and number + 1 < len(runs) else 0
            hidden = run[seen : len(run) - left]
            if len(hidden) < _RUN:
                out += run
                continue
            self._runs[hidden[0]] = hidden
            out += [*run[:seen], hidden[0], *run[len(run) - left :]]
        return out

    def _follows(self, before: str, path: str) -> bool:
        """Whether a step needs the one before it and nothing else, or both need the same."""
        own, other = set(self._needed(path)), set(self._needed(before))
        return own == {before} or own == other

    def _box(self, path: str) -> Box:
        run = self._runs.get(path, [path])
        for one in run:
            self._shown.update(dict.fromkeys((one, *self._plan.below(one)), path))
        closed = len(run) > 1 or (self._large and self._state.step(path).status in _CLOSED)
        if self._plan.is_leaf(path) or closed:
            self._shown[path] = path
            return Box(path, WIDTH, HEIGHT + LINE * len(self._notes(path)))
        self._shown[path] = path
        for child in self._plan.below(path):
            self._shown[child] = child
        inside = self._laid(path)
        return Box(path, max(WIDTH, inside.width + 2 * PAD), inside.height + HEAD + PAD, inside)

    def _needed(self, path: str) -> Sequence[str]:
        above = parent(path)
        return self._plan.requires(path)[len(self._plan.requires(above)) if above else 0 :]

    def _back(self, path: str) -> str:
        retry = self._plan.step(path).retry
        return (retry and retry.back_to and self._plan.beside(path, retry.back_to)) or ""

    def _notes(self, path: str) -> list[str]:
        """What is below the name: how many steps a box stands for, its gates, and what became of it."""
        run, step, progress = self._runs.get(path, [path]), self._plan.step(path), self._state.step(path)
        if len(run) > 1:
            return [f"to {self._plan.step(run[-1]).label}", f"{sum(self._leaves(one) for one in run)} steps"]
        notes = [f"{self._leaves(path)} steps"] if step.steps else []
        notes += [" · ".join(gates) for gates in _gates(step) if gates]
        again = f"try {progress.attempt}" if progress.attempt > 1 else ""
        why = progress.reason if progress.status in lifecycle.STUCK else ""
        word = _WORDS.get(progress.status, progress.status) if progress.status not in _CLOSED else ""
        said = ": ".join(filter(None, (", ".join(filter(None, (word, again))), why)))
        return [*notes, said] if said else notes

    def _leaves(self, path: str) -> int:
        return sum(self._plan.is_leaf(one) for one in (path, *self._plan.below(path)))

    def picture(self) -> Picture:
        state, layout = self._state, self._layout
        leaves = self._plan.leaves()
        done = sum(state.step(path).status in lifecycle.FINISHED for path in leaves)
        status = queries.status(state).replace("_", " ")
        summary = f"{status}, {done} of {len(leaves)} steps done"
        used = [s for s in lifecycle.STATUSES if any(state.step(path).status == s for path in leaves)]
        title = state.title or state.subject or state.id
        legend = list(_legend(used, goes_back=any(map(self._back, self._plan.paths))))
        width = max(layout.width, 420.0, max((x for x, _ in legend), default=0.0)) + 2 * MARGIN
        left = (width - layout.width) / 2
        body = "".join(self._frames(layout, left, TITLE + MARGIN))
        height = TITLE + MARGIN + layout.height + MARGIN + 34
        head = [
            svg.text("text", MARGIN, 32, svg.clipped(title, width - 2 * MARGIN, 18, bold=True), size=18, bold=True),
            svg.text("faint", MARGIN, 53, svg.clipped(f"{state.id} · {summary}", width - 2 * MARGIN)),
        ]
        foot = "".join(f'<g transform="translate({MARGIN} {height - 26:.1f})">{shape}</g>' for _, shape in legend)
        return Picture(width, height, f"The steps of {title}", f"{state.id}: {summary}", "".join(head) + body + foot)

    def _frames(self, layout: Layout, x: float, y: float) -> Iterator[str]:
        """The frames, then the lines, then the boxes on them."""
        lines, boxes = [], []
        for box in layout.boxes.values():
            self._at[box.path] = (x + box.x, y + box.y, box)
            boxes.append(self._drawn(box, x + box.x, y + box.y))
        for source, target in layout.edges:
            points = [(x + px, y + py) for px, py in layout.line(source, target)]
            end = points[-1]
            lines.append(svg.stroke("line", svg.route([*points[:-1], (end[0], end[1] - 6)])))
            lines.append(svg.arrowhead("head", *end))
        yield "".join(lines)
        yield "".join(boxes)
        yield "".join(self._ways_back(layout, x, y))

    def _ways_back(self, layout: Layout, x: float, y: float) -> Iterator[str]:
        """From the very step that may fail to the one that is tried again, which may be inside of frames."""
        for source, target in layout.backs:
            failing = next(p for p in self._plan.paths if _in(p, source) and _in(self._back(p), target))
            from_x, from_y, first = self._at[self._shown[failing]]
            to_x, to_y, last = self._at[self._shown[self._back(failing)]]
            start, end = from_y - y + _beside(first), to_y - y + _beside(last) + 5
            points = [(x + px, y + py) for px, py in layout.way_back(source, target, start, end, to_x - x)]
            line = [(from_x, points[0][1]), *points[1:-1], (to_x - 6, points[-1][1])]
            yield svg.stroke("back", svg.route(line), dashed=True)
            yield svg.arrowhead("back-head", *points[-1], right=True)

    def _drawn(self, box: Box, x: float, y: float) -> str:
        path, step, progress = box.path, self._plan.step(box.path), self._state.step(box.path)
        run = self._runs.get(path, [path])
        room = box.width - 52 - (18 if len(run) > 1 else 0)
        said = f"{path}: {lifecycle.SAID.get(progress.status, progress.status)}"
        if box.inside is not None:
            count = f"{sum(self._state.step(p).status in lifecycle.FINISHED for p in self._inner(path))}/"
            count += str(len(self._inner(path)))
            return svg.group(
                said,
                svg.rect("frame", x, y, box.width, box.height, corner=10),
                svg.mark(progress.status, x + 20, y + 20),
                svg.text("text", x + 36, y + 24.5, svg.clipped(step.label, room - 40, bold=True), bold=True),
                svg.text("faint", x + box.width - 14, y + 24.5, count, size=12, anchor="end"),
                *self._frames(box.inside, x + (box.width - box.inside.width) / 2, y + HEAD),
            )
        shapes = []
        if len(run) > 1 or step.steps:  # there is more behind it
            shapes += [svg.rect("card", x + 4, y + 4, box.width, box.height, corner=7)]
        is_open = progress.status in lifecycle.OPEN | lifecycle.STUCK
        shapes.append(svg.rect("card", x, y, box.width, box.height, corner=7))
        if is_open:
            shapes.append(svg.outline(progress.status, x, y, box.width, box.height, corner=7))
        middle = y + HEIGHT / 2
        shapes.append(svg.mark(progress.status, x + 20, middle))
        role = "faint" if progress.status == lifecycle.SKIPPED else "text"
        shapes.append(svg.text(role, x + 36, middle + 4.5, svg.clipped(step.label, room, bold=is_open), bold=is_open))
        for number, note in enumerate(self._notes(path)):
            at = y + HEIGHT + LINE * number + 5
            shapes.append(svg.text("faint", x + 36, at, svg.clipped(note, box.width - 48, 11.5), size=11.5))
        return svg.group(said, *shapes)

    def _inner(self, path: str) -> list[str]:
        return [one for one in self._plan.below(path) if self._plan.is_leaf(one)]


def _beside(box: Box) -> float:
    """How far below its top a way back leaves a box or reaches it."""
    return min(box.height / 2, 40)


def _in(path: str, branch: str) -> bool:
    return path == branch or path.startswith(f"{branch}/")


def _gates(step: Step) -> tuple[list[str], list[str]]:
    """What has to be there or to hold, and who has to agree."""
    people = ["review"] if step.review else []
    if step.choice:
        people.append("choice")
    elif step.approval:
        people.append(f"approval{policies.SAID[step.approval.by]}")
    return [*(check.name for check in step.checks), *step.outputs], people


def _legend(used: Sequence[str], *, goes_back: bool) -> Iterator[tuple[float, str]]:
    """What the marks mean, each with where it ends."""
    x = 8.0
    for status in used:
        word = status.replace("_", " ")
        end = x + 13 + svg.wide(word, 12)
        yield end, svg.mark(status, x, 0, size=6.5) + svg.text("faint", x + 13, 4, word, size=12)
        x = end + 20
    if goes_back:
        line = svg.stroke("back", svg.route([(x - 7, 0), (x + 15, 0)]), dashed=True)
        yield (
            x + 170,
            line
            + svg.arrowhead("back-head", x + 23, 0, right=True)
            + svg.text("faint", x + 30, 4, "back, when it fails", size=12),
        )
