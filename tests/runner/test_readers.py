"""What the lines of each host mean. The lines are as the hosts printed them."""

from __future__ import annotations

import json

import pytest

from holdfast.machine.running import Running
from holdfast.runner.claude import ClaudeCode
from holdfast.runner.codex import Codex
from holdfast.runner.events import Began, Called, Denied, Ended, Limited, Said, Tokens, Total, Used
from holdfast.runner.host import Order
from holdfast.runner.opencode import Opencode

SESSION = "3b241101-e2bb-4255-8caf-4136c566a962"


def order(tmp_path, known: str = "", rights: str = "edits", **running) -> Order:
    prompt = tmp_path / "prompt"
    prompt.write_text("Do it.")
    return Order(
        session=SESSION,
        known=known,
        prompt=str(prompt),
        folder=str(tmp_path),
        rights=rights,
        running=Running(**running),
    )


def read(host, *lines: str) -> list[object]:
    return [event for line in lines for event in host.read(json.loads(line))]


def test_claude_code(tmp_path):
    usage = '"usage":{"input_tokens":900,"output_tokens":20,"cache_read_input_tokens":7}'
    used = '{"type":"tool_use","name":"Bash","input":{"command":"ls"}}'
    model = '{"m":{"inputTokens":900,"outputTokens":20,"costUSD":0.004}}'
    events = read(
        ClaudeCode(),
        f'{{"type":"system","subtype":"init","session_id":"{SESSION}"}}',
        f'{{"type":"assistant","message":{{"id":"msg_1","model":"m","content":[{used}],{usage}}}}}',
        '{"type":"system","subtype":"permission_denied","tool_name":"Bash"}',
        '{"type":"system","subtype":"api_retry","error_status":429,"retry_delay_ms":1500}',
        '{"type":"system","subtype":"api_retry","error_status":500,"retry_delay_ms":1500}',
        f'{{"type":"result","subtype":"success","total_cost_usd":0.004,"modelUsage":{model}}}',
    )
    assert events[0] == Began(SESSION)
    assert events[1] == Used("msg_1", "m", Tokens(900, 20, 7))
    assert isinstance(events[2], Called)
    assert events[3:] == [
        Denied("Bash"),
        Limited(1.5),
        Total(4000, rates=(("m", Tokens(900, 20), 4000),)),
        Ended(),
    ]


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ('"subtype":"error_during_execution","errors":["No conversation found with session ID: x"]', True),
        ('"subtype":"error_during_execution","errors":["it broke"]', False),
    ],
)
def test_claude_code_says_why_a_turn_failed(line, ended):
    found = read(ClaudeCode(), f'{{"type":"result","is_error":true,{line}}}')[-1]
    assert isinstance(found, Ended)
    assert found.failure
    assert found.is_missing is ended


def test_what_ends_at_the_limit_of_requests_is_continued():
    assert read(ClaudeCode(), '{"type":"result","subtype":"error_max_turns","is_error":true}')[-1] == Ended()


def test_codex():
    events = read(
        Codex(),
        '{"type":"thread.started","thread_id":"T"}',
        '{"type":"item.started","item":{"type":"command_execution","command":"ls","status":"in_progress"}}',
        '{"type":"item.completed","item":{"type":"agent_message","text":"ok"}}',
        '{"type":"turn.completed","usage":{"input_tokens":1800,"cached_input_tokens":300,"output_tokens":40}}',
        '{"type":"turn.failed","error":{"message":"Rate limit reached"}}',
    )
    assert events[0] == Began("T")
    assert isinstance(events[1], Called)
    assert events[2:] == [
        Said("ok"),
        Total(tokens=Tokens(1500, 40, 300)),
        Ended(),
        Limited(),
        Ended("Rate limit reached"),
    ]


def test_opencode():
    usage = '{"input":900,"output":20,"reasoning":1,"cache":{"write":2,"read":3}}'
    step = f'"part":{{"messageID":"M","reason":"stop","tokens":{usage},"cost":0.5}}'
    events = read(Opencode(), f'{{"type":"step_finish","sessionID":"S",{step}}}')
    assert events == [Began("S"), Used("M", "", Tokens(900, 21, 3, 2), 500_000), Ended()]


def test_a_host_begins_a_session_and_continues_it_by_the_id_that_it_knows(tmp_path):
    assert "--session-id" in ClaudeCode().start(order(tmp_path)).argv
    assert ClaudeCode().start(order(tmp_path, "X")).argv[2:4] == ("--resume", "X")
    assert "resume" not in Codex().start(order(tmp_path)).argv
    assert Codex().start(order(tmp_path, "X")).argv[-2:] == ("X", "-")
    assert "--session" in Opencode().start(order(tmp_path, "X")).argv


@pytest.mark.parametrize("host", [ClaudeCode(), Codex(), Opencode()], ids=lambda host: host.name)
def test_no_host_gets_all_rights_unless_somebody_says_so(tmp_path, host):
    dangerous = ("dangerously", "bypassPermissions", "danger-full-access", "--auto", "--bare", "--safe-mode")
    least = host.start(order(tmp_path))
    said = " ".join([*least.argv, *least.env.values()])
    assert not [one for one in dangerous if one in said]
    if host.name == "opencode":
        assert json.loads(least.env["OPENCODE_PERMISSION"])["bash"]["*"] == "deny"
