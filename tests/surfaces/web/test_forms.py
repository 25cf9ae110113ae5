"""What the forms do: once, as a person, about what the page showed; and what is told where it cannot be done."""

from __future__ import annotations

import html
import os
import re
import time
from pathlib import Path

import pytest

BOUNDED = """\
name = "bounded"

[bounds]
max_cost = "$10"
max_time = "2h"
max_iterations = 3

[[step]]
id = "one"
retry = { max = 2 }

[[step]]
id = "two"
"""


@pytest.fixture
def served(site):
    with site.serving() as found:
        yield found.enter()


@pytest.fixture
def workflow(site):
    site.bench.write(".holdfast/workflows/bounded.toml", BOUNDED)
    return site.bench.open().start("bounded", "1").begin("one")


def send(served, ulid: str, action: str, step: str = "", **fields: str):
    form = served.form(f"/w/{ulid}", f"form-{action}{f'-{step}' if step else ''}")
    return served.post(f"/w/{ulid}/do/{action}", {**form, **fields})


def test_pause_and_resume(site, served, workflow):
    assert send(served, workflow.ulid, "pause", reason="lunch").code == 303
    state = site.state(workflow.id)
    assert (state.paused.reason, state.paused.by) == ("lunch", "human ada")
    assert send(served, workflow.ulid, "resume").code == 303
    assert site.state(workflow.id).paused is None


def test_a_reason_that_is_missing_is_asked_for_and_nothing_is_done(site, served, workflow):
    before = site.journal(workflow.id)
    answer = send(served, workflow.ulid, "pause", reason=" ")
    assert answer.code == 422
    assert "Say why" in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert site.journal(workflow.id) == before


def test_bounds_are_extended(site, served, workflow):
    assert send(served, workflow.ulid, "extend", cost="2.50", time="1h 30m", iterations="2").code == 303
    bounds = site.state(workflow.id).bounds
    assert (bounds.max_cost, bounds.max_time, bounds.max_iterations) == (12_500_000, 7200 + 5400, 5)
    for wrong in ({"cost": "-1"}, {"time": "soon"}, {"iterations": "many"}, {}):
        assert send(served, workflow.ulid, "extend", **wrong).code == 422
    assert site.state(workflow.id).bounds == bounds


def test_a_blocked_step_continues_with_guidance(site, served, workflow):
    workflow.block("one", "no key")
    assert send(served, workflow.ulid, "unblock", "one", guidance="take mine").code == 303
    step = site.step(workflow.id, "one")
    assert step.status == "active"
    assert "take mine" in step.feedback


def test_cancel_and_bring_back(site, served, workflow):
    assert send(served, workflow.ulid, "cancel", reason="not needed").code == 303
    assert site.state(workflow.id).cancelled.reason == "not needed"
    assert send(served, workflow.ulid, "resume").code == 303
    assert site.state(workflow.id).cancelled is None


def test_a_form_that_is_sent_twice_is_done_once(site, served):
    path = site.waits()
    id, home = site.state("release").id, path.partition("/approve")[0]
    form = {**served.form(path, "form-approve"), "decision": "approve"}
    assert served.post(f"{home}/do/decide", form).code == 303
    first = site.journal(id)
    assert served.post(f"{home}/do/decide", form).code == 303
    assert site.journal(id) == first
    assert "done already" in served.get(home, Sec_Fetch_Dest="document").text


def test_what_happened_meanwhile_is_told_before_anything_is_done(site, served, workflow):
    form = served.form(f"/w/{workflow.ulid}", "form-cancel")
    workflow.note("wait, there is more")
    answer = served.post(f"/w/{workflow.ulid}/do/cancel", {**form, "reason": "done with it"})
    assert answer.code == 409
    assert "noted: wait, there is more" in answer.text
    assert 'value="done with it"' in answer.text
    assert site.state(workflow.id).cancelled is None
    again = served.form(f"/w/{workflow.ulid}", "form-cancel")
    assert served.post(f"/w/{workflow.ulid}/do/cancel", again).code == 303


def test_signs_of_life_of_an_agent_are_no_change(site, served, workflow):
    token = workflow.start_agent("writer", "one")
    form = served.form(f"/w/{workflow.ulid}", "form-cancel")
    workflow.beat(token)
    assert served.post(f"/w/{workflow.ulid}/do/cancel", form).code == 303


def test_a_note_between_looking_and_approving_does_not_disturb(site, served):
    path = site.waits()
    id, home = site.state("release").id, path.partition("/approve")[0]
    form = {**served.form(path, "form-approve"), "decision": "approve"}
    site.bench.open().workflow(id).note("by the way")
    assert served.post(f"{home}/do/decide", form).code == 303
    assert site.step(id, "sign-off").grant.how == "page"


def test_a_decision_that_comes_too_late_is_answered_with_the_files_that_changed(site, served):
    path = site.waits()
    home = path.partition("/approve")[0]
    form = {**served.form(path, "form-approve"), "decision": "approve"}
    site.bench.write("notes.md", "nothing is well\n")
    answer = served.post(f"{home}/do/decide", form)
    assert answer.code == 409
    assert "notes.md has other content" in answer.text
    site.bench.open().workflow(site.state("release").id).note("by the way")
    (site.root / "notes.md").unlink()
    answer = served.post(f"{home}/do/decide", form)
    assert answer.code == 409
    assert "notes.md is missing" in answer.text
    assert "by the way" in answer.text


def test_a_step_that_is_not_ready_has_no_form_and_a_forged_one_is_refused(site, served):
    site.at("sign-off")
    state = site.state("release")
    page = f"/w/{state.ulid}/approve/sign-off"
    assert "form-approve" not in served.get(page).text
    before = site.journal(state.id)
    sent = served.post(f"/w/{state.ulid}/do/decide", {"step": "sign-off", "decision": "approve", "shown": "0" * 64})
    assert sent.code == 409
    assert site.journal(state.id) == before


def test_each_form_shows_the_command_that_does_the_same(site, served, workflow):
    page = html.unescape(served.get(f"/w/{workflow.ulid}").text)
    for command in ("holdfast pause --reason REASON", "holdfast extend --cost 5", "holdfast cancel"):
        assert command in page


@pytest.mark.parametrize(
    "path",
    ["/nowhere", "/w/none", "/w/../../etc/passwd", "/w/01M7S2NNM611RC95VT8RY5NFFW", "/w/x/approve/y", "/w/x/steps.svg"],
)
def test_what_is_not_there_is_told_without_a_trace(site, served, path):
    answer = served.get(path)
    assert answer.code == 404
    assert "Traceback" not in answer.text
    for name in ("Workflows", "Learnings", "Agents", "Passkeys"):
        assert f"{name}</a>" in answer.text


def test_a_large_workflow_is_a_small_page(site, served):
    steps = [{"id": f"step-{number}", "name": f"The step of number {number}"} for number in range(300)]
    workflow = site.bench.open().start({"name": "large", "step": steps}, "1")
    for number in range(15):
        workflow.begin(f"step-{number}").done(f"step-{number}")
    answer = served.get(f"/w/{workflow.ulid}")
    assert answer.code == 200
    assert len(answer.text.encode()) < 300 << 10
    assert 'rel="next"' not in answer.text
    for number in range(15, 120):
        workflow.begin(f"step-{number}").done(f"step-{number}")
    older = served.get(f"/w/{workflow.ulid}")
    assert 'rel="next"' in older.text
    assert len(older.text.encode()) < 300 << 10


def test_every_decision_of_a_person_is_told_with_who_gave_it_when_and_how(site, served):
    path = site.waits()
    home = path.partition("/approve")[0]
    back = {**served.form(path, "form-approve"), "decision": "reject", "feedback": "name all of them"}
    assert served.post(f"{home}/do/decide", back).code == 303
    site.bench.write("notes.md", "all of them\n")
    site.bench.open().workflow("release").done("sign-off")
    yes = {**served.form(path, "form-approve"), "decision": "approve"}
    assert served.post(f"{home}/do/decide", yes).code == 303
    page = html.unescape(served.get(home).text)
    shown = re.sub(r"<[^>]+>", "", page[page.index('id="decisions"') : page.index('id="journal"')])
    assert "sign-off approved by ada on the page of holdfast web" in shown
    assert "sign-off sent back by ada" in shown
    assert "name all of them" in shown
    assert shown.index("approved by ada") < shown.index("sent back by ada")
    newest, before = site.bench.ok("status", "-w", "release", "--json").json["decided"][:2]
    said = {"step": "sign-off", "decision": "approved", "by": "ada", "how": "on the page of holdfast web"}
    assert {name: one for name, one in newest.items() if name != "at"} == said
    assert (before["decision"], before["words"]) == ("sent back", "name all of them")


def test_what_any_workflow_learned_is_told_on_the_page_and_at_a_terminal(site, served, workflow):
    site.bench.ok("learn", "name every version", "-w", workflow.id)
    assert "name every version" in served.get("/learnings").text
    assert "name every version" in site.bench.ok("learnings").out


def test_a_session_is_shown_with_its_name_its_state_its_files_and_its_workflows(site, served):
    site.bench.ok("session", "create", "draft1", "--description", "a first try")
    site.bench.ok("session", "create", "draft2")
    assert "not in use" in served.get("/").text
    site.bench.ok("session", "use", "draft1")
    site.bench.write("workspace/sessions/draft1/acts/new.md", "new\n")
    workflow = site.bench.open().start("generation", "0204", session="draft1")
    page = html.unescape(served.get("/").text)
    shown = page[page.index('id="session-draft1"') :]
    assert "<strong>draft1</strong>" in shown
    assert "<strong>draft2</strong>" in shown
    for said in ("in use", "a first try", "1 created", "acts/new.md", "1 workflow<", f'href="/w/{workflow.ulid}"'):
        assert said in shown, said


def test_of_many_workflows_the_newest_and_those_that_wait_are_shown(site, served):
    waits = site.waiting()
    started = [site.bench.open().start({"name": f"n{number}", "step": [{"id": "a"}]}, "1") for number in range(30)]
    page = served.get("/").text
    shown = [f"/w/{one.ulid}" in page for one in started]
    assert shown == [False] * 10 + [True] * 20
    assert f"/w/{site.ulid(waits)}/approve/sign-off" in page
    assert "11 more" in page
    assert all(f"/w/{one.ulid}" in served.get("/?running=all").text for one in started)


def test_a_page_sends_the_notifications_of_its_person_with_the_address(site, tmp_path):
    kept = tmp_path / "kept"
    program = tmp_path / "keep"
    program.write_text(f"#!/bin/sh\ncat >> {kept}\n")
    program.chmod(0o755)
    settings = Path(os.environ["XDG_CONFIG_HOME"], "holdfast", "config.toml")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'[notify]\ndesktop = false\nrun = ["{program}"]\n')
    site.at("sign-off")
    with site.serving() as served:
        id = site.state("release").id
        notes = site.bench.write("notes.md", "all is well\n")
        site.bench.open().workflow(id).done("sign-off", {"notes": str(notes)})
        deadline = time.monotonic() + 60
        while not kept.exists() or "sign-off" not in kept.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert f"{served.origin}/w/{site.ulid(id)}" in kept.read_text()
