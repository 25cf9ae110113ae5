"""Broken events that once led the hooks somewhere new: each still gets an answer that its host can live with."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.surfaces.hooks import places, programs, shell
from tests.acceptance.hosting import CLAUDE_EVENTS, CODEX_EVENTS
from tests.surfaces.hooks.fuzz import CORPUS, LONGEST, MOST, corpus, decoded, encoded
from tests.surfaces.hooks.samples import claude, codex, samples
from tests.surfaces.hooks.sandbox import Sandbox, unfit


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    with Sandbox(tmp_path_factory.mktemp("sandbox")) as made:
        yield made


@pytest.fixture(autouse=True)
def _as_it_was(request):
    """Tests share one project, and each finds it as it was made."""
    if "sandbox" in request.fixturenames:
        request.getfixturevalue("sandbox").restore()


def test_every_event_of_the_corpus_is_answered_as_hosts_expect(sandbox):
    wrong = {data: run.wrong for data in corpus() if (run := sandbox.run(data)).wrong}
    assert wrong == {}
    assert sandbox.examined() == []


def test_every_tenth_is_answered_as_well_by_the_command_that_hosts_run(sandbox):
    wrong = {data: run.wrong for data in corpus()[::10] if (run := sandbox.spawn(data)).wrong}
    assert wrong == {}
    assert sandbox.examined() == []


def test_events_as_hosts_send_them_get_every_kind_of_answer(sandbox):
    answered = set()
    for data in samples():
        sandbox.restore()
        run = sandbox.run(data)
        assert run.wrong == [], data
        if run.answer:
            answered.add(json.loads(data)["hook_event_name"])
    assert answered == {"SessionStart", "PreCompact", "PreToolUse", "PostToolUse", "Stop"}
    assert sandbox.examined() == []


@pytest.mark.parametrize(("events", "schemas"), [(claude(), CLAUDE_EVENTS), (codex(), CODEX_EVENTS)])
def test_variations_begin_with_every_event_that_a_host_sends(events, schemas):
    assert {event["hook_event_name"] for event in events} == set(schemas)
    for event in events:
        Draft7Validator(schemas[event["hook_event_name"]]).validate(event)


def test_a_session_whose_id_cannot_be_written_down_is_none(sandbox):
    event = {"hook_event_name": "PreCompact", "session_id": "S1\udcff", "cwd": "{root}", "trigger": "auto"}
    run = sandbox.run(json.dumps(event).encode())
    assert (run.wrong, run.answer[:4]) == ([], b"Keep")


def test_a_line_that_goes_on_and_on_is_not_read_over_and_over():
    assert len(shell.commands(["find", *["-exec"] * 1_000])) < 10
    assert len(programs.unwrapped(["env"] * 1_000).words) > 900
    assert places.real("/a/.." * 1_000 + "/b") == "/b"


@pytest.mark.parametrize(
    ("event", "answer"),
    [
        ({"hook_event_name": "SessionEnd"}, b"x"),
        ({"hook_event_name": "PreCompact"}, b'{"decision":"block"}'),
        ({"hook_event_name": "PreCompact"}, b"a\x1b[2Jb"),
        ({"hook_event_name": "PreCompact", "turn_id": "1"}, b"Keep this"),
        ({"hook_event_name": "Stop"}, b'{"decision":"approve","reason":"x"}'),
        ({"hook_event_name": "Stop"}, b'{"decision":"block","reason":"a\\u0000b"}'),
        ({"hook_event_name": "PreToolUse"}, b'{"hookSpecificOutput":{"hookEventName":"Stop"}}'),
    ],
)
def test_an_answer_that_no_host_takes_is_noticed(event, answer):
    assert unfit(json.dumps(event).encode(), answer)


def test_bytes_outlive_the_corpus_and_its_entries_are_few_and_short():
    for data in (b"", b'{"a": "\xc3\xa9"}', b"\xff\0", bytes(range(256))):
        assert decoded(encoded(data)) == data
    assert 0 < len(corpus()) <= MOST
    assert max(map(len, corpus())) <= LONGEST
    assert CORPUS.stat().st_size <= 200_000
