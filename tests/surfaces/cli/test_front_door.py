"""What a newcomer types: commands for a person keep what was typed, every workflow is named, and words lead on."""

from __future__ import annotations

import shlex

import pytest

from tests.workbench import Bench

OWN = """\
name = "sign"

[[step]]
id = "write"
outputs = ["text"]

[[step]]
id = "sign"
approval = { by = "human" }
"""


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


def persons(answer) -> list[str]:
    return [one["command"] for one in answer.error["remedies"] if one.get("who") == "person" and "command" in one]


@pytest.mark.parametrize(
    "words",
    [
        ("trust", "release", "--remove"),
        ("uninstall", "claude-code", "--scope", "user"),
        ("clean", "--all", "--active"),
        ("extend", "--iterations", "5"),
        ("reject", "sign-off", "--feedback", "say what changed"),
    ],
    ids=" ".join,
)
def test_a_command_for_a_person_keeps_every_option_that_was_typed(project, words):
    if words[0] == "reject":
        project.until("sign-off")
    answer = project.agent(*words, "--json")
    assert answer.error["code"] == "person_needed", answer
    typed = shlex.split(persons(answer)[0])[1:]
    assert sorted(typed) == sorted(words)


def test_a_person_who_may_not_be_asked_is_asked_still_where_the_command_is_repeated(project):
    assert "--yes" not in persons(project.agent("trust", "release", "--yes", "--json"))[0]


def test_a_definition_that_is_not_there_is_no_persons_business(project):
    assert project.agent("trust", "nothing", "--json").error["code"] != "person_needed"


def test_a_step_that_cannot_be_skipped_yet_says_what_comes_before_it(project):
    assert project.agent("skip", "publish", "--json").error["code"] == "step_blocked"
    assert project.agent("skip", "draft", "--json").error["code"] == "not_skippable"


def test_status_names_what_is_active_on_other_branches(bench):
    bench.git("switch", "-q", "-c", "other")
    there = bench.ok("start", "custom", "There", "--phases", "A,B", "--json").json["workflow_id"]
    bench.write(".holdfast/workflows/sign.toml", OWN)
    apart = bench.ok("start", "sign", "1", "--json").json["workflow_id"]
    bench.git("switch", "-q", "main")
    bench.ok("start", "sign", "2")
    said = bench.ok("status").out
    assert f"{apart} (other)" in said, said
    found = bench.ok("status", "--json").json
    if "workflows" in found:  # several are of this branch: then all are listed
        assert apart in {one["workflow_id"] for one in found["workflows"]}
        assert len(said.splitlines()) == len(found["workflows"])
    assert {"workflow_id": apart, "branch": "other"}.items() <= found["elsewhere"][-1].items()
    assert there not in {one["workflow_id"] for one in found["elsewhere"]} or "(other)" in said


def test_a_feature_says_which_branch_it_is_on(bench):
    bench.write("Makefile", "test:\n\t@true\n")
    bench.ok("feature", "init")
    bench.save("workflow")
    assert "on the branch feature/sign-in" in bench.ok("start", "feature", "Sign in").out


def test_the_folder_of_our_own_documents_is_no_agent_host(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    bench = Bench(tmp_path / "project").begun()
    bench.write("tests/test_a.py", "import unittest\n")
    bench.ok("start", "tdd", "Do it")
    assert (bench.root / ".claude/workflow-state").is_dir()
    assert bench.ok("init", "--json").json["hosts"] == []
    bench.write(".claude/settings.json", "{}")
    assert [one["host"] for one in bench.ok("init", "--json").json["hosts"]] == ["claude-code"]


def test_where_journals_are_gone_nobody_is_sent_to_adopt(bench):
    import shutil

    bench.write("tests/test_a.py", "import unittest\n")
    bench.ok("start", "tdd", "Do it")
    shutil.rmtree(bench.root / ".holdfast")
    assert "holdfast adopt" not in bench.agent("init").out
    assert "a journal is gone" in bench.agent("init").out
    assert bench.agent("status", "--json").error["remedy"] == "holdfast doctor"
    assert "a journal is gone" in bench.agent().out


def test_a_decision_that_was_sent_back_names_the_step_whose_work_it_is_about(bench):
    bench.write(".holdfast/workflows/sign.toml", OWN)
    bench.ok("start", "sign", "1")
    bench.write("NOTES.md", "one\n")
    bench.ok("begin", "write")
    bench.ok("done", "write", "--artifact", "text=NOTES.md")
    bench.person("reject", "sign", "--feedback", "say more", says="y")
    ways = bench.ok("next", "--json").json["blockers"][0]["remedies"]
    assert [one["command"] for one in ways] == ["holdfast done sign", "holdfast reopen write"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("version",), "holdfast --version"),
        (("stat",), "holdfast status --help"),
        (("feature", "bogus"), "holdfast feature init --help"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_a_mistyped_command_leads_to_the_one_that_was_meant(bench, words, said):
    answer = bench.agent(*words, "--json")
    assert answer.code == 2
    assert said in answer.error["remedy"]


def test_an_empty_list_says_what_was_asked_for_and_a_word_that_is_no_status_is_refused(bench):
    assert bench.ok("list", "--status", "failed").out == "no workflow has the status failed\n"
    refused = bench.agent("list", "--status", "bogus", "--json")
    assert (refused.code, refused.error["code"]) == (2, "bad_status")
    assert "in_progress" in refused.error["message"]
    assert bench.ok("list").out == "no workflows\n"


def test_a_finished_workflow_with_the_id_of_an_active_one_is_listed_by_its_ulid(project):
    first = project.ok("status", "--json").json
    project.ok("cancel")
    project.ok("start", "release", "1.4.0", "--fresh")
    rows = project.ok("list", "--all").out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [first["workflow_id"], first["ulid"]]


def test_where_no_step_waits_and_none_is_active_approve_leads_to_the_list(bench):
    answer = bench.agent("approve", "--json")
    assert bench.agent(*shlex.split(answer.error["remedy"].partition(" · ")[0])[1:]).code == 0, answer


def test_a_run_of_unittest_that_finds_no_test_does_not_pass(bench):
    bench.write(
        ".holdfast/workflows/tested.toml",
        'name = "tested"\n\n[[step]]\nid = "verify"\n'
        'checks = [ { name = "tests", run = ["python3", "-m", "unittest"], run_by = "engine" } ]\n',
    )
    bench.person("trust", "tested", says="y")
    bench.ok("start", "tested", "1")
    bench.ok("begin", "verify")
    answer = bench.agent("done", "verify")
    assert answer.code == 3
    assert "failed: no test ran" in answer.err or "NO TESTS RAN" in answer.err
    bench.write(
        "test_one.py", "import unittest\n\n\nclass One(unittest.TestCase):\n    def test_one(self):\n        pass\n"
    )
    assert bench.agent("done", "verify").code == 0


def test_a_workflow_is_listed_by_the_name_that_it_was_started_by(bench):
    bench.ok("start", "compaction/planning", "A plan")
    for name in ("compaction/planning", "planning"):
        assert bench.ok("list", "--type", name, "--json").json["total"] == 1
    assert bench.ok("list", "--type", "story/planning", "--json").json["total"] == 0


def test_a_definition_has_as_many_steps_wherever_they_are_counted(bench):
    text = 'name = "two"\n[[step]]\nid = "a"\n[[step.step]]\nid = "b"\n[[step.step]]\nid = "c"\n[[step]]\nid = "d"\n'
    bench.write(".holdfast/workflows/two.toml", text)
    assert "two, 2 steps" in bench.ok("workflows", "check", ".holdfast/workflows/two.toml").out
    [line] = [line for line in bench.ok("workflows").out.splitlines() if line.startswith("two ")]
    assert "2 steps" in line
    bench.ok("start", "two", "x")
    assert " 1/2 " in bench.ok("status").out


def test_where_nothing_is_done_yet_no_part_of_the_work_is_done(bench):
    bench.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    bench.saved_feature("features/a.md", "One", "Two")
    bench.ok("start", "dev", "features/a.md")
    assert "0% done" in bench.ok("status").out
    assert bench.ok("list", "--json").json["workflows"][0]["finished_percentage"] == 0


def test_help_of_help_is_the_help(bench):
    assert bench.ok("help", "--help").out == bench.ok("help").out == bench.ok("--help").out


def test_what_can_be_started_ends_with_what_to_type(bench):
    bench.write(".holdfast/workflows/s.toml", 'name = "s"\n[[step]]\nid = "a"\n')
    listed = bench.ok("start").out.splitlines()
    assert listed[-1] == "to start one: holdfast start WORKFLOW SUBJECT"
    assert "1 step · without a description · yours" in next(line for line in listed if line.startswith("s "))
    assert "make .holdfast" in " ".join(bench.ok("init", "--help").out.split())
