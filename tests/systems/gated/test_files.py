"""The documents of a feature in a real repository: what an edit by hand may say, and what is put right."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.core import answers, queries
from holdfast.core import commands as cmd
from holdfast.core.packet import packet
from holdfast.core.state import State
from holdfast.plain.terminal import Style
from holdfast.project.workflow import Workflow
from holdfast.surfaces import render, tools
from holdfast.systems.gated import words
from tests.phases import MAKEFILE, write_all
from tests.systems.gated.test_document import DATA, detail, example, invalid
from tests.workbench import Bench

ONE, TWO, _, _, FIVE = words.PHASES
WORDS = (words.PENDING, words.IN_PROGRESS, words.IN_REVIEW, words.USER_REVIEW, words.APPROVED, words.ESCALATED)
WHOLE = ("in_progress", "completed", "finalized", "escalated", "cancelled", "abandoned")


class Account:
    """One feature and its files. Every look is that of a new process."""

    def __init__(self, bench: Bench, id: str = "dark-mode") -> None:
        self.bench = bench
        self.home = bench.root / "workflow" / id
        self.path = self.home / words.DOCUMENT

    def look(self, kind: str = "agent") -> Workflow:
        return self.bench.open(kind).workflow(self.home.name)

    @property
    def state(self) -> State:
        return self.look().state

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.path.read_bytes())

    def status_file(self, phase: str = ONE) -> Path:
        return self.home / phase / words.STATUS_FILE

    def status(self, phase: str = ONE) -> dict[str, Any]:
        return json.loads(self.status_file(phase).read_bytes())

    def word(self, phase: str) -> str:
        return str(words.PHASE.encode(self.state.step(phase).status))

    def edit(self, change: Callable[[dict[str, Any]], Any]) -> bytes:
        """What was written, by somebody who reads the document, changes it and writes it back."""
        document = self.document
        change(document)
        self.path.write_text(json.dumps(document))
        return self.path.read_bytes()

    def set(self, phase: str, word: str) -> bytes:
        return self.edit(lambda document: document["phases"][phase].update(status=word))

    def alerts(self) -> list[str]:
        return [alert.code for alert in self.state.alerts]

    def quarantined(self) -> list[bytes]:
        folder = self.bench.root / ".holdfast/quarantine"
        return [path.read_bytes() for path in sorted(folder.glob("*")) if path.suffix != ".reason"]

    def do(self, *commands: cmd.Command, by: str = "agent") -> Account:
        for command in commands:
            self.look(by).execute(command)
        return self

    def sent_back(self, times: int) -> Account:
        for number in range(times):
            self.do(cmd.Done(ONE, unchanged="as it was"), cmd.Review(ONE, "needs_revision", f"round {number + 1}"))
        return self

    def approved(self, *phases: str) -> Account:
        for phase in phases:
            self.do(cmd.Begin(phase)).look("agent").done(phase)
            self.do(cmd.Review(phase, "approved"))
            self.do(cmd.Approve(phase), by="human")
        return self

    def at(self, word: str) -> str:
        """Brings a phase to a word; which one."""
        if word == words.PENDING:
            self.approved(ONE)
            return TWO
        if word == words.ESCALATED:
            self.sent_back(4)
        if word in (words.IN_REVIEW, words.USER_REVIEW):
            self.do(cmd.Done(ONE))
        if word == words.USER_REVIEW:
            self.do(cmd.Review(ONE, "approved"))
        if word == words.APPROVED:
            self.approved(ONE)
        return ONE


def said(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "updated_at"}


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


@pytest.fixture
def account(bench):
    bench.write("Makefile", MAKEFILE)
    bench.save("tests")
    bench.start("feature", "Dark mode")
    write_all(bench.write, "workflow/dark-mode")
    bench.save("the documents")
    return Account(bench)


# Edits of workflow-state.json


@pytest.mark.parametrize(
    ("before", "after"), [(words.PENDING, words.IN_PROGRESS), (words.IN_PROGRESS, words.IN_REVIEW)]
)
def test_by_hand_a_phase_begins_and_is_handed_in(account, before, after):
    phase = account.at(before)
    assert account.word(phase) == before
    account.set(phase, after)
    assert account.word(phase) == after
    assert account.alerts() == []
    assert (account.document["phases"][phase]["status"], account.status(phase)["status"]) == (after, after)
    assert account.document["phases"][phase]["iterations"] == (1 if after == words.IN_REVIEW else 0)


def test_what_is_handed_in_by_hand_is_what_the_command_hands_in(account):
    account.set(ONE, words.IN_REVIEW)
    by_hand = account.bench.open().workflow(account.home.name).state.step(ONE).artifacts
    assert by_hand["features"].path == f"workflow/{account.home.name}/00-feature/features.md"


@pytest.mark.parametrize("before", WORDS)
def test_by_hand_no_phase_moves_otherwise(account, before):
    phase = account.at(before)
    assert account.word(phase) == before
    document, status = account.document, account.status(ONE)
    taken = {words.PENDING: (words.IN_PROGRESS,), words.IN_PROGRESS: (words.IN_REVIEW,)}.get(before, ())
    earlier = set() if before == words.PENDING else set(WORDS[1 : WORDS.index(before)])
    for after in (word for word in (*WORDS, "nearly") if word not in (before, *taken)):
        copies = len(account.quarantined())
        written = account.set(phase, after)
        assert account.word(phase) == before, after
        assert said(account.document) == said(document)
        assert account.status(ONE) == status
        if after not in earlier:  # what the document said a moment ago may be a slow editor's, who accuses nobody
            forged = after == words.APPROVED
            assert account.alerts()[-1] == ("edit_forged" if forged else "edit_refused")
            assert account.quarantined()[copies:] == [written]


@pytest.mark.parametrize("after", [words.USER_REVIEW, words.APPROVED])
def test_an_edit_that_was_committed_is_decided_like_any_other(account, after):
    account.edit(lambda document: document["phases"][ONE].update(status=after, iterations=1))
    account.bench.save("wip")
    assert account.word(ONE) == words.IN_PROGRESS
    assert account.alerts() == ["edit_forged" if after == words.APPROVED else "edit_refused"]


@pytest.mark.parametrize("key", ["workspace", "pr_number", "last_reviewed_at", "slug", "seeded"])
def test_what_only_holdfast_sets_is_not_set_by_hand(account, key):
    answer = account.bench.agent("set", f"{key}=1", "--json")
    assert (answer.code, answer.error["code"]) == (2, "reserved_key")
    started = account.bench.agent("start", "feature", "Another one", "--set", f"{key}=deleted", "--json")
    assert key == "slug" or started.error["code"] == "reserved_key"


def test_an_edit_hands_in_the_diagrams_of_a_phase_too(account):
    diagram = account.home / ONE / "diagrams/flow.svg"
    diagram.parent.mkdir(parents=True, exist_ok=True)
    diagram.write_text("<svg/>")
    account.set(ONE, words.IN_REVIEW)
    paths = [artifact.path for artifact in account.state.step(ONE).artifacts.values()]
    assert str(diagram.relative_to(account.bench.root)) in paths


def test_of_phases_that_begin_by_one_edit_only_the_first_does(account):
    account.approved(ONE)
    account.edit(
        lambda document: [document["phases"][phase].update(status="in_progress") for phase in words.PHASES[1:]]
    )
    assert [account.word(phase) for phase in words.PHASES] == ["approved", "in_progress", *["pending"] * 3]
    assert account.alerts() == ["edit_partly_refused"]


def test_a_phase_that_is_handed_in_does_not_take_the_next_one_with_it(account):
    def change(document: dict[str, Any]) -> None:
        document["phases"][ONE]["status"] = "in_review"
        document["phases"][TWO]["status"] = "in_progress"

    account.edit(change)
    assert [account.word(phase) for phase in (ONE, TWO)] == ["in_review", "pending"]
    assert account.alerts() == ["edit_partly_refused"]


@pytest.mark.parametrize(
    "forge",
    [
        lambda d: d.update(feature="other"),
        lambda d: d.update(branch="main"),
        lambda d: d.update(escalations=[{"phase": ONE}]),
        lambda d: d.update(pr_number=7),
        lambda d: d.update(last_reviewed_at="2030-01-01T00:00:00Z"),
        lambda d: d["phases"][ONE].update(iterations=3),
        lambda d: d["phases"][ONE].update(escalation_reason="x"),
        lambda d: d["phases"].pop(TWO),
        lambda d: d.pop("phases"),
        lambda d: d.update(phases=[]),
    ],
)
def test_what_only_commands_say_is_not_taken_from_an_edit(account, forge):
    document = account.document
    account.edit(forge)
    assert account.alerts() == ["edit_refused"]
    assert said(account.document) == said(document)


def test_what_nobody_knows_is_taken_into_the_document_and_stays(account):
    account.edit(lambda document: document.update(owner="ada"))
    account.do(cmd.Done(ONE))
    assert account.document["owner"] == "ada"
    assert account.alerts() == []


def test_a_torn_document_is_restored_and_a_deleted_one_written_again(account):
    document = account.document
    account.path.write_bytes(b'{"feature": "dark-m')
    then = time.time() - 5
    os.utime(account.path, (then, then))
    assert account.alerts() == ["document_damaged"]
    assert said(account.document) == said(document)
    account.path.unlink()
    assert account.word(ONE) == "in_progress"
    assert said(account.document) == said(document)


# The whole, by hand


def whole(account: Account, word: str) -> None:
    match word:
        case "completed":
            account.approved(*words.PHASES)
        case "escalated":
            account.sent_back(4)
        case "cancelled":
            account.do(cmd.Cancel("enough"))


def the_word(account: Account) -> str:
    """Of a feature that is over, too, which nobody looks after without being asked."""
    return words.WORKFLOW_WORDS[queries.status(account.look().refresh().state)]


@pytest.mark.parametrize(
    ("before", "after", "told"), [("in_progress", "cancelled", []), ("cancelled", "in_progress", ["document_returned"])]
)
def test_by_hand_a_feature_is_given_up_and_taken_up_again(account, before, after, told):
    whole(account, before)
    account.edit(lambda document: document.update(status=after))
    assert the_word(account) == after
    assert account.document["status"] == after
    assert account.alerts() == told


def test_a_reason_that_is_written_with_it_is_kept(account):
    account.edit(lambda document: document.update(status="abandoned", cancelled_reason="another way"))
    state = account.state
    assert state.cancelled is not None
    assert state.cancelled.reason == "another way"


@pytest.mark.parametrize("before", ["in_progress", "escalated", "cancelled", "completed"])
def test_by_hand_the_whole_changes_no_other_way(account, before):
    whole(account, before)
    taken = {
        "in_progress": ("cancelled", "abandoned"),
        "escalated": ("cancelled", "abandoned"),
        "cancelled": ("in_progress", "abandoned"),
    }.get(before, ())
    for after in (word for word in (*WHOLE, "nearly") if word not in (before, *taken)):
        account.edit(lambda document, after=after: document.update(status=after))
        assert the_word(account) == before, after
        assert account.alerts()[-1] == "edit_refused"
        assert account.document["status"] == before


# status.json

TOUCHED: list[Callable[[dict[str, Any]], Any]] = [
    lambda d: d.update(status="approved"),
    lambda d: d.update(iterations=4),
    lambda d: d.update(current_feedback="all is well"),
    lambda d: d["history"].append({"iteration": 1, "action": "created", "timestamp": "2026-01-01T00:00:00Z"}),
    lambda d: d.update(mine=1),
    lambda d: d.pop("phase"),
]


@pytest.mark.parametrize("touch", TOUCHED)
def test_a_status_that_says_something_else_is_rewritten_and_a_copy_kept(account, touch):
    before = account.status_file().read_bytes()
    status = account.status()
    touch(status)
    account.status_file().write_text(json.dumps(status))
    written = account.status_file().read_bytes()
    state = account.state
    assert account.status_file().read_bytes() == before
    (alert,) = state.alerts
    assert (alert.code, alert.path) == ("status_rewritten", f"workflow/dark-mode/{ONE}/status.json")
    assert (account.bench.root / alert.kept).read_bytes() == written
    assert account.quarantined() == [written]
    assert account.word(ONE) == "in_progress"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
def test_a_status_that_cannot_be_read_is_rewritten(account, data):
    before = account.status_file().read_bytes()
    account.status_file().write_bytes(data)
    assert account.alerts() == ["status_rewritten"]
    assert account.status_file().read_bytes() == before
    assert account.quarantined() == [data]


def test_a_status_that_was_deleted_is_written_again(account):
    before = account.status_file().read_bytes()
    account.status_file().unlink()
    assert account.alerts() == ["status_rewritten"]
    assert account.status_file().read_bytes() == before
    shutil.rmtree(account.home / ONE)
    assert account.alerts() == ["status_rewritten", "status_rewritten"]
    assert account.status_file().read_bytes() == before
    assert account.quarantined() == []


def test_a_status_that_says_the_same_in_another_form_is_left_alone(account):
    account.status_file().write_text(json.dumps(account.status(), indent=8))
    form = account.status_file().read_bytes()
    assert account.alerts() == []
    assert account.status_file().read_bytes() == form


def test_it_is_put_right_by_the_next_command_and_not_taken_for_the_work(account):
    status = {**account.status(), "status": "user_review", "iterations": 4}
    account.status_file().write_text(json.dumps(status))
    account.bench.ok("done", "1")
    assert (account.word(ONE), account.status()["status"], account.status()["iterations"]) == (
        "in_review",
        "in_review",
        1,
    )
    assert account.alerts() == ["status_rewritten"]


def test_both_files_always_say_the_same(account):
    turns: list[tuple[cmd.Command, str]] = [
        (cmd.Done(ONE), "agent"),
        (cmd.Review(ONE, "needs_revision", "shorter"), "agent"),
        (cmd.Fail(ONE, "died"), "agent"),
        (cmd.Done(ONE, unchanged="as it was"), "agent"),
        (cmd.Review(ONE, "approved"), "agent"),
        (cmd.Reject(ONE, "with numbers"), "human"),
        (cmd.Reset(ONE), "human"),
    ]
    for command, by in turns:
        account.do(command, by=by)
        document, status = account.document["phases"][ONE], account.status()
        for name in ("status", "iterations", "started_at", "completed_at", "escalation_reason"):
            assert status[name] == document[name], command
        assert invalid(account.document) == []
        assert invalid(status, "gated-status") == []
    assert account.alerts() == []


def test_on_another_branch_nothing_is_written_and_nothing_said(account):
    bench = account.bench
    assert bench.branch == "feature/dark-mode"
    bench.git("switch", "-q", "main")
    assert not account.home.exists()
    assert account.word(ONE) == "in_progress"
    assert not account.home.exists()
    account.status_file().parent.mkdir(parents=True)
    account.status_file().write_text("{}")
    assert account.alerts() == []
    assert account.status_file().read_text() == "{}"
    shutil.rmtree(account.home)
    bench.git("switch", "-q", "feature/dark-mode")
    assert account.alerts() == []
    assert account.status()["status"] == "in_progress"


def test_a_feature_that_is_over_leaves_its_files_to_whoever_wants_them(account):
    account.do(cmd.Cancel("enough"))
    account.status_file().write_text("{}")
    assert account.alerts() == []
    assert account.status_file().read_text() == "{}"


# Features from before Holdfast came


@pytest.fixture
def found(bench):
    """The files of the convention, on the branch they belong to."""

    def found(document: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> Account:
        bench.git("switch", "-q", "-c", "feature/feature-slug")
        account = Account(bench, "feature-slug")
        account.status_file().parent.mkdir(parents=True)
        account.path.write_text(json.dumps(document or example(), indent=2))
        account.status_file().write_text(json.dumps(status or detail(status="user_review"), indent=2))
        return account

    return found


def test_a_feature_of_the_convention_is_adopted_by_the_first_command_and_says_the_same(found):
    account = found()
    status = json.loads(account.bench.ok("status", "--json").out)
    assert (status["workflow_id"], status["title"]) == ("feature-slug", "Human Readable Title")
    assert json.dumps(account.document) == json.dumps(example())
    assert json.dumps(account.status()) == json.dumps(detail(status="user_review"))
    assert account.alerts() == []


def test_an_adopted_feature_goes_on_in_both_files(found):
    account = found({"owner": "ada", **example()}, {"mine": 1, **detail(status="user_review")})
    write_all(account.bench.write, "workflow/feature-slug")
    account.do(cmd.Approve(ONE), by="human").do(cmd.Begin(TWO))
    document = account.document
    assert list(document) == ["owner", *example()]
    assert [document["phases"][phase]["status"] for phase in (ONE, TWO)] == ["approved", "in_progress"]
    assert (account.status()["mine"], account.status()["status"]) == (1, "approved")
    assert account.status(TWO)["status"] == "in_progress"
    assert invalid(document) == []


def test_a_feature_that_was_abandoned_is_cancelled_and_keeps_its_word(found):
    account = found({**example(), "status": "abandoned"})
    account.bench.ok("adopt")
    assert queries.status(account.state) == "cancelled"
    assert account.document["status"] == "abandoned"
    account.do(cmd.Resume())
    assert account.document["status"] == "in_progress"


def test_a_status_that_differs_from_the_document_is_said_when_the_feature_is_adopted(found):
    account = found(status=detail(status="approved"))
    account.do(cmd.Note("a remark"))
    assert account.alerts() == ["status_rewritten"]
    assert account.status()["status"] == "user_review"


def test_a_document_that_breaks_a_rule_is_not_adopted_and_stays(found):
    account = found({**example(), "current_phase": "06-more"})
    written = account.path.read_bytes()
    answer = account.bench.agent("adopt")
    assert answer.code != 0
    assert "current_phase" in answer.err
    assert account.path.read_bytes() == written


@pytest.mark.parametrize("name", ["gated", "gated-status"])
def test_the_schemas_are_printed(bench, name):
    assert json.loads(bench.ok("schema", name).out)["$id"] == f"urn:holdfast:schema:{name}"


def test_the_examples_are_files_of_the_convention():
    assert sorted(path.name for path in DATA.glob("*.json")) == ["status.json", "workflow-state.json"]


# What a review needs


def test_in_review_every_reader_learns_which_file_the_reviewer_writes(account):
    account.at(words.IN_REVIEW)
    brief, file = account.look().briefing(), "workflow/dark-mode/01-requirements/reviews/review-1.md"
    asked = tools.call(account.bench.open(), "get_next_step", {"workflow_id": "dark-mode"})
    printed = answers.next_step(brief)
    assert brief.turn == "reviewer"
    assert printed["required_action"].startswith(f"once it is written: holdfast review {ONE}")
    for text in (
        *(asked["blocking_reason"], printed["blocking_reason"]),
        *(" ".join(said.split()) for said in (render.next_step(brief, Style(False)), packet(brief))),
    ):
        assert f"{file}, with the line '## Decision: APPROVED' or '## Decision: NEEDS_REVISION'" in text
    assert file in asked["blocking_reason"]
