"""What a person decides about at a terminal: which step is meant, and what they are shown of it."""

from __future__ import annotations

import subprocess

import pytest

SIGN = """\
name = "sign"
[[step]]
id = "work"
outputs = ["text"]
approval = true
retry = { max = 1 }
"""
ASK = """\
name = "ask"
[[step]]
id = "go"
approval = { by = "human" }
[[step]]
id = "after"
"""
PICK = """\
name = "pick"
[[step]]
id = "pick"
choice = { options = ["A", "B"] }
"""


@pytest.fixture
def bare(empty):
    empty.write(".holdfast/workflows/sign.toml", SIGN)
    empty.write(".holdfast/workflows/ask.toml", ASK)
    empty.write("text.md", "".join(f"line {number}\n" for number in range(300)))
    return empty


def waiting(project, subject):
    """A run whose only step waits for an approval that an agent may pass on."""
    found = project.opened().start("sign", subject)
    found.begin("work").done("work", {"text": str(project.root / "text.md")})
    return found


def test_a_person_is_shown_all_of_a_relayed_approval_and_enter_is_a_no(bare):
    waiting(bare, "a")
    answer = bare.person("approve", "work", says=" ")
    assert (answer.code, "[y/N]" in answer.out, "[Y/n]" in answer.out) == (1, True, False)
    assert "| line 299\n" in answer.out
    assert bare.step("work") == "waiting"
    assert bare.people_ok("approve", "work", says="y").out.count("Approve work?") == 1
    assert bare.opened().list()[0].state.finished_at


def test_an_agent_still_passes_on_a_person_s_answer_and_is_told_that_it_may(bare):
    waiting(bare, "a")
    assert "an agent may report the decision" in bare.ok("next").out
    bare.ok("approve", "work")
    assert bare.opened().list()[0].state.finished_at


def test_without_a_step_it_is_the_one_that_waits_in_any_active_workflow(bare):
    run = waiting(bare, "a")
    bare.opened().start("sign", "b")
    assert bare.ok("approve", "--json").json["workflow_id"] == run.id


def test_of_several_that_wait_only_these_are_listed(bare):
    runs = [waiting(bare, name) for name in ("a", "b")]
    idle = bare.opened().start("sign", "c")
    answer = bare.agent("approve", "--json")
    said = str(answer.error["remedies"])
    assert (answer.code, answer.error["code"]) == (2, "several_wait")
    assert [one.id in said for one in (*runs, idle)] == [True, True, False]


def test_reject_without_a_step_is_about_the_one_that_waits(bare):
    waiting(bare, "a")
    bare.opened().start("sign", "b")
    bare.ok("reject", "--feedback", "shorter")
    assert "shorter" in bare.ok("next", "-w", waiting_id(bare, "a")).out
    assert bare.agent("reject", "--json").error["code"] == "nothing_waits"


def waiting_id(project, subject):
    return next(one.id for one in project.opened().list() if one.state.subject == subject)


def test_a_step_that_no_workflow_has_is_not_suggested_for_each_of_them(bare):
    waiting(bare, "a")
    waiting(bare, "b")
    answer = bare.agent("approve", "nope", "--json")
    assert answer.error["code"] == "no_step"
    assert "approve nope" not in str(answer.error["remedies"])


@pytest.mark.parametrize("begun", [False, True])
def test_what_is_only_an_approval_is_called_waiting_wherever_people_look(bare, begun):
    run = bare.opened().start("ask", "a")
    if begun:
        bare.ok("begin", "go")
    assert "waiting" in bare.ok("list").out
    assert "waiting" in bare.ok("list", "--status", "waiting").out
    assert "waiting" in bare.ok("status").out.splitlines()[0]
    assert "waiting" in bare.ok("next").out.splitlines()[0]
    shown = bare.agent().out
    assert shown.startswith("◐ ask-")
    assert "under way" not in shown + bare.ok("status").out + bare.ok("next").out
    assert bare.people_ok("reject", "go", says="not yet").code == 0
    assert "holdfast done go" in bare.ok("next").out
    assert run.refresh().state.step("go").status == "active"


def test_a_start_that_gives_more_tries_is_a_person_s(bare):
    run = bare.opened().start("sign", "a")
    run.begin("work").fail("work", "it does not work")
    refused = bare.agent("start", "sign", "a", "--json").error
    ways = {one.get("command", ""): one["who"] for one in refused["remedies"]}
    assert ways["holdfast start sign a --fresh"] == "person"
    assert "--fresh" not in refused["remedy"]
    assert "--fresh" in bare.person("start", "sign", "a", says="n").out


def test_a_refused_hand_in_says_what_it_did_not_keep_and_repeats_it(bare):
    bare.write(".holdfast/workflows/two.toml", SIGN.replace('"sign"', '"two"').replace('["text"]', '["text", "list"]'))
    bare.opened().start("two", "a").begin("work")
    error = bare.agent("done", "work", "--artifact", "text=text.md", "--json").error
    assert "not recorded: text=text.md" in error["message"]
    assert "--artifact text=text.md" in error["remedy"]
    assert "--artifact list=PATH" in error["remedy"]


def test_resume_without_a_name_takes_the_only_one_that_is_paused(bare):
    first = bare.opened().start("sign", "a")
    first.pause("lunch")
    bare.opened().start("sign", "b").begin("work")
    assert f"{first.id} continues" in bare.ok("resume").out


def test_a_step_of_another_active_workflow_is_named_with_it(bare):
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=bare.root, check=True)
    run = bare.opened().start("sign", "a", branch="main")
    bare.opened().start("ask", "b", branch="other")
    error = bare.agent("begin", "after", "--json").error
    assert f"in {run.id}; ask-" in error["message"]
    assert error["remedy"].startswith("holdfast begin after --json -w ask-")
    assert "candidates" not in bare.agent("begin", "after", "-w", run.id, "--json").error["facts"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("help", "foo"), "there is no command 'foo'\n"),
        (("abort",), "did you mean 'cancel'?"),
        (("start", "story/planning"), "level=LEVEL"),
    ],
)
def test_a_mistyped_command_leads_to_what_was_meant(bare, words, says):
    answer = bare.agent(*words)
    assert answer.code == 2
    assert says in answer.err
    assert "|" not in answer.err


def test_help_all_is_all_of_the_help(bare):
    assert bare.ok("help", "all").out == bare.ok("help", "--all").out


@pytest.mark.parametrize("words", [("supervise", "on_demand"), ("milestone", "1", "--create")])
def test_only_the_run_of_a_task_document_has_a_supervisor_and_milestones(bare, words):
    bare.opened().start("sign", "a")
    error = bare.agent("orchestrator", *words, "--json").error
    assert error["code"] == "not_orchestrated"


def test_what_the_question_of_a_rejection_prints_is_about_the_workflow_that_is_rejected(bare):
    first, second = (bare.opened().start("ask", name) for name in ("a", "b"))
    bare.ok("note", "hello", "-w", second.id)
    shown = bare.person("reject", "go", "-w", first.id, says=" ").out
    [line] = [one for one in shown.splitlines() if "go fails; " in one]
    command = line.rpartition(": ")[2].split()
    assert command == ["holdfast", "resume", "--from", "go", "-w", first.id]
    before = second.refresh().state.revision
    refused = bare.agent("resume", "--from", "go", "-w", second.id, "--json").error
    assert (refused["code"], refused["remedy"]) == ("nothing_to_resume", f"holdfast next -w {second.id}")
    assert second.refresh().state.revision == before


def test_a_rejection_that_fails_the_step_is_confirmed_by_a_yes_only(bare):
    run = bare.opened().start("ask", "a")
    enters = bare.person("reject", "go")
    assert (enters.code, "Reject go? [y/N]" in enters.out) == (1, True)
    over = bare.person("reject", "go", says="\x04")
    assert (over.code, "Reject go?" in over.out) == (1, False)
    assert "\ngo was not rejected\n" in over.out
    assert run.refresh().state.step("go").status == "pending"


def test_where_nothing_waits_in_several_workflows_the_way_on_is_not_refused(bare):
    for name in ("a", "b"):
        bare.opened().start("sign", name)
    for command in ("approve", "reject"):
        assert bare.agent(command, "--json").error["remedy"] == "holdfast status"


@pytest.mark.parametrize(("step", "instead"), [("work", ""), ("pick", " --variant VARIANT")])
def test_a_person_is_not_given_the_choice_back_that_was_refused(bare, step, instead):
    bare.write(".holdfast/workflows/pick.toml", PICK)
    run = bare.opened().start("pick" if step == "pick" else "sign", "a")
    if step == "work":
        waiting_again = run.begin("work").done("work", {"text": str(bare.root / "text.md")})
        assert waiting_again.state.step("work").status == "waiting"
    answer = bare.person("approve", step, "--variant", "C", "-w", run.id)
    assert answer.code == 3
    assert answer.out.endswith(f"→ holdfast approve {step}{instead}\n"), answer


LONG = "a title that is so long that no line of a terminal has room for it and its command"
NARROW = {"COLUMNS": "80"}


def test_status_breaks_no_command_and_a_long_id_takes_no_column_from_others(bare):
    id = bare.ok("start", "custom", LONG, "--phases", "A,B", "--json").json["workflow_id"]
    bare.opened().start("sign", "b")
    assert len(id) > 40
    shown = bare.person("status", "-w", id, env=NARROW).out
    assert any("holdfast " in line and line.endswith(f" -w {id}") for line in shown.splitlines())
    rows = bare.person("list", env=NARROW).out.splitlines()
    assert all(name in rows[0] for name in ("STEP", "DONE", "STATUS"))
    assert "1/2" in rows[rows.index(id) + 1]


def test_every_workflow_takes_one_line_of_a_terminal(bare):
    look = 'name = "look"\n[[step]]\nid = "a"\nchecks = [{ name = "x", uses = "test" }]\n'
    bare.write(".holdfast/workflows/look.toml", look)
    ids = [bare.opened().start(name, about).id for name in ("sign", "ask", "look") for about in ("a", "b")]
    ids.append(bare.ok("start", "custom", LONG, "--phases", "A,B", "--json").json["workflow_id"])
    for words in ((), ("status",)):
        lines = bare.person(*words, env=NARROW).out.splitlines()
        assert len(lines) == len(ids), lines
        assert all(len(line) <= 80 or ids[-1] in line for line in lines), lines
        assert any("(holdfast begin work -w" in line for line in lines), lines
        assert any("(holdfast approve go -w" in line for line in lines), lines
        assert not any("to a person" in line for line in lines), lines
