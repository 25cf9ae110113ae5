"""Definitions on the command line, and taking over what changed in one."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.conftest import DEFINITION


def change(project, old: str, new: str) -> None:
    file = project.root / DEFINITION
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_the_definitions_are_listed(empty):
    rows = {row["name"]: row for row in empty.ok("workflows", "--json").json["workflows"]}
    assert (rows["release"]["path"], rows["release"]["trusted"], rows["release"]["steps"]) == (DEFINITION, False, 6)
    assert "yours, not trusted" in empty.ok("workflows").out


def test_a_definition_without_commands_needs_no_trust(empty):
    (empty.root / DEFINITION).unlink()
    empty.ok("workflows", "new", "mine")
    assert empty.ok("workflows").out.splitlines()[0].endswith("· yours")
    assert empty.ok("workflows", "--json").json["workflows"][0]["runs_commands"] is False


def test_a_broken_definition_is_listed_with_its_mistake(empty):
    empty.write(".holdfast/workflows/bad.toml", "name = 3\n")
    assert "mistake" in empty.ok("workflows").out


def test_a_definition_is_checked_and_every_mistake_is_named(empty):
    assert empty.ok("workflows", "check", DEFINITION, "--json").json["steps"] == 6
    empty.write("bad.toml", 'name = "bad"\nversoin = 1\n[[step]]\nid = "a b"\n')
    answer = empty.agent("workflows", "check", "bad.toml")
    assert answer.code == 2
    head, first, second, remedy = answer.err.splitlines()
    assert head == "2 mistakes in the definition:"
    assert first == "  bad.toml:2: unknown key 'versoin', did you mean 'version'?"
    assert second.startswith("  bad.toml:4: 'a b' is not a name")
    assert remedy.endswith("holdfast workflows check bad.toml")
    assert empty.agent("workflows", "check", "gone.toml").code == 4


def test_a_definition_is_begun_and_can_be_started_at_once(empty):
    assert empty.ok("workflows", "new", "mine", "--json").json["path"] == ".holdfast/workflows/mine.toml"
    assert empty.agent("workflows", "new", "mine").code == 5
    empty.ok("start", "mine")


def test_status_is_silent_while_the_definition_is_the_same(project):
    assert "definition changed" not in project.ok("status").out
    assert project.ok("status", "--json").json["definition_changed"] is False


def test_amend_takes_changes_over_step_by_step(project):
    change(project, '[[step]]\nid = "look"', '[[step]]\nid = "sleep"\n\n[[step]]\nid = "look"')
    change(project, 'name = "Write the draft"', 'name = "Draft it"')
    assert "definition changed: holdfast amend" in project.ok("status").out
    found = project.ok("amend", "--json").json["changes"]
    assert [(one["op"], one["path"]) for one in found] == [("add", "sleep"), ("change", "draft")]
    project.ok("amend", "draft")
    assert "add     sleep" in project.ok("amend").out
    project.ok("amend", "sleep")
    assert project.ok("status", "--json").json["definition_changed"] is False
    paths = [step["path"] for step in project.ok("status", "--json").json["steps"]]
    assert paths[:4] == ["draft", "verify", "sleep", "look"]
    assert project.agent("amend", "draft", "--json").error["code"] == "no_change"


def test_amend_all_takes_everything_over_and_leaves_tasks_alone(project):
    project.ok("task", "add", "mine", "--under", "verify")
    project.ok("amend", "--add", "extra", "--name", "One more", "--after", "verify")
    change(project, 'name = "Write the draft"', 'name = "Draft it"')
    answer = project.ok("amend", "--all", "--json").json
    assert answer["amended"] == [{"op": "change", "path": "draft"}]
    assert project.ok("amend", "--json").json["changes"] == []
    paths = [step["path"] for step in project.ok("status", "--json").json["steps"]]
    assert paths[:4] == ["draft", "verify", "verify/1", "extra"]


def test_amend_all_tells_what_it_applied_and_what_was_refused(project):
    change(project, 'name = "Write the draft"', 'name = "Draft it"')
    change(project, 'approval = { by = "human" }\n', "")
    refused = project.agent("amend", "--all", "--json")
    assert (refused.code, refused.error["code"]) == (3, "amended_in_part")
    assert refused.error["facts"]["amended"] == [{"op": "change", "path": "draft"}]
    assert [one["path"] for one in refused.error["facts"]["refused"]] == ["sign-off"]
    assert "draft is changed; sign-off is not changed: only a person" in refused.error["message"]
    assert [one["path"] for one in project.ok("amend", "--json").json["changes"]] == ["sign-off"]


def test_loosening_a_gate_needs_a_person(project):
    change(project, 'approval = { by = "human" }\n', "")
    refused = project.agent("amend", "sign-off", "--json")
    assert (refused.code, refused.error["code"]) == (3, "person_needed")
    project.people_ok("amend", "sign-off")


def test_new_commands_are_taken_over_only_from_a_trusted_file(project):
    change(project, 'id = "look"\n', 'id = "look"\nchecks = [ { name = "evil", run = ["rm", "-rf", "x"] } ]\n')
    assert project.agent("amend", "look", "--json").error["code"] == "untrusted"
    assert project.person("amend", "--all", "--json").json["error"]["code"] == "untrusted"
    project.people_ok("trust", "release", says="y")
    project.ok("amend", "look")


def test_a_step_is_added_and_retired_by_hand(project):
    answer = project.ok("amend", "--add", "banner", "--under", "publish", "--after", "wheel", "--json").json
    assert answer["step"]["path"] == "publish/banner"
    project.ok("amend", "publish/banner", "--retire")
    assert project.agent("amend", "publish/banner", "--retire").code == 4


@pytest.mark.parametrize("words", [("draft", "--all"), ("--retire",), ("--name", "x"), ("--all", "--add", "y")])
def test_ways_to_amend_that_make_no_sense_together(project, words):
    assert project.agent("amend", *words).code == 2


FEATURE = """\
---
title: Login
---
> By name.

## To do

- [ ] Add the form
  - with a name
- [x] Describe it (no tests)

## Notes

- [ ] ask Ada

## Acceptance criteria

- Wrong names are refused
"""


def test_what_is_read_in_a_feature_file_is_printed(empty):
    empty.write("login.md", FEATURE)
    assert empty.ok("workflows", "check", "login.md").out == (
        "✓ login.md is valid: Login (from its front matter), 2 tasks\n"
        "  By name.\n"
        "  tasks, below 'To do':\n"
        "    1. [ ] Add the form\n"
        "         - with a name\n"
        "    2. [x] Describe it (no tests)\n"
        "  criteria:\n"
        "    - Wrong names are refused\n"
        "  remarks:\n"
        "    line 14: 1 box below 'Notes': no heading of tasks, so no task\n"
    )
    said = empty.ok("workflows", "check", "login.md", "--json").json
    assert (said["ok"], said["file"], said["title_from"], said["headings"]) == (
        True,
        "login.md",
        "front matter",
        ["To do"],
    )
    assert said["tasks"][0] == {
        "number": 1,
        "text": "Add the form",
        "done": False,
        "line": 8,
        "tested": True,
        "description": "- with a name",
    }
    assert [one["line"] for one in said["remarks"]] == [14]


def test_what_is_read_in_a_folder_is_printed(empty):
    empty.write("features/login.md", FEATURE)
    empty.write("features/notes.md", "# Notes\n")
    answer = empty.ok("workflows", "check", "features")
    first, second, *_ = answer.out.splitlines()
    assert (first, second[:35]) == ("✓ features: 1 feature, 1 passed over", "features/login.md is valid: Login (")
    assert "features/notes.md is passed over: there is no task" in answer.out
    assert len(empty.ok("workflows", "check", "features", "--json").json["features"]) == 1


def test_a_feature_file_may_end_in_markdown(empty):
    empty.write("features/2-login.markdown", FEATURE)
    empty.write("features/1-LOGOUT.MD", FEATURE)
    empty.write("features/README.markdown", "# All features\n")
    assert empty.ok("workflows", "check", "features/2-login.markdown", "--json").json["title"] == "Login"
    read = empty.ok("workflows", "check", "features/1-LOGOUT.MD", "--json").json
    assert read["title"] == "Login"
    folder = empty.ok("workflows", "check", "features", "--json").json
    assert [one["file"] for one in folder["features"]] == ["features/1-LOGOUT.MD", "features/2-login.markdown"]
    assert folder["passed_over"] == []


def test_a_folder_without_a_feature_is_refused(empty):
    empty.write("notes/.keep", "")
    answer = empty.agent("workflows", "check", "notes")
    assert (answer.code, answer.out) == (4, "")
    assert "there is no feature file with tasks in notes\n" in answer.err
    empty.write("notes/a.md", "# A\n")
    answer = empty.agent("workflows", "check", "notes")
    assert (answer.code, "notes/a.md is passed over: there is no task" in answer.err) == (4, True)
    assert "notes/login.md" in answer.err


def test_what_is_read_behind_a_comment_without_an_end_is_told(empty):
    empty.write("login.md", "# Login\n## Tasks\n<!-- later\n- [ ] Add the form\n")
    out = empty.ok("workflows", "check", "login.md").out
    assert "    1. [ ] Add the form\n" in out
    assert "    line 3: the comment has no end (-->): the file is read again from line 4 on\n" in out


def test_a_feature_file_with_mistakes_is_refused_with_their_lines(empty):
    empty.write("login.md", "# Login\n## Tasks\n- [!] a\n")
    answer = empty.agent("workflows", "check", "login.md")
    assert (answer.code, "login.md:3: a check box is" in answer.err) == (2, True)
