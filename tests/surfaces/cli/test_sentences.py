"""Sentences of refusals that people read at the start: each says what is wrong and what to type."""

from __future__ import annotations

import subprocess

import pytest


@pytest.fixture
def cloned(empty):
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=empty.root, check=True)
    return empty


@pytest.mark.parametrize(
    ("words", "said", "way"),
    [
        (("start", "tdd"), "tdd needs a task", 'holdfast start tdd "TEXT"'),
        (("start", "feature"), "the title is missing (one line, 5 to 500 characters)", "holdfast start feature"),
        (("start", "custom", "x"), "custom needs phases", "holdfast start custom x --phases PHASES"),
        (("start", "feature", ""), "the subject has no text", "write some text"),
        (("list", "--limit", "0"), "'0' is not a whole number from 1 to 100000", "write a number from 1 to 100000"),
        (("-w", "x"), "no command is given, only options", "holdfast status -w x"),
        (("start", "dev", "nope.md"), "there is no file 'nope.md'", "git ls-files"),
        (("start", ""), "WORKFLOW is empty", "holdfast start --help"),
        (("trust", ".holdfast/config.toml"), "only a person may trust the commands of .holdfast/config.toml", ""),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_to_type(cloned, words, said, way):
    answer = cloned.agent(*words, "--json")
    assert said in answer.error["message"]
    assert way in answer.error["remedy"]


def test_outside_of_git_what_needs_it_says_so(empty):
    assert empty.agent("start", "tdd", "x", "--json").error["message"] == "tdd needs a git repository"


def test_a_signal_is_refused_where_there_is_none(project):
    assert "it works only for dev workflows" in project.agent("signal").err


def test_a_fresh_start_says_that_the_previous_run_was_cancelled(project):
    before = project.opened().workflow().id
    assert f"the previous run {before} was cancelled" in project.ok("start", "release", "1.4.0", "--fresh").out


def test_a_question_that_is_answered_with_no_says_so(project):
    answer = project.person("extend", "--cost", "5", says="n")
    assert "not confirmed; nothing was changed" in answer.out
