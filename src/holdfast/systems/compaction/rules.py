"""Notes of the project: what they said of the work when they were last looked at, by file."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import events as ev
from holdfast.core.draft import Draft
from holdfast.core.state import State
from holdfast.core.value import Any


def seen(state: State) -> Mapping[str, Mapping[str, Any]]:
    return state.own.get("compaction", {})


def sight(draft: Draft, data: Mapping[str, Any]) -> None:
    source, account = data["source"], data["account"]
    if seen(draft.state).get(source) != account:
        entry = {"event": "sighted", "source": source}
        draft.emit(ev.Owned("compaction", {source: account}, entry, f"looked at {source}"))


RULES = {"sight": sight}
