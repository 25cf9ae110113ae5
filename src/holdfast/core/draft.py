"""A decision in the making: the state as it would be, and the events that lead there."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import events as ev
from holdfast.core import lifecycle, refusals, remedies
from holdfast.core.apply import apply
from holdfast.core.commands import Facts
from holdfast.core.definition import Step
from holdfast.core.plan import ancestors, parent
from holdfast.core.queries import is_used_up
from holdfast.core.state import Actor, Artifact, Progress, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable
    from typing import Any

    Rules = Callable[[str], Mapping[str, Callable[["Draft", Mapping[str, Any]], None]]]
    """The rules of a system's own commands: from its name to those, by the names of the commands."""


def no_rules(system: str) -> Mapping[str, Callable[[Draft, Mapping[str, Any]], None]]:
    return {}


class Draft:
    """Rules speak through a draft: what one rule emits, the next one sees."""

    def __init__(self, state: State, actor: Actor, facts: Facts, token: int = 0, rules: Rules = no_rules) -> None:
        self.rules = rules
        self.state = state
        self.actor = actor
        self.facts = facts
        self.token = token
        self.events: list[ev.Event] = []

    @property
    def is_person(self) -> bool:
        return self.actor.kind == "human"

    def emit(self, event: ev.Event) -> None:
        self.state = apply(self.state, event, self.facts.now, self.actor)
        self.events.append(event)

    def step(self, path: str) -> tuple[Step, Progress]:
        if path not in self.state.plan:
            raise refusals.no_step(path, self.state)
        return self.state.plan.step(path), self.state.step(path)

    def move(
        self,
        move: str,
        path: str,
        *,
        reason: str = "",
        feedback: str = "",
        renewed: bool = False,
        data: Mapping[str, Any] | None = None,
        blames: str = "",
    ) -> None:
        """Moves a step along the transition table; a new try gets the next attempt number."""
        progress = self.state.step(path)
        if not lifecycle.allows(progress.status, move):
            raise refusals.wrong_status(self.state, self.facts, path, move)
        attempt = progress.attempt
        if move in lifecycle.NEW_ATTEMPT or (move == "resumed" and progress.status != lifecycle.BLOCKED):
            attempt += 1
            limit = self.state.bounds.max_iterations
            if limit and attempt > limit and self.is_bounded(path):
                raise refusals.bound_reached("iterations", f"{progress.attempt} attempts at {path}", str(limit))
        self.emit(ev.Moved(move, path, attempt, reason, feedback, renewed, data or {}, blames))

    def is_bounded(self, path: str) -> bool:
        """Whether the bound on tries counts for a step."""
        step, kinds = self.state.plan.step(path), self.state.conduct.bounded
        return not step.steps and (not kinds or step.kind in kinds)

    def open_branches(self, path: str) -> None:
        """A step that is worked on stands in branches that are worked on."""
        for above in reversed(ancestors(path)):
            status = self.state.step(above).status
            if status == lifecycle.PENDING:
                self.move("began", above)
            elif status in lifecycle.FINISHED:
                self.move("reopened", above)
                self.reset_later(above)
            elif status in (lifecycle.IN_REVIEW, lifecycle.WAITING):
                self.move("revised", above)

    def close_branches(self, path: str) -> None:
        """A branch without gates of its own is done when its children are."""
        above = parent(path)
        if not above or self.state.step(above).status != lifecycle.ACTIVE or self.state.plan.step(above).gated:
            return
        children = self.state.plan.children(above)
        if children and all(self.state.step(child).status in lifecycle.FINISHED for child in children):
            self.move("completed", above)
            self.close_branches(above)

    def reset_later(self, path: str) -> None:
        """Everything that waited for this step goes back to pending, and a branch with such a child is open again."""
        if not self.is_person:
            spent = self.used_up_after(path)
            if spent:
                raise refusals.person_needed(f"open {path} again while {spent[0]} is stuck", remedies.reopen(path))
        later = self._later(path)
        for step in reversed(later):
            if self.state.step(step).status != lifecycle.PENDING:
                self.move("reset", step, renewed=self.is_person)
        for above in dict.fromkeys(a for step in later for a in ancestors(step)):
            if self.state.step(above).status in lifecycle.FINISHED:
                self.move("reopened", above)

    def used_up_after(self, path: str) -> list[str]:
        """Steps that would go back to pending with this one, and that only a person may set going again."""
        return [step for step in (*self._later(path), *self.state.plan.below(path)) if is_used_up(self.state, step)]

    def _later(self, path: str) -> list[str]:
        """The steps that wait for this one, for a branch it stands in, or for a branch that one of them stands in."""
        plan = self.state.plan
        found: set[str] = set()
        waiting = [path]
        while waiting:
            for step in plan.dependents(waiting.pop()):
                if step not in found:
                    found.add(step)
                    waiting += [step, *(a for a in ancestors(step) if a not in ancestors(path))]
        return [step for step in plan.paths if step in found and step != path and step not in ancestors(path)]

    def attach(self, path: str, artifacts: dict[str, str]) -> None:
        for name, file in artifacts.items():
            seen = self.facts.hashes.get(file)
            if seen is None:
                raise refusals.artifact_missing(path, name, file)
            content, size = seen
            known = self.state.step(path).artifacts.get(name)
            if known is None or (known.path, known.hash) != (file, content):
                self.emit(ev.Produced(path, name, Artifact(file, content, self.facts.now, size)))
