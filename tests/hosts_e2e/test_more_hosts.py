"""Gemini CLI, Qwen Code and GitHub Copilot CLI, end to end: a shorter story than that of the first three."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts_e2e.hosts import Host
from tests.hosts_e2e.more_hosts import Copilot, Gemini, Qwen
from tests.hosts_e2e.scene import Scene, full, say
from tests.hosts_e2e.story import DEFINITION, ID, OVERFLOWING, OWN, PACKET, STATE

OUTCOMES = ("started", "next", "begun", "built", "handed in", "approved", "edited", "written", "skipped", "notes")


class Played:
    """Three processes: the work, the same session until it is compacted, and a fresh one."""

    def __init__(self, host: Host) -> None:
        self.host, scene = host, host.scene
        scene.write(".holdfast/workflows/release.toml", DEFINITION)
        host.settle()
        scene.commit("what there was before")
        self.before = scene.tree()
        scene.holdfast("install", host.name)
        self.installed = scene.tree()
        scene.holdfast("install", host.name)
        self.again = scene.tree()
        self.work = host.run("Start the release.", self._turns(), known=ID)
        self.resumed = host.run("Continue.", self._later(), session=host.session(self.work))
        self.fresh = host.run("What is there to do?", [say("A release.")])
        self.status: dict[str, Any] = scene.asked("status")
        self.log = scene.project / ".holdfast/hook.log"
        self.removed = scene.typed("uninstall", host.name)
        self.after = scene.tree()

    def _turns(self) -> list[dict[str, Any]]:
        host = self.host
        return [
            host.shell("holdfast start release 1.4.0 --resume"),
            host.tool("get_next_step", workflow_id="«id»"),
            host.tool("update_workflow_state", workflow_id="«id»", step="build", status="in_progress"),
            host.tool("update_workflow_state", workflow_id="«id»", step="build", status="completed"),
            host.shell("holdfast begin sign-off && holdfast done sign-off"),
            host.shell("holdfast approve sign-off --yes"),
            host.edit(STATE, "{}"),
            host.shell(f"echo '{{}}' > {STATE}"),
            host.tool("update_workflow_state", workflow_id="«id»", step="publish", status="in_progress"),
            host.edit("notes.md", "an edit like any"),
            say("The sign-off waits for a person."),
        ]

    def _later(self) -> list[dict[str, Any]]:
        shell = self.host.shell
        return [shell("echo one"), full(shell("echo enough"), OVERFLOWING), shell("echo two"), say("It waits.")]

    @property
    def outcomes(self) -> dict[str, str]:
        return dict(zip(OUTCOMES, self.host.outcomes(self.work), strict=False))

    @property
    def id(self) -> str:
        return str(self.status["workflow_id"])


class AnyHost:
    host: type[Host]
    told: tuple[int, ...] = (1,)
    """Which request after the summary has the packet first: some hosts take what hooks say no sooner."""

    @pytest.fixture(scope="class")
    @classmethod
    def played(cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path) -> Iterator[Played]:
        with Scene(tmp_path_factory.mktemp(cls.host.name), holdfast, clients) as scene:
            yield Played(cls.host(scene))

    def test_every_process_ends_by_itself_and_hears_every_line_of_the_script(self, played: Played) -> None:
        for run in (played.work, played.resumed, played.fresh):
            assert (run.code, run.late, run.unheard) == (0, False, []), str(run)
        assert not played.log.exists(), played.log.read_text()

    def test_installing_twice_changes_nothing_the_second_time(self, played: Played) -> None:
        assert played.installed != played.before
        assert played.again == played.installed

    def test_the_model_reads_the_rules_and_works_with_the_tools(self, played: Played) -> None:
        first, done = played.work.turns[0].text, played.outcomes
        assert "Tests first." in first
        assert "This project uses Holdfast" in first
        assert f"started {played.id}" in done["started"]
        assert "build" in done["next"]
        for step in ("begun", "built"):
            assert '"success":true' in done[step].replace("\\", "")
        assert "sign-off waits for approval" in done["handed in"]

    def test_it_forges_no_state_skips_no_step_and_approves_nothing(self, played: Played) -> None:
        done = played.outcomes
        for way in ("edited", "written"):
            assert f"{played.id}.json is written by Holdfast" in done[way]
        assert "A person does this in a terminal of their own" in done["approved"]
        assert "step_blocked" in done["skipped"]
        assert (played.status["current_step_name"], played.status["waiting_for_approval"]) == ("sign-off", True)
        assert played.status["alerts"] == []

    def test_other_files_are_its_own_to_edit(self, played: Played) -> None:
        assert played.after["notes.md"].strip() == b"an edit like any"

    def test_the_same_session_in_a_new_process_is_told_where_it_was(self, played: Played) -> None:
        assert "Phase: 2/3 - sign-off" in played.resumed.turns[0].text

    def test_after_the_compression_the_packet_is_there(self, played: Played) -> None:
        assert len(played.resumed.summaries) == 1
        kinds = [one.kind for one in played.resumed.requests]
        later = [one for one in played.resumed.requests[kinds.index("summary") + 1 :] if one.kind == "turn"]
        told = next(at for at, one in enumerate(later, 1) if PACKET in one.text)
        assert told in self.told
        assert f"workflow id: {played.id}" in later[told - 1].text
        assert not any(PACKET in one.text for one in played.resumed.requests[: kinds.index("summary") + 1])

    def test_a_fresh_session_is_told_of_the_work_in_one_line(self, played: Played) -> None:
        assert f"Holdfast holds unfinished work here: {played.id}" in played.fresh.turns[0].text
        assert "Phase: 2/3" not in played.fresh.turns[0].text

    def test_uninstalling_leaves_the_tree_as_it_was(self, played: Played) -> None:
        assert played.removed.code == 0, str(played.removed)
        busy = self.host.busy
        for name in busy:
            assert b"holdfast" not in played.after[name]
        own = {name: data for name, data in played.after.items() if not name.startswith(OWN) and name not in busy}
        own.pop("notes.md")
        was = {name: data for name, data in played.before.items() if not name.startswith(OWN) and name not in busy}
        assert own == was


class TestGemini(AnyHost):
    host = Gemini

    def test_the_tools_are_offered_at_once(self, played: Played) -> None:
        assert "mcp_holdfast_get_next_step" in played.work.turns[0].tools

    def test_the_packet_is_in_every_request_from_then_on(self, played: Played) -> None:
        assert f"workflow id: {played.id}" in played.resumed.turns[-1].text


class TestQwen(AnyHost):
    host = Qwen
    told = (2,)

    def test_the_tools_are_found_by_a_search(self, played: Played) -> None:
        assert "tool_search" in played.work.turns[0].tools
        assert "mcp__holdfast__get_next_step" not in played.work.turns[0].tools


class TestCopilot(AnyHost):
    host = Copilot
    told = (1, 2)
    """It compacts beside its work."""

    def test_the_tools_are_offered_at_once(self, played: Played) -> None:
        assert "holdfast-get_next_step" in played.work.turns[0].tools
