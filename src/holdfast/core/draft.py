"""A decision in the making: the state as it would be, and the events that lead there."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import events as ev
from holdfast.core import lifecycle, limits, queries, refusals, remedies
from holdfast.core.apply import apply
from holdfast.core.definition import Step
from holdfast.core.facts import Facts
from holdfast.core.plan import ancestors, parent
from holdfast.core.remedy import Remedy
from holdfast.core.state import Actor, Artifact, Progress, State
from holdfast.core.value import Any

Rules = Callable[[str], Mapping[str, Callable[["Draft", Mapping[str, Any]], None]]]
"""The rules of a system's own commands: from its name to those, by the names of the commands."""


def no_rules(system: str) -> Mapping[str, Callable[[Draft, Mapping[str, Any]], None]]:
    return {}


class Draft:
    """Rules speak through a draft: what one rule emits, the next one sees."""

    def __init__(self, state: State, actor: Actor, facts: Facts, rules: Rules = no_rules) -> None:
        self.rules = rules
        self.state = state
        self.actor = actor
        self.facts = facts
        self.token = 0
        """The number of the lease whose token the request has."""
        self.events: list[ev.Event] = []
        self.relies_on = ""
        """What the decision takes a person's word for: they have to confirm it."""

    def is_person(self, what: str) -> bool:
        """Whether a person says it, as the process saw: an actor can call itself anything.

        To be asked last, because the command then relies on the answer: the person confirms what it is needed for.
        """
        if self.actor.kind != "human" or not self.facts.person:
            return False
        self.relies_on = self.relies_on or what
        return True

    def renews(self, path: str) -> bool:
        """Whether a step that has used tries gets all of them again, by a person's word."""
        progress = self.state.step(path)
        return bool(progress.failures or progress.rounds) and self.is_person(f"give {path} all its tries again")

    def emit(self, event: ev.Event) -> None:
        self.state = apply(self.state, event, self.facts.now, self.actor)
        self.events.append(event)

    def mark(self) -> tuple[State, int]:
        """Where the decision is, to go back to."""
        return self.state, len(self.events)

    def go_back(self, mark: tuple[State, int]) -> None:
        self.state = mark[0]
        del self.events[mark[1] :]

    def step(self, path: str) -> tuple[Step, Progress]:
        if path not in self.state.plan:
            raise refusals.no_step(path, self.state)
        return self.state.plan.step(path), self.state.step(path)

    def require_status(self, path: str, move: str, *allowed: str) -> None:
        """Refuses a move of a step whose status is none of those; without any, none of which the table has it."""
        if self.state.step(path).status not in (allowed or lifecycle.sources(move)):
            raise refusals.wrong_status(self.state, self.facts, path, move, allowed)

    def require_person(self, what: str, *own: Remedy) -> None:
        """Refuses everybody else; `own` are the commands that a person would type."""
        if not self.is_person(what):
            raise refusals.person_needed(what, *own)
        self.relies_on = what

    def require_bounds(self) -> None:
        """Refuses where a bound is used up."""
        for usage in limits.usages(self.state, self.facts.now):
            if usage.reached:
                raise refusals.bound_reached(usage.bound, usage.used_text, usage.limit_text, usage.over)

    @property
    def is_spent(self) -> bool:
        return any(usage.reached for usage in limits.usages(self.state, self.facts.now))

    def claim(self, ttl: int) -> dict[str, Any]:
        """What a lease and the hold of a file have in common, from now on."""
        facts, deadline = self.facts, self.facts.mono + ttl
        new = {"token": self.state.fence + 1, "at": facts.now, "boot": facts.boot, "deadline": deadline, "ttl": ttl}
        return {**new, "session": self.actor.session}

    def move(self, move: str, path: str, **said: Any) -> None:
        """Moves a step along the transition table; a new try gets the next attempt number. `said` is of `Moved`."""
        progress = self.state.step(path)
        self.require_status(path, move)
        attempt = progress.attempt
        if move in lifecycle.NEW_ATTEMPT or (move == "resumed" and progress.status != lifecycle.BLOCKED):
            attempt += 1
            limit = self.state.most_tries(path)
            if limit and attempt > limit and limits.is_bounded(self.state, path):
                raise refusals.bound_reached("iterations", f"{progress.attempt} attempts at {path}", str(limit))
        self.emit(ev.Moved(move, path, attempt, **said))

    def open_branches(self, path: str) -> None:
        """A step that is worked on is in branches that are worked on."""
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

    def reset_below(self, path: str, *, renewing: bool = True) -> None:
        for child in reversed(self.state.plan.below(path)):
            if self.state.step(child).status != lifecycle.PENDING:
                self.move("reset", child, renewed=renewing and self.renews(child))

    def reset_later(self, path: str, *, renewing: bool = True) -> None:
        """Everything that waited for this step goes back to pending, and a branch with such a child is open again."""
        spent = queries.used_up_after(self.state, path)
        if spent:
            self.require_person(f"open {path} again while {spent[0]} is stuck", remedies.resume(path))
        later = queries.later(self.state, path)
        for step in reversed(later):
            if self.state.step(step).status != lifecycle.PENDING:
                self.move("reset", step, renewed=renewing and self.renews(step))
        for above in dict.fromkeys(a for step in later for a in ancestors(step)):
            if self.state.step(above).status in lifecycle.FINISHED:
                self.move("reopened", above)

    def hand_in(self, path: str) -> bool:
        """Takes the work of a step as it is, where its system says what that is; False where the caller names it."""
        found, known = self.facts.hand_ins.get(path), self.state.step(path).artifacts
        if found is None:
            return False
        for name, (file, content, size) in found.parts.items():
            before = known.get(name)
            if before is None or (before.path, before.hash) != (file, content):
                said = found.said.get(name, "")
                self.emit(ev.Produced(path, name, Artifact(file, content, self.facts.now, size, said)))
        for name in known:
            if name not in found.parts:
                self.emit(ev.Dropped(path, name))
        return True

    def attach(self, path: str, artifacts: dict[str, str]) -> None:
        for name, file in artifacts.items():
            seen = self.facts.hashes.get(file)
            if seen is None:
                raise refusals.artifact_missing(path, name, file)
            content, size = seen
            known = self.state.step(path).artifacts.get(name)
            if known is None or (known.path, known.hash) != (file, content):
                said = self.facts.said.get(file, "")
                self.emit(ev.Produced(path, name, Artifact(file, content, self.facts.now, size, said)))
