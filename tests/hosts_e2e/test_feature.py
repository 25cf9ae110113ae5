"""A feature from its start to its end in real hosts, by agents that know nothing but what they are told.

The lead reads the command and the skill, each creator and reviewer its own prompt. What they type, and which files they
write, must be in what they had read until then: `obedience.untold` says what does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts_e2e.hosts import ClaudeCode, Host, Opencode
from tests.hosts_e2e.obedience import Told, untold
from tests.hosts_e2e.scene import Run, Scene, Turn, say
from tests.phases import MAKEFILE

TITLE, SLUG = "Sign in by key", "sign-in-by-key"
HOME = f"workflow/{SLUG}"
PHASES = ("01-requirements", "02-architecture", "03-implementation", "04-testing", "05-documentation")
DOCUMENTS = {
    "01-requirements": {"requirements.md": "# Requirements\n\n## Sign in by key\n\nR1. A key opens the door.\n"},
    "02-architecture": {
        "architecture.md": "# Architecture\n\n## Sign in by key\n\nThe part is `keys.py`, its test is `test_keys.py`.\n"
    },
    "03-implementation": {
        "plan.md": "# Implementation plan\n\n1. A table of keys in `keys.py`, for R1.\n",
        "changes.md": "# Changes\n\n`keys.py`: the table of keys, for R1. `test_keys.py` is to test it.\n",
    },
    "04-testing": {
        "test-plan.md": "# Test plan\n\nT1 | R1 | a key that is known | opens\n",
        "coverage-report.md": "# Coverage report\n\nR1: T1 passed. 1 passed.\n",
    },
    "05-documentation": {
        "user-docs.md": "# User guide\n\n## Sign in by key\n\nHold the key to the door.\n",
        "api-docs.md": "# API reference\n\n## Sign in by key\n\n`keys.opens(key)` says whether a key opens the door.\n",
    },
}
CODE = {
    "03-implementation": {"keys.py": "KEYS = {'k1'}\n\n\ndef opens(key):\n    return key in KEYS\n"},
    "04-testing": {"test_keys.py": "import keys\n\n\ndef test_opens():\n    assert keys.opens('k1')\n"},
}
READ = {
    "03-implementation": "02-architecture/architecture.md",
    "04-testing": "03-implementation/changes.md",
    "05-documentation": "03-implementation/changes.md",
}
"""What names the files that a creator has to write or speak of."""
FINDING = "R1 does not say what becomes of a lost key."


def by(role: str, phase: str, turns: list[Turn]) -> list[Turn]:
    """Turns of a creator or reviewer, known by what its prompt says of its place."""
    return [{**turn, "by": f"You are the {role} of the phase {phase} "} for turn in turns]


class Feature:
    """One phase after the other: a process of the host for each, and a person in between."""

    def __init__(self, host: Host) -> None:
        self.host, self.scene, self.runs = host, host.scene, list[Run]()

    def play(self) -> None:
        for phase in PHASES:
            first = phase == PHASES[0]
            begin = f'holdfast start feature "{TITLE}"' if first else "holdfast feature continue"
            turns = [
                self.host.shell(begin),
                self.host.skill("feature-orchestrator"),
                self.host.shell("holdfast next"),
                *self.round(phase, 1, revised=first),
            ]
            turns += self.round(phase, 2) if first else []
            turns.append(say("A person decides."))
            command = ("workflow-start", TITLE) if first else ("workflow-continue", "")
            self.ran(self.host.command(*command, turns))
            approved = self.scene.typed("approve", phase, "--yes")
            assert approved.code == 0, str(approved)
        turns = [self.host.shell("holdfast feature finalize"), say("Published.")]
        self.ran(self.host.command("workflow-finalize", "", turns))

    def ran(self, run: Run) -> None:
        self.runs.append(run)
        assert (run.code, run.unheard) == (0, []), str(run)

    def round(self, phase: str, number: int, *, revised: bool = False) -> list[Turn]:
        host, short = self.host, phase.partition("-")[2]
        review = f"{HOME}/{phase}/reviews/review-{number}.md"
        code = CODE.get(phase, {})
        commits = [
            host.shell(f'holdfast commit {phase} -m "Code of {short}" --path {path}') for path in code if number == 1
        ]
        asked = f" What was asked for: {FINDING}" if number > 1 else ""
        return [
            host.agent(f"{short}-creator", f"The SLUG is {SLUG}, the phase is {phase}.{asked}"),
            *by("creator", phase, self.created(phase, number, code)),
            *commits,
            host.shell(f'holdfast done {phase} -m "Round {number} of {short}"'),
            host.agent(f"{short}-reviewer", f"The SLUG is {SLUG}, the phase is {phase}. The review file is {review}."),
            *by("reviewer", phase, self.reviewed(phase, review, revised=revised)),
            host.shell(f"holdfast review {phase}"),
        ]

    def created(self, phase: str, number: int, code: dict[str, str]) -> list[Turn]:
        folder = f"{HOME}/{phase}"
        turns = []
        if phase in READ:
            turns.append(self.host.read(f"{HOME}/{READ[phase]}"))
        if number > 1:
            turns.append(self.host.edit(f"{folder}/answers.md", f"> {FINDING}\n\nIt is revoked: see R2.\n"))
            more = "R2. A lost key is revoked.\n"
            return [
                *turns,
                *self.host.change(f"{folder}/requirements.md", "door.\n", f"door.\n{more}"),
                say("Answered."),
            ]
        for name, text in DOCUMENTS[phase].items():
            turns.append(self.host.edit(f"{folder}/{name}", text))
        turns += [self.host.edit(path, text) for path, text in code.items()]
        return [
            *turns,
            say(f"I wrote the documents and these files: {', '.join(code) or 'no code'}. No secrets found."),
        ]

    def reviewed(self, phase: str, review: str, *, revised: bool) -> list[Turn]:
        findings = f"- **[MAJOR]** {FINDING}" if revised else "None."
        decision = "NEEDS_REVISION" if revised else "APPROVED"
        text = f"# Review\n\n## Decision: {decision}\n\n## Findings\n\n{findings}\n"
        document = next(iter(DOCUMENTS[phase]))
        return [
            self.host.read(f"{HOME}/{phase}/{document}"),
            self.host.edit(review, text),
            say(f"{decision}: {findings}"),
        ]


class WholeFeature:
    host: type[Host]

    @pytest.fixture(scope="class")
    @classmethod
    def feature(cls, tmp_path_factory: pytest.TempPathFactory, holdfast: Path, clients: Path) -> Iterator[Feature]:
        with Scene(tmp_path_factory.mktemp("feature"), holdfast, clients) as scene:
            host = cls.host(scene)
            host.settle()
            scene.sh("git", "config", "user.name", "tester")
            scene.sh("git", "config", "user.email", "t@example.org")
            scene.holdfast("feature", "init")
            for name in ("requirements.md", "architecture.md", "user-guide.md", "api-reference.md", "features.md"):
                (scene.project / "docs" / name).unlink()
            scene.write("Makefile", MAKEFILE)
            scene.holdfast("install", host.name)
            scene.commit("Begin")
            feature = Feature(host)
            feature.play()
            yield feature

    def test_the_docs_of_the_feature_are_published_and_its_workspace_is_gone(self, feature: Feature) -> None:
        project = feature.scene.project
        assert "R2. A lost key is revoked." in (project / "docs/requirements.md").read_text()
        assert "Hold the key" in (project / "docs/user-guide.md").read_text()
        assert not (project / HOME).exists()
        assert (project / "keys.py").exists()
        assert (project / "test_keys.py").exists()
        committed = feature.scene.sh("git", "log", "--format=%s")
        assert committed.count("Approved by a person") == 5
        assert "Review 1 asks for a revision" in committed

    def test_agents_used_only_what_they_were_told(self, feature: Feature) -> None:
        turns = [one for run in feature.runs for one in run.turns]
        wrong = [(one["answer"], said) for one in turns if (said := untold(one, SLUG, str(feature.scene.project)))]
        assert not wrong, wrong
        assert sum("call" in one["answer"] for one in turns) > 60

    def test_each_subagent_read_the_prompt_of_its_role(self, feature: Feature) -> None:
        prompts = [one.text for run in feature.runs for one in run.turns]
        for phase in PHASES:
            for role in ("creator", "reviewer"):
                assert any(f"You are the {role} of the phase {phase} " in text for text in prompts), (role, phase)


def test_what_nobody_told_is_found() -> None:
    told = Told("Run `holdfast done PHASE -m TEXT` in workflow/SLUG/01-a/ of x: 01-a", "x", "/p")
    assert told.missing(["holdfast", "done", "01-a", "-m", "anything at all"]) == []
    assert told.missing(["holdfast", "done", "02-b", "--force"]) == ["02-b", "--force"]
    assert told.missing(["holdfast", "approve"]) == ["holdfast approve"]
    assert told.has("/p/workflow/x/01-a/")
    assert not told.has("workflow/y/01-a/")


class TestClaudeCode(WholeFeature):
    host = ClaudeCode


class TestOpencode(WholeFeature):
    host = Opencode
