"""The story that every host is put through, from the installation to the day Holdfast is taken out again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts_e2e.hosts import Host
from tests.hosts_e2e.scene import Scene, full, say

DEFINITION = """name = "release"
dialect = "story"

[[step]]
id = "build"

[[step]]
id = "sign-off"
approval = { by = "human" }

[[step]]
id = "publish"
"""
ID = r"release-1\.4\.0-\d{8}-\d{6}"
NOTES = r"notes-\d{8}_\d{6}"
STATE = "workspace/workflow-state/«id».json"
PACKET = "WORKFLOW RESTORED AFTER COMPACTION"
OVERFLOWING = 990_000
"""Tokens: more than any window here holds."""
OWN = (".holdfast/", "workspace/")
"""What a workflow itself writes, which stays."""


class Played:
    """Everything that happened, for the tests to look at."""

    def __init__(self, host: Host) -> None:
        self.host, scene = host, host.scene
        scene.write("README.md", "# A project\n")
        scene.write(".holdfast/workflows/release.toml", DEFINITION)
        host.settle()
        scene.commit("what there was before")
        self.before = scene.tree()
        scene.holdfast("install", host.name)
        self.installed = scene.tree()
        scene.holdfast("install", host.name)
        self.again = scene.tree()
        self.work = host.command("workflow", "release 1.4.0", self._turns(), known=ID)
        self.status: dict[str, Any] = scene.asked("status")
        self.log: list[dict[str, Any]] = scene.asked("log")["records"]
        self.fresh = host.command("resume-workflow", "", self._later(), known=ID)
        self.status_later: dict[str, Any] = scene.asked("status")
        self.resumed = host.run("Continue.", [say("I wait.")], session=host.session(self.work))
        self.word = scene.typed("approve", "sign-off", "--yes", "-w", self.id)
        self.approved: dict[str, Any] = scene.asked("status")
        scene.typed("uninstall", host.name)
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
            host.tool("approve_step", workflow_id="«id»", step="sign-off", approved=True),
            host.edit(STATE, "{}"),
            host.shell(f"echo '{{}}' > {STATE}"),
            host.tool("update_workflow_state", workflow_id="«id»", step="publish", status="in_progress"),
            host.edit("notes.md", "an edit like any"),
            full(host.shell("echo enough"), OVERFLOWING),
            say("The sign-off waits for a person."),
        ]

    def _later(self) -> list[dict[str, Any]]:
        host = self.host
        return [
            host.shell("holdfast resume-packet"),
            host.tool("get_workflow_status", workflow_id="«id»"),
            say("It still waits for a person."),
        ]

    @property
    def outcomes(self) -> dict[str, str]:
        """What came of each call of the first run."""
        names = (
            *("started", "next", "begun", "built", "handed in"),
            *("approved in the shell", "approved by tool", "state edited", "state written", "skipped", "edited"),
        )
        return dict(zip(names, self.host.outcomes(self.work), strict=False))

    @property
    def id(self) -> str:
        return str(self.status["workflow_id"])


class Everywhere:
    """Installed for a person: a run in a project of theirs, and their own files before and after."""

    def __init__(self, host: Host) -> None:
        self.host, scene = host, host.scene
        scene.write(".holdfast/workflows/release.toml", f"keep_going = true\n{DEFINITION}")
        host.settle()
        self.before = scene.tree(scene.home)
        scene.holdfast("install", host.name, "--scope", "user")
        turns = [
            host.tool("start_workflow", workflow="release", subject="1.4.0"),
            host.edit(".holdfast/index", "{}"),
            host.shell("holdfast begin build"),
            say("That is enough for today."),
            host.shell("holdfast done build && holdfast begin sign-off && holdfast done sign-off"),
            say("Now it waits for a person."),
        ]
        self.run = host.run("Start the workflow.", turns)
        self.edited = host.run("Keep notes.", self._edits(), known=NOTES)
        scene.typed("uninstall", host.name, "--scope", "user")
        self.after = scene.tree(scene.home)

    def _edits(self) -> list[dict[str, Any]]:
        """The document of a compaction workflow is the agent's to edit, by the host's tool and by its shell."""
        host, state = self.host, "untracked/workflow-state/notes/state-«id».json"
        line = '  "key_reminders": {},'
        by_hand = f"jq '.required_reading = \"docs/plan.md\"' {state} > new && mv new {state}"
        return [
            host.shell("holdfast start custom Notes --phases draft,edit"),
            *host.change(state, line.format("[]"), line.format('"Ask Ada"')),
            host.shell(by_hand),
            say("Noted."),
        ]


class AnyHost:
    """What holds in every host."""

    host: type[Host]

    @pytest.fixture(scope="class")
    @classmethod
    def played(cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path) -> Iterator[Played]:
        with Scene(tmp_path_factory.mktemp(cls.host.name), holdfast, clients) as scene:
            yield Played(cls.host(scene))

    def test_every_process_ends_by_itself_and_hears_every_line_of_the_script(self, played: Played) -> None:
        for run in (played.work, played.fresh, played.resumed):
            assert (run.code, run.late, run.unheard) == (0, False, []), str(run)

    def test_installing_twice_changes_nothing_the_second_time(self, played: Played) -> None:
        assert played.installed != played.before
        assert played.again == played.installed

    def test_the_model_starts_the_workflow_and_works_with_its_tools(self, played: Played) -> None:
        done = played.outcomes
        assert f"started {played.id}" in done["started"]
        assert '"current_step_name":"build"' in done["next"]
        assert '"success":true' in done["begun"]
        assert '"success":true' in done["built"]
        assert "sign-off waits for approval" in done["handed in"]

    def test_the_sessions_own_id_is_in_the_journal(self, played: Played) -> None:
        """What is typed in the host's shell is known to be of this session."""
        assert played.log[0]["actor"]["session"] == played.host.session(played.work)

    def test_it_cannot_approve_in_a_persons_place(self, played: Played) -> None:
        done = played.outcomes
        assert "A person does this in a terminal of their own" in done["approved in the shell"]
        by_tool = done["approved by tool"]
        assert any(f'"code":"{code}"' in by_tool for code in ("person_needed", "nobody_answered", "declined"))
        assert '"code":"step_blocked"' in done["skipped"]

    def test_it_cannot_edit_the_state_file(self, played: Played) -> None:
        for way in ("state edited", "state written"):
            assert f"workspace/workflow-state/{played.id}.json" in played.outcomes[way]
            assert "is written by Holdfast" in played.outcomes[way]

    def test_other_files_are_its_own_to_edit(self, played: Played) -> None:
        assert played.after["notes.md"].strip() == b"an edit like any"

    def test_the_workflow_waits_where_it_was_after_all_that(self, played: Played) -> None:
        assert played.status["current_step_name"] == "sign-off"
        assert played.status["waiting_for_approval"] is True
        assert played.status["alerts"] == []

    def test_the_request_after_a_compaction_has_the_resume_packet(self, played: Played) -> None:
        assert len(played.work.summaries) == 1
        kinds = [one.kind for one in played.work.requests]
        later = [one for one in played.work.requests[kinds.index("summary") + 1 :] if one.kind == "turn"]
        assert PACKET in later[0].text
        assert f"workflow id: {played.id}" in later[0].text
        assert "Phase: 2/3 - sign-off" in later[0].text
        assert not any(PACKET in one.text for one in played.work.requests[: kinds.index("summary")])

    def test_the_compaction_is_in_the_journal(self, played: Played) -> None:
        happened = [event for record in played.log for event in record["events"]]
        assert [one["note"] for one in happened if one["event"] == "compacted"] == ["auto"]

    def test_a_process_that_ends_holds_nobody_off(self, played: Played) -> None:
        """The session that started the workflow held it; the host says when it ends."""
        assert played.status["agents"] == []
        assert "Another session is at work here" not in played.host.outcomes(played.fresh)[0]

    def test_a_fresh_session_is_told_of_the_work_and_takes_it_up_at_the_same_step(self, played: Played) -> None:
        assert played.host.session(played.fresh) != played.host.session(played.work)
        assert f"Holdfast holds unfinished work here: {played.id}" in played.fresh.turns[0].text
        packet, status = played.host.outcomes(played.fresh)
        assert "Phase: 2/3 - sign-off" in packet
        assert '"current_step_name":"sign-off"' in status
        assert '"waiting_for_approval":true' in status
        assert played.status_later["steps"] == played.status["steps"]

    def test_the_same_session_in_a_new_process_is_told_where_it_was(self, played: Played) -> None:
        first = played.resumed.turns[0].text
        assert f"workflow id: {played.id}" in first
        assert "Phase: 2/3 - sign-off" in first

    def test_a_person_in_a_terminal_moves_it_on(self, played: Played) -> None:
        assert played.word.code == 0, str(played.word)
        assert played.approved["current_step_name"] == "publish"

    def test_uninstalling_leaves_the_tree_as_it_was(self, played: Played) -> None:
        kept = {name: data for name, data in played.after.items() if not name.startswith(OWN) and name != "notes.md"}
        assert kept == {name: data for name, data in played.before.items() if not name.startswith(OWN)}

    @pytest.fixture(scope="class")
    @classmethod
    def everywhere(
        cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path
    ) -> Iterator[Everywhere]:
        with Scene(tmp_path_factory.mktemp(f"{cls.host.name}-user"), holdfast, clients) as scene:
            yield Everywhere(cls.host(scene))

    def test_installed_for_a_person_it_works_in_any_project(self, everywhere: Everywhere) -> None:
        run = everywhere.run
        assert run.code == 0, str(run)
        started, edited, *_ = everywhere.host.outcomes(run)
        assert '"current_step_name":"build"' in started
        assert "where Holdfast keeps its records" in edited

    def test_who_stops_in_the_middle_is_told_to_go_on(self, everywhere: Everywhere) -> None:
        run = everywhere.run
        assert run.unheard == [], str(run)
        assert "is not done: build – the work is under way. Continue: holdfast done build" in run.turns[4].text

    def test_an_edit_of_its_document_is_answered_at_once_with_what_became_of_it(self, everywhere: Everywhere) -> None:
        run = everywhere.edited
        assert (run.code, run.unheard) == (0, []), str(run)
        by_tool, by_shell = (request.text.count("Holdfast: the edit of ") for request in run.turns[3:])
        assert (by_tool, by_shell) == (1, 2), str(run.turns[-1].text)
        assert 'read as: key_reminders = ["Ask Ada"]' in run.turns[3].text
        assert 'read as: required_reading = ["docs/plan.md"]' in run.turns[4].text

    def test_their_files_are_as_they_were_afterwards(self, everywhere: Everywhere) -> None:
        """Files that the host itself keeps writing are another matter: in those, nothing of ours is left."""
        before, after, busy = everywhere.before, everywhere.after, everywhere.host.busy
        own = [name for name in before if name not in busy]
        assert {name: after.get(name) for name in own} == {name: before[name] for name in own}
        for name in busy:
            assert b"holdfast" not in after[name]
        settings = (".claude/", ".codex/", ".config/")
        assert not [name for name in after if name.startswith(settings) and "holdfast" in name]
