"""Toolsets: the tools of the systems that a client uses, besides those that every client has."""

from __future__ import annotations

from _collections_abc import Collection, Iterable

from holdfast.core.names import nearest
from holdfast.errors import UsageError
from holdfast.surfaces.tools.loop import LOOP
from holdfast.surfaces.tools.sessions import SESSION
from holdfast.surfaces.tools.shape import Tool
from holdfast.surfaces.tools.shared import SHARED
from holdfast.surfaces.tools.systems import COMMIT, DELIVER, METRICS, MILESTONE, PLAN, SUPERVISE
from holdfast.surfaces.tools.table import CONVENTION

DEFAULT = (*CONVENTION, *LOOP)
"""The tools that every client has."""
TOOLSETS: dict[str, tuple[Tool, ...]] = {
    "story": (*SHARED, SESSION, METRICS),
    "skill": (*SHARED, PLAN, COMMIT),
    "orchestrator": (*SHARED, PLAN, COMMIT, SUPERVISE, MILESTONE),
    "compaction": (*SHARED, PLAN),
    "gated": (*SHARED, PLAN, COMMIT, DELIVER),
}
"""By the name of the system whose workflows need them."""
ALL = "all"
TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (*DEFAULT, *(tool for tools in TOOLSETS.values() for tool in tools))
}


def listed(names: Collection[str]) -> list[Tool]:
    """The default tools and those of these toolsets, each once; systems from elsewhere share what all systems share."""
    wanted = [*TOOLSETS] if ALL in names else names
    found = {tool.name for name in wanted for tool in TOOLSETS.get(name, SHARED)}
    return [*DEFAULT, *(tool for tool in TOOLS.values() if tool.name in found)]


def checked_sets(names: Iterable[str]) -> tuple[str, ...]:
    """The names, if each is a toolset; every mistake at once otherwise."""
    known = (*TOOLSETS, ALL)
    given = tuple(dict.fromkeys(names))
    wrong = [name for name in given if name not in known]
    if wrong:
        close = nearest(wrong[0], known)
        hint = f", did you mean {close}?" if close else ""
        said = f"there is no toolset {', '.join(repr(name[:60]) for name in wrong)}{hint}"
        raise UsageError("no_toolset", said, remedy=f"one of {', '.join(known)}", facts={"toolsets": list(known)})
    return given
