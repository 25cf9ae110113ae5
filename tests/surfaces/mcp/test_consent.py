"""Where a person decides whether work continues or a session becomes the project, they are asked through their host."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.surfaces.mcp.house import LEGACY, MODERN, House, Person, running, text_of

FILE = "acts/act-1/outline.md"


def call(house: House, tool: str, person: Person | None, era: str = MODERN, **given: Any) -> dict[str, Any]:
    """What came of a call: an answer, or an error."""

    async def story() -> dict[str, Any]:
        how = {"elicitation_callback": person} if person else {}
        async with house.client(era, "story", **how) as client:
            return json.loads(text_of(await client.call_tool(tool, given)))

    return running(story)


@pytest.fixture
def paused(house) -> str:
    """A release that a person paused."""
    id = house.at("draft")
    assert house.bench.person("pause", "--reason", "the numbers are wrong", "-w", id).code == 0
    return id


def is_paused(house: House, id: str) -> bool:
    return bool(house.bench.open().workflow(id).state.paused)


def test_a_person_who_agrees_lets_the_work_go_on(house, era, paused):
    person = Person(decision="resume", feedback="check the totals first")
    said = call(house, "resume_workflow", person, era, workflow_id=paused)
    assert (said["success"], said["current_status"]) == (True, "in_progress")
    assert not is_paused(house, paused)
    last = [one for one in house.bench.open().workflow(paused).history() if one.command == "resume"][-1]
    assert (last.actor.kind, last.actor.surface) == ("human", "mcp")
    assert [note["text"] for note in house.bench.open().workflow(paused).state.notes] == ["check the totals first"]
    (asked,) = person.asked
    assert "only a person may end a pause that a person made" in asked.message
    assert asked.requested_schema["properties"]["decision"]["enum"] == ["resume", "leave it"]


@pytest.mark.parametrize(
    ("person", "code"),
    [
        (Person("decline"), "declined"),
        (Person(decision="leave it"), "declined"),
        (Person("cancel"), "nobody_answered"),
        (Person("accept"), "nobody_answered"),
    ],
)
def test_whoever_does_not_agree_leaves_it_as_it_is(house, era, paused, person, code):
    said = call(house, "resume_workflow", person, era, workflow_id=paused)
    assert said["error"]["code"] == code
    assert ("declined" in json.dumps(said)) == (code == "declined")
    assert is_paused(house, paused)


class Odd(Person):
    """Answers with an action that no protocol has."""

    async def __call__(self, *given: Any) -> Any:
        return (await super().__call__(*given)).model_copy(update={"action": "maybe"})


def test_a_form_that_comes_back_with_an_unknown_action_was_answered_by_nobody(house, paused):
    said = call(house, "resume_workflow", Odd("cancel"), LEGACY, workflow_id=paused)
    assert said["error"]["code"] == "nobody_answered"
    assert is_paused(house, paused)


def test_without_forms_the_refusal_names_the_command_for_a_person(house, era, paused):
    error = call(house, "resume_workflow", None, era, workflow_id=paused)["error"]
    assert (error["code"], error["remedy"]) == ("person_needed", "show this to a person and stop")
    assert is_paused(house, paused)


def test_what_happens_while_the_person_looks_makes_their_answer_void(house, era, paused):
    meanwhile = lambda: house.bench.ok("note", "a decision", "-w", paused)  # noqa: E731
    said = call(house, "resume_workflow", Person(meanwhile=meanwhile, decision="resume"), era, workflow_id=paused)
    assert said["error"]["code"] == "changed_meanwhile"
    assert is_paused(house, paused)


def test_a_step_whose_tries_are_used_up_is_resumed_by_a_person_who_sees_why_it_failed(house, era):
    house.bench.write(".holdfast/workflows/once.toml", 'name = "once"\n\n[[step]]\nid = "build"\nretry = { max = 1 }\n')
    workflow = house.bench.open().start("once", "it").begin("build").fail("build", "the disk is full")
    given = {"workflow_id": workflow.id, "from_step": "build"}
    assert call(house, "resume_workflow", None, era, **given)["error"]["code"] == "person_needed"
    person = Person(decision="resume")
    assert call(house, "resume_workflow", person, era, **given)["resumed_from_step"] == 1
    (asked,) = person.asked
    assert "whose tries are used up" in asked.message
    assert "the disk is full" in asked.message
    assert house.step(workflow.id, "build").status == "active"


def test_nobody_is_asked_where_an_agent_may_resume(house, era):
    id = house.at("draft")
    house.bench.ok("pause", "--reason", "lunch", "-w", id)
    person = Person(decision="leave it")
    assert call(house, "resume_workflow", person, era, workflow_id=id)["success"] is True
    assert person.asked == []


def test_over_http_without_a_token_nobody_is_asked(house, era, paused):
    person = Person(decision="resume")

    async def story(served) -> dict:
        async with served.client(era, elicitation_callback=person) as client:
            return json.loads(text_of(await client.call_tool("resume_workflow", {"workflow_id": paused})))

    with house.listening("--no-token") as served:
        assert running(story, served)["error"]["code"] == "person_needed"
    assert person.asked == []


@pytest.fixture
def draft(house) -> House:
    """A session that changes one file of the project."""
    house.bench.write(FILE, "one\n")
    house.bench.ok("session", "create", "draft")
    house.bench.open().sessions.write("draft", FILE, b"two\n")
    return house


COMMIT = {"action": "commit", "name": "draft", "confirm": True}


def test_a_person_sees_what_a_commit_changes_and_agrees(draft, era):
    person = Person(decision="commit")
    assert call(draft, "story_session", person, era, **COMMIT)["committed"] is True
    assert draft.bench.read(FILE) == "two\n"
    (asked,) = person.asked
    assert f"~ {FILE}" in asked.message
    assert call(draft, "story_session", person, era, **COMMIT)["already"] is True
    assert len(person.asked) == 1


@pytest.mark.parametrize(
    ("person", "code"),
    [
        (Person("decline"), "declined"),
        (Person(decision="leave it"), "declined"),
        (Person("cancel"), "nobody_answered"),
    ],
)
def test_whoever_does_not_agree_to_a_commit_keeps_the_session(draft, era, person, code):
    assert call(draft, "story_session", person, era, **COMMIT)["error"]["code"] == code
    assert draft.bench.read(FILE) == "one\n"


def test_a_file_that_changes_while_the_person_looks_is_not_committed(draft, era):
    meanwhile = lambda: draft.bench.open().sessions.write("draft", FILE, b"three\n")  # noqa: E731
    person = Person(meanwhile=meanwhile, decision="commit")
    assert call(draft, "story_session", person, era, **COMMIT)["error"]["code"] == "changed_meanwhile"
    assert draft.bench.read(FILE) == "one\n"


def test_the_call_for_the_rest_of_an_answer_never_repeats_a_change(draft):
    for number in range(30):
        draft.bench.open().sessions.write(
            "draft", f"acts/act-1/notes/a-note-with-a-rather-long-name-that-fills-an-answer-{number}.md", b"x\n"
        )
    preview = call(draft, "story_session", None, LEGACY, action="commit", name="draft")
    assert preview["rest"] == 'story_session {"action": "commit", "name": "draft", "limit": 20000}'
    done = call(draft, "story_session", None, LEGACY, **COMMIT)
    assert done["committed"] is True
    assert len(json.dumps(done)) < 2500
    assert "rest" not in done


def test_nobody_is_asked_for_a_preview_or_where_there_is_a_conflict(draft):
    person = Person(decision="commit")
    assert call(draft, "story_session", person, LEGACY, **{**COMMIT, "confirm": False})["committed"] is False
    draft.bench.write(FILE, "elsewhere\n")
    error = call(draft, "story_session", person, LEGACY, **COMMIT)["error"]
    assert error["code"] == "session_conflict"
    for side in ("keep", "drop"):
        assert f'story_session {{"action": "{side}", "path": "{FILE}", "name": "draft"}}' in error["remedy"]
    assert person.asked == []
