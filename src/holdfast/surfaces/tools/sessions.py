"""Sessions of a writer's project: work that becomes part of the project as a whole, or not at all."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.project.project import Project
from holdfast.surfaces.tools.commanded import need, run
from holdfast.surfaces.tools.shape import Input, Tool

_NEEDS: dict[str, tuple[str, ...]] = {
    "create": ("name",),
    "use": ("name",),
    "leave": (),
    "status": (),
    "list": (),
    "path": ("path",),
    "write": ("path", "content"),
    "read": ("path",),
    "delete": ("path",),
    "keep": ("path",),
    "drop": ("path",),
    "retry": ("path", "reason"),
    "commit": ("name",),
    "cancel": ("name",),
}
"""What may be done with a session, and the fields it needs. Without a name, those about a file mean the one in use."""
ABOUT_FILES = tuple(action for action, needed in _NEEDS.items() if "path" in needed)


def story_session(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    action, confirmed = given["action"], given.get("confirm", False)
    need("story_session", given, *_NEEDS[action])
    if action == "write":
        sessions = project.sessions
        name = sessions.named(given.get("name", ""))
        data = given["content"].encode()
        path = sessions.write(name, os.path.join(project.wired.place.worktree, given["path"]), data)
        return {"session": name, "path": path, "size_bytes": len(data)}
    if action == "leave":
        return run(project, "session use", {}, none=True)
    named = {"session": given.get("name")} if action in ABOUT_FILES else {}
    return run(project, f"session {action}", given, force=confirmed, yes=confirmed, **named)


SESSION = Tool(
    title="Sessions",
    about="Work on copies that become part of the project whole, or not at all. path: the copy to edit. retry: a "
    "person's new try at a file. keep, drop: in a conflict, the session's or the project's file wins. commit: a "
    "preview, unless confirm",
    inputs=(
        Input("action", "string", required=True, among=tuple(_NEEDS)),
        Input("name", "string", most=64, about="default: the one in use"),
        Input("path", "string", most=1000),
        Input("content", "string", most=1_000_000),
        Input("description", "string", most=4000),
        Input("reason", "string", most=4000),
        Input("confirm", "boolean", about="commit, or cancel permanently"),
        Input("limit", "integer", least=1, most=50_000, about="for all of it"),
    ),
    outputs={},
    run=story_session,
    destroys=True,
)
