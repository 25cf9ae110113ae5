"""Waiting for a workflow: real processes, and nothing that depends on how fast they are."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import holdfast
from holdfast.surfaces.cli.waiting import happened
from tests.docs.blocks import matches


@pytest.fixture
def waiting(project):
    """A project whose step waits for a person; the revision at which somebody looked."""
    project.until("sign-off").ok("begin", "sign-off")
    project.ok("done", "sign-off")
    return project, project.ok("status", "--json").json["revision"]


def waits(project, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "holdfast", "wait", *words, "--json"]
    return subprocess.Popen(command, cwd=project.root, env=project.env, stdout=subprocess.PIPE, text=True)


def test_a_wait_ends_when_a_person_decides(waiting):
    project, revision = waiting
    process = waits(project, "--for", "person", "--since", str(revision))
    assert project.person("approve", "sign-off", "--yes").code == 0
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    said = json.loads(out)
    assert said["revision"] > revision
    assert [one["step"] for one in said["waiting"] if one["step"] == "sign-off"] == []
    (decided,) = said["decided"]
    assert (decided["step"], decided["decision"]) == ("sign-off", "approved")
    assert said["required_action"] == "show pick to a person and stop, or holdfast wait --for person"
    assert [(one["step"], one["kind"]) for one in said["waiting"]] == [("pick", "choice")]


def test_a_decision_after_the_look_is_told_by_the_next_look(waiting):
    """Otherwise the answer would name the decision, and ask for it at the same time."""
    project, revision = waiting
    workflow = holdfast.open(project.root).workflow()
    seen = workflow.briefing()
    assert project.person("approve", "sign-off", "--yes").code == 0
    assert not happened(workflow, seen, "person", revision)
    assert happened(workflow, workflow.refresh().briefing(), "person", revision)


@pytest.mark.parametrize(
    ("words", "said", "then"),
    [
        (
            ("approve", "sign-off", "--modify", "size=2", "--yes"),
            'approved by … with modifications {"size": 2}',
            "pick",
        ),
        (("reject", "sign-off", "--feedback", "Shorter."), "rejected by …: Shorter.", "next"),
        (("reject", "sign-off"), "rejected by …: rejected by …", "next"),
    ],
)
def test_a_wait_says_what_was_decided_and_what_comes_next(waiting, words, said, then):
    project, revision = waiting
    assert project.person(*words, says="" if "--feedback" in words or "--yes" in words else "\ny").code == 0
    _, decided, following = project.ok("wait", "--for", "person", "--since", str(revision)).out.splitlines()
    assert matches(f"  sign-off: {said}", decided)
    assert following.startswith(f"  {then}: ")
    assert "holdfast " in following


def test_what_happened_between_looking_and_waiting_is_not_lost(waiting):
    project, revision = waiting
    project.ok("note", "looked at it")
    assert project.ok("wait", "--for", "change", "--since", str(revision)).code == 0


def test_after_its_time_a_wait_says_what_people_are_asked_for(waiting):
    project, revision = waiting
    answer = project.agent("wait", "--for", "person", "--timeout", "1s", "--json")
    assert answer.code == 124
    said = answer.json
    assert (said["revision"], said["status"]) == (revision, "waiting")
    (asked,) = said["waiting"]
    assert (asked["step"], asked["kind"]) == ("sign-off", "approval")
    own = [one for one in asked["remedies"] if "approve" in one.get("command", "")]
    assert {one["who"] for one in own} == {"person"}


def test_a_workflow_that_ended_ends_every_wait(waiting):
    project, _ = waiting
    assert project.person("cancel").code == 0
    for goal in ("person", "change", "done"):
        assert project.ok("wait", "--for", goal, "-w", "release", "--json").json["status"] == "cancelled"


def test_what_is_not_there_is_not_waited_for(project):
    assert project.agent("wait", "--for", "done", "-w", "nowhere").code == 4
    assert project.agent("wait").code == 2
