"""Notifications: what is news, sent once, put together, by the user's own settings alone, and to no shell or terminal
as a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from holdfast.machine import notices
from holdfast.surfaces import notifying
from holdfast.surfaces.notifying import delivery
from holdfast.surfaces.notifying.delivery import Message
from holdfast.surfaces.notifying.sender import Sender
from tests.workbench import Bench

OWN = """\
name = "release"
title = "Release {subject}"

[bounds]
max_iterations = 3

[[step]]
id = "write"

[[step]]
id = "read"
name = "A person reads the notes"
approval = { by = "human" }
"""
STALE = """\
name = "stale"

[[step]]
id = "publish"
outputs = ["pub"]
approval = { by = "human" }

[[step]]
id = "end"
"""
PATIENCE = 30


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    bench.write(".holdfast/workflows/release.toml", OWN)
    return bench


@pytest.fixture
def inbox(tmp_path) -> Path:
    """The user's settings name a program that keeps what it is sent."""
    file = tmp_path / "inbox.jsonl"
    program = tmp_path / "keep"
    program.write_text(f"#!{sys.executable}\nimport sys\nopen({str(file)!r}, 'a').write(sys.stdin.read())\n")
    program.chmod(0o755)
    own_settings(f'desktop = false\nrun = ["{program}"]\nquiet = "2s"\n')
    file.touch()
    return file


def own_settings(table: str) -> Path:
    path = Path(os.environ["XDG_CONFIG_HOME"], "holdfast/config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[notify]\n{table}")
    return path


def sent(inbox: Path) -> list[dict]:
    return [json.loads(line) for line in inbox.read_text().splitlines()]


def test_a_person_who_is_waited_for_is_told_once_by_the_title(bench, inbox):
    bench.ok("start", "release", "1.4.0")
    assert bench.ok("notify", "--once").out == "✓ 0 notifications were sent\n"
    bench.ok("begin", "write")
    bench.ok("done", "write")
    assert bench.ok("notify", "--once", "--json").json == {"sent": 1}
    (message,) = sent(inbox)
    assert message["text"] == "Release 1.4.0: A person reads the notes"
    assert message["news"] == [{"kind": "person", "step": "read", "text": "A person reads the notes"}]
    assert bench.ok("notify", "--once", "--json").json == {"sent": 0}
    bench.person("reject", "read", "--feedback", "more", says="y")
    bench.ok("done", "read")
    assert bench.ok("notify", "--once", "--json").json == {"sent": 1}


def test_an_approval_that_no_longer_holds_is_news_again_of_its_own_step(bench, inbox):
    bench.write(".holdfast/workflows/stale.toml", STALE)
    bench.write("pub.md", "v1")
    bench.ok("start", "stale", "1.4.0")
    bench.ok("begin", "publish")
    bench.ok("done", "publish", "--artifact", "pub=pub.md")
    assert bench.ok("notify", "--once", "--json").json == {"sent": 1}
    bench.open("human").workflow("stale").approve("publish")
    assert bench.ok("notify", "--once", "--json").json == {"sent": 0}
    bench.write("pub.md", "v2")
    assert bench.ok("notify", "--once", "--json").json == {"sent": 1}
    assert [one["news"] for one in sent(inbox)] == [[{"kind": "person", "step": "publish", "text": "publish"}]] * 2
    waits = bench.agent("wait", "--for", "person", "--timeout", "1s", "--json").json["waiting"]
    assert [(one["step"], one["kind"]) for one in waits] == [("publish", "approval")]


def test_what_stops_the_whole_workflow_is_told_with_its_reason(bench, inbox):
    bench.ok("start", "release", "1.4.0")
    bench.open("human").workflow("release").pause("the tests are red on main")
    assert bench.ok("notify", "--once", "--json").json == {"sent": 1}
    assert sent(inbox)[0]["text"] == "Release 1.4.0: paused: the tests are red on main"


def test_only_what_the_settings_name_is_news(bench, inbox):
    own_settings(f'desktop = false\non = ["done"]\nrun = ["{inbox.parent / "keep"}"]\n')
    bench.ok("start", "release", "1")
    bench.ok("begin", "write")
    bench.ok("done", "write")
    assert bench.ok("notify", "--once", "--json").json == {"sent": 0}


def test_what_happens_within_the_quiet_time_is_one_message(bench, inbox, tmp_path):
    now = [1000.0]
    messages: list[Message] = []
    bench.ok("start", "release", "1")
    project = bench.open()
    (entry,) = project.wired.store.active()
    settings = notices.Notices(quiet=30)
    sender = Sender(project, settings, messages.append, clock=lambda: now[0])
    bench.ok("begin", "write")
    bench.ok("fail", "write", "--reason", "no")
    sender.look([entry.ulid])
    assert len(messages) == 1
    bench.ok("resume")
    for _ in range(10):
        bench.ok("note", "something")
        sender.look([entry.ulid])
    bench.ok("done", "write")
    sender.look([entry.ulid])
    assert len(messages) == 1
    due = sender.due()
    assert due is not None
    assert 0 < due <= 30
    now[0] += 30
    sender.flush()
    assert [one.text for one in messages[1:]] == ["A person reads the notes"]
    assert sender.due() is None


def test_what_is_over_before_it_is_told_is_not_told(bench):
    now = [1000.0]
    messages: list[Message] = []
    bench.ok("start", "release", "1")
    project = bench.open()
    (entry,) = project.wired.store.active()
    sender = Sender(project, notices.Notices(), messages.append, clock=lambda: now[0])
    bench.ok("begin", "write")
    bench.ok("done", "write")
    sender.look([entry.ulid])
    bench.person("reject", "read", "--feedback", "more", says="y")
    bench.ok("done", "read")
    sender.look([entry.ulid])
    bench.person("approve", "read", says="y")
    now[0] += 30
    sender.look([entry.ulid])
    assert [one.text for one in messages] == ["A person reads the notes", "all steps are done"]


def test_three_failures_let_it_rest_and_the_doctor_says_so(bench, tmp_path):
    own_settings(f'desktop = false\nrun = ["{tmp_path / "nothing"}"]\n')
    bench.ok("start", "release", "1")
    bench.ok("begin", "write")
    bench.ok("done", "write")
    for _ in range(notices.FAILURES):
        assert bench.ok("notify", "--once", "--json").json == {"sent": 0}
    found = bench.agent("doctor").out
    assert "notifications failed 3 times" in found
    assert "nothing cannot be run" in found
    assert bench.agent("notify", "--test", "--json").error["code"] == "not_sent"


def test_one_of_several_processes_sends(bench, inbox):
    """And it notices what others do while it runs."""
    bench.ok("start", "release", "1")
    over = threading.Event()
    settings = notices.read(os.environ["XDG_CONFIG_HOME"])

    def send() -> None:
        notifying.keep_sending(bench.open(), settings, ended=over.is_set)

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    bench.ok("begin", "write")
    bench.ok("done", "write")
    deadline = time.monotonic() + PATIENCE
    while not sent(inbox) and time.monotonic() < deadline:
        time.sleep(0.05)
    over.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert [one["text"] for one in sent(inbox)] == ["Release 1: A person reads the notes"]


def test_a_command_in_the_repository_never_runs(bench, tmp_path):
    proof = tmp_path / "ran"
    bench.write(".holdfast/config.toml", f'[notify]\nrun = ["touch", "{proof}"]\n')
    bench.ok("start", "release", "1")
    bench.ok("begin", "write")
    bench.ok("done", "write")
    assert bench.agent("notify", "--once", "--json").error["code"] == "no_notify"
    own_settings("desktop = false\n")
    assert bench.agent("notify", "--once").code == 0
    assert not proof.exists()
    assert "[notify] of .holdfast/config.toml has no effect" in bench.agent("doctor").out


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('run = "curl"\n', "run is a list of words"),
        ('on = ["everything"]\n', "on is a list of some of person"),
        ('quiet = "soon"\n', "quiet is a time"),
        ('quiet = "2000h"\n', "quiet is a time"),
        ("desktop = 1\n", "desktop is true or false"),
        ("desk = true\n", "unknown key 'desk'"),
    ],
)
def test_a_mistake_in_the_settings_is_told_with_the_file(bench, table, said):
    path = own_settings(table)
    for words in (("notify", "--once"), ("doctor",)):
        answer = bench.agent(*words)
        assert answer.code in (2, 6)
        assert said in answer.out + answer.err, answer
        assert str(path) in answer.out + answer.err


def test_all_mistakes_in_the_settings_are_told_at_once(bench):
    own_settings('quiet = "soon"\ndesktop = 1\ndesk = true\non = ["lunch"]\nrun = "x"\n')
    told = bench.agent("notify", "--once").err
    for said in ("quiet is a time", "desktop is true or false", "unknown key 'desk'", "on is a list", "run is a list"):
        assert said in told


def test_text_of_a_document_is_no_option_markup_or_command(tmp_path):
    kept = tmp_path / "argv"
    for name in ("notify-send", "osascript"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {kept}\n')
        (folder / name).chmod(0o755)
        environ = {"PATH": f"{folder}:/usr/bin:/bin", "DISPLAY": ":0"}
        evil = Message('--icon=x" & (do shell script "x")', "<b>now</b>\x1b]0;owned\x07 \u202etxt", {})
        delivery.send(evil, notices.Notices(run=()), environ, lambda _: None)
        words = kept.read_text().splitlines()
        at = words.index("--")
        assert words[at + 1] == '--icon=x" & (do shell script "x")'
        assert "\x1b" not in words[at + 2]
        assert "\u202e" not in words[at + 2]
        assert ("<b>" in words[at + 2]) == (name == "osascript")


def test_without_a_desktop_the_terminal_is_told_in_sequences_that_the_text_cannot_end():
    shown: list[str] = []
    evil = Message("A;B\x1b\\", "text\x07\x9c;more\x1b]52;c;x\x07", {})
    delivery.send(evil, notices.Notices(), {"PATH": "/nowhere"}, shown.append)
    (text,) = shown
    assert text.count("\x1b]") == 2
    assert text.count("\x07") == 1  # the bell
    assert "\x9c" not in text
    assert "]52;c" not in text


def test_a_program_that_does_not_end_fails_and_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(delivery, "WITHIN", 0.2)
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    settings = notices.Notices(desktop=False, run=(str(slow),))
    with pytest.raises(Exception, match="did not end within"):
        delivery.send(Message("a", "b", {}), settings, dict(os.environ), lambda _: None)
    assert subprocess.run(["pgrep", "-f", str(slow)], capture_output=True, check=False).stdout == b""
