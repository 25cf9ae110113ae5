"""What a person is shown and asked when they type `holdfast approve`: the choice, what it builds on, large files."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

CHOICE = """\
name = "choose"
[[step]]
id = "pick"
choice = { options = ["delete-all", "keep"], by = "human" }
"""
AFTER = """\
name = "after"
[[step]]
id = "write"
outputs = ["text"]
[[step]]
id = "verify"
checks = [ { name = "tests" } ]
[[step]]
id = "sign-off"
approval = { by = "human" }
[[step]]
id = "publish"
"""
OWN = """\
name = "own"
[[step]]
id = "work"
outputs = ["text"]
approval = { by = "human" }
[[step]]
id = "more"
"""


@pytest.fixture
def bare(empty):
    for name, text in (("choose", CHOICE), ("after", AFTER), ("own", OWN)):
        empty.write(f".holdfast/workflows/{name}.toml", text)
    return empty


def test_a_choice_is_shown_with_its_options_and_named_in_the_question(bare):
    bare.opened().start("choose", "a")
    words = ("approve", "pick", "--variant", "delete-all", "--modify", "scope=world")
    shown = bare.people_ok(*words, says="y").out
    assert "  options: delete-all, keep\n  variant: delete-all\n  change: scope=world\n" in shown
    assert "Approve pick with variant delete-all and scope=world? [y/N]" in shown


def test_a_long_change_is_shown_above_the_question_and_named_in_it(bare):
    bare.opened().start("choose", "a")
    shown = bare.person("approve", "pick", "--variant", "keep", "--modify", f"why={'x' * 200}", says="n").out
    assert f"change: why={'x' * 200}" in shown
    assert "Approve pick with variant keep and why? [y/N]" in shown


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "pick asks for a choice: delete-all or keep"),
        (("--variant", "burn"), "pick has no option 'burn'; it has delete-all, keep"),
        (("--variant", "keep", "--revision", "1"), "revision"),
    ],
)
def test_a_choice_that_the_rules_refuse_is_refused_before_anybody_is_asked(bare, words, why):
    bare.opened().start("choose", "a").note("one revision more")
    answer = bare.person("approve", "pick", *words, says="y")
    assert answer.code != 0
    assert why in answer.out
    assert "[y/N]" not in answer.out
    assert bare.step("pick") == "pending"


def test_a_variant_where_there_is_no_choice_is_refused_before_anybody_is_asked(bare):
    hand_in(bare, "one\n")
    answer = bare.person("approve", "work", "--variant", "keep", says="y")
    assert "work offers no choice" in answer.out
    assert "[y/N]" not in answer.out


def test_a_signed_choice_is_refused_before_the_key_is_used_or_asked_for(bare):
    bare.write(".holdfast/workflows/choose.toml", CHOICE.replace("human", "signed"))
    bare.opened().start("choose", "a").begin("pick")
    for words, why in (((), "asks for a choice"), (("--variant", "keep"), "signature")):
        answer = bare.person("approve", "pick", *words, says="y")
        assert why in answer.out
        assert "[y/N]" not in answer.out
    answer = bare.person("approve", "pick", "--variant", "keep", "--sign", "no-such-key", says="n")
    assert "Approve pick with variant keep? [y/N]" in answer.out


def hand_in(project, text):
    project.write("text.md", text)
    run = project.opened().start("own", "a").begin("work")
    return run.done("work", {"text": str(project.root / "text.md")})


def up_to_sign_off(project):
    project.write("text.md", "one\ntwo\n")
    run = project.opened().start("after", "a").begin("write")
    run.done("write", {"text": str(project.root / "text.md")})
    run.begin("verify").check("tests", passed=True)
    return run.done("verify")


def test_who_approves_a_step_without_files_sees_the_files_before_it_and_how_their_checks_went(bare):
    up_to_sign_off(bare)
    shown = bare.person("approve", "sign-off", says="n").out
    assert "It has no artifacts of its own. The approval is for the work of the steps before it:\n" in shown
    assert re.search(r"  text of write: text.md \([0-9a-f]{12}\)\n    \| one\n    \| two\n", shown)
    assert "changed since" not in shown
    assert "check tests of verify passed (reported, " in shown


def test_a_file_of_a_step_before_that_has_changed_is_shown(bare):
    up_to_sign_off(bare)
    bare.write("text.md", "one\nthree\n")
    shown = bare.person("approve", "sign-off", says="n").out
    assert re.search(r"text of write: text.md \(\w{12}, changed since it was handed in\)\n    \| one\n", shown)
    assert "its differences cannot be shown here; to compare: less text.md\n" in shown
    (bare.root / "text.md").unlink()
    assert "text of write: text.md (not there, missing)\n" in bare.person("approve", "sign-off", says="n").out


def test_an_approval_of_a_step_without_files_ends_when_a_file_before_it_changes(bare):
    up_to_sign_off(bare)
    bare.people_ok("approve", "sign-off", says="y")
    bare.write("text.md", "evil\n")
    answer = bare.agent("begin", "publish", "--json")
    assert (answer.code, answer.error["code"]) == (3, "step_blocked")
    assert "changed since the approval of" in (shown := bare.people_ok("approve", "sign-off", says="y").out)
    assert "  -one\n    -two\n    +evil\n" in shown
    assert bare.agent("begin", "publish").code == 0


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_file_is_not_approved_in_the_place_of_one(bare, kind):
    up_to_sign_off(bare)
    path = bare.root / "text.md"
    path.unlink()
    bare.people_ok("approve", "sign-off", says="y")
    bare.write("other.md", "one\n")
    {"link": lambda: path.symlink_to("other.md"), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}[kind]()
    assert bare.agent("begin", "publish", "--json").error["code"] == "step_blocked"
    answer = bare.person("approve", "sign-off", says="y")
    assert (answer.code, "text.md is a link, a folder or something else that is no file" in answer.out) == (3, True)


def test_the_files_before_may_not_change_while_a_person_looks(bare):
    up_to_sign_off(bare)
    answer = bare.person("approve", "sign-off", says="y", meanwhile=lambda: bare.write("text.md", "swapped"))
    assert (answer.code, "changed while you looked" in answer.out) == (5, True)
    assert bare.step("sign-off") == "pending"


def numbers(many):
    return "".join(f"{number}\n" for number in range(1, many + 1))


def test_the_lines_that_are_not_shown_are_counted_and_the_command_that_shows_them_is_named(bare):
    hand_in(bare, numbers(200_000))
    assert "| … 199600 more lines: less text.md\n" in bare.person("approve", "work", says="n").out


def test_the_command_can_be_typed_where_the_person_is(bare):
    hand_in(bare, numbers(500))
    (bare.root / "below").mkdir()
    shown = bare.person("approve", "work", says="n", cwd=bare.root / "below").out
    assert f"less {bare.root}/text.md\n" in shown


def test_a_change_far_down_in_an_approved_file_is_shown(bare):
    hand_in(bare, numbers(5000))
    bare.people_ok("approve", "work", says="y")
    bare.write("text.md", numbers(5000).replace("\n4321\n", "\nother\n"))
    shown = bare.person("approve", "work", says="n").out
    assert "  -4321\n    +other\n" in shown
    assert "more lines" not in shown


def test_of_an_approved_file_too_large_to_keep_it_is_said_that_it_changed_and_how_to_compare(bare):
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=bare.root, check=True)
    hand_in(bare, numbers(200_000))
    bare.people_ok("approve", "work", says="y")
    bare.write("text.md", numbers(200_000).replace("\n150000\n", "\nother\n"))
    shown = bare.person("approve", "work", says="n").out
    assert "changed since the approval of " in shown
    assert "its differences cannot be shown here; to compare: " in shown
    assert "git diff HEAD -- text.md, git log -p -- text.md, less text.md\n" in shown


def test_a_change_beyond_what_is_shown_of_a_line_or_at_its_end_is_said(bare):
    hand_in(bare, f"{'x' * 500}\nlast\n")
    bare.people_ok("approve", "work", says="y")
    bare.write("text.md", f"{'x' * 499}y\nlast\n")
    assert "long lines are cut: less text.md\n" in bare.person("approve", "work", says="n").out
    bare.write("text.md", f"{'x' * 500}\nlast")
    assert "only the line end of its last line is different" in bare.person("approve", "work", says="n").out
