"""A blocked task: its steps are refused, and what a person blocked an agent does not unblock."""

from __future__ import annotations

import pytest

from tests.workbench import LOGIN, Bench

TASK = "task_execution/1"


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path / "project").begun()
    made.write("package.json", '{"scripts": {"test": "node --test"}}')
    made.saved_feature(LOGIN, "One", "Two")
    made.ok("start", "dev", LOGIN)
    return made


def test_a_step_of_a_blocked_task_is_refused_with_the_reason(bench):
    bench.ok("block", TASK, "--reason", "the API is not there")
    for words in (("done", "--test", "x"), ("done", f"{TASK}/red"), ("check", "test_fails")):
        refused = bench.agent(*words)
        assert refused.code == 3, refused
        assert f"{TASK}, which is blocked: the API is not there" in refused.err
        assert f"holdfast unblock {TASK}" in refused.err
    assert f"{TASK} is blocked: the API is not there" in " ".join(bench.ok("next").out.split())
    bench.ok("unblock", TASK)
    assert "blocked" not in bench.ok("next").out


@pytest.mark.parametrize("words", ["unblock {}", "resume", "resume --from {}", "reopen load_feature"])
def test_what_a_person_blocked_only_a_person_unblocks(bench, words):
    assert bench.person("block", TASK, "--reason", "wait for me").code == 0
    refused = bench.agent(*words.format(TASK).split())
    assert refused.code == 3, refused
    assert bench.open().workflow().state.step(TASK).status == "blocked"
    assert bench.agent("done").code == 3
    assert bench.person("unblock", TASK, says="y").code == 0
    assert bench.open().workflow().state.step(TASK).status == "active"
    bench.ok("block", TASK, "--reason", "mine")
    bench.ok("unblock", TASK)
