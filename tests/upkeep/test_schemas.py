"""The schemas that come with the package describe what is really written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.errors import NotFound
from holdfast.upkeep import schemas

DATA = Path(__file__).resolve().parent.parent / "systems" / "skill" / "data"
WRITTEN = Path(__file__).resolve().parent / "schemas"
LADDER = {
    "name": "ladder",
    "title": "Climb {subject}",
    "step": [
        {"id": "plan", "approval": {"by": "human"}, "outputs": ["plan"]},
        {"id": "pick", "choice": {"options": ["A", "B"]}},
        {"id": "work", "checks": [{"name": "tests"}], "retry": {"max": 2, "exhausted": "escalated"}},
        {"id": "rest", "optional": True, "step": [{"id": "one"}, {"id": "two"}]},
    ],
}


def valid(name: str, document: object) -> list[str]:
    return [error.message for error in Draft7Validator(schemas.schema(name)).iter_errors(document)]


def meant(schema: Any, definitions: Any = None) -> Any:
    """What a schema says, however it is written: references followed, `or null` and constants in one form, no order."""
    if isinstance(schema, list):
        return [meant(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    definitions = schema.get("definitions", definitions)
    own = {name: value for name, value in schema.items() if name not in ("definitions", "x-owner", "$ref")}
    if "$ref" in schema:
        own = {**definitions[schema["$ref"].removeprefix("#/definitions/")], **own}
    if "const" in own:
        own["enum"] = [own.pop("const")]
    if {"type": "null"} in own.get("anyOf", ()):
        (other,) = (meant(one, definitions) for one in own.pop("anyOf") if one != {"type": "null"})
        own = {**other, "type": [other["type"], "null"], **own}
    for name in ("required", "enum"):
        own |= {name: sorted(own[name], key=str)} if isinstance(own.get(name), list) else {}
    return {name: meant(value, definitions) for name, value in own.items()}


@pytest.mark.parametrize("path", sorted(WRITTEN.glob("*.json")), ids=lambda path: path.stem)
def test_the_schema_that_is_made_from_the_fields_says_what_the_written_one_does(path):
    assert meant(schemas.schema(path.stem)) == meant(json.loads(path.read_text()))


def test_every_system_of_holdfast_has_a_written_schema_to_compare_with():
    assert schemas.names() == sorted(path.stem for path in WRITTEN.glob("*.json"))


def test_every_schema_is_a_draft_07_schema():
    assert schemas.names() == sorted(schemas.names())
    assert "skill" in schemas.names()
    for name in schemas.names():
        schema = schemas.schema(name)
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
        Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_the_examples_of_the_convention_are_valid(path):
    name = "skill-index" if path.stem == "index" else "skill"
    assert valid(name, json.loads(path.read_text())) == []


def test_documents_are_valid_at_every_turn_of_a_life(site):
    (site.root / "PLAN.md").write_text("a plan\n")
    workflow = site.open("human").start(LADDER, "the wall", context={"colour": "red"})
    turns = [
        lambda: workflow.begin("plan"),
        lambda: workflow.done("plan", {"plan": str(site.root / "PLAN.md")}),
        lambda: workflow.reject("plan", "more detail"),
        lambda: workflow.done("plan", unchanged="it has all of it"),
        lambda: workflow.approve("plan", modifications={"size": 3}),
        lambda: workflow.begin("pick"),
        lambda: workflow.done("pick"),
        lambda: workflow.approve("pick", "B"),
        lambda: workflow.begin("work"),
        lambda: workflow.check("tests", passed=False),
        lambda: workflow.fail("work", "red"),
        lambda: workflow.fail("work", "red again"),
        lambda: workflow.unblock("work", "try the other door"),
        lambda: workflow.block("work", "no key"),
        lambda: workflow.pause("lunch"),
        lambda: workflow.resume(),
        lambda: workflow.check("tests", passed=True),
        lambda: workflow.done("work"),
        lambda: workflow.begin("rest/one"),
        lambda: workflow.done("rest/one"),
        lambda: workflow.cancel("enough"),
        lambda: workflow.resume(),
        lambda: workflow.skip("rest/two", "no need"),
    ]
    for turn in turns:
        turn()
        assert valid("skill", json.loads(json.dumps(workflow.document()))) == []
    assert workflow.document()["workflow"]["status"] == "completed"
    assert valid("skill-index", site.json(".claude/workflow-state/index.json")) == []


@pytest.mark.parametrize("name", ["dev", "tdd", "common"])
def test_an_adopted_document_is_valid_after_a_change(site, name):
    site.example(name)
    workflow = site.open().workflow().note("a word")
    assert valid("skill", json.loads(json.dumps(workflow.document()))) == []
    assert valid("skill-index", site.json(".claude/workflow-state/index.json")) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("workflow"),
        lambda d: d["workflow"].update(status="great"),
        lambda d: d["workflow"].update(id="../up"),
        lambda d: d["workflow"].update(created_at="yesterday"),
        lambda d: d["state_machine"].update(phases=[]),
        lambda d: d["state_machine"]["phases"][0].update(status="nearly"),
        lambda d: d["tasks"][0].pop("index"),
        lambda d: d["checkpoints"].update(lint="passed"),
        lambda d: d["history"].append("text"),
    ],
)
def test_what_holdfast_would_not_take_the_schema_does_not_allow(spoil):
    document = json.loads((DATA / "dev.json").read_text())
    spoil(document)
    assert valid("skill", document)


def test_an_unknown_schema_names_those_there_are():
    with pytest.raises(NotFound) as unknown:
        schemas.schema("skil")
    assert unknown.value.remedy == "holdfast schema skill"
    assert unknown.value.facts["known"] == schemas.names()
    for name in ("../pyproject", "", "skill.json"):
        with pytest.raises(NotFound):
            schemas.schema(name)
