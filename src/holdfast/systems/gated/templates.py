"""What the documents of a feature begin as. A file of the project takes the place of the shipped one."""

from __future__ import annotations

import os

from holdfast.errors import NotFound
from holdfast.systems.seam import team_files

NAMES = (
    *("requirements", "architecture", "plan", "changes", "test-plan", "coverage-report", "user-docs", "api-docs"),
    "review",
)
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")


def template(name: str, root: str) -> str:
    """The template of a document, by its name without the ending: that of the project in `root`, else the shipped."""
    if name not in NAMES:
        way = f"name one of {', '.join(NAMES)}"
        raise NotFound("no_template", f"there is no template {name[:80]!r}", remedy=way, facts={"name": name[:80]})
    return team_files.text(FOLDER, root, "templates", name)
