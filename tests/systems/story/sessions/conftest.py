from __future__ import annotations

import pytest

import holdfast
from holdfast.systems.story.sessions import Sessions
from tests.systems.story.sessions.scene import DRAFT


@pytest.fixture
def root(tmp_path):
    """A project with three files."""
    folder = tmp_path / "project"
    (folder / "acts").mkdir(parents=True)
    for name in ("one", "two", "three"):
        (folder / "acts" / f"{name}.md").write_text(f"{name} as it was\n")
    return folder


@pytest.fixture
def project(root):
    return holdfast.open(str(root))


@pytest.fixture
def sessions(project):
    return Sessions(project.wired)


@pytest.fixture
def s(sessions):
    """Sessions with one called `s`, which is in use."""
    sessions.create("s")
    sessions.use("s")
    return sessions


@pytest.fixture
def draft(project, root, s):
    """A workflow of the session whose first step is done, with an artifact."""
    workflow = project.start(DRAFT, "scene", session="s")
    made = root / "workspace/sessions/s/generation-runs" / workflow.id / "plan.md"
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text("the plan\n")
    workflow.begin("plan")
    workflow.done("plan", {"plan": str(made)})
    return workflow
