"""Every command that moves a workflow or looks at one, as an agent and its people type them."""

from __future__ import annotations

import json
import subprocess

FIELDS = {
    "workflow_id",
    "workflow_type",
    "status",
    "current_step",
    "current_step_name",
    "progress_percentage",
}


def test_start_says_what_was_started_and_what_is_next(empty):
    answer = empty.ok("start", "release", "1.4.0")
    assert answer.out.startswith("✓ started release-")
    assert answer.out.endswith("· next: draft  (holdfast begin draft)\n")


def test_start_and_status_print_the_same_fields_in_json(empty):
    started = empty.ok("start", "release", "1.4.0", "--json").json
    status = empty.ok("status", "--json").json
    assert started.keys() >= FIELDS
    assert status.keys() >= FIELDS
    assert started["workflow_id"] == status["workflow_id"]
    assert (status["workflow_type"], status["current_step"], status["current_step_name"]) == (
        *("release", 1),
        "Write the draft",
    )
    assert (status["title"], status["progress_percentage"]) == ("Release 1.4.0", 16)


def test_values_of_the_context_are_json_where_they_are_json_and_else_text(empty):
    given = ("n=1", "t=true", 'o={"a":[1]}', "w=1.2.3", "inf=Infinity", "big=1e999", "nan=NaN", "z=null", "e=", "q='x'")
    started = empty.ok("start", "release", *(word for pair in given for word in ("--set", pair)), "--json").json
    answer = empty.ok("set", "n=2", "--json").json
    assert answer["context"] == {
        "n": 2,
        "t": True,
        "o": {"a": [1]},
        "w": "1.2.3",
        "inf": "Infinity",
        "big": "1e999",
        "nan": "NaN",
        "z": None,
        "e": "",
        "q": "'x'",
    }
    assert answer["workflow_id"] == started["workflow_id"]


def test_the_same_key_starts_only_one_workflow(empty):
    first = empty.ok("start", "release", "1", "--key", "k1", "--json").json
    assert empty.ok("start", "release", "1", "--key", "k1", "--json").json["ulid"] == first["ulid"]
    assert empty.agent("start", "release", "2", "--key", "k1").code == 5
    assert empty.ok("list", "--json").json["total"] == 1


def test_a_second_start_is_refused_unless_the_first_is_given_up(project):
    assert project.agent("start", "release", "1.4.0", "--json").error["code"] == "already_active"
    project.ok("start", "release", "1.4.0", "--fresh")
    assert project.ok("list", "--json").json["total"] == 1
    assert project.ok("list", "--all", "--json").json["total"] == 2


def test_title_and_session_are_kept(empty):
    empty.ok("start", "release", "--title", "The big one", "--session", "s-1")
    assert empty.ok("status", "--json").json["title"] == "The big one"
    assert empty.ok("list", "--session", "s-1", "--json").json["total"] == 1
    assert empty.ok("list", "--session", "s-2", "--json").json["total"] == 0


def test_a_step_is_begun_and_done_with_its_output(project):
    begun = project.ok("begin", "1")
    assert begun.out == (
        "▶ draft is active · the output 'draft' is not named  (holdfast done draft --artifact draft=PATH)\n"
    )
    assert project.ok("begin", "draft").code == 0
    project.write("draft.md", "text")
    done = project.ok("done", "draft", "--artifact", "draft=draft.md")
    assert done.out == "✓ draft done · next: verify  (holdfast begin verify)\n"


def test_a_change_answers_with_the_summary_and_the_step(project):
    answer = project.ok("begin", "draft", "--json").json
    assert answer.keys() >= FIELDS
    assert (answer["step"]["path"], answer["step"]["status"], answer["step"]["attempt"]) == ("draft", "active", 1)


def test_an_output_can_be_attached_before_the_step_is_done(project):
    project.ok("begin", "draft")
    project.write("draft.md", "text")
    answer = project.ok("attach", "draft", "--artifact", "draft=draft.md", "--json").json
    assert answer["step"]["artifacts"] == {"draft": "draft.md"}
    assert "✓ draft done" in project.ok("done", "draft").out


def test_the_whole_way_from_start_to_end(project):
    project.until("publish")
    for step in ("publish/wheel", "publish/docs"):
        project.ok("begin", step)
    project.ok("done", "publish/wheel")
    last = project.ok("skip", "publish/docs", "--reason", "none needed")
    assert last.out == "↷ publish/docs skipped · all steps are done  (holdfast list --all)\n"
    assert project.agent("status").code == 4
    row = project.ok("list", "--all", "--json").json["workflows"][0]
    assert (row["status"], row["progress_percentage"]) == ("completed", 100)
    assert project.ok("status", "-w", row["ulid"]).code == 0


def test_a_step_that_waits_says_so(project):
    project.until("sign-off")
    project.ok("begin", "sign-off")
    answer = project.ok("done", "sign-off")
    assert answer.out.startswith("◐ sign-off waits for approval · the approval by a person is needed")
    project.people_ok("reject", "sign-off", "--feedback", "too early")
    assert project.step("sign-off") == "active"


def test_a_review_sends_back_and_then_escalates(project):
    project.until("look")
    project.ok("begin", "look")
    assert project.ok("submit", "look").out.startswith("◎ look is in review")
    again = ("review", "look", "--verdict", "needs_revision", "--feedback", "shorter", "--as", "reviewer", "--json")
    assert project.ok(*again).json["step"]["feedback"] == ["shorter"]
    project.ok("submit", "look")
    assert project.ok(*again).json["step"]["status"] == "escalated"
    assert project.agent("unblock", "look").code == 3
    project.people_ok("unblock", "look", "--guidance", "leave out the preface")
    assert project.step("look") == "active"


def test_fail_counts_block_and_unblock_do_not(project):
    project.until("verify")
    project.ok("begin", "verify")
    blocked = project.ok("block", "verify", "--reason", "no network")
    assert blocked.out == "■ verify is blocked: no network  (once that is settled: holdfast unblock verify)\n"
    project.ok("unblock", "verify", "--guidance", "use the mirror")
    assert project.ok("fail", "verify", "--reason", "boom", "--json").json["step"]["attempt"] == 2
    assert project.ok("fail", "verify", "--reason", "boom", "--json").json["step"]["status"] == "escalated"
    assert project.agent("resume").code == 3
    assert project.person("resume", "--from", "verify").code == 0


def test_a_check_is_run_recorded_and_its_exit_code_tells(project):
    project.until("verify")
    project.people_ok("trust", "release", "--yes")
    project.ok("begin", "verify")
    passed = project.agent("check", "tests", "--json")
    assert (passed.code, passed.err) == (0, "")
    assert passed.json["evidence"]["exit_code"] == 0
    assert passed.json["evidence"]["run_by"] == "engine"
    project.write("check.py", "import sys; print('bad'); sys.exit(7)\n")
    failed = project.agent("check", "tests", "--run")
    assert (failed.code, failed.err) == (3, "  bad\n  all of it: holdfast log --check tests\n")
    assert project.ok("log", "--check", "tests").out == "bad\n"
    assert failed.out.startswith("✗ tests failed with 7")
    recorded = project.ok("status", "--json").json["steps"][1]["checks"]
    assert recorded == {"tests": "failed", "lint": "missing"}


def test_a_reported_check_says_that_it_was_reported(project):
    project.until("verify")
    project.ok("begin", "verify")
    assert project.ok("check", "lint", "--passed").out.startswith("✓ lint passed, as reported")
    assert project.agent("check", "lint", "--failed", "--step", "verify").code == 3
    assert project.agent("check", "lint", "--json").error["code"] == "nothing_to_run"
    assert project.agent("check", "tests", "--passed", "--json").error["code"] == "engine_must_run"


def test_a_check_with_a_known_key_is_not_run_again(project):
    project.until("verify")
    project.people_ok("trust", "release", "--yes")
    project.write("check.py", "open('ran', 'a').write('x')\n")
    project.ok("begin", "verify")
    project.ok("check", "tests", "--key", "c1")
    assert project.agent("check", "tests", "--key", "c1").code == 0
    assert (project.root / "ran").read_text() == "x"


def test_next_names_the_step_and_what_to_type(project):
    answer = project.ok("next", "--json").json
    assert (answer["step"], answer["can_proceed"], answer["required_action"]) == ("draft", True, "holdfast begin draft")
    assert "holdfast begin draft" in project.ok("next").out


def test_show_is_the_native_document_with_and_without_json(project):
    shown = project.ok("show").json
    assert shown == project.ok("show", "--json").json
    file = next((project.root / ".claude/workflow-state/active").glob("release-*.json"))
    assert shown == json.loads(file.read_text())


def test_list_filters_by_status_type_and_session(project):
    project.ok("cancel", "--reason", "changed our minds")
    assert project.ok("list").out == "no workflows\n"
    assert project.ok("list", "--status", "cancelled", "--json").json["total"] == 1
    assert project.ok("list", "--all", "--type", "other", "--json").json["total"] == 0


def test_log_tells_what_happened_and_pages(project):
    project.ok("begin", "draft")
    project.ok("note", "chose B")
    assert "began draft" in project.ok("log").out
    whole = project.ok("log", "--json").json
    assert [one["revision"] for one in whole["records"]] == [1, 2, 3]
    assert [r["revision"] for r in project.ok("log", "--after", "1", "--limit", "1", "--json").json["records"]] == [2]
    assert [r["revision"] for r in project.ok("log", "--limit", "1", "--json").json["records"]] == [3]


def test_metrics_and_diagrams(project):
    assert project.ok("metrics", "--json").json["revisions"] == 1
    assert "Retries" in project.ok("metrics").out
    assert project.ok("diagram").out.startswith("flowchart TD")
    assert project.ok("diagram", "--lifecycle", "--json").json["diagram"].startswith("stateDiagram-v2")


def test_pause_stops_the_work_and_resume_goes_on(project):
    assert project.ok("pause", "--reason", "lunch").out.endswith("is paused  (to continue: holdfast resume)\n")
    assert project.agent("begin", "draft", "--json").error["code"] == "paused"
    project.ok("resume", "--from", "draft")
    assert project.step("draft") == "active"


def test_a_cancelled_workflow_is_resumed_by_its_id(project):
    name = project.ok("status", "--json").json["workflow_id"]
    assert f"(if it is to continue after all: holdfast resume -w {name})" in project.ok("cancel").out
    project.ok("resume", "-w", name)
    assert project.ok("list", "--json").json["total"] == 1


def test_reopen_takes_the_later_steps_back(project):
    project.until("verify")
    project.ok("begin", "verify")
    answer = project.ok("reopen", "draft", "--feedback", "say more", "--json").json
    assert (answer["step"]["status"], answer["step"]["feedback"]) == ("active", ["say more"])
    assert project.step("verify") == "pending"


def test_a_note_is_kept(project):
    answer = project.ok("note", "chose B", "--step", "draft", "--json").json
    assert answer["note"]["text"] == "chose B"
    assert project.ok("status", "--json").json["notes"][0]["text"] == "chose B"


def test_restore_brings_the_steps_back_and_only_names_the_git_command(project):
    subprocess.run(["git", "init", "-q", "."], cwd=project.root, check=True)
    subprocess.run(["git", "add", "check.py"], cwd=project.root, check=True)
    subprocess.run(["git", "commit", "-qm", "one"], cwd=project.root, check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=project.root, text=True).strip()
    taken = project.ok("snapshot", "--label", "before", "--json").json["snapshot"]
    assert (taken["number"], taken["head"], taken["label"]) == (1, head, "before")
    project.ok("begin", "draft")
    answer = project.ok("restore", "1")
    assert f"git checkout --detach {head}" in answer.out
    assert project.step("draft") == "pending"
    assert subprocess.check_output(["git", "branch", "--show-current"], cwd=project.root).strip()


def test_tasks_are_numbered_below_the_current_step(project):
    assert project.ok("task", "add", "first", "--json").json["path"] == "draft/1"
    project.ok("task", "add", "second")
    assert project.ok("task", "start", "1").out.startswith("▶ draft/1 is active")
    project.ok("task", "done", "1", "--commit", "abc1234")
    rows = project.ok("task", "list", "--json").json["tasks"]
    assert [(row["task"], row["status"], row["commit"]) for row in rows] == [
        ("1", "done", "abc1234"),
        ("2", "pending", None),
    ]
    assert "✓ draft/1  first" in project.ok("task", "list").out


def test_a_commit_is_that_of_one_task(project):
    for task in ("first", "second"):
        project.ok("task", "add", task)
    project.ok("task", "start", "1")
    project.ok("task", "done", "1", "--commit", "abc1234")
    project.ok("task", "start", "2")
    assert project.agent("task", "done", "2", "--commit", "abc12345", "--json").error["facts"]["of"] == "draft/1"


def test_the_commit_of_a_task_is_in_the_document(project):
    project.ok("task", "add", "first")
    project.ok("task", "start", "1")
    project.ok("task", "done", "1", "--commit", "abc1234")
    document = project.ok("show").json
    assert document["tasks"][0]["commit_sha"] == "abc1234"
    assert [entry["commit"] for entry in document["history"] if entry["event"] == "task_completed"] == ["abc1234"]


def test_next_has_the_newest_notes(project):
    for text in ("one", "two", "three", "four"):
        project.ok("note", text)
    assert [note["text"] for note in project.ok("next", "--json").json["notes"]] == ["two", "three", "four"]
    shown = project.ok("next").out
    assert "Notes   four — agent" in shown
    assert "one — agent" not in shown


def test_a_failure_says_how_many_tries_are_left_and_its_reason_once(project):
    project.until("verify")
    project.ok("begin", "verify")
    again = project.ok("fail", "verify", "--reason", "boom").out
    assert again.startswith("✗ verify failed, 1 try left, attempt 2 is active")
    over = project.ok("fail", "verify", "--reason", "boom").out
    assert over.startswith(
        "▲ verify is escalated to a person: failed 2 times: boom  (show verify to a person and stop, or"
    )
    assert over.count("boom") == 1
    for shown in (project.ok("status").out, project.ok("next").out):
        assert shown.count("failed 2 times: boom") == shown.count("boom") == 1


def test_a_list_has_the_engine_s_word_for_people_and_both_for_scripts(project):
    project.until("sign-off")
    project.ok("begin", "sign-off")
    project.ok("done", "sign-off")
    (row,) = project.ok("list", "--json").json["workflows"]
    assert (row["status"], row["detail"]) == ("in_progress", "waiting")
    assert " waiting " in project.ok("list").out


def test_tasks_go_where_tasks_are_or_where_they_are_told(project):
    project.ok("task", "add", "wheels", "--under", "verify")
    assert project.ok("task", "add", "more", "--json").json["path"] == "verify/2"
    assert project.ok("task", "add", "named", "--under", "look", "--id", "intro", "--json").json["path"] == "look/intro"
    project.ok("task", "add", "two", "--under", "look", "--id", "2")
    assert project.ok("task", "add", "now", "--json").json["path"] == "draft/1"
    ambiguous = project.agent("task", "start", "2", "--json")
    assert (ambiguous.code, ambiguous.error["facts"]["candidates"]) == (2, ["verify/2", "look/2"])
    assert project.agent("task", "start", "verify/2").code == 3
    assert project.agent("task", "start", "9").code == 4


def test_agents_take_leases_and_give_them_back(project):
    started = project.ok("agent", "start", "writer", "--step", "draft", "--ttl", "5m", "--json").json
    token = started["token"]
    assert (started["lease"]["token"], started["lease"]["ttl_seconds"]) == (1, 300)
    assert token not in str(list(project.fingerprint())) + project.ok("status", "--json").out
    assert not [file for file in project.root.rglob("*") if file.is_file() and token[2:] in file.read_text()]
    assert project.agent("begin", "draft", "--json").error["code"] == "lease_held"
    project.ok("begin", "draft", "--token", token)
    assert project.ok("agent", "list", "--json").json["agents"][0]["role"] == "writer"
    assert "1  writer on draft" in project.ok("agent", "list").out
    for foreign in (("agent", "beat"), ("agent", "beat", "1"), ("agent", "end"), ("agent", "end", "1")):
        assert project.agent(*foreign, "--json").error["code"] == "lease_held"
    assert project.agent("agent", "end", env={"HOLDFAST_TOKEN": "1"}).code == 2
    assert project.agent("agent", "beat", env={"HOLDFAST_TOKEN": token}).code == 0
    project.ok("agent", "end", "--token", token, "--outcome", "drafted")
    assert project.agent("agent", "beat", "1", "--json").error["code"] == "fenced"
    assert project.agent("agent", "end").code == 4


def test_spending_counts_and_stops_at_the_bound(project):
    spent = project.ok("agent", "spend", "$0.75", "--agent", "writer", "--json").json
    assert (spent["spent"], spent["total"]) == ("$0.75", "$0.75")
    project.ok("agent", "spend", "9.25")
    stopped = project.agent("begin", "draft", "--json")
    assert (stopped.code, stopped.error["code"]) == (3, "bound_reached")


def test_a_workflow_is_picked_by_the_beginning_of_its_id_and_options_may_come_first(project):
    first = project.ok("status", "--json").json["workflow_id"]
    project.ok("start", "release", "2.0")
    assert project.agent("next", "--json").error["code"] == "ambiguous_workflow"
    assert len(project.ok("status", "--json").json["workflows"]) == 2
    assert project.agent("status", "-w", "release", "--json").code == 2
    assert project.ok("-w", first[:-1], "--json", "status").json["workflow_id"] == first
    assert f"(holdfast done draft --artifact draft=PATH -w {first})" in project.ok("begin", "1", f"-w{first}").out


def test_commands_work_from_a_folder_below(project):
    below = project.root / "docs"
    below.mkdir()
    project.ok("begin", "draft")
    (below / "draft.md").write_text("text")
    answer = project.agent("done", "draft", "--artifact", "draft=draft.md", "--json", cwd=below)
    assert answer.json["step"]["artifacts"] == {"draft": "docs/draft.md"}


def test_the_role_is_recorded(project):
    project.ok("note", "by role", "--as", "writer")
    project.agent("note", "by variable", env={"HOLDFAST_ACTOR": "editor"})
    actors = [one["actor"]["name"] for one in project.ok("log", "--after", "1", "--json").json["records"]]
    assert actors == ["writer", "editor"]


def test_at_a_terminal_the_last_line_and_the_time_are_shown_while_a_check_runs(project):
    project.until("verify")
    project.people_ok("trust", "release", "--yes")
    project.ok("begin", "verify")
    project.write("check.py", "import time; print('one of many', flush=True); time.sleep(1)\n")
    shown = project.person("check", "tests").out
    assert "s  one of many" in shown
    assert "✓ tests passed" in shown.rpartition("\x1b[K")[2]
