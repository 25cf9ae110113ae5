"""The last gates of a feature: what was tested is what others get, and not what is only in this working tree."""

from __future__ import annotations

import shlex
import time
from typing import Any

import pytest

from tests.acceptance.feature import BRANCH, CODE, DOCS, HOME, SLUG, TESTING, House
from tests.acceptance.kills import Kills

END = ("feature", "finalize")
RUN = ("check", "test", "--step", TESTING)


@pytest.fixture
def house(tmp_path) -> House:
    """A repository whose tests are a script of their own."""
    house = House(tmp_path / "house")
    house.write("Makefile", "test:\n\t@sh ./t.sh\n")
    house.write("t.sh", "exit 0\n")
    house.git("add", "Makefile", "t.sh")
    house.git("commit", "-q", "-m", "Tests")
    return house.publish()


def merged(house: House) -> House:
    """Completed, and main has it."""
    house.completed()
    house.git("switch", "-q", "main")
    house.git("merge", "-q", BRANCH)
    house.git("push", "-q", "origin", "main")
    return house


def commit(house: House, path: str, text: str) -> None:
    house.write(path, text)
    house.git("add", path)
    house.git("commit", "-q", "-m", f"Change {path}")


def follow(house: House, error: dict[str, Any]) -> None:
    for one in error["remedies"][:2]:
        words = shlex.split(one["command"].replace("TEXT", "'The tests'"))
        house.git(*words[1:]) if words[0] == "git" else house.ok(*words[1:])


def test_an_uncommitted_file_does_not_make_a_broken_base_good_enough_to_end_on(house):
    merged(house)
    commit(house, "t.sh", "exit 1\n")
    house.git("push", "-q", "origin", "main")
    house.write("t.sh", "exit 0\n")
    house.ok(*RUN)
    error = house.refused("feature", "finalize")
    assert "t.sh: in no commit yet" in error["message"]
    assert "t.sh: in no commit yet" in house.ok("next", "-w", SLUG).out
    assert (house.root / HOME).exists()
    follow(house, error)
    assert house.refused("feature", "finalize")["code"] == "not_approved"  # it is a change that nobody approved
    assert house.person("feature", "finalize", "--yes").code == 0
    assert house.git("show", "origin/main:t.sh") == "exit 0\n"


def test_a_file_that_only_is_here_does_not_make_the_tests_of_others_pass(house):
    merged(house)
    commit(house, "t.sh", "sh ./helper.sh\n")
    house.write("helper.sh", "exit 0\n")
    house.ok(*RUN)
    assert "helper.sh: in no commit yet" in house.refused("feature", "finalize")["message"]


def test_the_last_approval_is_of_what_others_get(house):
    house.up_to(DOCS)
    house.on_main("t.sh", "exit 1\n")
    house.write("t.sh", "exit 0\n")
    house.ok(*RUN)
    answer = house.person("approve", DOCS, "--yes", "--json")
    assert (answer.code, answer.error["code"]) == (3, "gate_unmet")
    assert "t.sh: in no commit yet" in answer.error["message"]
    assert house.state()["status"] != "completed"


def test_an_end_that_died_continues_only_on_what_was_tested_as_it_is_committed(house):
    kills = Kills(merged(house))
    died = kills.before(kills.changes(*END).index("os.rename /docs/requirements.md") + 1, *END)
    commit(died, "t.sh", "exit 1\n")
    died.write("t.sh", "exit 0\n")
    died.ok(*RUN)
    assert "t.sh: in no commit yet" in died.refused(*END, SLUG)["message"]
    died.git("commit", "-q", "-a", "-m", "The tests")
    died.ok(*RUN)
    died.ok(*END, SLUG)


def test_work_that_is_not_committed_stops_no_end_whose_tests_ran_without_it(house):
    merged(house)
    house.write("t.sh", "exit 1\n")
    house.write("notes.txt", "Mine\n")
    house.ok("feature", "finalize")
    assert house.read("t.sh") == "exit 1\n"


def test_what_was_not_committed_when_the_feature_began_stops_no_end(house):
    house.write("mine.txt", "Mine\n")
    house.completed()
    house.ok("feature", "finalize")
    assert house.read("mine.txt") == "Mine\n"


def test_files_that_only_this_clone_ignores_are_named_to_the_person(house):
    """Others lack them; what the project itself ignores, and what was there before, is nobody's trick."""
    exclude = house.root / ".git/info/exclude"
    with exclude.open("a") as file:
        file.write("mine.txt\nhelper.sh\n")
    house.write("mine.txt", "Mine\n")
    time.sleep(1.1)  # the moment at which a feature began is known to the second
    house.up_to(CODE, "in_progress")
    commit(house, ".gitignore", "build/\n")
    commit(house, "t.sh", "sh ./helper.sh\n")
    for path in ("helper.sh", "build/out.txt", ".venv/bin/python", "__pycache__/a.pyc"):
        house.write(path, "exit 0\n")
    house.ok("done", CODE)
    house.opinion(CODE, 1)
    house.ok("review", CODE)
    said = f"{CODE}: the tests may use files that git ignores in this clone alone, so that no other clone has them:"
    for answer in (house.person("approve", CODE, prompt="]", says="n"), house.ok("status")):
        text = " ".join(answer.out.split())
        assert f"{said} helper.sh " in text, answer
        assert "out.txt" not in text


def hide(house: House, name: str) -> None:
    """A file that git ignores in this clone alone."""
    with (house.root / ".git/info/exclude").open("a") as file:
        file.write(f"{name}\n")
    house.write(name, "exit 0\n")


def test_no_agent_ends_a_feature_on_a_file_that_only_this_clone_has(house):
    merged(house)
    commit(house, "t.sh", ". ./helper.sh\n")
    house.git("push", "-q", "origin", "main")
    hide(house, "helper.sh")
    house.ok(*RUN)
    (house.root / "helper.sh").unlink()  # it was there when the tests ran
    error = house.refused(*END)
    assert error["code"] == "person_needed"
    assert "helper.sh" in error["message"]
    assert (house.root / HOME).exists()
    answer = house.person(*END, prompt="]", says="n")
    assert "helper.sh" in answer.out
    assert (house.root / HOME).exists()
    assert "is finalized" in house.person(*END, "--yes").out


def test_a_file_that_only_this_clone_has_and_that_a_person_was_shown_stops_no_end(house):
    house.up_to(CODE, "in_progress")
    hide(house, "helper.sh")
    house.make(CODE)
    house.reviewed(CODE, 1)
    house.approve(CODE)
    for phase in (TESTING, DOCS):
        house.ok("begin", phase)
        house.make(phase)
        house.reviewed(phase, 1)
        house.approve(phase)
    house.on_main("other.txt", "Else\n")
    house.ok(*RUN)
    house.ok(*END)


def test_a_file_that_appears_after_the_tests_ran_stops_no_last_approval(house):
    house.up_to(DOCS)
    house.write("notes.txt", "Mine\n")
    house.approve(DOCS)
    house.ok(*END)
    assert house.read("notes.txt") == "Mine\n"


def test_who_is_refused_for_an_uncommitted_file_can_put_it_aside(house):
    house.up_to(DOCS)
    house.write("notes.txt", "Mine\n")
    house.ok(*RUN)
    answer = house.person("approve", DOCS, "--yes", "--json")
    way = next(one["command"] for one in answer.error["remedies"] if "stash" in one["command"])
    house.git(*shlex.split(way)[1:])
    house.ok(*RUN)
    house.approve(DOCS)


def filtered(house: House) -> None:
    """The tests as they are on disk pass, and as git commits them they do not."""
    house.git("config", "filter.swap.clean", "sed s/0/1/")
    house.git("config", "filter.swap.smudge", "sed s/1/0/")
    (house.root / ".git/info/attributes").write_text("t.sh filter=swap\n")
    commit(house, "t.sh", "exit 0 # other\n")


def test_the_last_approval_shows_what_a_filter_of_git_commits_otherwise(house):
    house.up_to(DOCS)
    filtered(house)
    house.ok(*RUN)
    house.approve(TESTING)
    said = f"{TESTING}: 1 file has other content on disk than git commits: t.sh"
    assert said in " ".join(house.person("approve", DOCS, prompt="]", says="n").out.split())


def test_no_agent_ends_a_feature_on_tests_that_a_filter_of_git_changes(house):
    merged(house)
    filtered(house)
    house.git("push", "-q", "origin", "main")
    house.ok(*RUN)
    error = house.refused(*END)
    assert (error["code"], "git commits: t.sh" in error["message"]) == ("person_needed", True)


def take_out(house: House) -> None:
    """A file is taken out of git, ignored by a `.gitignore` that everybody has, and stays on disk."""
    house.git("rm", "-q", "--cached", "t.sh")
    commit(house, ".gitignore", "t.sh\n")


def test_the_last_approval_shows_a_file_that_was_taken_out_of_git_and_is_still_there(house):
    house.up_to(DOCS)
    take_out(house)
    house.ok(*RUN)
    house.approve(TESTING)
    text = " ".join(house.person("approve", DOCS, prompt="]", says="n").out.split())
    assert f"{TESTING}: the tests may use files that were taken out of git and are still on disk" in text
    assert "no other clone has them: t.sh" in text


def test_no_agent_ends_a_feature_on_a_file_that_was_taken_out_of_git(house):
    merged(house)
    take_out(house)
    house.git("push", "-q", "origin", "main")
    house.ok(*RUN)
    error = house.refused(*END)
    assert (error["code"], "no other clone has them: t.sh" in error["message"]) == ("person_needed", True)


@pytest.mark.parametrize("flag", ["skip-worktree", "assume-unchanged"])
@pytest.mark.parametrize("finished", [False, True])
def test_a_changed_file_that_git_is_told_to_pass_over_can_be_committed_as_advised(house, flag, finished):
    house = house.completed() if finished else house.up_to(CODE, "in_progress")
    house.git("update-index", f"--{flag}", "Makefile")
    house.write("Makefile", "test:\n\t@echo other\n")
    words = ("feature", "finalize") if finished else ("done", CODE)
    if finished:
        house.ok(*RUN)
    error = house.refused(*words)
    assert "Makefile: in no commit yet" in error["message"], error
    said = house.agent(*words).err
    order = ["pass over it: git", "then: git add", "then: git commit"] if finished else ["pass over it: git", "then: "]
    assert [said.find(one) for one in order] == sorted(said.find(one) for one in order if one in said), said
    for one in error["remedies"][: 3 if finished else 2]:
        typed = shlex.split(one["command"].replace("TEXT", "'The tests'"))
        house.git(*typed[1:]) if typed[0] == "git" else house.ok(*typed[1:])
    assert "echo other" in house.git("show", "HEAD:Makefile")
    assert "in no commit yet" not in house.agent(*words, "--json").out


def test_who_approves_is_shown_which_file_says_what_the_tests_run(house):
    house.up_to(CODE, "in_progress").make(CODE)
    commit(house, "Makefile", "test:\n\t@true\n")
    house.reviewed(CODE, 1)
    assert "this branch changes what the checks run: Makefile" in house.approve(CODE)
