"""What a document says is still said, and valid, after it was adopted without its journal: by every field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.core import commands as cmd
from holdfast.core.definition import Definition
from holdfast.core.facts import Facts
from holdfast.core.state import State
from holdfast.documents.lens.mapping import MISSING, Memory, by_name, found_at, put
from holdfast.documents.lens.spec import Document, Field
from holdfast.documents.lens.text import Writer
from holdfast.systems.seam.registry import NAMES, dialect
from holdfast.upkeep import schemas
from tests import orchestrated
from tests.core.feature import FEATURE
from tests.core.play import PERSON
from tests.systems.compaction import test_document as compaction
from tests.systems.gated import test_document as gated
from tests.systems.skill import test_document as skill
from tests.systems.story import test_document as story

NOW = "2026-01-15T12:40:00.000Z"
PAUSE = {"status": "paused", "reason": "lunch"}
Found = tuple[dict[str, Any], Definition | None]
DIFFERS = {
    "skill": {"state_machine.phases[].approval": "an approval is claimed until a person confirms it"},
    "story": {
        "generation.steps[].attempts": "that a person gave the tries again, only the journal proves",
        "status": "a run is not completed while approvals are claimed",
    },
    "compaction": {
        "phase.status_detail": "a phase that waited is blocked until a person looks at it",
        "updated_at": "when the document was written",
    },
    "orchestrator": {},
    "gated": {
        "status": "a feature is not completed while approvals are claimed",
        "updated_at": "when the document was written",
    },
}
"""Fields that may say something else afterwards, and why."""


def of_skill() -> Iterator[Found]:
    for name in skill.EXAMPLES:
        yield skill.example(name), None
    document = skill.example("dev")
    document["_schema"]["file"] = "mine"
    document["tasks"][1]["status_detail"] = document["workflow"]["status"] = "blocked"
    yield document, None
    life = skill.release()
    troubles = {
        2: [cmd.Reject("plan", "with numbers"), cmd.Done("plan", unchanged="it has them")],
        7: [cmd.Fail("work", "red"), cmd.Resume("work"), cmd.Block("work", "no ink"), cmd.Unblock("work")],
    }
    for number, onward in enumerate(skill.ONWARD):
        for command in (*troubles.get(number, ()), onward):
            yield life.do(command).document(), skill.RELEASE


def of_story() -> Iterator[Found]:
    for name, definition in story.DEFINITIONS.items():
        yield {**story.example(name), "committed_from_session": "s"}, definition
    for play, turns in ((story.generation(), story.GENERATED), (story.planning(), story.PLANNED)):
        definition = story.DEFINITIONS[play.state.type]
        yield from ((document, definition) for document in story.moments(play, turns))
    document = story.example("planning")
    document["planning"]["phases"][0]["attempts"] = {"current": 1, "max": 3, "history": []}
    yield document, None


def of_compaction() -> Iterator[Found]:
    for name in compaction.EXAMPLES:
        yield compaction.example(name), None
    play = compaction.started(compaction.RELEASE)
    for command in compaction.ONWARD:
        play.do(command, by=PERSON)
        yield compaction.document_of(play), compaction.RELEASE


def of_orchestrator() -> Iterator[Found]:
    """The example counts its phases from 1: as it is written from 0."""
    example = orchestrated.example()
    example["completed_tasks"][0] |= {"lines_added": 5, "held_before": ["migration_tested"]}
    document = rendered("orchestrator", example, None)
    yield document, None
    spent = {**document, "safety_bounds": {**document["safety_bounds"], "cost_so_far": "$10.00"}}
    yield rendered("orchestrator", spent, None), None
    yield {**document, "orchestrator": {**document["orchestrator"], "pause": PAUSE}}, None


def of_gated() -> Iterator[Found]:
    yield gated.example(), FEATURE
    for play in gated.lives().values():
        yield gated.written(play.state), FEATURE


def rendered(system: str, document: dict[str, Any], definition: Definition | None) -> dict[str, Any]:
    """A document as it is once something has happened to the workflow that was adopted from it."""
    spoken = dialect(system)
    state = spoken.adopt(document, definition, Facts(now=NOW), "0" * 26).replace(revision=2)
    said: dict[str, Any] = json.loads(Writer().write(put(spoken.document, state.base, state)))
    return said


def fields(document: Document) -> Iterator[tuple[str, Any, Field]]:
    for part in document.parts:
        inside = [] if isinstance(part, Field) else part.fields
        yield from [(part.at, None, part)] if isinstance(part, Field) else []
        yield from ((f"{part.at}{'[]' if part.key else '.NAME'}.{field.at}", part, field) for field in inside)


def said(spoken: Document, document: dict[str, Any]) -> dict[str, Any]:
    """What each field says that is there: in a list, by the name of the entry."""
    found: dict[str, Any] = {}
    for place, part, field in fields(spoken):
        entries = by_name(part, found_at(document, part.at)) if part else {"": document}
        values = {name: found_at(entry, field.at) for name, entry in entries.items()}
        found[place] = {name: value for name, value in values.items() if value is not MISSING}
    return {place: values for place, values in found.items() if values}


@pytest.mark.parametrize("system", NAMES)
def test_what_every_field_says_is_said_again(system):
    spoken = dialect(system).document
    seen: set[str] = set()
    differs: set[str] = set()
    valid = Draft7Validator(schemas.schema(system))
    for document, definition in globals()[f"of_{system}"]():
        again = rendered(system, document, definition)
        before, after = said(spoken, document), said(spoken, again)
        assert list(valid.iter_errors(again)) == []
        seen |= before.keys()
        differs |= {place for place in before.keys() | after.keys() if before.get(place) != after.get(place)}
    assert {place for place, _, _ in fields(spoken)} - seen == set()
    assert differs == DIFFERS[system].keys()


def started(system: str) -> list[State]:
    """Workflows that nobody else writes, state after state."""
    if system == "skill":
        life = skill.release()
        return [life.now, *(life.do(command).now for command in skill.ONWARD)]
    if system == "orchestrator":
        return list(of_tasks(dialect(system).adopt(orchestrated.example(), None, Facts(now=NOW), "0" * 26)))
    if system == "gated":
        return [state for play in gated.lives().values() for state in play.states]
    plays = {
        "story": ((story.generation(), story.GENERATED), (story.planning(), story.PLANNED)),
        "compaction": ((compaction.started(compaction.RELEASE), [(one, {"by": PERSON}) for one in compaction.ONWARD]),),
    }
    for play, turns in plays[system]:
        for command, how in turns:
            play.wait(60).do(command, **how)
    return [state for play, _ in plays[system] for state in play.states]


def of_tasks(state: State) -> Iterator[State]:
    """Each step of a run in turn: begun, failed and begun again, done, with facts that Python takes for equal."""
    done = {"status": "done", "finished_at": NOW}
    facts = [{"data": {"lines_added": number}} for number in (1, True, 1.0)]
    for path in state.plan.paths:
        for said in ({"attempt": 1}, {"attempt": 2, "started_at": NOW}, done, *facts, {}):
            progress = {**state.progress, path: state.step(path).replace(**said)}
            state = state.replace(base=None, origin="started", progress=progress)
            yield state


@pytest.mark.parametrize("system", NAMES)
def test_a_document_is_the_same_whatever_was_written_before_it(system):
    """What one process keeps of earlier documents does not show in the next one."""
    spoken, memory, writer = dialect(system).document, Memory(), Writer()
    life = started(system)
    for state in (*life, *reversed(life), *life[::3]):
        assert writer.write(put(spoken, None, state, memory)) == Writer().write(put(spoken, None, state))
