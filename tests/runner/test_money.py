"""What hosts cost is booked as it happens and once, also when somebody dies in between."""

from __future__ import annotations

import random
import signal
import time

import pytest

from holdfast.files import system
from tests.runner.conftest import wait_for
from tests.tiers import examples

HAND_IN = "echo good > NOTES.md\nholdfast done write --artifact notes=NOTES.md\n"


def spend(dollars: float) -> str:
    return f'echo \'{{"usage": {{"cost_usd": {dollars}}}}}\'\n'


def test_cost_is_booked_for_the_step_it_was_spent_on(stage):
    stage.define()
    stage.host(spend(0.25) + spend(0.5) + HAND_IN)
    stage.begin()
    stage.run()
    assert stage.state.spent == 750_000


def test_a_running_total_is_booked_by_its_differences(stage):
    stage.define()
    stage.host(spend(0.25), spend(0.75) + HAND_IN, is_sum=True)
    stage.begin()
    stage.run()
    assert stage.state.spent == 750_000


def test_a_bound_that_is_reached_ends_the_turn_and_the_run(stage):
    stage.define(bounds="bounds = { max_cost = 1 }")
    stage.host(spend(1.5) + "sleep 60")
    stage.begin()
    before = time.monotonic()
    answer = stage.run()
    assert answer.code == 3
    assert "the bound on cost is used up" in answer.out
    assert time.monotonic() - before < 30
    assert stage.state.spent == 1_500_000


def test_the_cost_of_one_run_can_be_bounded(stage):
    stage.define()
    stage.host(spend(0.5) + "sleep 60")
    stage.begin()
    answer = stage.run("--max-cost", "0.4")
    assert answer.code == 3
    assert "this run may cost $0.40" in answer.out


def test_near_a_bound_the_agent_is_asked_to_finish(stage):
    stage.define(bounds="bounds = { max_cost = 1 }")
    stage.host(spend(0.95), HAND_IN)
    stage.begin()
    stage.run()
    assert "finish and hand in now" not in stage.asked(1)
    assert "95 % of the cost" in stage.asked(2)


def test_a_host_of_unknown_cost_is_refused_under_a_bound(stage):
    stage.define()
    stage.host("true", cost="")
    stage.begin()
    answer = stage.run("--max-cost", "1")
    assert (answer.code, stage.many) == (3, 0)
    assert "[runner.prices" in answer.err


@pytest.mark.parametrize("seed", range(examples(12)))
def test_a_runner_that_is_killed_anywhere_is_continued_and_nothing_is_booked_twice(stage, seed):
    """The host counts for itself what it said; every step is done once, and no host is left."""
    chance = random.Random(seed)
    count = f"echo 1 >> {stage.turns}/said\n"
    loop = f"for i in 1 2 3 4; do {count.strip()}; {spend(0.01).strip()}; sleep 0.05; done\n"
    stage.define()
    stage.host(f"echo $$ >> {stage.turns}/pids\n{loop}" + HAND_IN)
    stage.begin()
    for _ in range(3):
        runner = stage.started()
        time.sleep(chance.uniform(0.2, 1.6))
        runner.send_signal(signal.SIGKILL)
        runner.wait()
    assert stage.run().code == 3
    said = len((stage.turns / "said").read_text().split())
    assert stage.state.spent in (said * 10_000, *((said - n) * 10_000 for n in range(1, 5)))
    history = [one.command for one in stage.bench.open().latest().history() if one.command == "done"]
    assert len(history) == 2
    pids = [int(word) for word in (stage.turns / "pids").read_text().split()]
    wait_for(lambda: not any(system.here.is_running(pid) for pid in pids))


@pytest.mark.parametrize(
    "amount", ["Infinity", "-Infinity", "NaN", "1e999", "1e308", "12345678901234567890123456789", "-5"]
)
def test_an_amount_that_no_turn_can_cost_is_not_booked(stage, amount):
    stage.define(bounds="bounds = { max_cost = 2 }")
    work = "echo good > NOTES.md; holdfast done write --artifact notes=NOTES.md"
    stage.host(f'echo \'{{"usage": {{"cost_usd": {amount}}}}}\'; {work}')
    stage.begin()
    assert stage.run().code == 3
    assert (stage.state.step("verify").status, stage.state.spent) == ("done", 0)


def test_what_a_used_bound_advises_is_enough(stage):
    stage.define(bounds="bounds = { max_cost = 2 }")
    stage.host('echo \'{"usage": {"cost_usd": 50.5}}\'; sleep 5')
    stage.begin()
    said = stage.run()
    assert "(holdfast extend --cost 54" in said.out
    stage.bench.person("extend", "--cost", "54", says="\n")
    assert "bound" not in {one.kind for one in stage.bench.open().workflow().briefing().blockers}
