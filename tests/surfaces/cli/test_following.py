"""`status --watch` and `log --follow`: real processes, and a person's terminal of one's own."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time

import pytest

from tests import forked

PATIENCE = 120


class Following:
    """A command that does not end, and all that it printed so far."""

    def __init__(self, project, *words: str) -> None:
        command = [sys.executable, "-m", "holdfast", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=project.root, env=project.env, stdin=subprocess.DEVNULL, **pipes)
        self.out = ""

    def until(self, text: str) -> str:
        """What was printed up to a text and with it."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.out:
            assert select.select([self.process.stdout], [], [], deadline - time.monotonic())[0], self.out
            part = os.read(self.process.stdout.fileno(), 65536)
            assert part, (self.out, self.process.stderr.read())
            self.out += part.decode()
        return self.out

    def ended(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=PATIENCE)
        self.out += out.decode()
        return self.process.returncode, err.decode()


@pytest.fixture
def following(project):
    begun: list[Following] = []

    def begin(*words: str) -> Following:
        begun.append(Following(project, *words))
        return begun[-1]

    yield begin
    for one in begun:
        one.process.kill()
        one.process.wait()
        one.process.stdout.close()
        one.process.stderr.close()


def test_the_status_is_printed_after_each_change_until_the_workflow_has_ended(project, following):
    watch = following("status", "--watch")
    watch.until("Write the draft")
    project.ok("note", "a decision")
    watch.until("a decision")
    assert project.person("cancel").code == 0
    assert watch.ended() == (0, "")
    assert watch.out.count("Release 1.4.0") >= 3
    assert "cancelled" in watch.out.rpartition("Release 1.4.0")[2].partition("\n")[0]


def test_in_json_every_status_is_a_document(project, following):
    watch = following("status", "--watch", "--json")
    watch.until("}\n")
    project.ok("note", "a decision")
    project.person("cancel")
    assert watch.ended()[0] == 0
    documents, decoder, rest = [], json.JSONDecoder(), watch.out
    while rest.strip():
        document, end = decoder.raw_decode(rest.lstrip())
        documents.append(document)
        rest = rest.lstrip()[end:]
    revisions = [one["revision"] for one in documents]
    assert revisions == sorted(set(revisions))
    assert (len(documents) >= 2, documents[-1]["status"]) == (True, "abandoned")


def test_several_workflows_are_watched_together_and_the_rest_after_one_has_ended(project, following):
    project.ok("start", "release", "2.0.0")
    first, second = project.ok("list", "--json").json["workflows"]
    watch = following("status", "--watch")
    watch.until(second["workflow_id"])
    assert project.person("cancel", "-w", first["ulid"]).code == 0
    watch.until("Write the draft")  # the one that is left is shown whole
    assert project.person("cancel", "-w", second["ulid"]).code == 0
    assert watch.ended()[0] == 0
    assert "no workflow is active here" in watch.out


def test_a_workflow_that_is_removed_ends_the_watch_with_a_refusal(project, following):
    watch = following("status", "--watch")
    watch.until("Write the draft")
    store = project.opened().wired.store
    (entry,) = store.active()
    os.remove(store.file_of(entry.ulid))
    code, err = watch.ended()
    assert code == 4
    assert "is gone" in err


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("words", [("status", "--watch"), ("log", "--follow")])
def test_ctrl_c_is_the_usual_end_and_no_failure(following, words):
    watch = following(*words)
    watch.until("1.4.0")
    watch.process.send_signal(signal.SIGINT)
    assert watch.ended() == (0, "")


@pytest.mark.parametrize("words", [("status", "--watch"), ("log", "--follow")])
def test_a_reader_who_is_gone_ends_it(following, words):
    watch = following(*words)
    watch.until("1.4.0")
    watch.process.stdout.close()
    assert watch.process.wait(PATIENCE) == 0


def test_at_a_terminal_the_status_is_drawn_in_place_and_ctrl_d_ends_it(project):
    primary, secondary = forked.terminal()
    env = {**project.env, "TERM": "xterm", "COLUMNS": "100"}
    process = forked.start(("status", "--watch"), (secondary,) * 3, cwd=project.root, env=env, session=True)
    os.close(secondary)
    seen = b""
    while b"Ctrl-C ends it" not in seen:
        seen += os.read(primary, 65536)
    assert seen.startswith(b"\x1b[H\x1b[2J")
    project.ok("note", "a decision")
    while seen.count(b"Ctrl-C ends it") < 2:
        seen += os.read(primary, 65536)
    assert b"a decision" in seen.rpartition(b"\x1b[H\x1b[2J")[2]
    os.write(primary, b"\x04")
    assert process.wait(PATIENCE) == 0
    os.close(primary)


def test_new_lines_of_the_journal_are_printed_as_they_come_and_each_once(project, following):
    follow = following("log", "--follow", "--limit", "1")
    follow.until("started release")
    project.ok("note", "first decision")
    follow.until("first decision")
    project.ok("note", "second decision")
    project.person("cancel")
    assert follow.ended() == (0, "")
    lines = follow.out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3", "4"]
    assert lines[0].endswith("UTC")


def test_in_json_each_answer_has_the_records_that_are_new(project, following):
    project.ok("note", "zero")
    follow = following("log", "--follow", "--json", "--after", "1")
    follow.until("zero")
    project.ok("note", "one")
    follow.until("one")
    assert project.person("cancel").code == 0
    assert follow.ended()[0] == 0
    decoder, rest, revisions = json.JSONDecoder(), follow.out, []
    while rest.strip():
        document, end = decoder.raw_decode(rest.lstrip())
        revisions += [one["revision"] for one in document["records"]]
        rest = rest.lstrip()[end:]
    assert revisions == [2, 3, 4]


@pytest.mark.parametrize("words", [("--follow", "--check", "tests"), ("--follow", "--timeline", "x.svg")])
def test_what_excludes_each_other_is_refused(project, words):
    answer = project.agent("log", *words, "--json")
    assert (answer.code, answer.error["code"]) == (2, "bad_usage")
