"""Codex, end to end."""

from __future__ import annotations

import re
from pathlib import Path

from tests.hosts_e2e.hosts import Codex
from tests.hosts_e2e.scene import Scene, say
from tests.hosts_e2e.story import AnyHost, Played


class TestCodex(AnyHost):
    host = Codex

    def test_the_paragraph_of_agents_md_is_what_the_model_reads(self, played: Played) -> None:
        assert "Tests first." in played.work.turns[0].text
        assert "This project uses Holdfast" in played.work.turns[0].text

    def test_the_tools_are_found_by_a_search_that_knows_the_servers_instructions(self, played: Played) -> None:
        (search,) = [one for one in played.work.turns[0]["body"]["tools"] if one["type"] == "tool_search"]
        assert "get_resume_packet tells where you are" in search["description"]

    def test_the_summary_is_told_nothing(self, played: Played) -> None:
        """This host would not pass it on, so the hook does not say it: it would only be noise in the log."""
        (summary,) = played.work.summaries
        assert "Keep in the summary" not in summary.text

    def test_what_was_compacted_and_noted_is_in_the_journal(self, played: Played) -> None:
        noted = [event["entry"]["event"] for record in played.log for event in record["events"] if "entry" in event]
        assert "compaction_finished" in noted
        assert "session_ended" in noted


def test_hooks_that_nobody_trusted_are_skipped_without_a_word(tmp_path: Path, holdfast: Path, clients: Path) -> None:
    """Which is why `holdfast install` and the doctor speak of it: what the guard would stop, happens."""
    with Scene(tmp_path, holdfast, clients) as scene:
        host = Codex(scene)
        host.settle()
        scene.holdfast("install", host.name)
        turn = host.shell("mkdir -p .holdfast && echo '{}' > .holdfast/index")
        done = host.run("Write it.", [turn, say("Written.")], trusting=False)
        assert (done.code, done.unheard) == (0, []), str(done)
        assert (scene.project / ".holdfast/index").read_text() == "{}\n"
        assert not re.search(r"\btrust", done.out + done.err)
        (scene.project / ".holdfast/index").unlink()
        done = host.run("Write it.", [turn, say("Not written.")], trusting=True)
        assert "where Holdfast keeps its records" in host.outcomes(done)[0]
        assert not (scene.project / ".holdfast/index").exists()
