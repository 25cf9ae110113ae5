"""Approvals that come with git or in a copied folder are claims, until a person, a signature or the forge says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from holdfast.core import gates
from tests.acceptance.feature import BRANCH, FIRST, HOME, PHASES, SECOND, SLUG, House, Talk, hosted
from tests.forges.github.server import GitHub

JOURNAL = f"{HOME}/journal.jsonl"


def push(house: House) -> None:
    house.git("push", "-q", "-u", "origin", BRANCH)


def clone(house: House, root: Path) -> House:
    other = house.clone(root)
    other.git("switch", "-q", BRANCH)
    return other


def grant(house: House, phase: str = FIRST):
    found = house.workflow().state.step(phase).grant
    assert found is not None
    return found


def verdict(house: House, phase: str = FIRST) -> str:
    workflow = house.workflow()
    return gates.grant_verdict(workflow.state, phase, workflow.facts())


@pytest.fixture
def here(tmp_path) -> House:
    """A first clone, in which a person approved the first phase at a terminal; all of it is pushed."""
    house = House(tmp_path / "here").publish()
    house.up_to(FIRST)
    house.approve(FIRST)
    push(house)
    return house


@pytest.fixture
def there(here, tmp_path) -> House:
    return clone(here, tmp_path / "there")


def test_a_grant_says_how_and_where_the_person_was_recognised(here):
    one = grant(here)
    assert (one.how, one.where.partition(":")[2]) == ("terminal", "here")
    assert verdict(here) == "valid"
    (said,) = (step for step in here.ok("status", "--json").json["steps"] if step["path"] == FIRST)
    assert (said["approval"], said["approved"]["how"], said["approved"]["where"]) == ("valid", "terminal", one.where)


def test_what_comes_by_git_is_kept_and_shown_as_claimed_everywhere(here, there):
    assert grant(there) == grant(here)
    given = f"{grant(here).by} is said to have given it at a terminal on {grant(here).where}"
    said = f"the approval of {FIRST} is only claimed: {given}; it counts only in the folder where it was given"
    status = there.ok("status", "--json").json
    assert next(step for step in status["steps"] if step["path"] == FIRST)["approval"] == "claimed"
    assert status["claimed"] == there.ok("next", "--json").json["claimed"] == [said]
    for words in (("status",), ("next",), ("resume-packet",)):
        assert "only claimed" in there.ok(*words).out, words
    refused = there.refused("begin", SECOND)
    assert (refused["code"], refused["facts"]["because"]) == ("step_blocked", [said])
    assert [one["command"] for one in refused["remedies"] if one["who"] == "person"] == ["holdfast approve --claimed"]
    assert here.ok("begin", SECOND).code == 0


def test_a_grant_that_names_this_place_without_its_code_is_said_not_to_be_recorded_here(here, tmp_path):
    """A clone of the same name has such a grant without a forgery: its code is of the other folder."""
    (tmp_path / "elsewhere").mkdir()
    here = clone(here, tmp_path / "elsewhere" / "here")
    why = "Holdfast did not record it here for this user: it may be forged"
    given = f"{grant(here).by} is said to have given it at a terminal on {grant(here).where}"
    assert verdict(here) == "claimed"
    status = here.ok("status", "--json").json
    assert status["claimed"] == [f"the approval of {FIRST} is only claimed: {given}; {why}"]
    for words in (("status",), ("next",), ("resume-packet",)):
        assert why in " ".join(here.ok(*words).out.split()), words
    assert why in here.refused("begin", SECOND)["message"]
    shown = here.person("approve", "--claimed", prompt="[y/N] ", says="n")
    assert why in " ".join(shown.out.split())


def test_a_person_sees_all_of_them_and_confirms_them_with_one_command(there):
    assert there.refused("approve", "--claimed", "--yes")["code"] == "person_needed"
    before = grant(there)
    answer = there.person("approve", "--claimed", prompt="[y/N] ", says="n")
    assert (answer.code, "nothing was confirmed" in answer.out) == (1, True)
    assert verdict(there) == "claimed"
    answer = there.person("approve", "--claimed", prompt="[y/N] ", says="y")
    assert answer.code == 0, answer
    for shown in (FIRST, before.by, before.where, "requirements.md", "Confirm this step?"):
        assert shown in answer.out
    assert (verdict(there), grant(there).where.partition(":")[2]) == ("valid", "there")
    assert there.workflow().state.step(FIRST).past_grants[-1] == before
    there.ok("begin", SECOND)
    assert there.ok("approve", "--claimed").out == "no approval or check is only claimed here\n"


def test_a_file_that_changed_since_is_not_confirmed_with_the_others(there):
    there.write(f"{HOME}/{FIRST}/requirements.md", "# Other words\n")
    assert there.ok("approve", "--claimed", "--json").json == {"confirmed": {}}
    assert verdict(there) == "stale"


def test_finalize_by_a_person_confirms_and_by_an_agent_does_not(tmp_path):
    here = House(tmp_path / "here").publish().completed()
    push(here)
    there = clone(here, tmp_path / "there")
    status = there.ok("status", "-w", SLUG, "--json").json
    assert (status["status"], len(status["claimed"])) == ("claimed", len(PHASES))
    assert "only claimed" in there.ok("status", "-w", SLUG).out
    assert there.refused("feature", "finalize", SLUG)["code"] == "gate_unmet"
    answer = there.person("feature", "finalize", SLUG, prompt="[y/N] ", says="y")
    assert answer.code == 0, answer
    assert "Confirm these 5 steps?" in answer.out
    assert there.workflow().state.finalized


def test_a_forged_line_of_another_clone_is_a_claim(here, there):
    """An agent there has a key of its own, and whatever it takes to write sound lines; what was granted here counts."""
    stranger = House.at(there, there.root)
    stranger.env = {**there.env, "XDG_DATA_HOME": str(there.root.parent / "strange")}
    assert stranger.person("approve", "--claimed", "--yes").code == 0
    stranger.ok("begin", SECOND)
    stranger.make(SECOND)
    stranger.reviewed(SECOND, 1)
    assert stranger.person("approve", SECOND, "--yes").code == 0
    push(there)
    here.git("pull", "-q", "--ff-only", "origin", BRANCH)
    assert [verdict(here, phase) for phase in (FIRST, SECOND)] == ["valid", "claimed"]
    assert here.refused("begin", PHASES[2])["code"] == "step_blocked"


def test_a_copied_folder_brings_claims_and_its_original_keeps_its_approvals(here, tmp_path):
    shutil.copytree(here.root, tmp_path / "copy", symlinks=True)
    assert (verdict(here.at(tmp_path / "copy")), verdict(here)) == ("claimed", "valid")


@pytest.mark.parametrize("loosened", ["approval", "skipped"])
def test_a_journal_that_asks_nobody_is_not_taken_over(here, tmp_path, loosened):
    from holdfast.stores.lines import FIRST as ZERO
    from holdfast.stores.lines import head, seal

    lines, prev = [], ZERO
    for number, line in enumerate((here.root / JOURNAL).read_text().splitlines(), 1):
        body = {key: value for key, value in json.loads(line).items() if key not in ("seq", "synced", "prev", "sum")}
        for event in body["events"]:
            if event["event"] == "started" and loosened == "approval":
                event["steps"] = [{k: v for k, v in one.items() if k != "approval"} for one in event["steps"]]
        if number == 2 and loosened == "skipped":
            body["events"].append({"event": "skipped", "step": SECOND, "attempt": 0})
        said = json.dumps(body, ensure_ascii=False, separators=(",", ":"))[1:-1].encode()
        text = head(number, 0, prev) + said
        lines.append(text + seal(text))
        prev = json.loads(lines[-1])["sum"]
    forged = b"".join(lines)
    there = House(tmp_path / "there")
    there.git("switch", "-q", "-c", BRANCH)
    there.write(JOURNAL, forged.decode())
    assert "leaves one out" in there.agent("list").out + there.agent("list").err
    assert there.project().wired.store.entries() == []


# The forge


@pytest.fixture
def github(tmp_path):
    with GitHub(tmp_path / "github") as server:
        yield server
    assert server.unexpected == []


@pytest.fixture
def heard(tmp_path, github) -> House:
    """The first phase was approved on the pull request, and heard of in a first clone."""
    house = hosted(House(tmp_path / "house"), github)
    house.up_to(FIRST)
    house.ok("feature", "continue")
    Talk(github, house).approves()
    house.ok("feature", "continue")
    return house


def cloned(house: House, github: GitHub, root: Path) -> House:
    house.git("clone", "-q", str(github.bare), str(root))
    other = house.at(root)
    other.git("remote", "set-url", "origin", github.url)
    other.git("config", f"url.{github.bare}.insteadOf", github.url)
    other.git("switch", "-q", BRANCH)
    return other


def test_an_approval_on_the_forge_names_its_address(heard, github):
    one = grant(heard)
    assert (one.how, one.where) == ("forge", f"{github.address}/repos/octo-org/octo-repo/pulls/1")
    assert verdict(heard) == "valid"


def test_the_forge_confirms_in_another_clone_what_it_still_says(heard, github, tmp_path):
    there = cloned(heard, github, tmp_path / "there")
    assert verdict(there) == "claimed"
    assert f"the approval of {FIRST} by mona is confirmed" in there.ok("feature", "continue").out
    assert verdict(there) == "valid"


@pytest.mark.parametrize("state", ["DISMISSED", "CHANGES_REQUESTED", "outsider"])
def test_the_forge_confirms_nothing_that_it_does_not_say(heard, github, tmp_path, state):
    there = cloned(heard, github, tmp_path / "there")
    (review,) = github.reviews[1]
    review.update({"author_association": "NONE"} if state == "outsider" else {"state": state})
    there.agent("feature", "continue")
    assert verdict(there) == "claimed"


def test_an_approval_at_an_address_that_is_not_the_users_is_a_claim(heard, tmp_path):
    """Who has other settings does not believe what was heard there, say at a server that an agent called a forge."""
    config = Path(heard.env["XDG_CONFIG_HOME"]) / "holdfast" / "config.toml"
    assert verdict(heard) == "valid"
    config.unlink()
    assert verdict(heard) == "claimed"


def test_where_earlier_approvals_are_claimed_a_person_confirms_them_before_the_next_one(tmp_path):
    here = House(tmp_path / "here").publish().up_to(SECOND)
    push(here)
    there = clone(here, tmp_path / "there")
    said = " ".join(there.ok("feature", "continue").out.split())
    assert said.index("types holdfast approve --claimed") < said.index(f"holdfast approve {SECOND}")
    assert there.person("approve", "--claimed", "--yes").code == 0
    assert there.person("approve", SECOND, "--yes").code == 0
