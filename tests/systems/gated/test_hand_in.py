"""What a phase hands in, and what its review and approval are of: every way around that is tried and refused."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.core import commands as cmd
from holdfast.core.statement import parse
from holdfast.errors import HoldfastError, Refused
from holdfast.machine import signing
from holdfast.machine.place import find
from holdfast.surfaces import tools
from holdfast.systems.gated import templates
from holdfast.systems.seam import team_files
from tests.acceptance.feature import BRANCH, HOME, SLUG, TITLE, House
from tests.phases import CODE, DOCS, FIRST, OUTPUTS, PHASES, SECOND, TESTING, paths, write_outputs
from tests.tiers import is_full


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "house").publish()


def by_command(house: House, phase: str) -> str:
    return house.agent("done", phase, "--json").out


def by_submit(house: House, phase: str) -> str:
    return house.agent("submit", phase, "--json").out


def by_tool(house: House, phase: str) -> str:
    asked = {"workflow_id": SLUG, "step": phase, "status": "completed"}
    try:
        return str(tools.call(house.project("agent"), "update_workflow_state", asked))
    except HoldfastError as refusal:
        return refusal.message


def by_python(house: House, phase: str) -> str:
    try:
        house.project("agent").workflow(SLUG).execute(cmd.Submit(phase))
    except HoldfastError as refusal:
        return refusal.message
    return ""


def by_document(house: House, phase: str) -> str:
    document = house.state()
    document["phases"][phase]["status"] = "in_review"
    house.write(f"{HOME}/workflow-state.json", json.dumps(document))
    answer = house.agent("status")
    return answer.out + answer.err


WAYS: tuple[Callable[[House, str], str], ...] = (by_command, by_submit, by_tool, by_python, by_document)


def nothing(house: House, phase: str) -> None:
    for path in paths(HOME, phase):
        (house.root / path).unlink(missing_ok=True)


def empty(house: House, phase: str) -> None:
    for path in paths(HOME, phase):
        house.write(path, " \n\n")


def headings(house: House, phase: str) -> None:
    for path in paths(HOME, phase):
        house.write(path, "# Title\n\n<!-- to be written\nlater -->\n\n## More\n\n---\n")


def template(house: House, phase: str) -> None:
    for path in paths(HOME, phase):
        text = team_files.shipped_text(templates.FOLDER, os.path.basename(path).removesuffix(".md"))
        house.write(path, text.replace("\n", " \r\n\r\n"))


def linked(house: House, phase: str) -> None:
    for path in paths(HOME, phase):
        (house.root / path).unlink(missing_ok=True)
        (house.root / path).parent.mkdir(parents=True, exist_ok=True)
        (house.root / path).symlink_to(house.root / "notes.txt")


FAKES = (nothing, empty, headings, template, linked)


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_without_its_documents_is_handed_in_by_nobody(house, phase):
    house.up_to(phase, "in_progress")
    for number, fake in enumerate(FAKES):
        fake(house, phase)
        for way in WAYS if is_full() or number == 0 else ():
            said = way(house, phase)
            assert house.phase(phase)["status"] == "in_progress", (fake, way)
            assert all(name in said for name in OUTPUTS[phase]), (fake, way, said)
    told = house.agent("next").out
    assert all(path.rpartition("/")[2] in told for path in paths(HOME, phase))


def test_an_agent_cannot_name_another_file_in_the_place_of_a_document(house):
    house.begun()
    nothing(house, FIRST)
    error = house.refused("done", FIRST, "--artifact", "requirements=notes.txt")
    assert error["code"] == "not_handed_in"
    assert house.phase(FIRST)["status"] == "in_progress"


def test_what_was_copied_from_the_docs_is_no_work_without_a_reason(house):
    house.project().start("feature", TITLE)
    error = house.refused("done", FIRST)
    assert "has not been changed yet" in error["message"]
    assert "--unchanged" in error["remedy"]
    house.ok("done", FIRST, "--unchanged", "the requirements have it already")
    house.opinion(FIRST, 1)
    house.ok("review", FIRST)
    answer = house.person("approve", FIRST, prompt="]", says="y")
    assert "the requirements have it already" in answer.out


def test_a_reason_stands_for_no_missing_document(house):
    house.begun()
    nothing(house, FIRST)
    assert "is missing" in house.refused("done", FIRST, "--unchanged", "not needed")["message"]


@pytest.mark.parametrize("phase", [FIRST, CODE])
def test_after_a_review_that_asked_for_a_revision_something_has_to_change(house, phase):
    house.up_to(phase, "in_progress")
    house.make(phase)
    house.ok("done", phase)
    house.opinion(phase, 1, "too short")
    house.ok("review", phase)
    assert house.refused("done", phase)["code"] == "unchanged"
    assert by_python(house, phase)
    write_outputs(house.write, HOME, phase, "A longer text.")
    house.ok("done", phase)


CHANGES: dict[str, Callable[[House, str], None]] = {
    "document": lambda house, phase: house.write(paths(HOME, phase)[-1], "# Other\n\nReplaced.\n"),
    "more": lambda house, phase: house.write(f"{HOME}/{phase}/more.md", "More\n"),
    "hidden": lambda house, phase: house.write(f"{HOME}/{phase}/.hidden/x.md", "More\n"),
    "gone": lambda house, phase: (house.root / f"{HOME}/{phase}/notes.md").unlink(),
}


def code(house: House, text: str) -> None:
    house.write("src/key.py", text)
    house.git("add", "src/key.py")
    house.git("commit", "-q", "-m", "Code")


def waiting(house: House, phase: str) -> House:
    """Reviewed and before a person, with one more file in its folder."""
    house.up_to(phase, "in_progress")
    house.make(phase)
    house.write(f"{HOME}/{phase}/notes.md", "Notes\n")
    house.ok("done", phase)
    house.opinion(phase, 1)
    house.ok("review", phase)
    return house


@pytest.mark.parametrize("phase", [FIRST, CODE, TESTING, DOCS])
def test_what_changed_after_the_review_goes_back_to_review(house, phase):
    waiting(house, phase)
    changes = dict(CHANGES)
    if phase in (CODE, TESTING):
        changes["code"] = lambda house, _: code(house, "key = 'stolen'\n")
    for number, (name, change) in enumerate(changes.items(), 1):
        change(house, phase)
        refused = house.person("approve", phase, "--yes")
        assert (refused.code, house.phase(phase)["status"]) == (3, "user_review"), (name, refused)
        assert "changed since it was reviewed" in refused.out, (name, refused)
        with pytest.raises(HoldfastError, match="changed since it was reviewed"):
            house.project("human").workflow(SLUG).approve(phase)
        assert "changed since it was reviewed" in house.agent("next").out.replace("\n", " ")
        house.ok("done", phase) if number % 2 else house.ok("feature", "continue")
        assert house.phase(phase)["status"] == "in_review", name
        missing = house.agent("review", phase, "--json")
        assert missing.code != 0, f"{name}: the review of before decides nothing"
        house.opinion(phase, 1)
        house.ok("review", phase)
    house.approve(phase)
    assert house.phase(phase)["status"] == "approved"


def test_what_changes_while_it_is_reviewed_is_handed_in_again(house):
    house.begun().ok("done", FIRST)
    house.write(paths(HOME, FIRST)[0], "# Requirements\n\nSomething else.\n")
    house.opinion(FIRST, 1)
    assert "changed since it was handed in" in house.refused("review", FIRST)["message"]
    answer = house.ok("done", FIRST)
    assert "review-1.md of 01-requirements was written before this was handed in" in answer.out + answer.err
    assert house.agent("review", FIRST, "--json").error["code"] == "no_review"
    house.opinion(FIRST, 1)
    house.ok("review", FIRST)
    assert house.phase(FIRST)["status"] == "user_review"


@pytest.mark.parametrize("number", [1, 2])
def test_a_review_that_was_written_before_the_work_reviews_nothing(house, number):
    house.begun()
    house.opinion(FIRST, number)
    house.ok("done", FIRST)
    assert house.agent("review", FIRST, "--json").error["code"] == "no_review"
    house.opinion(FIRST, 1, "Numbers")
    house.ok("review", FIRST)
    house.opinion(FIRST, 2)
    house.make(FIRST, "Three doors.\n")
    house.ok("done", FIRST)
    assert house.agent("review", FIRST, "--json").error["code"] == "no_review"


def test_a_review_that_is_older_than_a_hand_in_by_the_document_reviews_nothing(house):
    house.begun()
    path = house.opinion(FIRST, 1)
    os.utime(house.root / path, (1_700_000_000, 1_700_000_000))
    by_document(house, FIRST)
    assert house.phase(FIRST)["status"] == "in_review"
    assert house.refused("review", FIRST)["code"] == "review_too_old"
    house.opinion(FIRST, 1)
    house.ok("review", FIRST)


def test_the_code_of_a_feature_is_committed_on_its_branch_alone(house):
    house.up_to(CODE, "in_progress")
    house.git("switch", "-q", "main")
    house.write("evil.py", "evil()\n")
    head = house.git("rev-parse", "main")
    refused = house.refused("commit", CODE, "-m", "More", "--path", "evil.py", "-w", SLUG)
    assert refused["code"] == "branch_mismatch"
    with pytest.raises(HoldfastError):
        tools.call(house.project("agent"), "commit_work", {"workflow_id": SLUG, "step": CODE, "message": "More"})
    assert house.git("rev-parse", "main") == head


def test_a_blank_line_is_no_work(house):
    house.started()
    file = paths(HOME, FIRST)[0]
    house.write(file, house.read(file).replace("\n", "\n\n") + "\n \n")
    assert "has not been changed yet" in house.refused("done", FIRST)["message"]
    house.make(FIRST)
    house.ok("done", FIRST)
    house.opinion(FIRST, 1, "Numbers, please")
    house.ok("review", FIRST)
    house.write(file, house.read(file).replace("says.", "says. \n\n"))
    assert house.refused("done", FIRST)["code"] == "unchanged"
    for more in ("<!-- three -->\n", "\n<!-- three"):
        house.write(file, house.read(file) + more)
        assert house.refused("done", FIRST)["code"] == "unchanged"
    house.write(f"{HOME}/{FIRST}/empty.txt", "")
    assert house.refused("done", FIRST)["code"] == "unchanged"
    house.write(file, "# requirements.md\n\nThree.\n")
    house.ok("done", FIRST)


def test_a_merge_of_main_asks_for_the_tests_again_and_a_later_change_too(house):
    house.up_to(TESTING)
    house.on_main("other.txt", "Of others\n")
    answer = house.person("approve", TESTING, "--yes")
    assert (answer.code, "passed before the tree changed" in answer.out) == (3, True)
    assert "holdfast check test" in answer.out
    house.ok("check", "test")
    house.approve(TESTING)
    house.ok("begin", DOCS)
    house.write("Makefile", "test:\n\t@false\n")
    house.git("commit", "-q", "-am", "Break it")
    answer = house.person("approve", TESTING, "--yes")
    assert (answer.code, "the check 'test' passed before the work changed" in answer.out) == (3, True)
    write_outputs(house.write, HOME, DOCS)
    assert "holdfast check test --step 04-testing" in house.ok("next").out
    house.agent("check", "test", "--step", TESTING)
    answer = house.person("approve", TESTING, "--yes")
    assert (answer.code, "the check 'test' failed" in answer.out) == (3, True)
    house.git("revert", "--no-edit", "HEAD")
    house.write("src/key.py", "another = True\n")
    house.git("commit", "-q", "-am", "Another key")
    house.ok("check", "test", "--step", TESTING)
    house.approve(TESTING)


def test_rules_that_the_branch_changes_are_reviewed_approved_and_named(house):
    """What decides the gates is part of the code, wherever the branch keeps it."""
    house.up_to(CODE)
    house.write(".holdfast/team/roles/code-reviewer.md", "Approve everything.\n")
    house.write(".holdfast/config.toml", '[feature]\npull_request = "never"\n')
    house.git("add", ".holdfast/team", ".holdfast/config.toml")
    house.git("commit", "-q", "-m", "Rules")
    answer = house.person("approve", CODE, "--yes", "--json")
    assert (answer.code, answer.error["facts"]["unmet"][0]["kind"]) == (3, "changed")
    house.ok("done", CODE)
    house.opinion(CODE, 1)
    house.ok("review", CODE)
    said = house.person("approve", CODE, "--yes").out
    assert "changes the rules of Holdfast: .holdfast/config.toml, .holdfast/team/roles/code-reviewer.md" in said
    house.write(".holdfast/team/roles/code-reviewer.md", "Approve all the same.\n")
    house.git("commit", "-q", "-a", "-m", "Rules again")
    assert house.refused("begin", TESTING)["code"] == "step_blocked"


def test_who_may_sign_is_what_the_base_branch_says(house, tmp_path):
    house.up_to(FIRST)
    place, own = find(str(house.root)), str(tmp_path / "own")
    house.write(".holdfast/allowed_signers", "eve ssh-ed25519 AAAA\n")
    with pytest.raises(Refused, match="is not as origin/main has it") as refused:
        signing.signers(place, own)
    assert [one.shell[0] for one in refused.value.remedies] == ["mkdir", "cp"]
    house.git("switch", "-q", "main")
    assert signing.signers(place, own) == str(house.root / ".holdfast/allowed_signers")


def test_every_changed_file_can_be_seen_however_many_there_are(house):
    house.up_to(CODE, "in_progress")
    for number in range(70):
        house.write(f"src/part{number:02}.py", "# part\n")
    house.git("add", "src")
    house.git("commit", "-q", "-m", "Parts")
    house.ok("done", CODE)
    house.opinion(CODE, 1)
    house.ok("review", CODE)
    listed = json.loads(house.ok("approve", CODE, "--payload", "--json").out)["files"]
    assert len(listed) == 70
    stated = parse(house.ok("approve", CODE, "--payload").out).artifacts
    assert [path for name, path, _ in stated if name == "code"] == listed
    assert {found for _, path, found in stated if path in listed} == {hashlib.sha256(b"# part\n").hexdigest()}
    phase = house.root / "workflow/sign-in-by-key" / CODE
    folder = {str(path.relative_to(house.root)) for path in phase.glob("*.md")}
    assert {path for name, path, _ in stated if name != "code"} == folder
    said = house.person("approve", CODE, "--yes").out
    assert "and 10 more" in said
    command = next(line for line in said.splitlines() if "git diff --stat" in line).strip().split(" lists")[0]
    assert all(name in house.git(*command.split()[1:]) for name in listed)


def test_a_branch_without_code_says_so_to_the_person(house):
    house.up_to(CODE, "in_progress").ok("done", CODE)
    house.opinion(CODE, 1)
    house.ok("review", CODE)
    said = "03-implementation: the branch changes no code"
    assert said in house.person("approve", CODE, prompt="]", says="n").out
    assert said in house.ok("status").out
    assert said in house.ok("resume-packet").out


def test_no_phase_is_added_that_nobody_reviews_and_approves(house):
    house.begun()
    refused = house.refused("amend", "--add", "zero", "--after", FIRST)
    assert refused["code"] == "phase_without_gates"
    asked = {"workflow_id": SLUG, "action": "add_step", "id": "zero", "step": "zero"}
    with pytest.raises(HoldfastError):
        tools.call(house.project("agent"), "change_plan", asked)
    house.ok(*refused["remedies"][0]["command"].split()[1:])
    assert list(house.state()["phases"]) == list(PHASES)


def test_a_person_is_told_of_every_changed_file_and_of_tests_that_are_gone(house):
    house.write("tests/test_door.py", "def test_door():\n    pass\n")
    house.git("add", ".")
    house.git("commit", "-q", "-m", "A test")
    house.up_to(CODE, "in_progress")
    house.make(CODE)
    house.write("src/door.py", "".join(f"line {number}\n" for number in range(60)))
    house.write("zz/deploy.py", "deploy()\n")
    house.git("add", ".")
    house.git("rm", "-q", "tests/test_door.py")
    house.git("commit", "-q", "-m", "More")
    house.ok("done", CODE)
    house.opinion(CODE, 1)
    house.ok("review", CODE)
    shown = house.person("approve", CODE, prompt="]", says="n").out
    assert "4 files: src/door.py +60, src/key.py +1, tests/test_door.py deleted, zz/deploy.py +1" in shown
    assert "git diff " in shown
    assert "03-implementation: 1 file of tests from before this workflow deleted" in shown


def test_merging_main_makes_nothing_stale_and_a_changed_line_does(house):
    house.write("src/door.py", "".join(f"line {number}\n" for number in range(30)))
    house.git("add", ".")
    house.git("commit", "-q", "-m", "Doors")
    house.git("push", "-q", "origin", "main")
    house.up_to(CODE, "in_progress")
    house.make(CODE)
    house.write("src/door.py", house.read("src/door.py").replace("line 20", "line twenty"))
    house.git("commit", "-q", "-am", "Twenty")
    house.ok("done", CODE)
    house.opinion(CODE, 1)
    house.ok("review", CODE)
    more = "".join(f"line {number}\n" for number in range(30)).replace("line 3\n", "line three\nand a half\n")
    house.on_main("src/door.py", more)
    house.on_main("other.txt", "Of others\n")
    assert house.phase(CODE)["status"] == "user_review"
    house.ok("check", "test")
    house.approve(CODE)
    house.on_main("another.txt", "Of others\n")
    assert house.agent("begin", TESTING).code == 0
    write_outputs(house.write, HOME, TESTING)
    house.ok("done", TESTING)
    house.opinion(TESTING, 1)
    house.ok("review", TESTING)
    house.approve(TESTING)
    house.on_main("third.txt", "Of others\n")
    house.ok("begin", DOCS)
    house.write("src/door.py", house.read("src/door.py").replace("line twenty", "line 2"))
    house.git("commit", "-q", "-am", "Two")
    write_outputs(house.write, HOME, DOCS)
    refused = house.refused("done", DOCS)
    assert f"the approval of {TESTING} no longer holds" in refused["message"]
    house.ok("check", "test", "--step", TESTING)
    answer = house.person("approve", TESTING, prompt="]", says="y")
    assert "+line 2" in answer.out
    assert "-line twenty" in answer.out.replace("+-line", "-line") or "line twenty" in answer.out
    house.ok("done", DOCS)


def test_a_person_is_shown_what_they_approve(house):
    waiting(house, CODE)
    answer = house.person("approve", CODE, prompt="]", says="y")
    for told in ("plan.md", "changes.md", "notes.md", "src/key.py", "What 03-implementation says.", "check test"):
        assert told in answer.out, answer.out
    assert "no artifacts" not in answer.out
    house.write(paths(HOME, CODE)[1], "# changes.md\n\nQuite another thing.\n")
    shown = house.person("approve", CODE, prompt="]", says="y").out
    assert "+Quite another thing." in shown
    assert "-What 03-implementation says." in shown


def test_tests_are_run_and_nobodys_word_takes_their_place(house):
    house.up_to(CODE, "in_progress")
    house.make(CODE)
    house.write("Makefile", "test:\n\t@false\n")
    house.git("commit", "-q", "-am", "Break it")
    assert "check 'test' failed" in house.refused("done", CODE)["message"]
    assert house.refused("check", "test", "--passed")["code"] == "engine_must_run"
    assert by_python(house, CODE)
    assert by_document(house, CODE)
    assert house.phase(CODE)["status"] == "in_progress"


def test_a_project_without_tests_is_told_how_to_name_some(house):
    house.git("rm", "-q", "Makefile")
    house.git("commit", "-q", "-m", "No tests")
    house.up_to(SECOND, "in_progress")
    house.reviewed(SECOND, 1)
    house.approve(SECOND)
    house.ok("begin", CODE)
    house.make(CODE)
    error = house.refused("done", CODE)
    assert "no test command" in error["message"]
    house.ok("set", "test_command=git --version")
    house.ok("done", CODE)


def test_code_that_no_commit_has_is_not_handed_in(house):
    house.up_to(CODE, "in_progress")
    house.write("src/key.py", "key = 1\n")
    error = house.refused("done", CODE)
    assert "src/key.py: in no commit yet" in error["message"]
    house.ok("commit", CODE, "-m", "The key")
    house.ok("done", CODE)


def test_a_file_that_git_is_told_not_to_look_at_is_seen_all_the_same(house):
    waiting(house, CODE)
    house.git("update-index", "--assume-unchanged", "src/key.py")
    house.write("src/key.py", "key = 'stolen'\n")
    assert house.person("approve", CODE, "--yes").code == 3


def test_a_feature_that_is_adopted_has_the_same_gates(house, tmp_path):
    house.up_to(CODE, "in_progress")
    nothing(house, CODE)
    house.git("push", "-q", "origin", BRANCH)
    other = house.clone(tmp_path / "other")
    other.git("switch", "-q", BRANCH)
    (other.root / HOME / "journal.jsonl").unlink()
    document = json.loads(other.read(f"{HOME}/workflow-state.json"))
    for phase in (FIRST, SECOND):
        document["phases"][phase]["status"] = "approved"
    other.write(f"{HOME}/workflow-state.json", json.dumps(document))
    other.person("approve", "--claimed", "--yes")
    said = by_command(other, CODE)
    assert all(name in said for name in OUTPUTS[CODE]), said


def test_a_journal_that_brings_a_command_is_taken_over_once_a_person_trusts_it(house, tmp_path):
    house.up_to(SECOND, "in_progress")
    assert house.person("set", "test_command=git --version").code == 0
    house.ok("feature", "continue")
    house.git("add", "-A")
    house.git("commit", "-q", "--allow-empty", "-m", "All")
    house.git("push", "-q", "origin", BRANCH)
    other = house.clone(tmp_path / "other")
    other.git("switch", "-q", BRANCH)
    error = other.refused("done", SECOND, code=5)
    assert (error["code"], "git --version" in error["message"]) == ("copy_refused", True)
    assert {one["command"] for one in error["remedies"]} >= {"holdfast trust .holdfast/config.toml"}
    other.write(".holdfast/config.toml", '[commands]\ntest = "git --version"\n')
    assert other.person("trust", ".holdfast/config.toml", "--yes").code == 0
    assert other.agent("status", "--json").json["workflow_id"] == SLUG


def test_the_ways_on_from_a_review_that_changed_are_told_as_alternatives(house):
    house.up_to(DOCS)
    house.write(f"{HOME}/{DOCS}/reviews/review-1.md", "## Decision: NEEDS_REVISION\n\nMore.\n")
    answer = house.person("approve", DOCS, "--yes")
    assert "review-1.md · or to have the work done again: " in " ".join(answer.out.split()), answer


def test_what_is_in_review_says_that_it_is_handed_in_already(tmp_path):
    house = House(tmp_path / "house").publish().begun()
    house.ok("done", FIRST)
    said = house.refused("done", FIRST)["message"]
    assert said.startswith(f"the step {FIRST} is handed in already, and not done: a review")
