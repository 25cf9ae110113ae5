"""Scenes and plans of a writer's project, in sessions."""

from holdfast.core.definition import Conduct
from holdfast.systems.seam.system import System

SYSTEM = System(
    "story",
    __name__,
    parts=("subject", "work", "texts", "described"),
    own=("workspace/workflow-state", "workspace/logs/workflow-orchestration", "workspace/session.lock"),
    unversioned=("workspace/sessions",),
    patterns=("workspace/workflow-state/*.json", "workspace/sessions/*/workflow-state/*.json"),
    wakes=(".holdfast/sessions",),
    loads={"scene": Conduct(grounded=True), "plan": Conduct(grounded=True, binding=True)},
    actions={"blueprint": "blueprint_path", "constraints": "constraints"},
    shares="subject",
)
