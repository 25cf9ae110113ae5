"""Replies: small unless more is asked for, and refusals that lead on."""

from __future__ import annotations

import json

import jsonschema  # type: ignore[import-untyped]
import pytest

from holdfast.core import remedies
from holdfast.core.remedy import ANYWHERE, Blank, Scope
from holdfast.errors import UsageError
from holdfast.surfaces import tools
from holdfast.surfaces.mcp.replies import MOST, answer, fitted, refusal
from holdfast.surfaces.tools.remedies import in_tools
from tests.surfaces.mcp.house import LEGACY, MODERN, follow, refused, running, text_of, told

LONG = "x" * 60


def test_a_list_of_many_workflows_has_two_kilobytes_unless_more_are_asked_for(house):
    project = house.bench.open()
    for number in range(40):
        project.start("release", f"{LONG}-{number}")

    async def story() -> None:
        async with house.client() as client:
            some = await client.call_tool("list_workflows", {})
            assert some.structured_content["total"] == 40
            assert 5 < len(some.structured_content["workflows"]) < 40
            assert len(text_of(some).encode()) <= MOST
            most = await told(client, "list_workflows", limit=40)
            assert len(most["workflows"]) == 40
            first = await told(client, "list_workflows", limit=3)
            assert first["workflows"] == some.structured_content["workflows"][:3]

    running(story)


def test_the_resume_packet_has_two_kilobytes_unless_more_is_asked_for(house):
    id = house.at("draft")
    workflow = house.bench.open().workflow(id)
    workflow.remind(*(f"reminder {number}: “{LONG}”" for number in range(30)))

    async def story() -> None:
        async with house.client() as client:
            short = await client.call_tool("get_resume_packet", {"workflow_id": id})
            assert len(text_of(short).encode()) <= MOST
            assert "get_next_step" in short.structured_content["text"]
            whole = await told(client, "get_resume_packet", workflow_id=id, limit=9000)
            assert len(whole["text"]) > len(short.structured_content["text"])
            unnamed = await told(client, "get_resume_packet")
            assert unnamed["workflow_id"] == id

    running(story)


def test_what_a_check_printed_is_cut_unless_more_is_asked_for(house):
    house.bench.write("check.py", "print('é' * 3000)\n")
    id = house.at("verify")

    async def story() -> None:
        async with house.client() as client:
            short = await client.call_tool("run_check", {"workflow_id": id, "check": "tests"})
            assert len(text_of(short).encode()) <= MOST
            long = await told(client, "run_check", workflow_id=id, check="tests", tail=1900)
            assert len(long["output"]) > 1800

    running(story)


def test_many_artifacts_with_long_paths_still_make_a_small_reply(house):
    id = house.at("draft")
    named = {f"file-{number}": str(house.bench.write(f"{LONG}/{number}-{LONG}.md", "x")) for number in range(50)}
    house.bench.open().workflow(id).attach("draft", named)

    async def story() -> None:
        async with house.client() as client:
            result = await client.call_tool("get_workflow_status", {"workflow_id": id})
            assert len(text_of(result).encode()) <= MOST
            assert 0 < len(result.structured_content["artifacts"]) < 50
            schema = tools.output_schema(tools.TOOLS["get_workflow_status"])
            jsonschema.validate(result.structured_content, schema)

    running(story)


def test_what_is_cut_keeps_its_shape():
    value = {"text": "é" * 5000, "list": list(range(2000)), "deep": {"a": ["y" * 900] * 9}, "flag": True, "none": None}
    cut = fitted(value, MOST)
    assert len(json.dumps(cut, ensure_ascii=False, separators=(",", ":")).encode()) <= MOST
    assert [type(one) for one in cut.values()] == [type(one) for one in value.values()]
    assert cut["text"].endswith("…")
    assert cut["list"] == list(range(len(cut["list"])))
    assert fitted({"short": "as it is"}, MOST) == {"short": "as it is"}


def test_a_model_that_follows_the_remedies_comes_through(house, era):
    """It tries to finish at once, is refused, and does what each remedy says until the workflow waits for a person."""
    house.trusted()
    house.bench.write("draft.md", "a draft\n")
    house.bench.write("notes.md", "notes\n")

    async def story() -> list[str]:
        async with house.client(era) as client:
            id = (await told(client, "start_workflow", workflow="release", subject="1.4.0"))["workflow_id"]
            codes: list[str] = []
            for _ in range(40):
                trial = {"workflow_id": id, "step": "sign-off", "status": "completed"}
                result = await client.call_tool("update_workflow_state", trial)
                while result.is_error:
                    error = json.loads(text_of(result))["error"]
                    codes.append(error["code"])
                    if error["remedy"].startswith("show sign-off to a person and stop"):
                        assert "approve" not in error["remedy"]
                        return codes
                    remedy = error["remedy"].replace('"PATH"', '"draft.md"').replace('"TRUE_OR_FALSE"', "true")
                    remedy = remedy.replace('"APPROVED_OR_NEEDS_REVISION"', '"approved"')
                    result = await follow(client, remedy)
            raise AssertionError(codes)

    codes = running(story)
    assert {"step_blocked", "gate_unmet"} <= set(codes)
    assert "wrong_reviewer" not in codes


def test_the_next_step_names_the_call_that_leads_on(house):
    async def story() -> None:
        async with house.client() as client:
            id = (await told(client, "start_workflow", workflow="release", subject="1.4.0"))["workflow_id"]
            action = (await told(client, "get_next_step", workflow_id=id))["required_action"]
            result = await follow(client, action)
            assert not result.is_error
            assert (await told(client, "get_next_step", workflow_id=id))["current_status"] == "in_progress"

    running(story)


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("get_workflow_status", {}, "bad_arguments"),
        ("get_workflow_status", {"workflow_id": "nothing"}, "no_workflow"),
        ("get_workflow_status", {"workflow_id": 7, "more": True}, "bad_arguments"),
        ("start_workflow", {"workflow": "nothing"}, "no_definition"),
        ("record_work", {"workflow_id": "release"}, "nothing_recorded"),
        ("record_work", {"workflow_id": "release", "cost_usd": -1}, "bad_arguments"),
        ("lock_files", {"workflow_id": "release", "paths": []}, "bad_arguments"),
        ("lock_files", {"workflow_id": "release", "paths": ["../outside"]}, "outside_root"),
        ("run_check", {"workflow_id": "release", "check": "nothing"}, "no_check"),
        ("review_step", {"workflow_id": "release", "step": 1, "verdict": "approved"}, "wrong_status"),
        ("get_resume_packet", {"workflow_id": "release", "ack": "nothing"}, "wrong_packet"),
    ],
)
def test_a_mistake_is_an_error_of_the_tool_with_code_sentence_facts_and_remedy(house, tool, arguments, code):
    house.at("draft")

    async def story() -> dict:
        async with house.client() as client:
            return await refused(client, tool, **arguments)

    assert running(story)["code"] == code


def test_an_unknown_tool_is_an_error_of_the_protocol(house, era):
    from mcp.shared.exceptions import MCPError

    async def story() -> None:
        async with house.client(era) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("no_such_tool", {})
            assert caught.value.code == -32602

    running(story)


def test_several_things_are_recorded_as_one_change_or_not_at_all(house):
    id = house.at("draft")
    house.bench.write("draft.md", "a draft\n")

    async def story() -> None:
        async with house.client() as client:
            given = {"workflow_id": id, "note": "use tabs", "learning": "tests first", "learning_type": "pattern"}
            said = await told(client, "record_work", **given, artifacts={"draft": "draft.md"}, cost_usd=0.25)
            assert said == {
                "success": True,
                "workflow_id": id,
                "recorded": ["note", "learning", "artifacts", "cost_usd"],
                "spent_usd": 0.25,
            }
            await refused(client, "record_work", workflow_id=id, note="lost", artifacts={"draft": "missing.md"})

    running(story)
    state = house.bench.open().workflow(id).state
    assert [note["text"] for note in state.notes] == ["use tabs"]
    assert [(one.type, one.lesson) for one in state.learnings] == [("pattern", "tests first")]
    assert set(state.step("draft").artifacts) == {"draft"}


def test_files_are_locked_for_one_agent_and_given_back_by_it(house):
    id = house.at("draft")

    async def story() -> None:
        async with house.client() as client:
            mine = await told(client, "lock_files", workflow_id=id, paths=["src/*.py"], agent="ada")
            assert mine["locks"] == {"src/*.py": "ada"}
            other = await refused(client, "lock_files", workflow_id=id, paths=["src/a.py"], agent="bob")
            assert other["code"] == "locked"
            await refused(client, "lock_files", workflow_id=id, paths=["src/*.py"], agent="bob", release=True)
            freed = await told(client, "lock_files", workflow_id=id, paths=["src/*.py"], agent="ada", release=True)
            assert freed["locks"] == {}

    running(story)


def test_a_reviewer_says_its_verdict_in_its_role(house):
    id = house.at("look")
    house.bench.open().workflow(id).submit("look")

    async def story() -> None:
        async with house.client() as client:
            wrong = await refused(client, "review_step", workflow_id=id, step="look", verdict="approved")
            assert wrong["code"] == "wrong_reviewer"
            right = {"workflow_id": id, "step": "look", "verdict": "approved", "reviewer": "reviewer"}
            assert (await told(client, "review_step", **right))["status"] == "done"

    running(story)


def test_a_change_is_recorded_as_an_agents_through_mcp(house):
    id = house.at("draft")

    async def story() -> None:
        async with house.client(LEGACY) as client:
            await told(client, "record_work", workflow_id=id, note="hello")

    running(story)
    last = list(house.bench.open().workflow(id).history())[-1]
    assert (last.actor.kind, last.actor.surface) == ("agent", "mcp")


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (
            (remedies.begin("draft"),),
            'update_workflow_state {"workflow_id": "w", "step": "draft", "status": "in_progress"}',
        ),
        ((remedies.check("tests"),), 'run_check {"workflow_id": "w", "check": "tests"}'),
        ((remedies.report("lint"),), 'run_check {"workflow_id": "w", "check": "lint", "passed": "TRUE_OR_FALSE"}'),
        (
            (remedies.done("1", outputs=("f",)),),
            (
                'update_workflow_state {"workflow_id": "w", "step": "1", "status": "completed", '
                '"artifacts": {"f": "PATH"}}'
            ),
        ),
        (
            (remedies.resume("4", workflow="01OTHER"),),
            'resume_workflow {"workflow_id": "01OTHER", "from_step": "4"}',
        ),
        ((remedies.listing(),), "list_workflows {}"),
        (
            (remedies.start("dev", "a.md", fresh=True),),
            'start_workflow {"workflow": "dev", "subject": "a.md", "fresh": true}',
        ),
        (
            (remedies.start("dev", "a.md", branch="b"),),
            'start_workflow {"workflow": "dev", "subject": "a.md", "branch": "b"}',
        ),
        ((remedies.doctor(),), "in a shell: holdfast doctor"),
        (
            (remedies.unblock("draft"),),
            'once that is settled: change_step {"workflow_id": "w", "step": "draft", "action": "unblock"}',
        ),
        (
            (remedies.extend(cost=5),),
            "show this to a person and stop",
        ),
        (
            remedies.person("plan", remedies.approve("plan")),
            "show plan to a person and stop, or in a shell: holdfast wait --for person -w w",
        ),
        (
            (remedies.resume_packet(), remedies.ack(Blank("ID"), text="then")),
            'get_resume_packet {"workflow_id": "w"} · then: get_resume_packet {"workflow_id": "w", "ack": "ID"}',
        ),
        (("write it in UTF-8",), "write it in UTF-8"),
    ],
)
def test_a_remedy_becomes_the_call_of_a_tool(made, call):
    assert in_tools(made, Scope(active={"01W": "w"}, about="01W")) == call


def test_both_eras_give_the_same_answers(house):
    id = house.at("draft")

    async def story(era: str) -> list:
        async with house.client(era) as client:
            names = ("get_workflow_status", "get_next_step", "get_resume_packet")
            return [(await client.call_tool(name, {"workflow_id": id})).structured_content for name in names]

    assert running(story, LEGACY) == running(story, MODERN)


def test_the_names_that_other_calls_take_are_never_cut():
    id = "a-long-name-of-a-workflow-" + "x" * 60
    value = {"workflow_id": id, "packet_id": id, "text": "y" * 9000, **{f"f{n}": "z" * 60 for n in range(60)}}
    cut = fitted(value, MOST)
    assert (cut["workflow_id"], cut["packet_id"]) == (id, id)
    assert cut["text"].endswith("…")


def test_half_a_character_in_an_argument_is_refused():
    with pytest.raises(UsageError) as caught:
        tools.checked(tools.TOOLS["get_workflow_status"], {"workflow_id": "a\ud800"})
    assert caught.value.code == "not_json"


def test_half_a_character_from_elsewhere_does_not_spoil_a_reply():
    said = answer({"name": "a\udcff"})
    assert said.structured_content == {"name": "a?"}
    assert json.loads(text_of(said)) == {"name": "a?"}
    error = refusal(UsageError("bad_arguments", "no \ud800", facts={"name": "\udcff"}, remedy="write \ud800"), ANYWHERE)
    assert json.loads(text_of(error))["error"]["facts"] == {"name": "?"}
