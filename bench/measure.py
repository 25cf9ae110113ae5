"""Measuring: interleaved samples, medians, and a table of ratios against their aims."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from statistics import median
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def interleaved(subjects: Mapping[Name, Callable[[], object]], rounds: int) -> dict[Name, list[float]]:
    """Seconds of each subject, taken in turn, so that a noisy moment hits all of them alike.

    Every other turn goes backwards: what one leaves for the disk to do is paid by both of its neighbours.
    """
    taken: dict[Name, list[float]] = {name: [] for name in subjects}
    order = list(subjects.items())
    for _ in range(rounds):
        order.reverse()
        for name, subject in order:
            begin = time.perf_counter()
            subject()
            taken[name].append(time.perf_counter() - begin)
    return taken


def p50(samples: list[float]) -> float:
    return median(samples)


def p99(samples: list[float]) -> float:
    return sorted(samples)[max(0, int(len(samples) * 0.99) - 1)]


def heading(text: str) -> None:
    print(f"\n{text}")


def row(what: str, value: float, aim: str, detail: str = "") -> None:
    print(f"  {what:<62} {value:>7.2f}   aim {aim:<7} {detail}", flush=True)
