"""opencode, end to end."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts_e2e.hosts import Opencode
from tests.hosts_e2e.scene import HERE, Run, Scene, say
from tests.hosts_e2e.story import DEFINITION, PACKET, AnyHost, Everywhere, Played


class TestOpencode(AnyHost):
    host = Opencode

    def test_the_installed_command_is_what_the_model_reads(self, played: Played) -> None:
        assert 'Asked for: "release 1.4.0"' in played.work.turns[0].text

    def test_the_skill_is_offered(self, played: Played) -> None:
        described = next(one for one in played.work.turns[0]["body"]["tools"] if one["function"]["name"] == "skill")
        assert "workflow-state" in str(described) or "workflow-state" in played.work.turns[0].text

    def test_the_tools_are_offered_under_the_servers_name(self, played: Played) -> None:
        assert "holdfast_update_workflow_state" in played.work.turns[0].tools

    def test_the_summary_is_told_what_to_keep(self, played: Played) -> None:
        (summary,) = played.work.summaries
        assert f"Keep in the summary, word for word:\nWorkflow id: {played.id}" in summary.text

    def test_the_packet_is_among_what_the_system_says(self, played: Played) -> None:
        """Nothing of the conversation carries it: the plugin says it again with each request."""
        system = [one["content"] for one in played.work.turns[-1]["body"]["messages"] if one["role"] == "system"]
        assert any(PACKET in text for text in system)

    def test_a_host_that_can_ask_nobody_is_told_what_a_person_types(self, played: Played) -> None:
        assert '"code":"person_needed"' in played.outcomes["approved by tool"]
        assert "show this to a person and stop" in played.outcomes["approved by tool"]

    def test_who_stops_in_the_middle_is_told_to_go_on(self, everywhere: Everywhere) -> None:
        """Not by `opencode run`, which ends with the first answer: whoever lives on is told, as is seen below."""
        assert everywhere.run.unheard[-1] == say("Now it waits for a person.")


class TestServed:
    """The server, which is what the terminal interface talks to as well: held at its work, and compacted by hand."""

    @pytest.fixture(scope="class")
    @classmethod
    def talk(cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path) -> Iterator[Run]:
        with Scene(tmp_path_factory.mktemp("served"), holdfast, clients) as scene:
            host = Opencode(scene)
            scene.write(".holdfast/workflows/release.toml", f"keep_going = true\n{DEFINITION}")
            host.settle()
            scene.holdfast("install", host.name)
            turns = [
                host.shell("holdfast start release 1.4.0"),
                host.shell("holdfast begin build"),
                say("That is enough for today."),
                host.shell("holdfast done build && holdfast begin sign-off && holdfast done sign-off"),
                say("Now it waits for a person."),
                say("It still does."),
            ]
            steps = [
                _prompted("Begin."),
                ("wait", "Now it waits for a person.", None),
                ("POST", "/session/{session}/summarize", {"providerID": "loop", "modelID": "scripted"}),
                _prompted("Continue."),
            ]
            words = (sys.executable, HERE / "served.py", json.dumps(steps), host.program)
            yield scene.run(*words, turns=turns, env=host.environment)

    def test_who_stops_in_the_middle_is_told_to_go_on(self, talk: Run) -> None:
        assert (talk.code, talk.unheard) == (0, []), str(talk)
        assert "is not done: build – the work is under way. Continue: holdfast done build" in talk.turns[3].text

    def test_the_summary_is_told_what_to_keep(self, talk: Run) -> None:
        (summary,) = talk.summaries
        assert "Keep in the summary, word for word:\nWorkflow id: release-1.4.0-" in summary.text

    def test_the_next_request_has_the_packet(self, talk: Run) -> None:
        assert PACKET in talk.turns[-1].text
        assert "Phase: 2/3 - sign-off" in talk.turns[-1].text


def _prompted(text: str) -> tuple[str, str, Any]:
    return "POST", "/session/{session}/message", {"parts": [{"type": "text", "text": text}]}
