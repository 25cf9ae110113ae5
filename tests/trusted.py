"""What a person does who trusts a file."""

from __future__ import annotations

from holdfast.checks import trust
from holdfast.project.project import Project
from holdfast.systems.seam.trusted import content


def trust_file(project: Project, path: str) -> None:
    """As it is now."""
    wired = project.wired
    trust.trust(path, content(path).digest, data_dir=wired.settings.data_dir, now=wired.world.now())
