"""The tree of steps: the state of a step, what it waits for, what waits for it."""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core.definition import Check, Step


class Plan:
    """An immutable tree. A step is named by its path: the ids from the top, joined by `/`."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self.steps = steps
        self._by_path: dict[str, Step] = {}
        self._requires: dict[str, tuple[str, ...]] = {}
        self._closures: dict[str, frozenset[str]] = {}
        self._sizes: dict[str, int] = {}
        self._children: dict[str, tuple[str, ...]] = {}
        self._index(steps, "", parallel=False)
        self.paths = tuple(self._by_path)
        self._places = {path: place for place, path in enumerate(self.paths)}
        self._leaves = tuple(path for path in self.paths if not self._by_path[path].steps)
        kinds: dict[str, list[str]] = {}
        for path, step in self._by_path.items():
            if step.kind:
                kinds.setdefault(step.kind, []).append(path)
        self._kinds = {kind: tuple(paths) for kind, paths in kinds.items()}
        self.denies = any(step.deny for step in self._by_path.values())
        self._asking = tuple(path for path, step in self._by_path.items() if step.choice or step.approval)
        self._checked = tuple((path, check.name) for path, step in self._by_path.items() for check in step.checks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.steps == other.steps

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def step(self, path: str) -> Step:
        return self._by_path[path]

    def children(self, path: str) -> tuple[str, ...]:
        return self._children[path]

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """The steps of one kind, in order."""
        return self._kinds.get(kind, ())

    def checked(self) -> tuple[tuple[str, str], ...]:
        """Every check as the path of its step and its name, in order."""
        return self._checked

    def asking(self) -> tuple[str, ...]:
        """The steps that take somebody's word, in order."""
        return self._asking

    def is_leaf(self, path: str) -> bool:
        return not self._by_path[path].steps

    def leaves(self) -> list[str]:
        return list(self._leaves)

    def below(self, path: str) -> tuple[str, ...]:
        """Everything under a branch, in order."""
        first = self._places.get(path, -1) + 1
        return self.paths[first : first + self._sizes.get(path, 0)]

    def beside(self, path: str, name: str) -> str | None:
        """The step that `name` means when it is said at `path`: a sibling's id, else a path from the top."""
        above = parent(path)
        near = f"{above}/{name}" if above else name
        if near in self._by_path:
            return near
        return name if name in self._by_path else None

    def requires(self, path: str) -> tuple[str, ...]:
        """The steps that must be done first: its own prerequisites and those of every branch it is in."""
        return self._requires.get(path, ())

    def closure(self, path: str) -> frozenset[str]:
        """All that must be done first, the prerequisites' prerequisites included."""
        known = self._closures.get(path)
        if known is None:
            found: set[str] = set()
            waiting = list(self.requires(path))
            while waiting:
                needed = waiting.pop()
                if needed not in found:
                    found.add(needed)
                    found |= self._closures.get(needed, frozenset())
                    waiting.extend(() if needed in self._closures else self.requires(needed))
                    waiting.extend(self.below(needed))
            known = self._closures[path] = frozenset(found)
        return known

    def dependents(self, path: str) -> tuple[str, ...]:
        """Every step that waits, directly or not, for this one; in order."""
        inside = {path, *ancestors(path)}
        return tuple(p for p in self.paths if p not in inside and not self.closure(p).isdisjoint({path}))

    def place(self, path: str) -> int:
        """Where a step is among all, in order."""
        return self._places[path]

    def number(self, path: str) -> int:
        """The step's place among its siblings, from 1."""
        return self.children(parent(path)).index(path) + 1

    def find(self, word: str) -> list[str]:
        """The steps a user may mean by a number, an id, or a path whose parts are ids or numbers."""
        at = ""
        for part in word.split("/"):
            children = self.children(at)
            exact = f"{at}/{part}" if at else part
            if exact in self._by_path:
                at = exact
            elif part.isascii() and part.isdigit() and 1 <= int(part[:9]) <= len(children):
                at = children[int(part) - 1]
            else:
                return [path for path in self.paths if path.endswith("/" + word)]
        return [at]

    def changed(self, path: str, change: Callable[[Step], Step | None]) -> Plan:
        """A tree with one step changed, or retired when the change gives None."""
        return Plan(_changed(self.steps, path.split("/"), change))

    def with_checks(self, under: str, change: Callable[[Check], Check]) -> Plan:
        """A tree whose checks are changed: all of them, or those of a step and of what is below it."""
        if not under:
            return Plan(tuple(_with_checks(step, change) for step in self.steps))
        return self.changed(under, lambda step: _with_checks(step, change))

    def added(self, above: str, step: Step, after: str | None) -> Plan:
        """A tree with one step more: after the sibling with this id, first where that is empty, last without it."""

        def insert(steps: tuple[Step, ...]) -> tuple[Step, ...]:
            if after is None:
                return (*steps, step)
            at = next((i + 1 for i, s in enumerate(steps) if s.id == after), 0)
            return (*steps[:at], step, *steps[at:])

        if not above:
            return Plan(insert(self.steps))
        return self.changed(above, lambda branch: branch.replace(steps=insert(branch.steps)))

    def _index(self, steps: tuple[Step, ...], above: str, parallel: bool) -> None:
        inherited = self._requires.get(above, ())
        beside = {step.id for step in steps}
        self._children[above] = tuple(f"{above}/{step.id}" if above else step.id for step in steps)
        before = ""
        for step in steps:
            path = f"{above}/{step.id}" if above else step.id
            self._by_path[path] = step
            if step.requires is not None:
                own = tuple(f"{above}/{n}" if above and n in beside else n for n in step.requires)
            else:
                own = (before,) if before and not parallel else ()
            self._requires[path] = (*inherited, *own)
            before = path
            so_far = len(self._by_path)
            self._index(step.steps, path, step.parallel)
            self._sizes[path] = len(self._by_path) - so_far


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def ancestors(path: str) -> list[str]:
    """The branches a step is in, nearest first."""
    found = []
    while path := parent(path):
        found.append(path)
    return found


def _changed(steps: tuple[Step, ...], parts: list[str], change: Callable[[Step], Step | None]) -> tuple[Step, ...]:
    out: list[Step] = []
    for step in steps:
        if step.id != parts[0]:
            out.append(step)
        elif len(parts) > 1:
            out.append(step.replace(steps=_changed(step.steps, parts[1:], change)))
        else:
            new = change(step)
            if new is not None:
                out.append(new)
    return tuple(out)


def _with_checks(step: Step, change: Callable[[Check], Check]) -> Step:
    return step.replace(
        checks=tuple(change(check) for check in step.checks),
        steps=tuple(_with_checks(child, change) for child in step.steps),
        task=_with_checks(step.task, change) if step.task else None,
    )
