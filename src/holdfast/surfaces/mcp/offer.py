"""Which tools clients see: the default set, the toolsets that were asked for, and those of active workflows."""

from __future__ import annotations

from _collections_abc import Iterable

from holdfast.core.value import Any
from holdfast.project.project import Project
from holdfast.surfaces import tools
from holdfast.surfaces.mcp.projects import Projects


class Offer:
    """What was needed once stays: a tool that goes away while an agent works with it helps nobody."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._needed = frozenset(projects.toolsets)
        self._told = self._needed

    async def tools(self) -> list[tools.Tool]:
        await self._look()
        return tools.listed(self._needed)

    async def has_grown(self, named: Iterable[str] = ()) -> bool:
        """Whether there are tools of which clients were not told yet; they are told now. What `named` has is needed."""
        await self._look()
        offered = {tool.name for tool in tools.listed(self._needed)}
        for name in named:
            if name in tools.TOOLS and name not in offered:
                self._needed |= {next(toolset for toolset, own in tools.TOOLSETS.items() if tools.TOOLS[name] in own)}
        before, self._told = self._told, self._needed
        return len(tools.listed(self._needed)) > len(tools.listed(before))

    async def _look(self) -> None:
        self._needed |= await self._projects.used(_used)


def _used(project: Project) -> frozenset[Any]:
    return frozenset(entry.dialect for entry in project.wired.store.active())
