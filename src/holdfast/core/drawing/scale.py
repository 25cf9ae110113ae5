"""Time as a line of a picture: moments far apart enough to be seen, and long rests as short ones."""

from __future__ import annotations

from _bisect import bisect_left
from _collections_abc import Iterator, Sequence
from itertools import pairwise

LEAST = 7.0
"""Between two moments, where there is room for it."""
FOLD = 54.0
"""How wide a rest is that is folded."""
REST = 60.0
"""Seconds; nothing shorter is a rest."""
APART = 78.0
"""Between the labels of two moments."""


class Scale:
    """Where each moment is on a line of about this width. `folds` are the rests: from, to, and how many seconds."""

    def __init__(self, moments: Sequence[float], width: float) -> None:
        self._moments = sorted(set(moments))
        gaps = [end - begin for begin, end in pairwise(self._moments)]
        rests = _rests(gaps)
        shown = sum(gap for number, gap in enumerate(gaps) if number not in rests)
        many = len(gaps) - len(rests)
        least = min(LEAST, width / 2 / many) if many else 0.0
        room = max(0.0, width - FOLD * len(rests) - least * many)
        self._at = [0.0]
        self.folds: list[tuple[float, float, float]] = []
        for number, gap in enumerate(gaps):
            begin = self._at[-1]
            wide = FOLD if number in rests else least + (room * gap / shown if shown else 0)
            self._at.append(begin + wide)
            if number in rests:
                self.folds.append((begin, begin + wide, gap))
        self.width = self._at[-1]

    def at(self, moment: float) -> float:
        place = bisect_left(self._moments, moment)
        if place == 0 or place == len(self._moments):
            return self._at[min(place, len(self._at) - 1)]
        before, after = self._moments[place - 1], self._moments[place]
        part = (moment - before) / (after - before)
        return self._at[place - 1] + part * (self._at[place] - self._at[place - 1])

    def ticks(self) -> Iterator[tuple[float, float]]:
        """Moments at which something happened, far enough apart for their labels."""
        known = [(0.0, self._moments[0])] + [(end, self._moments[self._at.index(end)]) for _, end, _ in self.folds]
        first = [known[0], *(one for before, one in pairwise(known) if one[0] - before[0] >= APART)]
        taken = [x for x, _ in first]
        for moment, x in zip(self._moments, self._at, strict=True):
            if all(abs(x - one) >= APART for one in taken):
                taken.append(x)
                first.append((x, moment))
        yield from ((moment, x) for x, moment in sorted(first))


def _rests(gaps: Sequence[float]) -> set[int]:
    """The gaps that would push all the others together: much longer than most, and a large part of the whole."""
    left = sorted(range(len(gaps)), key=lambda number: -gaps[number])
    usual = sorted(gaps)[len(gaps) // 2] if gaps else 0.0
    rest, found = sum(gaps), set()
    for number in left:
        if gaps[number] < REST or gaps[number] < 3 * usual or gaps[number] < 0.2 * rest:
            break
        found.add(number)
        rest -= gaps[number]
    return found
