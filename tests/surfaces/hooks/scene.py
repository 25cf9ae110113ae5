"""A project in which one session calls tools, and what guards it."""

from __future__ import annotations

from holdfast.files import system
from holdfast.surfaces.hooks import guard
from holdfast.surfaces.hooks.calls import Call


def workflow(**parts):
    return {"id": "release-1", "ulid": "01U", "worktree": "", "sessions": [], **parts}


def lock(path, **parts):
    clock = {"deadline": system.here.uptime() + 3600, "boot": system.here.boot()}
    held = {"agent": "coder", "session": "S2", **clock}
    return {"path": path, **held, **parts}


class Scene:
    """One project; `views` are what other ones guard."""

    def __init__(self, root):
        self.root = root
        self.workflows: list[dict] = []
        self.view: dict = {"version": 1, "workflows": self.workflows}
        self.views: dict[str, dict] = {}
        self.worktree = str(root)

    def given(self, **parts):
        self.workflows.append(workflow(**parts))

    def call(self, tool, given, **event):
        event = {"session_id": "S1", "cwd": str(self.root), "tool_name": tool, "tool_input": given, **event}
        views = {str(self.root): self.view, **self.views}
        return guard.judge(lambda root: views.get(root, {}), Call(event, str(self.root), self.worktree))

    def edit(self, path, **event):
        return self.call("Edit", {"file_path": str(path)}, **event)

    def bash(self, line, **event):
        return self.call("Bash", {"command": line}, **event)
