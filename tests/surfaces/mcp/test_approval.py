"""Approval by asking the person through their host, in both eras; and what happens where that cannot be done."""

from __future__ import annotations

import json

import pytest

from holdfast.core import lifecycle
from holdfast.errors import Conflict
from holdfast.surfaces import approving
from holdfast.surfaces.mcp.picture import picture
from tests.surfaces.mcp.house import LEGACY, MODERN, House, Person, running, text_of


def approve(house: House, id: str, person: Person | None, era: str = MODERN, step: str = "sign-off", **more) -> dict:
    """What came of an agent's wish to have a step approved: an answer, or an error."""

    async def story() -> dict:
        how = {"elicitation_callback": person} if person else {}
        async with house.client(era, **how) as client:
            result = await client.call_tool("approve_step", {"workflow_id": id, "step": step, "approved": True, **more})
            return json.loads(text_of(result))

    return running(story)


def test_a_person_who_says_yes_in_the_form_opens_a_gate_that_only_people_open(house, era):
    id = house.waiting()
    person = Person(decision="approve")
    said = approve(house, id, person, era)
    assert (said["success"], said["status"], said["next_step_name"]) == (True, "completed", "pick")
    grant = house.step(id, "sign-off").grant
    assert (grant.how, grant.by) == ("elicitation", "human")
    last = [one for one in house.bench.open().workflow(id).history() if one.command == "approve"][-1]
    assert (last.actor.kind, last.actor.surface) == ("human", "mcp")
    assert len(person.asked) == 1


def test_what_is_approved_is_shown(house, era):
    id = house.waiting()
    person = Person(decision="approve")
    approve(house, id, person, era, modifications={"tone": "dry"})
    (asked,) = person.asked
    notes = house.step(id, "sign-off").artifacts["notes"]
    for part in ("sign-off", id, "Release 1.4.0", "notes.md", notes.hash[:12], "| all is well", '"tone": "dry"'):
        assert part in asked.message
    assert asked.requested_schema["properties"]["decision"]["enum"] == ["approve", "ask for changes"]


def test_what_is_new_since_the_last_approval_is_shown_as_a_difference(house, era):
    id = house.waiting("one\ntwo\nthree\n")
    approve(house, id, Person(decision="approve"), era)
    house.bench.open("human").workflow(id).reopen("sign-off")
    house.bench.write("notes.md", "one\n2\nthree\n")
    house.bench.open().workflow(id).begin("sign-off").done("sign-off", {"notes": str(house.root / "notes.md")})
    person = Person(decision="approve")
    approve(house, id, person, era)
    (asked,) = person.asked
    assert "changed since the approval of" in asked.message
    assert "  -two\n  +2\n" in asked.message
    assert "| one" not in asked.message


@pytest.mark.parametrize(
    ("action", "code", "word"),
    [
        ("decline", "declined", "the person declined"),
        ("cancel", "nobody_answered", "nobody answered"),
        ("accept", "nobody_answered", "the form came back without a decision"),
    ],
)
def test_whoever_declines_cancels_or_decides_nothing_approves_nothing(house, era, action, code, word):
    id = house.waiting()
    before = house.bench.open().workflow(id).state.revision
    said = approve(house, id, Person(action), era)
    assert said["error"]["code"] == code
    assert said["error"]["message"] == f"sign-off was not approved: {word}"
    assert ("declined" in json.dumps(said)) == (action == "decline")
    assert house.step(id, "sign-off").status == lifecycle.WAITING
    assert house.bench.open().workflow(id).state.revision == before


def test_a_relayed_gate_is_asked_about_too_where_the_host_can(house, era):
    id = house.at("pick")
    house.bench.open().workflow(id).submit("pick")
    declined = approve(house, id, Person("decline"), era, "pick", selected_variant="A")
    assert declined["error"]["code"] == "declined"
    person = Person(decision="approve", variant="B")
    assert approve(house, id, person, era, "pick", selected_variant="A")["status"] == "completed"
    assert person.asked[0].requested_schema["properties"]["variant"]["default"] == "A"
    grant = house.step(id, "pick").grant
    assert (grant.how, grant.variant) == ("elicitation", "B")


def test_a_person_who_asks_for_changes_sends_the_step_back_with_them(house, era):
    id = house.waiting()
    said = approve(house, id, Person(decision="ask for changes", feedback="shorter"), era)
    assert said["status"] == "in_progress"
    assert house.step(id, "sign-off").feedback == ("shorter",)


def test_a_file_that_changes_while_the_person_looks_is_not_approved(house, era):
    id = house.waiting()
    person = Person(decision="approve", meanwhile=lambda: house.bench.write("notes.md", "something else\n"))
    said = approve(house, id, person, era)
    assert said["error"]["code"] == "changed_meanwhile"
    assert house.step(id, "sign-off").grant is None
    assert house.step(id, "sign-off").status == lifecycle.WAITING


def test_a_step_that_moves_on_while_the_person_looks_is_not_approved(house, era):
    id = house.waiting()

    def rejected() -> None:
        house.bench.open("human").workflow(id).reject("sign-off", "not yet")

    said = approve(house, id, Person(decision="approve", meanwhile=rejected), era)
    assert said["error"]["code"] == "changed_meanwhile"
    assert house.step(id, "sign-off").grant is None


def test_nobody_is_asked_where_something_else_is_missing(house, era):
    id = house.at("sign-off")
    person = Person(decision="approve")
    said = approve(house, id, person, era)
    assert said["error"]["code"] == "gate_unmet"
    assert person.asked == []


def test_without_forms_a_human_gate_names_the_command_for_a_person(house, era):
    id = house.waiting()
    error = approve(house, id, None, era)["error"]
    assert error["code"] == "person_needed"
    assert error["remedy"] == "show this to a person and stop"
    assert house.step(id, "sign-off").status == lifecycle.WAITING
    (command,) = (one["command"] for one in error["remedies"] if one["who"] == "person")
    assert error["remedies"][0] == {"who": "agent", "text": error["remedy"]}
    assert command.endswith("holdfast approve sign-off")
    assert house.bench.person(*command.partition("holdfast ")[2].split(), says="y").code == 0
    assert house.step(id, "sign-off").grant.how == "terminal"


def test_without_forms_a_relayed_gate_takes_the_agents_word_and_records_it_as_such(house, era):
    id = house.at("pick")
    house.bench.open().workflow(id).submit("pick")
    assert approve(house, id, None, era, "pick", selected_variant="A")["status"] == "completed"
    assert house.step(id, "pick").grant.how == "relayed"


def test_an_answer_counts_after_the_server_was_started_again(house):
    """The newer protocol lets a client take its time: another process of the server takes the answer."""
    id = house.waiting()
    given = {"workflow_id": id, "step": "sign-off", "approved": True}

    async def ask() -> object:
        async with house.client(MODERN, elicitation_callback=Person()) as client:
            return await client.session.call_tool("approve_step", given, allow_input_required=True)

    asked = running(ask)
    assert asked.result_type == "input_required"

    async def answer(state: str) -> object:
        async with house.client(MODERN, elicitation_callback=Person()) as client:
            from mcp.types import ElicitResult

            yes = {"approval": ElicitResult(action="accept", content={"decision": "approve"})}
            how = {"input_responses": yes, "request_state": state, "allow_input_required": True}
            return await client.session.call_tool("approve_step", given, **how)

    from mcp.shared.exceptions import MCPError

    with pytest.raises((MCPError, ExceptionGroup)):
        running(answer, asked.request_state[:-4] + "AAAA")
    assert house.step(id, "sign-off").status == lifecycle.WAITING
    again = running(answer, asked.request_state)
    assert again.structured_content["status"] == "completed"
    assert house.step(id, "sign-off").grant.how == "elicitation"
    stale = running(answer, asked.request_state)
    assert stale.result_type != "input_required"


def test_an_answer_without_its_question_is_asked_again(house):
    id = house.waiting()

    async def story() -> object:
        async with house.client(MODERN, elicitation_callback=Person()) as client:
            from mcp.types import ElicitResult

            yes = {"approval": ElicitResult(action="accept", content={"decision": "approve"})}
            given = {"workflow_id": id, "step": "sign-off", "approved": True}
            return await client.session.call_tool("approve_step", given, input_responses=yes, allow_input_required=True)

    assert running(story).result_type == "input_required"
    assert house.step(id, "sign-off").grant is None


def test_text_from_files_cannot_command_the_terminal_of_whoever_is_asked(house):
    id = house.waiting("\x1b[2Jhidden\u202e\n")
    person = Person(decision="approve")
    approve(house, id, person, LEGACY)
    assert "\x1b" not in person.asked[0].message
    assert "\u202e" not in person.asked[0].message
    assert "\\x1b[2Jhidden" in person.asked[0].message


def test_a_long_file_makes_no_long_question(house):
    id = house.waiting("".join(f"line {number} {'x' * 300}\n" for number in range(1000)))
    person = Person(decision="approve")
    approve(house, id, person, LEGACY)
    assert len(person.asked[0].message) < 7000
    assert " more lines" in person.asked[0].message


def test_the_changes_that_are_recorded_are_shown_whole_however_long_the_artifacts_are(house, era):
    id = house.at("sign-off")
    text = "".join(f"line {number} {'x' * 300}\n" for number in range(1000))
    named = {f"notes-{number}": str(house.bench.write(f"notes-{number}.md", text)) for number in range(6)}
    notes = str(house.bench.write("notes.md", text))
    house.bench.open().workflow(id).done("sign-off", {"notes": notes, **named})
    person = Person(decision="approve")
    approve(house, id, person, era, modifications={"tone": "y" * 1500, "last": "delete it all"})
    message = person.asked[0].message
    assert '"last": "delete it all"' in message
    assert message.index("delete it all") < message.index("notes.md")
    assert message.endswith("… cut; the files have the rest")
    assert f"{'x' * 100}…\n" in message


def test_nobody_is_asked_about_changes_that_the_form_has_no_room_for(house, era):
    id = house.waiting()
    person = Person(decision="approve")
    error = approve(house, id, person, era, modifications={"tone": "y" * 3000})["error"]
    assert error["code"] == "bad_arguments"
    assert person.asked == []
    assert house.step(id, "sign-off").status == lifecycle.WAITING


def test_what_the_agent_says_is_not_recorded_as_the_persons_wish(house, era):
    id = house.waiting()
    approve(house, id, Person(decision="ask for changes"), era, feedback="the agent's own idea")
    assert house.step(id, "sign-off").feedback == ("changes were asked for",)


def test_what_a_person_writes_beside_an_approval_is_kept(house, era):
    id = house.waiting()
    approve(house, id, Person(decision="approve", feedback="good, but mind the date"), era)
    assert house.step(id, "sign-off").grant.how == "elicitation"
    assert [note["text"] for note in house.bench.open().workflow(id).state.notes] == ["good, but mind the date"]


def test_a_file_that_is_no_longer_the_one_whose_hash_is_bound_is_not_shown(house):
    id = house.waiting()
    project = house.bench.open()
    workflow = project.workflow(id)
    hashes = approving.hashes(workflow, "sign-off")
    house.bench.write("notes.md", "something else\n")
    with pytest.raises(Conflict, match="changed while you looked"):
        picture(project, workflow, "sign-off", hashes, {})


def test_over_http_without_a_token_nobody_opens_a_human_gate_by_form(house, era):
    id = house.waiting()
    person = Person(decision="approve")
    given = {"workflow_id": id, "step": "sign-off", "approved": True}

    async def story(served) -> dict:
        async with served.client(era, elicitation_callback=person) as client:
            return json.loads(text_of(await client.call_tool("approve_step", given)))

    with house.listening("--no-token") as served:
        assert running(story, served)["error"]["code"] == "person_needed"
    assert person.asked == []
    with house.listening() as served:
        assert running(story, served)["status"] == "completed"
