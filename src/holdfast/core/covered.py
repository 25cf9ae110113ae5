"""What an approval of a step is given for: the files that it handed in, else those of the steps before and below it."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.facts import Facts
from holdfast.core.state import Artifact, State

NO_FILE = "no file"


def is_of_others(state: State, path: str) -> bool:
    """Whether a step hands in nothing itself, so that a decision is about the work of the steps before and below it."""
    return not (state.step(path).artifacts or state.plan.step(path).outputs or state.conduct.handed_whole)


def files(state: State, path: str) -> Mapping[str, Artifact]:
    """The files by name. Files of other steps go by their paths: the last step that handed one in counts."""
    if not is_of_others(state, path):
        return state.step(path).artifacts
    before = {*state.plan.closure(path), *state.plan.below(path)}
    steps = (state.step(one) for one in state.plan.paths if one in before)
    return {one.path: one for step in steps for one in step.artifacts.values()}


def hashes(state: State, path: str, facts: Facts) -> dict[str, str]:
    """Their contents: of its own files as they were handed in, of others as they are now; empty for a missing one.

    Where something else is in the place of a file, that is `NO_FILE`.
    """
    if not is_of_others(state, path):
        return {name: one.hash for name, one in state.step(path).artifacts.items()}
    seen = {file: facts.hashes.get(file, (one.hash, 0)) for file, one in files(state, path).items()}
    return {file: now[0] if now else NO_FILE if file in facts.no_files else "" for file, now in seen.items()}
