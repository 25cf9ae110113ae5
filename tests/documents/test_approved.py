"""Copies of what people approved."""

from __future__ import annotations

import os
import stat

import pytest

from holdfast.core import commands as cmd
from holdfast.documents import approved
from holdfast.errors import Conflict
from tests.workbench import Bench

PLAN = {"name": "plain", "step": [{"id": "one", "outputs": ["text"], "approval": {"by": "relayed"}}, {"id": "two"}]}


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path / "project")


def waiting(bench: Bench, text: str | bytes = "as it was\n"):
    """A workflow whose first step waits, and the file that it is about."""
    file = bench.root / "text.md"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    workflow = bench.open().start(PLAN)
    return workflow.begin("one").done("one", {"text": str(file)}), file


def test_what_is_approved_can_be_read_again_after_it_changed(bench):
    workflow, file = waiting(bench)
    workflow.approve("one")
    hashed = workflow.state.step("one").grant.hashes["text"]
    file.write_text("as it is now\n")
    assert approved.copy(bench.open().wired.place, workflow.ulid, hashed) == b"as it was\n"
    kept = bench.root / ".holdfast" / "approved" / f"{workflow.ulid}-{hashed}"
    assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(kept.parent).st_mode) == 0o700


def test_what_is_only_handed_in_is_not_kept_and_what_is_sent_back_is(bench):
    """Who sent it back is shown what changed since."""
    workflow, _ = waiting(bench)
    assert not (bench.root / ".holdfast" / "approved").exists()
    hashed = workflow.state.step("one").artifacts["text"].hash
    workflow.reject("one", "no")
    assert approved.copy(bench.open().wired.place, workflow.ulid, hashed) is not None


def test_a_large_file_is_approved_without_a_copy(bench):
    workflow, _ = waiting(bench, b"x" * (approved.LARGEST + 1))
    workflow.approve("one")
    assert not (bench.root / ".holdfast" / "approved").exists()


def test_a_copy_that_somebody_changed_is_none(bench):
    workflow, _ = waiting(bench)
    workflow.approve("one")
    hashed = workflow.state.step("one").grant.hashes["text"]
    (bench.root / ".holdfast" / "approved" / f"{workflow.ulid}-{hashed}").write_text("forged\n")
    assert approved.copy(bench.open().wired.place, workflow.ulid, hashed) is None
    assert approved.copy(bench.open().wired.place, workflow.ulid, "../index") is None


def test_only_the_newest_copies_stay(bench, monkeypatch):
    monkeypatch.setattr(approved, "KEPT", 3)
    for number in range(5):
        workflow, _ = waiting(bench, f"text {number}\n")
        workflow.approve("one")
        workflow.cancel()
    kept = {path.read_text() for path in (bench.root / ".holdfast" / "approved").iterdir()}
    assert kept == {"text 2\n", "text 3\n", "text 4\n"}


def test_an_approval_stands_where_no_copy_can_be_made(bench):
    workflow, _ = waiting(bench)
    (bench.root / ".holdfast" / "approved").write_text("in the way")
    workflow.approve("one")
    assert workflow.state.step("one").status == "done"


def test_an_approval_of_something_else_than_was_shown_is_refused(bench):
    workflow, file = waiting(bench)
    shown = {"text": workflow.state.step("one").artifacts["text"].hash}
    file.write_text("something else\n")
    with pytest.raises(Conflict) as refused:
        workflow.execute(cmd.Approve("one", shown=shown))
    assert refused.value.code == "changed_meanwhile"
    assert workflow.refresh().state.step("one").status == "waiting"
    file.write_text("as it was\n")
    workflow.execute(cmd.Approve("one", shown=shown))
    assert workflow.state.step("one").status == "done"
