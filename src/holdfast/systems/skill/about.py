"""What the pull request of a feature says of it: its quotation and its criteria, as the file has them now."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.machine.place import below
from holdfast.systems.seam.wired import Wired
from holdfast.systems.skill import features
from holdfast.systems.skill.words import FEATURE, feature_of


def about(wired: Wired, state: State) -> tuple[str, ...]:
    """Markdown, a line each; of a folder, feature by feature."""
    if state.loads != FEATURE:
        return ()
    listed: Any = state.context.get("folder_features")
    several = bool(state.context.get("folder_path"))
    known = [one for one in listed if isinstance(one, Mapping)] if several and isinstance(listed, list) else []
    lines: list[str] = []
    for one in known or [feature_of(state)]:
        file = str(one.get("file") or "")
        lines += [f"## {_plain(str(one.get('title') or file))}", ""] if several else []
        lines += _of(wired, state, file)
    return tuple(lines[:-1])


def _of(wired: Wired, state: State, file: str) -> list[str]:
    lines = [f"From `{file}`.".replace("``", "`"), ""]
    full = below(wired.place.base(state.worktree), file) if file else ""
    try:
        feature = features.read(full, file) if full else None
    except HoldfastError:
        feature = None
    if feature is None:
        return lines
    lines = [f"> {_plain(feature.summary)}", "", *lines] if feature.summary else lines
    criteria = [f"- {_plain(text)}" for text in feature.criteria]
    return [*lines, "**Acceptance criteria**", "", *criteria, ""] if criteria else lines


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")
