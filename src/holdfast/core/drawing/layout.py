"""Where boxes go: in layers by their longest way from the beginning, and in columns where that would be very high.

A box may itself hold boxes, which are laid out first. Lines between neighbouring layers run in the gap between them;
longer ones in lanes beside their column.
"""

from __future__ import annotations

from _collections_abc import Iterable, Mapping, Sequence
from math import ceil, sqrt

ACROSS, GAP = 26.0, 34.0
"""Between two boxes of a layer, and between two layers."""
OUT, IN = 0.3, 0.36
"""How far below its row a line to a lane is, and how far above its row one from a lane, as parts of a gap."""
LANE, LANES = 12.0, 6
"""The width of a lane, and how many there are beside a column at most."""
IN_A_ROW = 6
"""How many boxes one layer may have beside each other; more of them are several rows."""
HIGH = 1000.0
"""How high one column may be before another one is begun."""


class Box:
    """One box: its size, and after it was placed, its corner. A frame has boxes inside."""

    def __init__(self, path: str, width: float, height: float, inside: Layout | None = None) -> None:
        self.path, self.width, self.height, self.inside = path, width, height, inside
        self.x = self.y = 0.0
        self.row = self.column = 0

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


class Layout:
    """Boxes that are placed, from a corner at 0, 0; `edges` lead from the first to the second."""

    def __init__(
        self, boxes: Sequence[Box], edges: Iterable[tuple[str, str]], backs: Iterable[tuple[str, str]]
    ) -> None:
        self.boxes = {box.path: box for box in boxes}
        self.edges = [(a, b) for a, b in edges if a != b]
        self.backs = list(dict.fromkeys(backs))
        self._rows = self._ordered(_layers(list(self.boxes), self.edges))
        self._place()

    def _ordered(self, layers: list[list[str]]) -> list[list[str]]:
        """Each layer by where what it follows is; wide ones in several rows."""
        before: dict[str, list[str]] = {}
        for source, target in self.edges:
            before.setdefault(target, []).append(source)
        at: dict[str, float] = {}
        rows: list[list[str]] = []
        for layer in layers:
            known = {path: [at[one] for one in before.get(path, ()) if one in at] for path in layer}
            ordered = sorted(layer, key=lambda path: sum(known[path]) / len(known[path]) if known[path] else 0.5)
            at.update({path: (place + 0.5) / len(ordered) for place, path in enumerate(ordered)})
            many = ceil(len(ordered) / IN_A_ROW)
            each = ceil(len(ordered) / many)
            rows += [ordered[first : first + each] for first in range(0, len(ordered), each)]
        return rows

    def _place(self) -> None:
        heights = [max(self.boxes[path].height for path in row) for row in self._rows]
        widths = [sum(self.boxes[path].width for path in row) + ACROSS * (len(row) - 1) for row in self._rows]
        high = sum(heights) + GAP * len(heights)
        many = ceil(high / max(HIGH, sqrt(high * (max(widths, default=0) + ACROSS)))) if high > HIGH else 1
        for number, row in enumerate(self._rows):
            for path in row:
                self.boxes[path].row = number
        columns: list[list[int]] = [[]]
        used = 0.0
        for number in range(len(heights)):
            if columns[-1] and used + heights[number] > high / many and len(columns) < many:
                columns.append([])
                used = 0.0
            columns[-1].append(number)
            used += GAP + heights[number]
        column_of = {row: column for column, rows in enumerate(columns) for row in rows}
        self._lanes = self._assigned(column_of)
        x = self.height = 0.0
        self._left, self._right = [], []
        for column, rows in enumerate(columns):
            x += LANE * (self._count(column, left=True) + 1) if self._count(column, left=True) else 0
            wide = max((widths[row] for row in rows), default=0.0)
            self._left.append(x)
            self._right.append(x + wide)
            y = GAP if many > 1 or column else 0.0
            for number in rows:
                left = x + (wide - widths[number]) / 2
                for path in self._rows[number]:
                    box = self.boxes[path]
                    box.x, box.y, box.column = left, y + (heights[number] - box.height) / 2, column
                    left += box.width + ACROSS
                y += heights[number] + GAP
            self.height = max(self.height, y - GAP)
            x += wide + LANE * (self._count(column, left=False) + 1) * bool(self._count(column, left=False))
            x += ACROSS if column + 1 < len(columns) else 0
        self.width = x
        if many > 1:
            self.height += GAP / 2

    def _assigned(self, column_of: Mapping[int, int]) -> dict[tuple[str, int, bool], int]:
        """The lane of each source: beside its column, to the right for what follows and to the left for a way back."""
        found: dict[tuple[str, int, bool], int] = {}
        counts: dict[tuple[int, bool], int] = {}
        long = [(a, False) for a, b in self.edges if not self._is_near(a, b, column_of)]
        for path, left in [*long, *((a, True) for a, _ in self.backs)]:
            column = column_of[self.boxes[path].row]
            if (path, column, left) not in found:
                found[path, column, left] = counts.get((column, left), 0) % LANES
                counts[column, left] = counts.get((column, left), 0) + 1
        return found

    def _count(self, column: int, *, left: bool) -> int:
        return max((lane + 1 for (_, at, side), lane in self._lanes.items() if (at, side) == (column, left)), default=0)

    def _is_near(self, source: str, target: str, column_of: Mapping[int, int]) -> bool:
        first, second = self.boxes[source].row, self.boxes[target].row
        return second == first + 1 and column_of[first] == column_of[second]

    def line(self, source: str, target: str) -> list[tuple[float, float]]:
        """The corners of the line from one box to one that follows it."""
        a, b = self.boxes[source], self.boxes[target]
        start, end = (a.middle, a.bottom), (b.middle, b.y)
        if b.row == a.row + 1 and b.column == a.column:
            between = self._above(b)
            return [start, end] if abs(start[0] - end[0]) < 1 else [start, (start[0], between), (end[0], between), end]
        below = max(one.bottom for one in self.boxes.values() if one.row == a.row) + GAP * OUT
        lane = self._right[a.column] + LANE * (self._lanes.get((source, a.column, False), 0) + 1)
        above = self._above(b, IN)
        return [start, (start[0], below), (lane, below), (lane, above), (end[0], above), end]

    def _above(self, box: Box, part: float = 0.5) -> float:
        """In the gap above the row of a box, so far above it."""
        return min(one.y for one in self.boxes.values() if one.row == box.row) - GAP * part

    def way_back(self, source: str, target: str, start: float, end: float, into: float) -> list[tuple[float, float]]:
        """The same between the left sides of a box and an earlier one, at these heights; `into` is where it ends."""
        a = self.boxes[source]
        lane = self._left[a.column] - LANE * (self._lanes.get((source, a.column, True), 0) + 1)
        b = self.boxes[target]
        if b.column == a.column:
            return [(a.x, start), (lane, start), (lane, end), (into, end)]
        above, beside = self._above(b), self._left[b.column] - LANE
        return [(a.x, start), (lane, start), (lane, above), (beside, above), (beside, end), (into, end)]


def _layers(paths: list[str], edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The boxes by the longest way to each from one that follows none."""
    before: dict[str, set[str]] = {path: set() for path in paths}
    for source, target in edges:
        before[target].add(source)
    depth: dict[str, int] = {}
    left = list(paths)
    while left:
        ready = [path for path in left if before[path] <= depth.keys()] or left[:1]
        for path in ready:
            depth[path] = max((depth[one] + 1 for one in before[path] if one in depth), default=0)
        left = [path for path in left if path not in depth]
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for path in paths:
        layers[depth[path]].append(path)
    return layers
