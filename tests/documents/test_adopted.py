"""Workflows born from a document: what it reports is believed, what it claims of gates opens nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.core import commands as cmd
from holdfast.core.facts import Facts
from holdfast.core.reading import read
from holdfast.documents.reconcile import FILE
from holdfast.errors import Refused
from holdfast.machine import settings
from holdfast.plain import ulid
from holdfast.project.project import open_project
from holdfast.project.workflow import Workflow
from holdfast.systems.seam.registry import dialect
from tests.actors import acting

GATED = read(
    {
        "name": "dev",
        "step": [
            {"id": "plan", "approval": {"by": "human"}},
            {"id": "code", "checks": [{"name": "tests", "run": ["false"], "run_by": "engine"}]},
            {"id": "ship"},
        ],
    }
)
DOCUMENT: dict[str, Any] = {
    "_schema": {"version": "1.0", "skill": "dev"},
    "workflow": {"id": "dev-ed6828a3", "status": "in_progress", "created_at": "2026-01-01T08:00:00+01:00"},
    "context": {"feature": "søk"},
    "state_machine": {
        "current_phase": "code",
        "phases": [
            {"name": "plan", "status": "completed", "completed_at": "2026-01-01T00:00:00Z"},
            {"name": "code", "status": "in_progress", "mine": 1},
            {"name": "ship", "status": "pending"},
        ],
    },
    "checkpoints": {"tests": {"status": "pending", "last_run": None, "passed": None}},
    "history": [{"at": "2026-01-01T00:00:00Z", "event": "phase_completed", "phase": "plan"}],
    "unknown": {"kept": True},
}


class Adopted:
    """A project in which a document was before Holdfast came."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / ".claude/workflow-state/active/dev-ed6828a3.json"
        self.path.parent.mkdir(parents=True)
        self.path.write_text(json.dumps(DOCUMENT, ensure_ascii=False))
        (folder / ".holdfast").mkdir()
        wired = self.open().wired
        state = dialect("skill").adopt(DOCUMENT, GATED, Facts(now=wired.world.now()), ulid.new())
        wired.documents.accept(state, str(self.path.relative_to(folder)), self.path.read_bytes())
        wired.engine.start(cmd.Adopt(state, DOCUMENT), FILE)

    def open(self, person=False):
        return open_project(str(self.folder), settings=acting({"HOME": str(self.folder)}, person=person))

    def look(self, person=False) -> Workflow:
        return self.open(person).workflow("dev-ed6828a3")

    @property
    def document(self):
        return json.loads(self.path.read_bytes())


@pytest.fixture
def adopted(tmp_path):
    return Adopted(tmp_path)


def test_the_document_is_carried_whole_and_its_own_words_stay(adopted):
    document = adopted.document
    assert document["unknown"] == {"kept": True}
    assert document["workflow"]["created_at"] == "2026-01-01T08:00:00+01:00"
    assert document["state_machine"]["phases"][1]["mine"] == 1
    assert document["history"][0] == DOCUMENT["history"][0]
    assert adopted.look().state.origin == "adopted"
    assert adopted.look().state.context == {"feature": "søk"}


def test_a_claimed_approval_opens_nothing_until_a_person_confirms_it(adopted):
    grant = adopted.look().state.step("plan").grant
    assert grant is not None
    assert grant.claimed
    with pytest.raises(Refused) as caught:
        adopted.look().done("code")
    assert "the approval of plan is only claimed" in str(caught.value)
    adopted.look(person=True).approve("plan")
    with pytest.raises(Refused) as caught:
        adopted.look().done("code")
    assert "the approval of plan" not in str(caught.value)


def test_a_claimed_approval_is_shown_as_claimed(adopted):
    adopted.look().note("n")
    approval = adopted.document["state_machine"]["phases"][0]["approval"]
    assert (approval["approved"], approval["claimed"]) == (False, True)


def test_only_the_engine_runs_a_check_of_which_the_definition_says_so(adopted):
    with pytest.raises(Refused) as caught:
        adopted.look().check("tests", passed=True)
    assert caught.value.code == "engine_must_run"


def test_a_report_written_into_the_document_is_put_back(adopted):
    document = adopted.document
    document["checkpoints"]["tests"] = {"status": "completed", "last_run": "2026-01-02T00:00:00Z", "passed": True}
    document["state_machine"]["phases"][1]["status"] = "completed"
    adopted.path.write_text(json.dumps(document))
    state = adopted.look().state
    assert state.step("code").status == "active"
    assert len(state.alerts) == 1


def test_a_workflow_that_was_started_demands_what_its_definition_demands(tmp_path):
    how = settings.read({"HOME": str(tmp_path)}, terminal=False, surface="test")
    work = open_project(str(tmp_path), settings=how).start(GATED.replace(steps=GATED.steps[1:]), "s").begin("code")
    with pytest.raises(Refused) as caught:
        work.check("tests", passed=True)
    assert caught.value.code == "engine_must_run"


def test_an_edit_of_an_adopted_document_cannot_forge_what_it_only_claimed(adopted):
    document = adopted.document
    document["state_machine"]["phases"][0]["approval"] = {"required": True, "approved": True}
    adopted.path.write_text(json.dumps(document))
    assert [alert.code for alert in adopted.look().state.alerts] == ["edit_forged"]
    grant = adopted.look().state.step("plan").grant
    assert grant is not None
    assert grant.claimed
