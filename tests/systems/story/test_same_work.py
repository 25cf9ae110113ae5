"""Which run a start would continue with: one rule, by the kind of work, what it is about and the session."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import HoldfastError
from holdfast.surfaces import tools
from tests.systems.story.writing import OF_ACT, Writer


@pytest.fixture
def writer(tmp_path) -> Writer:
    made = Writer(tmp_path / "novel")
    for name in ("one", "two"):
        made.ok("session", "create", name)
    return made


def typed(context: dict[str, Any]) -> list[str]:
    return [word for name, value in context.items() for word in ("--set", f"{name}={value}")]


def by_tool(writer: Writer, workflow: str, subject: str, context: dict[str, Any], session: str) -> dict[str, Any]:
    named = {"subject": subject} if subject else {"context": context}
    try:
        return {"id": writer.begin(workflow, session, **named).id}
    except HoldfastError as refusal:
        return {"code": refusal.code, **refusal.facts, "message": refusal.message}


def by_command(writer: Writer, workflow: str, subject: str, context: dict[str, Any], session: str) -> dict[str, Any]:
    words = [*([subject] if subject else typed(context)), *(["--session", session] if session else [])]
    answer = writer.agent("start", workflow, *words, "--json")
    if answer.code == 0:
        return {"id": answer.json["workflow_id"]}
    return {"code": answer.error["code"], **answer.error["facts"], "message": answer.error["message"]}


WAYS = pytest.mark.parametrize("start", [by_tool, by_command])


@WAYS
def test_a_scene_has_one_run_in_each_session_and_one_outside(writer, start):
    runs = {session: start(writer, "generation", "0204", {}, session)["id"] for session in ("", "one", "two")}
    assert len(set(runs.values())) == 3
    for session, run in runs.items():
        again = start(writer, "generation", "0204", {}, session)
        assert (again["code"], again["workflow"], again.get("session", "")) == ("already_active", run, session)
        assert f"{run} is already active" + (f" in the session {session}" if session else "") in again["message"]
    assert "id" in start(writer, "generation", "0205", {}, "one")


@WAYS
def test_the_session_in_use_is_the_one_that_is_meant(writer, start):
    writer.ok("session", "use", "one")
    run = start(writer, "generation", "0204", {}, "")["id"]
    again = start(writer, "generation", "0204", {}, "")
    assert (again["workflow"], again["session"]) == (run, "one")


@WAYS
def test_chapters_of_two_acts_are_two_works(writer, start):
    for act in (3, 4):
        context = {**OF_ACT, "act": act}
        writer.write(f"acts/act-{act}/strategic-plan.md", "the plan\n")
        writer.plan(context)
    third, fourth = ({"level": "chapter", "act": act, "chapter": 3} for act in (3, 4))
    run = start(writer, "story/planning", "", third, "")["id"]
    assert start(writer, "story/planning", "", third, "")["workflow"] == run
    other = start(writer, "story/planning", "", fourth, "")["id"]
    assert other != run


def test_a_start_that_resumes_takes_up_the_plan_of_its_own_act(writer):
    for act in (3, 4):
        writer.write(f"acts/act-{act}/strategic-plan.md", "the plan\n")
        writer.plan({**OF_ACT, "act": act})
    third, fourth = ({"level": "chapter", "act": act, "chapter": 3} for act in (3, 4))
    run = writer.ok("start", "story/planning", *typed(third), "--json").json["workflow_id"]
    other = writer.ok("start", "story/planning", *typed(fourth), "--resume", "--json").json
    assert (other["resumed"], other["workflow_id"] != run) == (False, True)
    assert writer.ok("start", "story/planning", *typed(third), "--resume", "--json").json["workflow_id"] == run


def test_a_run_in_another_session_is_told_at_the_start(writer):
    first = by_command(writer, "generation", "0204", {}, "one")["id"]
    said = writer.ok("start", "generation", "0204", "--session", "two", "--json").json["said"]
    assert f"this is another run: {first}, about 0204, is active in the session one" in said


@WAYS
def test_a_cancelled_run_is_offered_with_its_session(writer, start):
    run = start(writer, "generation", "0204", {}, "one")["id"]
    writer.ok("cancel", "-w", run)
    again = start(writer, "generation", "0204", {}, "one")
    assert (again["code"], again["workflow"], again["session"]) == ("resume_or_fresh", run, "one")
    assert "id" in start(writer, "generation", "0204", {}, "two")


def test_a_run_that_is_active_outside_too_is_a_conflict_of_the_session(writer):
    inner = by_command(writer, "generation", "0204", {}, "one")["id"]
    outer = by_command(writer, "generation", "0204", {}, "")["id"]
    path = f"workspace/workflow-state/{outer}.json"
    expected = [{"path": path, "reason": "active_too", "workflow_id": outer}]
    assert writer.ok("session", "commit", "one", "--json").json["conflicts"] == expected
    assert f"holdfast cancel {outer}" in writer.ok("session", "commit", "one").out
    error = writer.agent("session", "commit", "one", "--force", "--json").error
    assert (error["code"], error["facts"]["conflicts"]) == ("session_conflict", expected)
    assert f"holdfast cancel {outer}" in error["remedy"]
    writer.ok("cancel", outer)
    assert writer.ok("session", "commit", "one", "--force", "--json").json["committed"] is True
    assert by_command(writer, "generation", "0204", {}, "")["workflow"] == inner


def test_a_fresh_start_names_what_it_gives_up(writer):
    run = by_command(writer, "generation", "0204", {}, "")["id"]
    said = writer.ok("start", "generation", "0204", "--fresh")
    assert f"the previous run {run} was cancelled" in f"{said.out}{said.err}"
    other = writer.ok("list", "--json").json["workflows"][0]["workflow_id"]
    given = {"workflow": "generation", "subject": "0204", "fresh": True}
    assert f"the previous run {other} was cancelled" in str(tools.call(writer.open(), "start_workflow", given))


def test_a_number_may_be_given_as_text(writer):
    run = by_tool(writer, "story/planning", "", {"level": "act", "act": "1"}, "")["id"]
    assert by_tool(writer, "story/planning", "", OF_ACT, "")["workflow"] == run
    writer.id = run
    assert writer.open().workflow(run).state.context["act"] == 1
    wrong = by_tool(writer, "story/planning", "", {"level": "act", "act": "one"}, "")
    assert (wrong["code"], "the plan of an act needs act" in wrong["message"]) == ("bad_number", True)


def test_plans_of_chapters_with_the_same_number_are_told_apart(writer):
    for act in (1, 2):
        writer.write(f"acts/act-{act}/strategic-plan.md", "the plan\n")
        writer.plan({"level": "act", "act": act})
        writer.begin("story/planning", context={"level": "chapter", "act": act, "chapter": 3})
    titles = [one["title"] for one in writer.ok("list", "--json").json["workflows"]]
    assert sorted(titles) == ["Plan of chapter-03 of act-1", "Plan of chapter-03 of act-2"]


def test_what_a_start_goes_on_with_is_named_where_others_are_active(writer):
    writer.begin("generation", subject="0205")
    run = writer.begin("generation", subject="0204").id
    said = writer.ok("start", "generation", "0204", "--resume").out
    way = said.splitlines()[-1].removeprefix("→ ")
    assert way == f"holdfast begin file-check -w {run}"
    assert writer.typed(way).code == 0


def test_a_name_of_two_definitions_is_repeated_with_each(writer):
    refused = writer.agent("start", "planning", *typed(OF_ACT), "--json")
    assert refused.error["code"] == "ambiguous_definition"
    ways = [one["command"] for one in refused.error["remedies"]]
    assert "holdfast start story/planning --set level=act --set act=1 --json" in ways
    assert writer.typed(ways[-1]).code == 0
