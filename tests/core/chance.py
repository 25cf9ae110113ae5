"""Random choices read off a string of bytes, and random definitions made of such choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from holdfast.core.definition import Approval, Bounds, Check, Choice, Definition, Retry, Review, Step
from holdfast.core.mistakes import check_steps
from holdfast.core.tasks import TASK
from holdfast.errors import UsageError

T = TypeVar("T")

IDS = tuple("abcdefgh")


class Chance:
    """Choices read off a string of bytes; when it is used up, always the first."""

    def __init__(self, spelling: bytes) -> None:
        self._left = iter(spelling)

    def below(self, count: int) -> int:
        return next(self._left, 0) % count

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def one_in(self, count: int) -> bool:
        return self.below(count) == count - 1


def random_definition(chance: Chance) -> Definition:
    steps = tuple(_step(chance, name, 0, IDS[:index]) for index, name in enumerate(IDS[: 2 + chance.below(4)]))
    bounds = Bounds(
        max_cost=chance.pick((None, None, 4_000_000)),
        max_time=chance.pick((None, None, 5_000)),
        max_iterations=chance.pick((None, None, 3)),
    )
    mended = _mended(steps)
    return Definition(
        name="story",
        steps=mended,
        bounds=bounds,
        loads=chance.pick(("", "", "task_document")),
        keep_going=chance.one_in(2),
        require_ack=chance.one_in(12),
        reading=("@a.md",),
    )


def _step(chance: Chance, name: str, depth: int, before: Sequence[str]) -> Step:
    count = 0 if depth == 2 else max(0, chance.below(6 if depth else 5) - 2)
    children = tuple(_step(chance, IDS[i], depth + 1, IDS[:i]) for i in range(count))
    kind = TASK if chance.one_in(3) else ""
    step = Step(
        name, parallel=bool(children) and chance.one_in(2), optional=chance.one_in(8), kind=kind, steps=children
    )
    if chance.one_in(5):
        step = step.replace(requires=(chance.pick(before),) if before and chance.one_in(2) else ())
    if before and chance.one_in(6):
        step = step.replace(retry=Retry(1 + chance.below(2), chance.pick(before), chance.pick(("failed", "escalated"))))
    elif chance.one_in(5):
        step = step.replace(retry=Retry(1 + chance.below(2), exhausted=chance.pick(("failed", "escalated"))))
    return gated(chance, step)


def gated(chance: Chance, step: Step) -> Step:
    policy = chance.pick(("relayed", "relayed", "human", "signed", "passkey", "signed or passkey"))
    match chance.below(12):
        case 0 | 1:
            return step.replace(approval=Approval(policy))
        case 2:
            return step.replace(choice=Choice(("A", "B"), policy))
        case 3 | 9:
            review = Review(chance.pick(((), ("reviewer",))), 1 + chance.below(2))
            again = Retry(2, exhausted="escalated") if step.kind != "task" else step.retry
            return step.replace(review=review, retry=again)
        case 4:
            return step.replace(checks=(Check("tests"),))
        case 5:
            return step.replace(checks=(Check("tests", ("pytest",), "engine"), Check("lint")))
        case 6:
            return step.replace(outputs=("log",), approval=Approval(policy))
        case 7:
            return step.replace(
                outputs=("log",), checks=(Check("lint"),), review=Review(max=2), approval=Approval(policy)
            )
        case 8:
            return step.replace(approval=Approval(policy), choice=Choice(("A", "B"), chance.pick(("relayed", "human"))))
        case _:
            return step


def _mended(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Without what does not fit together: a step to go back to must come before."""
    try:
        check_steps(steps)
    except UsageError:
        return tuple(_without_back_to(step) for step in steps)
    return steps


def _without_back_to(step: Step) -> Step:
    retry = step.retry.replace(back_to="") if step.retry else None
    return step.replace(retry=retry, steps=tuple(_without_back_to(child) for child in step.steps))
