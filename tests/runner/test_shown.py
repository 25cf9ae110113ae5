"""What people see of a run without its terminal: the page, `status --watch` and notifications say the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import anyio
import pytest
from starlette.requests import Request

from holdfast.runner.folder import Folder
from holdfast.surfaces.runs import Turns
from holdfast.surfaces.web.events import Events
from holdfast.surfaces.web.pages import Pages
from tests.runner.conftest import wait_for
from tests.surfaces.test_notifying import own_settings

TURN = {"step": "write", "attempt": 1, "turn": 2, "host": "mine", "role": "", "tool": "Bash ls", "seconds": 3.0}


@pytest.fixture
def running(stage):
    """A run that another process has."""
    stage.define()
    stage.begin()
    folder = Folder(str(stage.root / ".holdfast"), stage.state.ulid)
    assert folder.take()
    folder.tell("now", TURN)
    yield folder
    folder.let_go()


def shown(stage) -> tuple[str, str]:
    """The first page, and that of the workflow."""
    pages, project = Pages("http://localhost", read_only=True), stage.bench.open()
    request = Request({"type": "http", "path": "/", "query_string": b"", "headers": []})
    return pages.overview(project, request, ()), pages.workflow_page(project, stage.state.ulid)


def test_the_page_says_which_turn_runs(stage, running):
    for page in shown(stage):
        assert "a run is at write: turn 2 of mine, 3s, Bash ls" in page
    running.tell("now", {**TURN, "tool": "<b>rm</b>", "role": "creator"})
    for page in shown(stage):
        assert "turn 2 of mine as creator, 3s, &lt;b&gt;rm&lt;/b&gt;" in page
    running.end()
    assert "a run is at" not in "".join(shown(stage))


def test_browsers_are_told_that_a_turn_changed_and_nothing_of_the_clock(stage, running):
    class Projects:
        place = stage.bench.open().wired.place

        def opened(self):
            return stage.bench.open()

        async def worked(self, look):
            return look()

    async def story() -> None:
        events = Events(Projects())
        async with anyio.create_task_group() as group:
            group.start_soon(events.watch)
            stream = events._stream()
            assert "begin" in await anext(stream)
            await anyio.sleep(0.6)
            running.tell("now", {**TURN, "seconds": 9.0})
            with anyio.move_on_after(0.8):
                raise AssertionError(await anext(stream))
            stream = events._stream()
            assert "begin" in await anext(stream)
            running.tell("now", {**TURN, "tool": "Edit"})
            with anyio.fail_after(5):
                assert "change" in await anext(stream)
            await stream.aclose()
            events.end()

    anyio.run(story)


def test_a_look_for_turns_is_one_question_while_nothing_happens(stage, running, monkeypatch):
    home, asked = str(stage.root / ".holdfast"), []
    looks = [Turns(home), Turns(home, stage.state.ulid, clock=True)]
    real = os.stat

    def stat(path, **how):
        asked.append(path)
        return real(path, **how)

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(os, "listdir", lambda path: pytest.fail("nothing changed"))
    assert [look() for look in looks] == [False, False]
    assert asked == [f"{home}/runs"] * 2
    monkeypatch.undo()
    running.tell("now", {**TURN, "seconds": 9.0})
    assert [look() for look in looks] == [False, True]
    running.end()
    assert [look() for look in looks] == [True, True]


def test_a_watched_status_is_shown_again_when_the_turn_changes(stage):
    stage.define()
    stage.host(
        'echo \'{"tool": "first"}\'; until [ -e more ]; do sleep 0.1; done; echo \'{"tool": "second"}\'; sleep 60'
    )
    stage.begin()
    runner = stage.started()
    wait_for(lambda: "first" in stage.bench.ok("status").out)
    words = [sys.executable, "-m", "holdfast", "status", "--watch"]
    with subprocess.Popen(words, cwd=stage.root, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout
        before = stage.state.revision
        wait_for(lambda: "first" in watching.stdout.readline())
        stage.bench.write("more", "")
        wait_for(lambda: "second" in watching.stdout.readline())
        assert stage.state.revision == before
        watching.kill()
    runner.terminate()
    assert runner.wait(60) == 130


def test_a_run_that_ended_for_a_reason_of_its_own_is_told_until_something_happens(stage, tmp_path):
    inbox = tmp_path / "inbox"
    own_settings(f'desktop = false\nrun = ["tee", "-a", "{inbox}"]\n')
    stage.define()
    stage.host('echo bad >> NOTES.md; echo \'{"usage": {"cost_usd": 0.5}}\'')
    stage.begin()
    assert stage.run("--max-cost", "0.4").code == 3
    said = "the run ended: this run may cost $0.40, and has cost $0.50"
    assert said in stage.bench.ok("status").out
    assert stage.bench.ok("status", "--json").json["run"]["ended"] == "bound"
    assert said in shown(stage)[1]
    assert stage.bench.ok("notify", "--once", "--json").json == {"sent": 1}
    assert json.loads(inbox.read_text())["news"] == [{"kind": "person", "step": "write", "text": said}]
    assert stage.bench.ok("notify", "--once", "--json").json == {"sent": 0}
    stage.bench.ok("note", "seen")
    assert "run" not in stage.bench.ok("status", "--json").json


def test_a_run_that_failed_is_news(stage, running, tmp_path):
    inbox = tmp_path / "inbox"
    own_settings(f'desktop = false\nrun = ["tee", "-a", "{inbox}"]\n')
    running.end()
    failed = {"ended": "failed", "message": "the disk is full", "step": "", "at": 1.0}
    running.tell("ended", {**failed, "revision": stage.state.revision})
    assert stage.bench.ok("notify", "--once", "--json").json == {"sent": 1}
    (only,) = json.loads(inbox.read_text())["news"]
    assert (only["kind"], only["text"]) == ("failed", "the run failed: the disk is full")


def test_what_waits_for_a_person_anyway_is_told_once(stage, tmp_path):
    inbox = tmp_path / "inbox"
    own_settings(f'desktop = false\nrun = ["tee", "-a", "{inbox}"]\n')
    stage.define()
    stage.host("echo good > NOTES.md; holdfast done write --artifact notes=NOTES.md")
    stage.begin()
    assert stage.run().code == 3
    assert stage.bench.ok("notify", "--once", "--json").json == {"sent": 1}
    assert len(json.loads(inbox.read_text())["news"]) == 1
