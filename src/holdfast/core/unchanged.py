"""Work that is handed in although it says what it said before: when changes were asked for, or before it began."""

from __future__ import annotations

from holdfast.core import cycle, lifecycle, remedies
from holdfast.core.facts import Facts
from holdfast.core.remedy import Remedy
from holdfast.core.state import Progress


def files(path: str, progress: Progress, facts: Facts) -> list[str]:
    """The files of a step that have to change before it is handed in again, where none of them has."""
    sent_back = progress.sent_back if progress.status in (lifecycle.PENDING, lifecycle.ACTIVE) else {}
    known, now = progress.turned_down, _contents(path, progress, facts)
    is_same = now.keys() == sent_back.keys() and all(
        seen in (sent_back[name], *known.get(name, ())) for name, seen in now.items()
    )
    if not sent_back or not is_same:
        return []
    artifacts = progress.artifacts if path in facts.hand_ins else {}  # their names say less than their files
    return [artifacts[name].path if name in artifacts else name for name in now]


def because(path: str, progress: Progress, names: list[str], facts: Facts) -> str:
    verb = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"
    if any(now != progress.sent_back.get(name) for name, now in _contents(path, progress, facts).items()):
        return f"{verb} as in an earlier try that {'failed' if cycle.is_failure(progress) else 'was sent back'}"
    since = "the last try failed" if cycle.is_failure(progress) else "changes were asked for"
    return f"{verb} unchanged since {since}"


def copied_because(files: tuple[str, ...]) -> str:
    return f"{' and '.join(files)} {'is' if len(files) == 1 else 'are'} as copied from the project's documents"


def ways(path: str) -> tuple[Remedy, Remedy]:
    """The ways on: other work is handed in, or the reason why not."""
    as_it_is = remedies.done(path, given={"unchanged": remedies.REASON}, text="if it is right as it is")
    return remedies.done(path, text=remedies.MEND), as_it_is


def _contents(path: str, progress: Progress, facts: Facts) -> dict[str, str]:
    """What the work of a step that was sent back says now, without the files that are gone."""
    whole = facts.hand_ins.get(path)
    if whole is not None:
        return {**whole.hashes, **whole.said}
    listed = {name: one for name, one in progress.artifacts.items() if name in progress.sent_back}
    now = {name: facts.hashes.get(one.path, (one.hash, 0)) for name, one in listed.items()}
    return {name: facts.said.get(listed[name].path, seen[0]) for name, seen in now.items() if seen is not None}
