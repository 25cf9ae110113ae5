"""What the bounds of a workflow leave: tries that a step may take, and whether its cost is known at all."""

from __future__ import annotations

from holdfast.core.state import FREE_TRIES, State


def most_tries(state: State, path: str) -> int:
    """How many tries the bound allows a step, with those that do not count; 0 is no bound."""
    free = state.step(path).data.get(FREE_TRIES)
    return (state.bounds.max_iterations or 0) + (free if state.bounds.max_iterations and isinstance(free, int) else 0)


def is_cost_unknown(state: State) -> bool:
    """Whether cost is bounded, work was done, and nobody ever said what it cost."""
    worked = any(progress.attempt for path, progress in state.progress.items() if "/" in path)
    return bool(state.bounds.max_cost) and not state.spent and worked
