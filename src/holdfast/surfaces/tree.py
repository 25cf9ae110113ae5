"""The tree of steps as lines of text: marks, durations, gates under what is open, long runs folded."""

from __future__ import annotations

from holdfast.core import conditions, gates, lifecycle, limits, moment
from holdfast.core.facts import Facts
from holdfast.core.lifecycle import MARKS
from holdfast.core.standing import shown_of
from holdfast.core.state import State
from holdfast.plain.terminal import Style, clip, columns, escape, pad, paint, wrap

MANY_LINES = 40
SHOWN_DONE = 2
SHOWN_PENDING = 3
SHOWN_OPEN = 12
INDENT = "  "


class TreeView:
    """Draws one state, at one moment, so many columns wide."""

    def __init__(self, state: State, facts: Facts, style: Style, width: int) -> None:
        self.state, self.facts, self.style, self.width = state, facts, style, width
        self.folded = len(state.plan.paths) > 4 * MANY_LINES
        self._numbers: dict[str, int] = {}

    def lines(self) -> list[str]:
        whole = self._level("", INDENT)
        if len(whole) <= MANY_LINES or self.folded:
            return whole
        self.folded = True
        return self._level("", INDENT)

    def _level(self, above: str, indent: str) -> list[str]:
        out: list[str] = []
        children = self.state.plan.children(above)
        ids = [self.state.plan.step(path).id for path in children]
        numbers = map(int, ids) if all(id.isdecimal() for id in ids) else range(1, len(ids) + 1)
        self._numbers.update(zip(children, numbers, strict=True))
        for run in self._runs(children):
            shown, hidden, first = self._choose(run)
            gap = [self._summary(hidden, indent)] if hidden else []
            out += gap if first else []
            for path in shown:
                out += self._step(path, indent)
            out += [] if first else gap
        return out

    def _runs(self, paths: tuple[str, ...]) -> list[list[str]]:
        """Neighbours that are told in the same words."""
        runs: list[list[str]] = []
        for path in paths:
            if runs and self._kind(runs[-1][0]) == self._kind(path):
                runs[-1].append(path)
            else:
                runs.append([path])
        return runs

    def _kind(self, path: str) -> str:
        status = self.state.step(path).status
        return lifecycle.DONE if status == lifecycle.SKIPPED and self._collapses(path) else status

    def _choose(self, run: list[str]) -> tuple[list[str], list[str], bool]:
        """What of a run is shown, what is only counted, and whether the count comes first."""
        kind = self._kind(run[0])
        most = {lifecycle.DONE: SHOWN_DONE, lifecycle.PENDING: SHOWN_PENDING}.get(kind, SHOWN_OPEN)
        if not self.folded or len(run) <= most + 1:
            return run, [], False
        if kind == lifecycle.DONE:
            loose = [path for path in run if not self._collapses(path)][:SHOWN_OPEN]
            shown = [path for path in run if path in loose or path in run[-most:]]
        else:
            shown = run[:most]
        return shown, [path for path in run if path not in shown], kind == lifecycle.DONE

    def _summary(self, hidden: list[str], indent: str) -> str:
        status = self._kind(hidden[0])
        return self.style.dim(f"{indent}{MARKS[status]} … {len(hidden)} more {status.replace('_', ' ')}")

    def _collapses(self, path: str) -> bool:
        """A finished step needs no more than its line, unless an approval in it no longer holds."""
        if self.state.step(path).status != lifecycle.DONE:
            return self.state.step(path).status == lifecycle.SKIPPED
        inside = (path, *self.state.plan.below(path))
        return all(gates.holds(self.state, one, self.facts) for one in inside)

    def _step(self, path: str, indent: str) -> list[str]:
        plan, progress = self.state.plan, self.state.step(path)
        out = [self._line(path, indent)]
        if self._collapses(path):
            return out
        if progress.status != lifecycle.PENDING:
            out += self.gates(path, indent + INDENT * 2, about=True)
            out += self.stands(path, indent + INDENT * 2)
        elif self.folded and not plan.is_leaf(path):
            return out
        return out + self._level(path, indent + INDENT)

    def _line(self, path: str, indent: str) -> str:
        plan, progress, style = self.state.plan, self.state.step(path), self.style
        step, status = plan.step(path), shown_of(self.state, path, self.facts)
        right = self.beside(path)
        count = ""
        if not plan.is_leaf(path) and (self._collapses(path) or (self.folded and status == lifecycle.PENDING)):
            leaves = [p for p in plan.below(path) if plan.is_leaf(p)]
            count = f"{len(leaves)} step{'s' if len(leaves) != 1 else ''}"
        elif status in lifecycle.FINISHED and progress.artifacts:
            paths = [artifact.path for artifact in progress.artifacts.values()]
            count = f"→ {escape(paths[0])}" + (f" +{len(paths) - 1}" if len(paths) > 1 else "")
        number = f"{self._numbers[path]}. "
        room = self.width - len(indent) - 2 - len(number) - (columns(right) + 2 if right else 0)
        name = clip(escape(step.label), room)
        count = clip(count, room - columns(name) - 2) if room - columns(name) > 8 else ""
        gap = room - columns(name) - (columns(count) + 2 if count else 0)
        shown = style.bold(name) if status in lifecycle.OPEN else style.dim(name) if status in _QUIET else name
        line = f"{indent}{paint(style, status)(MARKS[status])} {style.dim(number)}{shown}"
        line += f"  {style.dim(count)}" if count else ""
        return line + (" " * (gap + 2) + style.dim(right) if right else "")

    def beside(self, path: str) -> str:
        """What is right of a step's name: tries and duration."""
        progress = self.state.step(path)
        words = [conditions.tries(self.state, path)]
        if progress.status == lifecycle.SKIPPED:
            words.append("skipped")
        elif progress.status in lifecycle.STUCK:
            words.append(progress.status)
        elif progress.status == lifecycle.PENDING and shown_of(self.state, path, self.facts) == lifecycle.WAITING:
            words.append(lifecycle.WAITING)
        elif progress.waiting_since:
            words.append(f"waiting {moment.span(moment.between(progress.waiting_since, self.facts.now))}")
        taken = limits.taken(self.state, path, self.facts.now)
        if taken is not None and progress.status != lifecycle.SKIPPED:
            words.append(moment.span(taken))
        return " · ".join(word for word in words if word)

    def gates(self, path: str, indent: str, *, about: bool = False) -> list[str]:
        """Every gate of a step with its verdict, one line each; below it what it is about, where that is asked for."""
        rows = conditions.of_step(self.state, path, self.facts)
        widest = min(20, max((columns(escape(row.name)) for row in rows), default=0))
        out = []
        for row in rows:
            verdict, text, name = row.verdict, row.text, row.name
            colour = paint(self.style, verdict)
            label = pad(clip(escape(name), widest), widest)
            room = self.width - len(indent) - widest - 4
            out.append(f"{indent}{colour(_VERDICTS[verdict])} {label}  {colour(clip(escape(text), room))}")
            if about and row.about:
                out += [f"{indent}    {line}" for line in wrap(escape(row.about), self.width - len(indent) - 4, 6)]
        return out

    def stands(self, path: str, indent: str, most: int = 2) -> list[str]:
        """Why a step is still."""
        progress, colour = self.state.step(path), self.style.yellow
        text = progress.reason if progress.status in lifecycle.STUCK else ""
        wrapped = wrap(escape(text, lines=True), self.width - len(indent) - 2, most) if text else ()
        return [f"{indent}{colour('↳ ' if not n else '  ')}{colour(line)}" for n, line in enumerate(wrapped)]


_QUIET = frozenset({lifecycle.PENDING, lifecycle.SKIPPED})
_JUDGED = ("passed", "failed", "stale", "claimed", "waiting", "in_review", "missing")
_VERDICTS = dict(zip(_JUDGED, "✓✗↻⚠◐◎○", strict=True))
