"""Workflows as resources, prompts for people, and the completion of ids."""

from __future__ import annotations

import json

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from tests.surfaces.mcp.house import LEGACY, running

PARTS = {"": "application/json", "/document": "application/json", "/plan": "text/markdown", "/log": "text/plain"}


def texts(house, era, *addresses: str) -> list[str]:
    async def story() -> list[str]:
        async with house.client(era) as client:
            found = [await client.read_resource(address) for address in addresses]
            return [one.contents[0].text for one in found]

    return running(story)


def test_every_workflow_is_listed_with_its_parts(house, era):
    id = house.at("draft")

    async def story() -> dict:
        async with house.client(era) as client:
            return {one.uri: one.mime_type for one in (await client.list_resources()).resources}

    assert running(story) == {f"holdfast://workflow/{id}{part}": kind for part, kind in PARTS.items()}


def test_a_workflow_says_where_it_stands_what_its_document_is_its_plan_and_its_log(house, era):
    id = house.at("verify")
    base = f"holdfast://workflow/{id}"
    status, document, plan, log = texts(house, era, base, f"{base}/document", f"{base}/plan", f"{base}/log")
    assert json.loads(status)["step"] == "verify"
    assert json.loads(document) == json.loads(json.dumps(house.bench.open().workflow(id).document()))
    assert "- [x] `draft`: Write the draft\n- [ ] `verify` (active)\n- [ ] `look`\n" in plan
    assert "draft" in log
    assert log.count("\n") >= 3


def test_the_beginning_of_an_id_and_the_ulid_mean_the_same_workflow(house):
    id = house.at("draft")
    ulid = house.bench.open().workflow(id).ulid
    by = [f"holdfast://workflow/{word}/plan" for word in (id, ulid, "release")]
    assert len(set(texts(house, LEGACY, *by))) == 1


@pytest.mark.parametrize("address", ["holdfast://workflow/nothing", "holdfast://workflow/x/y", "file:///etc/passwd"])
def test_what_is_not_there_is_an_error_with_the_address(house, era, address):
    async def story() -> None:
        async with house.client(era) as client:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(address)
            assert caught.value.code == (-32002 if era == LEGACY else -32602)
            assert caught.value.data["uri"] == address

    running(story)


def test_a_long_list_comes_in_pages(house, era):
    project = house.bench.open()
    for number in range(60):
        project.start("release", str(number))

    async def story() -> list[str]:
        async with house.client(era) as client:
            first = await client.list_resources()
            second = await client.list_resources(cursor=first.next_cursor)
            assert second.next_cursor is None
            with pytest.raises(MCPError):
                await client.list_resources(cursor="nonsense")
            return [one.uri for one in (*first.resources, *second.resources)]

    found = running(story)
    assert len(found) == len(set(found)) == 60 * len(PARTS)


def test_templates_tell_how_an_address_is_made_and_ids_are_completed(house, era):
    id = house.at("draft")

    async def story() -> None:
        async with house.client(era) as client:
            templates = (await client.list_resource_templates()).resource_templates
            assert {one.uri_template for one in templates} == {f"holdfast://workflow/{{workflow_id}}{p}" for p in PARTS}
            for ref in (
                ResourceTemplateReference(type="ref/resource", uri=templates[0].uri_template),
                PromptReference(type="ref/prompt", name="resume"),
            ):
                found = await client.complete(ref, {"name": "workflow_id", "value": "rel"})
                assert found.completion.values == [id]
                none = await client.complete(ref, {"name": "workflow_id", "value": "zzz"})
                assert none.completion.values == []

    running(story)


@pytest.mark.parametrize(
    ("name", "words"),
    [("resume", ("WORKFLOW", "draft")), ("status", ("Write the draft", "state")), ("next", ("draft", "next step"))],
)
def test_prompts_resume_show_and_lead_on(house, era, name, words):
    id = house.at("draft")

    async def story() -> list[str]:
        async with house.client(era) as client:
            listed = (await client.list_prompts()).prompts
            assert [(one.name, bool(one.title)) for one in listed] == [
                ("resume", True),
                ("status", True),
                ("next", True),
            ]
            named = await client.get_prompt(name, {"workflow_id": id})
            unnamed = await client.get_prompt(name)
            return [one.messages[0].content.text for one in (named, unnamed)]

    named, unnamed = running(story)
    assert id in named
    assert id in unnamed
    assert all(word in named for word in words)


def test_a_prompt_that_is_not_there_or_has_no_workflow_is_an_error(house, era):
    async def story() -> None:
        async with house.client(era) as client:
            with pytest.raises(MCPError):
                await client.get_prompt("nothing")
            with pytest.raises(MCPError) as caught:
                await client.get_prompt("resume")
            assert caught.value.data["error"]["code"] == "no_workflow"

    running(story)
