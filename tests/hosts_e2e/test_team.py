"""The team of a feature in real hosts: subagents do the work, and each is held to its role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts_e2e.hosts import ClaudeCode, Codex, Host, Opencode
from tests.hosts_e2e.scene import Run, Scene, call, say

SLUG = "sign-in-by-key"
PHASE = f"workflow/{SLUG}/01-requirements"
DOCUMENT, REVIEW = f"{PHASE}/requirements.md", f"{PHASE}/reviews/review-1.md"
APPROVED = "# Review\n\n## Decision: APPROVED\n\n## Findings\n\nNone.\n"


class Denials:
    """One round of the first phase, in which each agent also tries what is not its own."""

    host: type[Host]

    @pytest.fixture(scope="class")
    @classmethod
    def played(cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path) -> Iterator[Played]:
        with Scene(tmp_path_factory.mktemp("team"), holdfast, clients) as scene:
            host = cls.host(scene)
            host.settle()
            scene.write(".gitignore", ".holdfast/\n")
            scene.sh("git", "config", "user.name", "tester")
            scene.sh("git", "config", "user.email", "t@example.org")
            scene.holdfast("install", host.name)
            scene.commit("Begin")
            yield Played(host)

    def test_every_agent_did_its_turns(self, played: Played) -> None:
        assert (played.run.code, played.run.unheard) == (0, []), str(played.run)

    def test_a_creator_writes_its_document_and_no_review(self, played: Played) -> None:
        assert "writes no reviews" not in played.came["creator: document"]
        for how in ("edit", "shell"):
            assert f"requirements-creator writes no reviews of {SLUG}" in played.came[f"creator: review by {how}"]
        assert "A key opens the door" in played.document

    def test_a_reviewer_writes_its_review_and_no_document(self, played: Played) -> None:
        for how in ("edit", "shell"):
            assert _is_refused(played.came[f"reviewer: document by {how}"]), played.came
        assert "requirements-reviewer changes nothing but its review" in played.came["reviewer: document by shell"]
        assert (played.scene.project / REVIEW).read_text() == APPROVED
        assert "Broken" not in played.document

    def test_neither_hands_in_or_approves(self, played: Played) -> None:
        for what in ("creator: hands in", "reviewer: records", "creator: approves", "reviewer: approves"):
            assert _is_refused(played.came[what]), (what, played.came[what])

    def test_the_lead_records_what_the_review_says_and_a_person_is_waited_for(self, played: Played) -> None:
        assert "01-requirements waits for approval" in played.came["lead: records"]
        assert played.scene.asked("status")["waiting_for_approval"] is True


class Played:
    def __init__(self, host: Host) -> None:
        self.host, self.scene = host, host.scene
        script = [
            ("lead: starts", host.shell('holdfast start feature "Sign in by key"')),
            ("lead: creator", host.agent("requirements-creator", f"SLUG is {SLUG}: write {DOCUMENT}.")),
            ("creator: document", host.edit(DOCUMENT, "# Requirements\n\nR1. A key opens the door.\n")),
            ("creator: review by edit", host.edit(REVIEW, APPROVED)),
            ("creator: review by shell", host.shell(f"mkdir -p {PHASE}/reviews && echo x > {REVIEW}")),
            ("creator: hands in", host.shell("holdfast done 01-requirements")),
            ("creator: approves", host.shell("holdfast approve 01-requirements --yes")),
            ("", say("The document is written.")),
            ("lead: hands in", host.shell("holdfast done 01-requirements -m 'A key opens the door'")),
            ("lead: reviewer", host.agent("requirements-reviewer", f"SLUG is {SLUG}: review {DOCUMENT} in {REVIEW}.")),
            ("reviewer: document by edit", host.edit(DOCUMENT, "Broken.\n")),
            ("reviewer: document by shell", host.shell(f"echo Broken. >> {DOCUMENT}")),
            ("reviewer: review", host.edit(REVIEW, APPROVED)),
            ("reviewer: records", host.shell("holdfast review 01-requirements")),
            ("reviewer: approves", host.shell("holdfast approve 01-requirements --yes")),
            ("", say("The review is written.")),
            ("lead: records", host.shell("holdfast review 01-requirements")),
            ("", say("A person decides.")),
        ]
        self.run: Run = host.run("Lead the feature.", [turn for _, turn in script])
        self.came = _came(host, self.run, [name for name, _ in script])

    @property
    def document(self) -> str:
        return (self.scene.project / DOCUMENT).read_text()


def _came(host: Host, run: Run, names: list[str]) -> dict[str, str]:
    """What came of each call: it stands last in the next request of the agent that made it."""
    found: dict[str, str] = {}
    open_: list[str] = []
    for name, request in zip([*names, ""], run.turns, strict=False):
        results = host.results(request)
        if open_ and results:
            found[open_.pop()] = results[-1]
        if name:
            open_.append(name)
    return found


def _is_refused(said: str) -> bool:
    marks = ("changes nothing", "may look at", "prevents you from using", "A person does this", "rule which")
    return any(mark in said for mark in marks)


class TestClaudeCode(Denials):
    host = ClaudeCode


class TestOpencode(Denials):
    host = Opencode


class TestCodex:
    """Its agents work beside the session that spawned them, so one role is enough to see that it is told."""

    def test_a_reviewer_writes_its_review_and_nothing_else(self, tmp_path: Path, holdfast: Path, clients: Path) -> None:
        with Scene(tmp_path, holdfast, clients) as scene:
            host = Codex(scene)
            host.settle()
            scene.sh("git", "config", "user.name", "tester")
            scene.sh("git", "config", "user.email", "t@example.org")
            scene.holdfast("install", host.name)
            scene.commit("Begin")
            scene.holdfast("start", "feature", "Sign in by key")
            reviewer = [
                host.edit(DOCUMENT, "Broken."),
                host.shell(f"echo Broken. > {DOCUMENT}"),
                host.shell("holdfast done 01-requirements"),
                host.edit(REVIEW, "## Decision: APPROVED"),
                say("Reviewed."),
            ]
            by = "You are the reviewer of the phase 01-requirements "
            turns = [
                host.agent("requirements-reviewer", f"SLUG is {SLUG}: review {DOCUMENT} in {REVIEW}."),
                *({**turn, "by": by} for turn in reviewer),
                {**call("wait_agent", targets=["«id»"], timeout_ms=60_000), "namespace": host.AGENTS},
                say("A person decides."),
            ]
            known = r"agent_id\W+([0-9a-f-]{36})"
            run = host.run("Let a requirements-reviewer review.", turns, known=known)
            assert (run.code, run.unheard) == (0, []), str(run)
            (last,) = [one for one in run.turns if one["answer"] == {**reviewer[-1], "by": by}]
            edited, echoed, handed, reviewed = host.results(last)
            for said in (edited, echoed):
                assert "requirements-reviewer changes nothing but its review" in said
            assert "the lead agent" in handed
            assert (scene.project / REVIEW).read_text() == "## Decision: APPROVED\n", reviewed
            assert not (scene.project / DOCUMENT).exists()
