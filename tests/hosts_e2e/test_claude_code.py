"""Claude Code, end to end: what is installed in a project, and the plugin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts_e2e.hosts import ClaudeCode
from tests.hosts_e2e.scene import Run, Scene, call, say
from tests.hosts_e2e.story import DEFINITION, ID, PACKET, AnyHost, Played

ROOT = Path(__file__).resolve().parents[2]
OWN_SERVER = "mcp__plugin_holdfast_holdfast__"


class TestClaudeCode(AnyHost):
    host = ClaudeCode

    def test_the_installed_command_is_what_the_model_reads(self, played: Played) -> None:
        assert 'Asked for: "release 1.4.0"' in played.work.turns[0].text

    def test_the_tools_are_offered_without_a_search(self, played: Played) -> None:
        assert "mcp__holdfast__update_workflow_state" in played.work.turns[0].tools

    def test_the_summary_is_told_what_to_keep(self, played: Played) -> None:
        (summary,) = played.work.summaries
        assert f"Keep in the summary, word for word:\nWorkflow id: {played.id}" in summary.text

    def test_nobody_answers_a_question_of_the_server_where_nobody_sits(self, played: Played) -> None:
        assert '"action":"cancel"' in played.outcomes["approved by tool"]


class TestCompactionByHand:
    """`/compact` in one process: the packet comes with the next prompt, and words of the person's own count too."""

    @pytest.fixture(scope="class")
    @classmethod
    def talk(cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path) -> Iterator[Run]:
        with Scene(tmp_path_factory.mktemp("compact"), holdfast, clients) as scene:
            host = ClaudeCode(scene)
            scene.write(".holdfast/workflows/release.toml", DEFINITION)
            host.settle()
            scene.holdfast("install", host.name)
            begun = host.tool("start_workflow", workflow="release", subject="1.4.0")
            yield host.talk(["Begin.", "/compact keep the order", "Continue."], [begun, say("Begun."), say("On.")])

    def test_the_summary_is_told_both(self, talk: Run) -> None:
        assert (talk.code, talk.unheard) == (0, []), str(talk)
        (summary,) = talk.summaries
        assert "keep the order" in summary.text
        assert "Keep in the summary, word for word:" in summary.text

    def test_the_next_request_has_the_packet(self, talk: Run) -> None:
        assert PACKET in talk.turns[-1].text
        assert "Phase: 1/3 - build" in talk.turns[-1].text


class TestTerminal:
    """A person in front of the host: the line below their prompt, and a question that only they can answer."""

    RIGHT, DOWN, ENTER = "\x1b[C", "\x1b[B", "\r"

    @pytest.fixture(scope="class")
    @classmethod
    def host(cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path) -> Iterator[ClaudeCode]:
        with Scene(tmp_path_factory.mktemp("terminal"), holdfast, clients) as scene:
            host = ClaudeCode(scene)
            scene.write(".holdfast/workflows/release.toml", DEFINITION)
            host.settle()
            scene.holdfast("install", host.name)
            scene.holdfast("start", "release", "1.4.0")
            for move in ("begin build", "done build", "begin sign-off", "done sign-off"):
                scene.holdfast(*move.split())
            yield host

    @pytest.fixture(scope="class")
    @classmethod
    def talk(cls, host: ClaudeCode) -> Run:
        steps = [
            ("2/3 sign-off", "Approve it."),
            ("Approve it.", cls.ENTER),
            ("to expand", cls.RIGHT),
            ("ask for changes", cls.ENTER),
            ("Decision: approve", cls.DOWN),
            ("❯ Accept", cls.ENTER),
            ("Told.", ""),
        ]
        id_ = host.scene.asked("status")["workflow_id"]
        turns = [host.tool("approve_step", workflow_id=id_, step="sign-off", approved=True), say("Told.")]
        return host.scene.seen(steps, host.program, "--permission-mode", "default", turns=turns, env=host.environment)

    def test_the_status_line_says_where_the_work_is_and_what_it_waits_for(self, talk: Run) -> None:
        assert talk.code == 0, str(talk)
        assert "2/3 sign-off · the approval by a person is needed" in talk.out

    def test_the_person_is_shown_what_they_approve(self, talk: Run) -> None:
        assert "requests your input Approve “sign-off” (sign-off, attempt 1) of release-1.4.0-" in talk.out

    def test_their_word_is_recorded_as_theirs_and_the_model_hears_of_it(self, host: ClaudeCode, talk: Run) -> None:
        last = host.scene.asked("log")["records"][-1]
        assert last["actor"]["kind"] == "human"
        assert "approved sign-off (elicitation)" in host.scene.holdfast("log")
        assert json.loads(host.results(talk.turns[-1])[-1])["next_step_name"] == "publish"


class TestPlugin:
    """The plugin of this repository, from its marketplace, in a project that has nothing else of Holdfast's."""

    @pytest.fixture(scope="class")
    @classmethod
    def host(cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path) -> Iterator[ClaudeCode]:
        with Scene(tmp_path_factory.mktemp("plugin"), holdfast, clients) as scene:
            host = ClaudeCode(scene)
            scene.write(".holdfast/workflows/release.toml", DEFINITION)
            host.settle()
            for words in (("marketplace", "add", str(ROOT)), ("install", "holdfast@holdfast")):
                done = scene.run(host.program, "plugin", *words, env=host.environment)
                assert done.code == 0, str(done)
            yield host

    @pytest.mark.parametrize("what", ["plugin", "."])
    def test_it_is_valid(self, host: ClaudeCode, what: str) -> None:
        done = host.scene.run(host.program, "plugin", "validate", ROOT / what, "--strict", env=host.environment)
        assert done.code == 0, str(done)

    def test_its_command_its_tools_and_its_guard_work(self, host: ClaudeCode) -> None:
        turns = [
            call(f"{OWN_SERVER}start_workflow", workflow="release", subject="1.4.0"),
            call(f"{OWN_SERVER}update_workflow_state", workflow_id="«id»", step="build", status="in_progress"),
            host.edit(".holdfast/index", "{}"),
            say("Begun."),
        ]
        done = host.run("/holdfast:workflow release 1.4.0", turns, known=ID)
        assert (done.code, done.unheard) == (0, []), str(done)
        assert 'Asked for: "release 1.4.0"' in done.turns[0].text
        started, begun, edited = host.outcomes(done)
        assert json.loads(started)["current_step_name"] == "build"
        assert json.loads(begun)["success"] is True
        assert "where Holdfast keeps its records" in edited
