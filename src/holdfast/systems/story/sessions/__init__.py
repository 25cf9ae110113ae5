"""Sessions: copy-on-write workspaces of a project that are committed or cancelled as a whole."""

from __future__ import annotations

from holdfast.systems.story.sessions.session import Sessions

__all__ = ["Sessions"]
