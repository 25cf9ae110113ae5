"""Bad input: the right exit code, one sentence and a remedy, no traceback, and not a byte of difference on disk."""

from __future__ import annotations

import os

import pytest

HUGE = "x" * 100_000

BAD = [
    # words, exit code, error code
    (("begin", "nope"), 4, "no_step"),
    (("begin", "99"), 4, "no_step"),
    (("begin", "0"), 4, "no_step"),
    (("begin", "-1"), 4, "no_step"),
    (("begin", "../draft"), 4, "no_step"),
    (("begin", ""), 2, "bad_usage"),
    (("start", ""), 2, "bad_usage"),
    (("approve", ""), 2, "bad_usage"),
    (("begin", HUGE), 2, "too_long"),
    (("begin",), 2, "bad_usage"),
    (("begin", "draft", "extra"), 2, "bad_usage"),
    (("begin", "draft", "--nope"), 2, "bad_usage"),
    (("begin", "draft", "-w", "a", "--workflow=b"), 2, "bad_usage"),
    (("check", "tests", "--test", "a", "--test", "a"), 2, "bad_usage"),
    (("begin", "verify"), 3, "step_blocked"),
    (("begin", "draft", "-w", "../../etc"), 2, "bad_name"),
    (("begin", "draft", "-w", "nope"), 4, "no_workflow"),
    (("begin", "draft", "-w", HUGE), 2, "bad_name"),
    (("begin", "draft", "-w"), 2, "bad_usage"),
    (("begin", "draft", "--token", "1e9"), 2, "bad_lease_token"),
    (("begin", "draft", "--token", "-1"), 2, "bad_lease_token"),
    (("begin", "draft", "--token", "0"), 2, "bad_lease_token"),
    (("begin", "draft", "--token", "7-00000000000000000000000000000000"), 5, "fenced"),
    (("begin", "draft", "--key", "a b"), 2, "bad_name"),
    (("begin", "draft", "--as", "../x"), 2, "bad_name"),
    (("begin", "draft", "--as", "rôle"), 2, "bad_name"),
    (("done", "draft"), 3, "wrong_status"),
    (("done", "draft", "--artifact", "draft"), 2, "bad_pair"),
    (("done", "draft", "--artifact", "draft="), 2, "bad_pair"),
    (("done", "draft", "--artifact", "../x=check.py"), 2, "bad_name"),
    (("done", "draft", "--artifact", "draft=../outside.md"), 2, "outside_root"),
    (("done", "draft", "--artifact", "draft=/etc/passwd"), 2, "outside_root"),
    (("done", "draft", "--artifact", "draft=link.md"), 2, "outside_root"),
    (("done", "draft", "--artifact", "draft=linked/passwd"), 2, "outside_root"),
    (("done", "draft", "--artifact", "draft=a\nb"), 2, "outside_root"),
    (("done", "draft", "--artifact", "draft=."), 2, "outside_root"),
    (("attach", "draft", "--artifact", "draft=" + HUGE), 2, "bad_path"),
    (("attach", "draft"), 2, "bad_usage"),
    (("fail", "draft"), 2, "bad_usage"),
    (("fail", "draft", "--reason", HUGE), 2, "bad_text"),
    (("fail", "draft", "--reason", ""), 2, "bad_text"),
    (("fail", "draft", "--reason", "--json"), 2, "bad_usage"),
    (("skip", "draft", "--reason", HUGE), 2, "bad_text"),
    (("unblock", "draft", "--guidance", HUGE), 2, "bad_text"),
    (("agent", "end", "1", "--outcome", HUGE), 2, "bad_text"),
    (("note", HUGE), 2, "bad_text"),
    (("note", "   "), 2, "bad_text"),
    (("note", "two", "words"), 2, "bad_usage"),
    (("set", "a"), 2, "bad_pair"),
    (("set", "=1"), 2, "bad_pair"),
    (("set", "a b=1"), 2, "bad_pair"),
    (("set", "a=" + HUGE), 2, "bad_text"),
    (("set", *(f"k{n}={'y' * 16_000}" for n in range(5))), 2, "bad_text"),
    (("set",), 2, "bad_usage"),
    (("check", "nope", "--passed"), 4, "no_check"),
    (("check", "tests", "--passed", "--failed"), 2, "bad_usage"),
    (("review", "draft", "--verdict", "maybe"), 2, "bad_usage"),
    (("review", "draft", "--verdict", "approved"), 3, "wrong_status"),
    (("approve", "draft"), 3, "no_gate"),
    (("approve", "sign-off", "--sign", "a", "--signature", "b"), 2, "bad_usage"),
    (("approve", "sign-off", "--signature", "gone"), 4, "no_file"),
    (("reject", "draft"), 3, "wrong_status"),
    (("reject", "sign-off"), 3, "step_blocked"),
    (("extend",), 2, "bad_number"),
    (("extend", "--cost", "0"), 2, "bad_number"),
    (("extend", "--cost", "-1"), 2, "bad_number"),
    (("extend", "--cost", "1e9"), 2, "bad_number"),
    (("extend", "--cost", "NaN"), 2, "bad_number"),
    (("extend", "--time", "soon"), 2, "bad_number"),
    (("extend", "--iterations", "1e9"), 2, "bad_number"),
    (("restore", "-1"), 2, "bad_number"),
    (("restore", "0"), 2, "bad_number"),
    (("restore", "1e9"), 2, "bad_number"),
    (("restore", "7"), 4, "no_snapshot"),
    (("snapshot", "--label", HUGE), 2, "bad_text"),
    (("resume", "--from", "publish"), 3, "step_blocked"),
    (("log", "--limit", "0"), 2, "bad_number"),
    (("log", "--after", "-1"), 2, "bad_number"),
    (("log", "--limit", "²"), 2, "bad_number"),
    (("agent", "start", "a b"), 2, "bad_name"),
    (("agent", "start", "w", "--ttl", "9d"), 2, "bad_number"),
    (("agent", "start", "w", "--step", "nope"), 4, "no_step"),
    (("agent", "beat", "x"), 2, "bad_number"),
    (("agent", "beat"), 4, "no_lease"),
    (("agent", "spend", "0"), 2, "bad_number"),
    (("agent", "spend", "-1"), 2, "bad_number"),
    (("agent", "spend", "1e9"), 2, "bad_number"),
    (("agent",), 2, "no_command"),
    (("agent", "nope"), 2, "no_command"),
    (("task", "add", HUGE), 2, "bad_text"),
    (("task", "add", "x", "--id", "../x"), 2, "bad_name"),
    (("task", "add", "x", "--under", "nope"), 4, "no_step"),
    (("task", "start", "1"), 4, "no_task"),
    (("task", "done", "1", "--commit", "HEAD; rm"), 2, "bad_commit"),
    (("amend", "nope"), 4, "no_step"),
    (("amend", "--add", "draft"), 2, "bad_definition"),
    (("amend", "--add", "x", "--after", "nope"), 4, "no_step"),
    (("start", "nope"), 4, "no_definition"),
    (("start", "../../etc/passwd"), 4, "no_definition"),
    (("start", "release", HUGE), 2, "bad_text"),
    (("start", "release", "x", "--title", HUGE), 2, "bad_text"),
    (("start", "release", "x", "--session", "../s"), 2, "bad_name"),
    (("start", "release", "x", "--key", "../k"), 2, "bad_name"),
    (("start", "release", "x", "--set", "a"), 2, "bad_pair"),
    (("start", "release", "1.4.0"), 3, "already_active"),
    (("workflows", "check", "gone.toml"), 4, "no_file"),
    (("workflows", "new", "../x"), 2, "bad_name"),
    (("adopt", "../x"), 2, "outside_root"),
    (("schema", "../x"), 2, "bad_name"),
    (("completion", "tcsh"), 2, "bad_usage"),
    (("stauts",), 2, "no_command"),
    (("status", "--jsno"), 2, "bad_usage"),
    (("status", "--json=yes"), 2, "bad_usage"),
]


def damage(project):
    """Ways out of the project that a path could take."""
    (project.root.parent / "outside.md").write_text("outside")
    os.symlink("/etc/passwd", project.root / "link.md")
    os.symlink("/etc", project.root / "linked")
    return project


@pytest.mark.parametrize(
    ("words", "exit_code", "code"), BAD, ids=[" ".join(w[:30] for w in words).replace("\n", "|") for words, *_ in BAD]
)
def test_bad_input_is_refused_and_changes_nothing(project, words, exit_code, code):
    before = damage(project).fingerprint()
    answer = project.agent(*words, "--json")
    assert (answer.code, answer.error["code"]) == (exit_code, code), answer
    assert answer.error["message"]
    assert answer.error["remedy"]
    assert len(answer.out) < 20_000
    assert project.fingerprint() == before


@pytest.mark.parametrize(
    "words",
    [("note", b"caf\xe9"), ("begin", b"\xff"), ("start", "release", b"\x80"), (b"\xfe",), ("-w", b"\xfe", "status")],
)
def test_arguments_that_are_not_utf8_are_refused(project, words):
    before = project.fingerprint()
    answer = project.agent(*words, "--json")
    assert (answer.code, answer.error["code"]) == (2, "bad_encoding")
    assert project.agent(*words).code == 2
    assert project.fingerprint() == before


def test_an_error_is_a_sentence_and_a_remedy_on_standard_error(project):
    answer = project.agent("begin", "nope")
    assert answer.out == ""
    name = project.ok("status", "--json").json["workflow_id"]
    assert answer.err == f"there is no step 'nope' in {name}\n→ holdfast status\n"


def test_a_mistyped_command_or_option_is_answered_with_the_nearest(project):
    assert "did you mean 'status'?" in project.agent("statsu").err
    assert "did you mean --json?" in project.agent("status", "--jsno").err
    assert "start, beat, end, spend, list" in project.agent("agent").err


def test_nothing_is_written_where_nothing_was(tmp_path, empty):
    folder = tmp_path / "bare"
    folder.mkdir()
    for words in (("status",), ("list",), ("start", "nope"), ("begin", "1"), ("log",), ("workflows",)):
        empty.agent(*words, cwd=folder)
    assert list(folder.iterdir()) == []


def test_what_a_terminal_would_obey_is_shown_and_not_sent(empty):
    empty.ok("start", "release", "\x1b]0;owned\x07\u202e")
    for words in (("status",), ("list",), ("next",), ("log",), ("show",), ("status", "--json"), ("log", "--json")):
        out = empty.ok(*words).out
        assert not {"\x1b", "\x07", "\u202e"} & set(out), words
    assert empty.ok("status", "--json").json["subject"] == "\x1b]0;owned\x07\u202e"
    assert "\x1b" not in empty.agent("begin", "\x1b[31mred").err


def test_a_workflow_that_somebody_else_locks_is_a_conflict(project):
    import fcntl

    journal = next((project.root / ".holdfast/journal").rglob("*.jsonl"))
    with open(journal, "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        answer = project.agent("begin", "draft", "--json", env={"HOLDFAST_LOCK_WAIT": "1"})
    assert answer.code == 5


def test_a_damaged_journal_is_broken_data(project):
    for _ in range(3):
        project.ok("note", "x")
    journal = next((project.root / ".holdfast/journal").rglob("*.jsonl"))
    data = bytearray(journal.read_bytes())
    data[40] ^= 1
    journal.write_bytes(data)
    answer = project.agent("begin", "draft", "--json")
    assert (answer.code, bool(answer.error["remedy"])) == (6, True)


def test_a_token_in_the_place_of_a_number_is_called_one_and_not_repeated(project):
    secret = "0123456789abcdef" * 2
    answer = project.agent("agent", "end", f"1-{secret}")
    assert answer.code == 2
    assert "this is the token of a lease" in answer.err
    assert secret not in answer.out + answer.err
