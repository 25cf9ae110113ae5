"""Who works when: Holdfast itself, an agent or a person, with a host that is a script."""

from __future__ import annotations

import json
import os
import shutil
import sys

import pytest

from holdfast.files import system
from tests.runner.conftest import RELEASE, wait_for

HAND_IN = "holdfast done write --artifact notes=NOTES.md\n"
GOOD = "echo good > NOTES.md\n" + HAND_IN
BAD = "echo bad > NOTES.md\n" + HAND_IN
SPEND = 'echo \'{{"usage": {{"cost_usd": {}}}}}\'\n'


def test_a_run_works_until_a_person_is_needed_and_says_for_what(stage):
    stage.define()
    stage.host(GOOD)
    stage.begin()
    answer = stage.run()
    assert answer.code == 3
    assert "holdfast approve sign-off" in answer.out
    assert (stage.many, stage.state.step("verify").status) == (1, "done")
    assert not stage.state.leases


def test_no_turn_is_paid_for_where_a_person_decides_or_only_a_check_is_missing(stage):
    stage.define()
    stage.host("exit 9")
    id = stage.begin()
    stage.bench.write("NOTES.md", "good\n")
    stage.bench.ok("begin", "write")
    stage.bench.ok("done", "write", "--artifact", "notes=NOTES.md")
    assert stage.run().code == 3
    assert stage.run("-w", id).code == 3
    assert (stage.many, stage.state.step("verify").status) == (0, "done")


def test_the_reason_of_a_refusal_is_the_next_prompt(stage):
    stage.define()
    stage.host(BAD, GOOD)
    stage.begin()
    assert stage.run().code == 3
    assert "the check 'good' failed" not in stage.asked(1)
    assert "the check 'good' failed" in stage.asked(2)
    assert stage.state.step("write").attempt == 2


def test_retries_that_are_used_up_are_a_person_s(stage):
    stage.define()
    stage.host("echo bad $RANDOM$RANDOM > NOTES.md\n" + HAND_IN)
    stage.begin()
    answer = stage.run()
    assert answer.code == 3
    assert stage.many == 3
    assert "no tries are left" in answer.out


def test_a_turn_that_is_over_hands_in_nothing_that_only_the_agent_can_know(stage):
    stage.define('name = "plain"\n[[step]]\nid = "think"\ndescription = "Think"\n', name="plain")
    stage.host("echo 1 >> thoughts", "holdfast done think")
    stage.begin("plain")
    assert stage.run("--once").code == 0
    assert stage.state.step("think").status == "active"
    assert stage.run().code == 0
    assert stage.many == 2


def test_work_that_a_check_sees_is_handed_in_when_the_turn_is_over(stage):
    stage.define(
        'name = "code"\n[[step]]\nid = "build"\ndescription = "Build it"\n'
        'checks = [{ name = "there", run = ["test", "-e", "built"], run_by = "engine" }]\n',
        name="code",
    )
    stage.host("echo nothing > other", "touch built")
    stage.begin("code")
    assert stage.run().code == 0
    assert "the check 'there' failed" in stage.asked(2)
    assert stage.state.finished_at


def test_an_agent_gets_the_lease_and_of_the_environment_what_is_listed(stage):
    stage.define()
    stage.host(GOOD, more='env = ["NAMED"]')
    stage.begin()
    stage.run(env={"NAMED": "yes", "SECRET_OF_MINE": "no"})
    seen = stage.environment(1)
    assert seen["NAMED"] == "yes"
    assert "SECRET_OF_MINE" not in seen
    assert seen["HOLDFAST_TOKEN"]
    assert seen["HOLDFAST_RUN"] == stage.state.ulid


def test_a_second_run_and_another_agent_are_refused_while_one_runs(stage):
    stage.define()
    stage.host("touch began; sleep 60")
    stage.begin()
    runner = stage.started()
    stage.until(stage.root / "began")
    assert stage.run().code == 5
    assert stage.bench.agent("done", "write").code == 5
    assert stage.bench.person("stop", "--now").code == 0
    assert runner.wait(60) == 130
    assert not stage.state.leases


def test_stop_lets_the_turn_end_first(stage):
    stage.define()
    stage.host("touch began; while [ ! -e continue ]; do sleep 0.1; done\n" + GOOD)
    stage.begin()
    runner = stage.started()
    stage.until(stage.root / "began")
    assert stage.bench.person("stop").code == 0
    stage.bench.write("continue", "")
    assert runner.wait(60) == 130
    assert stage.state.step("write").status == "done"
    assert stage.bench.person("stop").code == 4


def test_an_agent_may_not_start_or_stop_a_run(stage):
    stage.define()
    stage.host(
        "holdfast run > refused 2>&1; echo $? >> refused; holdfast stop >> refused 2>&1; echo $? >> refused\n" + GOOD
    )
    stage.begin()
    stage.run()
    assert stage.bench.read("refused").count("\n3\n") == 2
    assert "only a person" in stage.bench.read("refused")


def test_until_ends_at_a_step_and_once_after_a_turn(stage):
    stage.define()
    stage.host(GOOD)
    stage.begin()
    assert stage.run("--until", "write").code == 0
    assert stage.state.step("verify").status == "pending"


def test_a_dry_run_changes_nothing(stage):
    stage.define()
    stage.host(GOOD)
    assert stage.run("release", "2.0", "--dry-run").code == 0
    stage.begin()
    before = stage.state.revision
    said = stage.run("--dry-run", "--json").json
    assert (said["needs"], said["step"], said["host"]) == ("engine", "write", "mine")
    assert (stage.state.revision, stage.many) == (before, 0)


def test_a_definition_is_started_once(stage):
    stage.define()
    stage.host(GOOD)
    stage.run("release", "3.0")
    stage.run("release", "3.0")
    assert len(stage.bench.open().list()) == 1


def test_with_json_each_event_is_a_line_and_the_last_says_why_it_ended(stage):
    stage.define()
    stage.host(GOOD)
    stage.begin()
    events = stage.events()
    assert [one["event"] for one in events] == ["begin", "turn", "turned", "begin", "done", "end"]
    assert (events[-1]["why"], events[-1]["step"]) == ("person", "sign-off")


def test_settings_that_nobody_trusts_do_not_count(stage):
    stage.define()
    stage.host(GOOD)
    stage.begin()
    config = stage.root / ".holdfast/config.toml"
    config.write_text(config.read_text() + "\n# changed\n")
    answer = stage.run()
    assert (answer.code, stage.many) == (3, 0)
    assert "holdfast trust .holdfast/config.toml" in answer.err


def test_a_check_that_nobody_trusts_is_a_person_s_before_its_step_costs_anything(stage):
    stage.bench.write(".holdfast/workflows/release.toml", RELEASE.replace("{bounds}", ""))
    stage.host(GOOD)
    stage.begin()
    answer = stage.run()
    assert (answer.code, stage.many) == (3, 0)
    assert "holdfast trust release" in answer.out
    assert stage.state.step("write").status == "pending"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('rights = "all"', "sandbox = true"),
        ('host = "nobody"', "host is one of"),
        ('stall = "soon"', "span of time"),
        ("unknown = 1", "unknown"),
        ("turns = 0", "from 1 to 10000"),
    ],
)
def test_mistakes_in_the_settings_are_named_with_their_line(stage, rows, said):
    stage.define()
    stage.begin()
    stage.bench.write(".holdfast/config.toml", f"[runner]\n{rows}\n")
    answer = stage.run()
    assert answer.code == 2
    assert said in answer.err
    assert "config.toml:2" in answer.err


def test_a_host_that_is_not_there_is_named(stage):
    stage.define()
    stage.begin()
    (stage.turns / "git").symlink_to(str(shutil.which("git")))
    answer = stage.run("--host", "claude", env={"PATH": str(stage.turns)})
    assert answer.code == 4
    assert stage.state.step("write").status == "pending"
    assert "claude" in answer.err
    assert stage.run("--host", "nobody").code == 2
    assert not stage.state.leases


def test_a_reviewer_works_in_its_role_in_a_session_of_its_own(stage):
    stage.define(
        'name = "text"\n[[step]]\nid = "draft"\ndescription = "Write"\noutputs = ["text"]\n'
        'review = { by = ["critic"] }\n',
        name="text",
    )
    draft = "echo words > text.txt; holdfast done draft --artifact text=text.txt"
    stage.host(draft, "holdfast review draft --verdict approved --feedback fine")
    stage.begin("text")
    assert stage.run().code == 0
    assert stage.environment(2)["HOLDFAST_ACTOR"] == "critic"
    assert "HOLDFAST_ACTOR" not in stage.environment(1)
    sessions = list((stage.root / ".holdfast/runs" / stage.state.ulid).glob("*.jsonl"))
    assert len(sessions) == 2


def test_an_agent_that_changes_nothing_gets_one_more_session_and_then_a_person(stage):
    stage.define()
    stage.host("true")
    stage.begin()
    answer = stage.run()
    assert answer.code == 3
    assert stage.state.step("write").status == "blocked"
    assert "3 turns changed nothing" in answer.out
    assert "a session before this one was ended" in stage.asked(4)


def test_a_silent_host_is_ended(stage):
    stage.define()
    stage.host("sleep 60", GOOD, more='stall = "1s"')
    stage.begin()
    assert stage.run().code == 3
    assert stage.state.step("verify").status == "done"
    assert "said nothing" in stage.asked(2)


def test_an_agent_that_repeats_one_call_is_ended(stage):
    same = 'for i in 1 2 3 4 5; do echo \'{"tool": "Bash", "input": "ls"}\'; done; sleep 60\n'
    stage.define()
    stage.host(same, GOOD)
    stage.begin()
    assert stage.run().code == 3
    assert "the same tool with the same input 5 times" in stage.asked(2)


def test_a_host_that_fails_three_times_blocks_the_step_with_its_reason(stage):
    stage.define()
    stage.host("echo no login >&2; exit 7", more='backoff = "1s"')
    stage.begin()
    answer = stage.run()
    assert (answer.code, stage.many) == (3, 3)
    assert "no login" in stage.state.step("write").reason


def test_what_is_kept_of_a_run_is_private(stage):
    stage.define()
    stage.host("echo '{}'\n" + GOOD + " >&2")
    stage.begin()
    stage.run()
    folder = stage.root / ".holdfast/runs" / stage.state.ulid
    assert folder.stat().st_mode & 0o077 == 0
    assert [one.name for one in folder.iterdir() if one.stat().st_mode & 0o077] == []
    (kept,) = folder.glob("*.jsonl")
    assert json.loads(kept.read_text().splitlines()[0]) == {}


def test_a_limit_of_the_model_s_service_is_waited_for_and_is_no_attempt(stage):
    stage.define()
    stage.host("echo '{\"limited\": 1}'; sleep 60", GOOD)
    stage.begin()
    answer = stage.run()
    assert answer.code == 3
    assert "waits 1s for the model's service" in answer.out
    assert stage.state.step("write").attempt == 1
    assert stage.state.step("write").status == "done"


def test_the_status_says_what_a_run_does(stage):
    stage.define()
    stage.host('echo \'{"tool": "Bash", "input": "npm test"}\'; touch began; sleep 60')
    stage.begin()
    runner = stage.started()
    stage.until(stage.root / "began")
    wait_for(lambda: "turn 1 of mine" in stage.bench.ok("status").out)
    said = stage.bench.ok("status", "--json").json["run"]
    assert (said["step"], said["host"], said["turn"]) == ("write", "mine", 1)
    runner.terminate()
    assert runner.wait(60) == 130
    assert "run" not in stage.bench.ok("status", "--json").json


def test_a_host_ends_with_all_that_it_started(stage):
    stage.define()
    stage.host("setsid sleep 600 & echo $! > pids; sleep 601 & echo $! >> pids; touch began; sleep 602")
    stage.begin()
    runner = stage.started()
    stage.until(stage.root / "began")
    runner.kill()
    runner.wait()
    pids = [int(word) for word in stage.bench.read("pids").split()]
    wait_for(lambda: not any(system.here.is_running(pid) for pid in pids))
    stage.host(GOOD)
    assert stage.run().code == 3
    assert stage.state.step("write").status == "done"


def test_rights_that_a_host_cannot_be_held_to_are_refused(stage):
    stage.define()
    stage.host(GOOD, more='rights = "read"')
    stage.begin()
    codex = stage.turns / "codex"
    codex.write_text("#!/bin/sh\n")
    codex.chmod(0o755)
    answer = stage.run("--host", "codex", env={"PATH": f"{stage.turns}:{os.environ['PATH']}"})
    assert answer.code == 2
    assert "only to 'edits' or 'all'" in answer.err


def test_a_long_check_is_ended_with_the_run(stage):
    stage.define(
        'name = "slow"\n[[step]]\nid = "wait"\n'
        'checks = [{ name = "slow", run = ["sh", "-c", "touch began; sleep 600"], run_by = "engine" }]\n',
        name="slow",
    )
    stage.host("true")
    stage.begin("slow")
    runner = stage.started()
    stage.until(stage.root / "began")
    wait_for(lambda: "checks of wait" in stage.bench.ok("status").out)
    assert stage.bench.person("stop", "--now").code == 0
    assert runner.wait(60) == 130
    assert stage.state.step("wait").status == "active"


def test_where_a_workflow_asks_for_it_the_packet_is_read_before_anything_is_written(stage):
    stage.define(RELEASE.replace("{bounds}", "require_ack = true"))
    stage.host("holdfast ack $(grep -o 'Packet: [0-9a-f]*' last | cut -d' ' -f2)\n" + GOOD)
    script = stage.bench.read("host.sh").replace("env >", f"cp {stage.turns}/$n.asked last; env >")
    stage.bench.write("host.sh", script).chmod(0o755)
    stage.begin()
    assert stage.run().code == 3
    assert stage.state.step("verify").status == "done"


@pytest.mark.parametrize(
    ("definition", "how", "needs"),
    [
        ("custom", {"phases": ("Backup", "Verify")}, "agent"),
        ("implementation", {}, "agent"),
        ("tdd", {}, "person"),  # there is no command that runs the tests
        ("feature", {}, "agent"),
    ],
)
def test_who_is_needed_is_known_for_the_workflows_of_every_system(stage, definition, how, needs):
    stage.host("true")
    stage.bench.save()
    stage.bench.open().start(definition, "Greet by name", **how)
    assert stage.run("--dry-run", "--json").json["needs"] == needs


def test_phases_of_one_s_own_are_worked_through(stage):
    stage.host("echo $RANDOM >> work; holdfast done")
    stage.bench.open().start("custom", "Move the data", phases=("Backup", "Migrate"))
    assert stage.run().code == 0
    assert stage.many == 2


AS_A_PERSON = """
import os, pty, sys
def answered(fd):
    data = os.read(fd, 4096)
    if b"[y/N]" in data:
        os.write(fd, b"y\\n")
    return data
pty.spawn(sys.argv[1:], answered)
"""


def test_an_agent_of_a_run_is_no_person_whatever_terminal_and_environment_it_makes(stage):
    """Its programs come from the keeper of the run, which stays above them also when they leave their parent."""
    stage.define()
    stage.bench.write("person.py", AS_A_PERSON)
    forged = f'env -i PATH="$PATH" HOME="$HOME" TERM=xterm {sys.executable} person.py holdfast approve sign-off'
    stage.host(
        "echo good > NOTES.md; holdfast done write --artifact notes=NOTES.md; holdfast begin verify\n"
        f"holdfast done verify; {forged} > said; (setsid {forged} > detached) & wait\n"
    )
    stage.begin()
    assert stage.run().code == 3
    for file in ("said", "detached"):
        assert "only a person may approve sign-off" in stage.bench.read(file)
    assert stage.state.step("sign-off").status != "done"


@pytest.mark.parametrize("words", ["run release 2.0", "stop"])
def test_an_agent_of_a_run_starts_and_stops_none_also_without_its_environment(stage, words):
    stage.define()
    stage.host(f'env -i PATH="$PATH" HOME="$HOME" holdfast {words} 2> said')
    stage.begin()
    stage.run("--once")
    assert "only a person may" in stage.bench.read("said")
    assert len(stage.bench.open().list()) == 1


def test_an_agent_that_ends_the_lease_of_its_run_does_not_end_the_run(stage):
    stage.define()
    work = "echo good > NOTES.md; holdfast done write --artifact notes=NOTES.md"
    stage.host('echo \'{"usage": {"cost_usd": 0.02}}\'; holdfast agent end', work)
    stage.begin()
    assert stage.run().code == 3
    assert (stage.state.step("verify").status, stage.state.spent, dict(stage.state.leases)) == ("done", 20_000, {})


def test_an_agent_means_the_workflow_of_its_run_where_several_are_active(stage):
    stage.define()
    stage.host("echo good > NOTES.md; holdfast done write --artifact notes=NOTES.md")
    stage.begin(subject="1.0")
    other = stage.begin(subject="2.0")
    assert stage.run("-w", other).code == 3
    assert stage.bench.open().workflow(other).state.step("verify").status == "done"
