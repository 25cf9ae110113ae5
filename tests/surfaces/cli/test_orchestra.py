"""Running a task document, as agents and people type it: tries, the supervisor, commits, milestones, learnings."""

from __future__ import annotations

import json
import subprocess

import pytest

from holdfast.systems.seam.trusted import content
from tests.forges.github.server import GitHub
from tests.surfaces.cli.conftest import Project
from tests.systems.orchestrator.test_orchestrating import DOCUMENT, FILE

STATE = ".claude/agent-state.json"
PAGE = "https://github.com/o/r/issues/7"


def git(project: Project, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=project.root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def saved(project: Project, message: str) -> str:
    git(project, "add", "-A")
    git(project, "commit", "-qm", message)
    return git(project, "rev-parse", "HEAD")


def document(project: Project) -> dict:
    return json.loads((project.root / STATE).read_text())


def everything(project: Project) -> dict:
    kept = {path: path.read_bytes() for path in sorted(project.root.rglob("*")) if _is_kept(project, path)}
    return {**kept, "head": git(project, "rev-parse", "HEAD")}


def _is_kept(project: Project, path) -> bool:
    return path.is_file() and path.relative_to(project.root).parts[0] != ".git"


@pytest.fixture
def written(tmp_path) -> Project:
    """A repository with a task document in it."""
    project = Project(tmp_path / "project")
    project.write("README.md", "hello\n")
    git(project, "init", "-q", "-b", "main")
    project.write(FILE, DOCUMENT)
    saved(project, "first")
    return project


def test_a_person_is_shown_the_plan_that_they_approve(written):
    written.ok("start", "orchestrate", FILE)
    written.ok("done", "plan")
    shown = written.person("approve", "plan", says="n").out
    assert "It has no artifacts" not in shown
    state = written.opened().workflow().state
    for path in state.plan.paths:
        step = state.plan.step(path)
        if step.kind in ("phase", "task", "review"):
            assert step.label in shown
            assert all((check.text or check.name) in shown for check in step.checks)
    assert "bounds: " in shown
    assert "tries for each task" in shown


@pytest.fixture
def run(written) -> Project:
    """A run with its plan approved."""
    written.ok("start", "orchestrate", FILE)
    written.ok("done", "plan")
    written.ok("approve", "plan")
    return written


@pytest.fixture
def at_work(run) -> Project:
    run.ok("task", "start", "1.1")
    return run


def do(project: Project, task: str, *criteria: str) -> None:
    project.ok("task", "start", task)
    for name in criteria:
        project.ok("check", name, "--passed", "--step", task)
    project.ok("task", "done", task)


@pytest.fixture
def halfway(run) -> Project:
    """The first phase is done."""
    run.people_ok("trust", FILE, says="y")
    run.ok("task", "start", "1.1")
    run.write("a.py", "1\n")
    run.ok("commit", "1.1", "-m", "the model")
    run.ok("check", "model_updated", "--passed", "--step", "1.1")
    run.ok("task", "done", "1.1")
    do(run, "1.2", "tokens_expire")
    return run


# Starting


def test_a_second_start_is_refused_with_the_name_of_the_first(run):
    first = run.ok("status", "--json").json["workflow_id"]
    before = everything(run)
    answer = run.agent("start", "orchestrate", FILE, "--json")
    assert (answer.code, answer.error["code"]) == (3, "already_active")
    assert first in answer.error["message"]
    assert everything(run) == before


def test_a_run_whose_tries_or_money_are_used_up_is_a_persons_to_resume_or_to_give_up(at_work):
    for _ in range(9):
        if at_work.agent("orchestrator", "iterate", "1.1", "--reason", "nope").code:
            break
    refused = at_work.agent("start", "orchestrate", FILE, "--json").error
    assert refused["remedy"] == "show this to a person and stop, or holdfast wait --for person"
    own = [one for one in refused["remedies"] if one["who"] == "person"]
    assert [one["command"] for one in own] == ["holdfast resume", f"holdfast start orchestrate {FILE} --fresh"]
    for one in own:
        assert at_work.agent(*one["command"].split()[1:], "--json").error["code"] == "person_needed"


def test_a_start_with_another_document_is_refused_as_well(run):
    run.write("other.md", DOCUMENT)
    assert run.agent("start", "orchestrate", "other.md", "--json").error["code"] == "already_active"


def test_a_document_is_checked_before_it_is_run(written):
    shown = written.ok("workflows", "check", FILE).out
    assert shown.startswith(f"✓ {FILE} is valid: User authentication\n  bounds: ")
    said = written.ok("workflows", "check", FILE, "--json").json
    assert (said["ok"], said["title"], len(said["phases"])) == (True, "User authentication", 2)
    for one in (one for phase in said["phases"] for task in phase["tasks"] for one in task["criteria"]):
        how = f"run: {' '.join(one['command'])}" if one["how"] == "run" else "reported"
        assert f"{one['text']} ({how})" in shown
    written.write("wrong.md", DOCUMENT.replace("**Maximum cost**: $1", "**Maximum cost**: plenty"))
    answer = written.agent("workflows", "check", "wrong.md", "--json")
    assert (answer.code, answer.error["code"]) == (2, "bad_task_document")
    assert "wrong.md:9" in json.dumps(answer.error["facts"])


def test_what_has_no_effect_is_told_with_its_line(written):
    written.write("vague.md", DOCUMENT + "\n## Risks\nRain.\n")
    line = DOCUMENT.count("\n") + 2
    assert f"! vague.md:{line}: the section 'Risks' is not read" in written.ok("workflows", "check", "vague.md").out
    assert written.ok("workflows", "check", "vague.md", "--json").json["warnings"][-1]["line"] == line


def test_what_has_no_effect_is_told_beside_mistakes_too(written):
    text = DOCUMENT.replace("**Maximum cost**: $1", "**Maximum cost**: plenty") + "\n## Risks\nRain.\n"
    written.write("wrong.md", text)
    warned = f"wrong.md:{DOCUMENT.count(chr(10)) + 2}: the section 'Risks' is not read"
    answer = written.agent("workflows", "check", "wrong.md")
    assert "wrong.md:9: " in answer.err
    assert f"\n! {warned}" in answer.err
    facts = written.agent("workflows", "check", "wrong.md", "--json").error["facts"]
    assert f"{facts['warnings'][-1]['where']}: {facts['warnings'][-1]['message']}".startswith(warned)
    written.write("wrong.md", text.replace("**Maximum time**: 2 hours", "**Maximum time**: long"))
    assert f"\n! {warned}" in written.agent("workflows", "check", "wrong.md").err


def test_an_approval_among_the_bounds_is_told_what_an_approval_is(written):
    bounds = "**Maximum cost**: $1\n\nRequires approval from security for more than 3 files.\n"
    written.write("wrong.md", DOCUMENT.replace("**Maximum cost**: $1", bounds))
    told = written.agent("workflows", "check", "wrong.md").err
    assert "Plan approval" in told
    assert "Maximum cost" not in told


def test_a_new_task_document_is_valid_as_it_stands_and_is_not_written_over(written):
    assert written.ok("workflows", "new", "shop", "--task-document").out.startswith("✓ wrote shop.md")
    assert written.ok("workflows", "check", "shop.md", "--json").json["warnings"] == []
    assert written.agent("workflows", "new", "shop", "--task-document").code == 5


def test_trust_shows_the_commands_of_every_level(written):
    text = DOCUMENT + "\n## Success Criteria\n- [ ] All: `true`\n- [ ] `no-such-tool x` passes\n"
    written.write("more.md", text)
    listed = content(str(written.root / "more.md")).commands
    assert ("review", "all", ("true",)) in listed
    assert ("review", "no_such_tool_x_passes", ("no-such-tool", "x")) in listed


# Trust


def test_a_person_trusts_the_commands_of_a_document_and_an_agent_does_not(at_work):
    at_work.ok("check", "model_updated", "--passed", "--step", "1.1")
    refused = at_work.agent("task", "done", "1.1", "--json").error
    assert (refused["code"], FILE in refused["remedy"]) == ("gate_unmet", False)
    [typed] = [one["command"] for one in refused["remedies"] if one["who"] == "person"]
    assert typed == f"holdfast trust {at_work.root / FILE}"
    assert not (at_work.root / "ran").exists()
    assert at_work.agent("trust", FILE, "--json").error["code"] == "person_needed"
    shown = at_work.people_ok("trust", FILE, says="y").out
    assert "1.1 · tests_pass: touch ran" in shown
    at_work.ok("task", "done", "1.1")
    assert (at_work.root / "ran").exists()


def test_anything_but_yes_trusts_nothing(at_work):
    assert at_work.person("trust", FILE, says="n").code == 1
    assert at_work.agent("check", "tests_pass", "--step", "1.1", "--json").error["code"] == "untrusted"


# Tries


def test_a_task_is_iterated_until_the_bound_and_then_a_person_decides(at_work):
    said = at_work.ok("orchestrator", "iterate", "1.1", "--reason", "tests red", "--json").json
    assert (said["iteration"], said["step"]["status"]) == (2, "active")
    assert "attempt 3" in at_work.ok("orchestrator", "iterate", "1.1", "--reason", "still red").out
    assert "failed: third" in at_work.ok("orchestrator", "iterate", "1.1", "--reason", "third").out
    assert at_work.step("phase-1/1.1") == "failed"
    before = everything(at_work)
    for words, code in {
        ("orchestrator", "retry", "1.1"): "person_needed",
        ("orchestrator", "skip", "1.1"): "not_skippable",
        ("orchestrator", "manual", "1.1"): "person_needed",
        ("extend", "--iterations", "2"): "person_needed",
        ("orchestrator", "iterate", "1.1", "--reason", "x"): "wrong_status",
        ("task", "start", "1.1"): "wrong_status",
    }.items():
        answer = at_work.agent(*words, "--json")
        assert (answer.code, answer.error["code"]) == (3, code), words
    assert everything(at_work) == before


@pytest.fixture
def used_up(at_work) -> Project:
    for number in range(3):
        at_work.ok("orchestrator", "iterate", "1.1", "--reason", f"red {number}")
    return at_work


def test_a_person_extends_and_retries(used_up):
    refused = used_up.person("orchestrator", "retry", "1.1", "--json")
    assert "holdfast extend --iterations" in refused.out
    assert "iterations 5" in used_up.people_ok("extend", "--iterations", "2").out
    assert "attempt 4" in used_up.people_ok("orchestrator", "retry", "1.1").out
    assert document(used_up)["safety_bounds"]["max_iterations_per_task"] == 5


def test_a_person_skips_it(used_up):
    assert "skipped" in used_up.people_ok("orchestrator", "skip", "1.1", "--reason", "not needed").out
    assert used_up.step("phase-1/1.1") == "skipped"
    used_up.ok("task", "start", "1.2")


def test_a_person_does_it_by_hand(used_up):
    used_up.people_ok("extend", "--iterations", "1")
    used_up.people_ok("orchestrator", "manual", "1.1", "--key", "once")
    assert used_up.step("phase-1/1.1") == "blocked"
    assert used_up.agent("task", "done", "1.1", "--json").error["code"] == "wrong_status"
    used_up.people_ok("orchestrator", "manual", "1.1", "--key", "once")


def test_a_task_that_is_worked_on_is_given_to_a_person(at_work):
    assert at_work.agent("orchestrator", "manual", "1.1", "--json").error["code"] == "person_needed"
    at_work.people_ok("orchestrator", "manual", "1.1", "--reason", "ada knows the key")
    assert at_work.agent("unblock", "1.1", "--json").error["code"] == "person_needed"
    at_work.people_ok("unblock", "1.1")


@pytest.mark.parametrize("task", ["1.1", "1.2"])
def test_only_what_is_stuck_is_retried(at_work, task):
    before = everything(at_work)
    assert at_work.agent("orchestrator", "retry", task, "--json").error["code"] == "wrong_status"
    assert everything(at_work) == before


def test_the_run_is_given_up(used_up):
    assert used_up.agent("cancel", "--json").error["code"] == "person_needed"
    used_up.people_ok("cancel", "--reason", "it cannot be done")
    assert document(used_up)["orchestrator"]["status"] == "failed"
    assert used_up.ok("list", "--json", "--all").json["workflows"][0]["status"] == "failed"


def test_tasks_are_listed_with_where_they_stand(halfway):
    rows = halfway.ok("task", "list", "--json").json["tasks"]
    assert [(row["task"], row["status"]) for row in rows] == [
        ("1.1", "done"),
        ("1.2", "done"),
        ("2.1", "pending"),
        ("2.2", "pending"),
    ]
    assert rows[0]["commit"] == git(halfway, "log", "-1", "--format=%H", "--grep=task-1.1")
    assert "phase-1/1.1  Update the model" in halfway.ok("task", "list").out


# Budgets


def test_an_agent_is_told_what_is_left_and_warned_on_the_way(at_work):
    said = at_work.ok("agent", "start", "task-executor", "--step", "1.1", "--json").json
    assert said["left"]["cost"] == "$1.00"
    assert said["left"]["time"].startswith("1h 59m") or said["left"]["time"].startswith("2h")
    warnings = []
    for amount in ("0.74", "0.01", "0.15", "0.10"):
        at_work.ok("agent", "spend", amount, "--step", "1.1", "--token", said["token"])
        warnings.append(document(at_work)["safety_bounds"]["warnings"])
    assert [len(one) for one in warnings[:3]] == [0, 1, 2]
    assert "75%" in warnings[1][0]
    assert "90%" in warnings[2][1]
    assert document(at_work)["safety_bounds"]["cost_so_far"] == "$1.00"


def test_a_bound_that_is_reached_refuses_work_until_a_person_extends_it(at_work):
    at_work.ok("agent", "spend", "1.00")
    refused = at_work.agent("task", "start", "1.2", "--json")
    assert (refused.code, refused.error["code"]) == (3, "bound_reached")
    own = [one["command"] for one in refused.error["remedies"] if one["who"] == "person"]
    assert own == ["holdfast extend --cost 5", "holdfast cancel"]
    helper = at_work.ok("agent", "start", "helper", "--json").json
    assert helper["left"]["cost"] == "$0.00"
    at_work.ok("agent", "end", "--token", helper["token"])
    at_work.people_ok("extend", "--cost", "1")
    at_work.people_ok("orchestrator", "manual", "1.1")
    assert at_work.ok("agent", "start", "other", "--json").json["left"]["cost"] == "$1.00"


# The supervisor


def test_a_supervisor_is_told_what_to_look_at(at_work):
    before = everything(at_work)
    said = at_work.ok("orchestrator", "supervise", "pre_task", "1.1").json
    assert (said["check_type"], said["task"]["name"]) == ("pre_task", "Update the model")
    assert said["context"]["goal"] == "Let users log in."
    assert said["state"]["orchestrator"]["status"] == "executing"
    assert at_work.ok("orchestrator", "supervise", "on_demand").json["task"] == {}
    assert everything(at_work) == before


def test_verdicts_are_recorded_and_counted(at_work):
    assert (
        "PASS · 1 checked so far, conflicts: 0"
        in at_work.ok("orchestrator", "supervise", "pre_task", "1.1", "--verdict", "PASS").out
    )
    words = ("--verdict", "AUTO_FIX", "--conflict", "pattern", "--resolution", "renamed", "--fixes", "2")
    said = at_work.ok("orchestrator", "supervise", "post_task", "1.1", *words, "--json").json
    assert (said["verdict"], said["checks_performed"]) == ("AUTO_FIX", 2)
    found = document(at_work)["supervisor"]
    counted = ("checks_performed", "conflicts_detected", "auto_fixes_applied", "re_plans_triggered")
    assert [found[name] for name in counted] == [2, 1, 2, 0]
    assert (found["interventions"][0]["severity"], found["interventions"][0]["action"]) == ("low", "auto_fix")


def test_a_new_plan_holds_everything_up_until_it_is_approved(halfway):
    halfway.ok("task", "start", "2.1")
    words = ("--verdict", "RE_PLAN", "--conflict", "api", "--resolution", "use v2", "--affects", "1.2")
    halfway.ok("orchestrator", "supervise", "on_demand", *words)
    assert (halfway.step("plan"), halfway.step("phase-1/1.1"), halfway.step("phase-1/1.2")) == (
        "active",
        "done",
        "pending",
    )
    assert halfway.step("phase-2/2.1") == "active"
    assert halfway.agent("task", "start", "2.2", "--json").error["code"] == "step_blocked"
    assert document(halfway)["orchestrator"]["status"] == "planning"
    halfway.ok("done", "plan")
    halfway.ok("approve", "plan")
    do(halfway, "1.2", "tokens_expire")


ANSWER = {
    "verdict": "RE_PLAN",
    "conflict": {"type": "security", "description": "a secret in the code"},
    "re_plan_required": {"affected_tasks": ["1.1"], "recommended_changes": ["use the environment"]},
}


def test_a_supervisors_answer_is_taken_from_a_file_or_standard_input(at_work):
    at_work.write("answer.json", json.dumps(ANSWER))
    at_work.ok("orchestrator", "supervise", "post_task", "1.1", "--file", "answer.json")
    (found,) = document(at_work)["supervisor"]["interventions"]
    assert (found["severity"], found["resolution"]) == ("critical", "a secret in the code; use the environment")
    assert at_work.step("phase-1/1.1") == "pending"
    fix = {"verdict": "AUTO_FIX", "conflict": {"type": "pattern"}, "auto_fixes": ["renamed a", "renamed b"]}
    answer = at_work.agent("orchestrator", "supervise", "on_demand", "--file", "-", stdin=json.dumps(fix))
    assert answer.code == 0, answer
    found = document(at_work)["supervisor"]
    assert (found["auto_fixes_applied"], found["interventions"][1]["resolution"]) == (2, "renamed a; renamed b")


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[]",
        "nonsense",
        "[" * 100_000,
        "{}",
        '{"verdict": "PERHAPS"}',
        '{"verdict": "AUTO_FIX"}',
        '{"verdict": "AUTO_FIX", "conflict": []}',
        '{"verdict": "AUTO_FIX", "conflict": "pattern"}',
        '{"verdict": "AUTO_FIX", "conflict": {"type": "pattern"}, "auto_fixes": {"a": 1}}',
        '{"verdict": "RE_PLAN", "conflict": {"type": "api"}, "re_plan_required": {"affected_tasks": 1}}',
        '{"verdict": "PASS", "conflict": {"type": "api"}}',
        " " * ((1 << 20) + 1),
    ],
    ids=lambda said: said[:40].strip() or f"{len(said)} bytes",
)
def test_what_is_no_answer_of_a_supervisor_is_refused(at_work, said):
    before = everything(at_work)
    answer = at_work.agent("orchestrator", "supervise", "pre_task", "1.1", "--file", "-", "--json", stdin=said)
    assert (answer.code, answer.error["code"], bool(answer.error["remedy"])) == (2, "bad_verdict", True), answer
    assert everything(at_work) == before


# Commits


def test_commits_begin_with_the_words_that_say_whose_they_are(at_work):
    for words, prefix in {
        ("1.1",): "feat(task-1.1):",
        ("--supervisor",): "chore(supervisor):",
        ("--outer",): "chore(outer-ralph):",
    }.items():
        at_work.write("a.py", prefix)
        said = at_work.ok("commit", *words, "-m", "the model", "--json").json
        assert said["commit"] == git(at_work, "rev-parse", "HEAD")
        assert git(at_work, "log", "-1", "--format=%s") == f"{prefix} the model"
        assert git(at_work, "show", "--format=", "--name-only", "HEAD").split() == ["a.py"]


def test_a_commit_has_only_the_works_own_paths(run):
    run.write("unrelated.txt", "was here before\n")
    run.ok("task", "start", "1.1")
    run.write("a.py", "1\n")
    run.write("b.py", "1\n")
    assert "feat(task-1.1): one" in run.ok("commit", "1.1", "-m", "one", "--path", "a.py").out
    assert git(run, "show", "--format=", "--name-only", "HEAD").split() == ["a.py"]
    run.ok("commit", "1.1", "-m", "two")
    changed = git(run, "show", "--format=", "--name-only", "HEAD").split()
    assert "b.py" in changed
    assert not [path for path in changed if path.startswith((".claude", ".holdfast"))]
    assert run.agent("commit", "1.1", "-m", "three", "--json").error["code"] == "nothing_to_commit"


def test_an_agent_whose_lease_is_gone_commits_nothing(at_work):
    token = at_work.ok("agent", "start", "task-executor", "--step", "1.1", "--json").json["token"]
    at_work.ok("agent", "end", "--token", token)
    at_work.write("a.py", "late\n")
    head = git(at_work, "rev-parse", "HEAD")
    for words in (("commit", "1.1", "-m", "late"), ("commit", "--supervisor", "-m", "late")):
        answer = at_work.agent(*words, "--token", token, "--json")
        assert (answer.code, answer.error["code"]) == (5, "fenced")
    assert git(at_work, "rev-parse", "HEAD") == head


def test_another_session_leaves_a_leased_task_alone(at_work):
    token = at_work.ok("agent", "start", "task-executor", "--step", "1.1", "--json").json["token"]
    at_work.write("a.py", "of another session\n")
    before = everything(at_work)
    check = at_work.opened().workflow().state.plan.step("phase-1/1.1").checks[0].name
    for words in (
        ("check", check, "--step", "1.1", "--failed"),
        ("commit", "1.1", "-m", "mine"),
        ("agent", "spend", "5", "--step", "1.1"),
        ("orchestrator", "supervise", "post_task", "1.1", "--verdict", "PASS"),
        (
            "orchestrator",
            "supervise",
            "on_demand",
            "--verdict",
            "RE_PLAN",
            "--conflict",
            "api",
            "--resolution",
            "x",
            "--affects",
            "1.1",
        ),
    ):
        answer = at_work.agent(*words, "--json", env={"CLAUDE_CODE_SESSION_ID": "other"})
        assert (answer.code, answer.error["code"]) == (5, "lease_held"), (words, answer)
    assert everything(at_work) == before
    at_work.ok("orchestrator", "supervise", "post_task", "1.1", "--verdict", "PASS", "--token", token)
    supervisor = at_work.ok("agent", "start", "supervisor", "--json").json["token"]
    at_work.ok("orchestrator", "supervise", "post_task", "1.1", "--verdict", "PASS", "--token", supervisor)
    at_work.ok("commit", "1.1", "-m", "mine", "--token", token)


# Milestones


def test_a_finished_phase_has_the_issue_that_stands_for_it(halfway):
    assert halfway.ok("orchestrator", "milestone", "1", "--url", PAGE, "--json").json["issue_url"] == PAGE
    (found,) = document(halfway)["milestones"]
    assert (found["phase"], found["name"], found["issue_url"]) == (0, "Foundation", PAGE)
    assert PAGE in halfway.ok("orchestrator", "milestone", "phase-1", "--url", PAGE).out


def test_gh_makes_the_issue_when_it_is_asked_to_and_only_once(halfway, tmp_path):
    with GitHub(tmp_path / "github") as github:
        github.adopt(halfway.root)
        first = halfway.agent("orchestrator", "milestone", "1", "--create", "--json", env=github.environ)
        assert first.code == 0, first
        url = first.json["issue_url"]
        assert url == github.issues[0].url == document(halfway)["milestones"][0]["issue_url"]
        assert (github.issues[0].title, github.issues[0].body) == (
            "Milestone: Foundation",
            "- [x] 1.1 Update the model\n- [x] 1.2 Tokens\n",
        )
        assert (
            halfway.agent("orchestrator", "milestone", "1", "--create", "--json", env=github.environ).json["issue_url"]
            == url
        )
        assert len(github.issues) == 1
    assert github.objections == []


def test_a_phase_that_is_not_done_has_no_milestone(halfway):
    before = everything(halfway)
    for words in (("2", "--url", PAGE), ("phase-2", "--create")):
        assert halfway.agent("orchestrator", "milestone", *words, "--json").error["code"] == "phase_not_done"
    assert everything(halfway) == before


@pytest.mark.parametrize("url", ["javascript:1", "https://", "https://a b", "ftp://x", "https://x/\u202e", "x" * 900])
def test_what_is_no_address_is_no_milestone(halfway, url):
    answer = halfway.agent("orchestrator", "milestone", "1", "--url", url, "--json")
    assert (answer.code, answer.error["code"]) == (2, "bad_address")


# Learnings


def test_learnings_are_found_by_kind_task_and_words(at_work):
    for words in (
        ("no secrets in code", "--type", "antipattern", "--pattern", "env vars", "--context", "jwt", "--step", "1.1"),
        ("small commits help", "--type", "pattern", "--step", "1.2"),
        ("tokens are long", "--type", "insight"),
    ):
        at_work.ok("learn", *words)

    def found(*words: str) -> list[str]:
        return [one["lesson"] for one in at_work.ok("learnings", *words, "--json").json["learnings"]]

    assert found() == ["no secrets in code", "small commits help", "tokens are long"]
    assert found("--type", "pattern") == ["small commits help"]
    assert found("--task", "1.1") == ["no secrets in code"]
    assert found("ENV", "secrets") == ["no secrets in code"]
    assert found("jwt", "--type", "pattern") == []
    assert found("--limit", "1") == ["tokens are long"]
    assert "1.1  antipattern: no secrets in code → env vars\n" in at_work.ok("learnings").out
    assert at_work.ok("learnings", "nowhere").out == "nothing was learned yet\n"


def test_whoever_begins_a_task_is_shown_what_was_learned(run):
    for number in range(7):
        run.ok("learn", f"lesson {number}", "--type", "insight")
    said = run.ok("task", "start", "1.1", "--json").json["learnings"]
    assert said == [f"insight: lesson {number}" for number in (6, 5, 4, 3, 2)]


# Git and the state


def test_status_says_when_the_state_is_ahead_of_git(halfway):
    assert halfway.ok("status", "--json").json["out_of_sync"] is None
    git(halfway, "reset", "--hard", "-q", "HEAD~1")
    said = halfway.ok("status", "--json").json["out_of_sync"]
    assert said.startswith("the state is ahead of git: checkpoint ")
    assert said in halfway.ok("status").out


def test_a_restore_says_which_git_command_goes_with_it_and_runs_none(halfway):
    head = git(halfway, "rev-parse", "HEAD")
    halfway.write("b.py", "1\n")
    later = saved(halfway, "more")
    said = halfway.ok("restore", "1")
    assert f"git reset --hard {head}" in said.out
    assert git(halfway, "rev-parse", "HEAD") == later
    assert halfway.step("phase-1/1.2") == "pending"
    assert [one["task"] for one in document(halfway)["completed_tasks"]] == ["1.1"]


# What cannot be

HUGE = "x" * 100_000
BAD = [
    (("orchestrator", "iterate", "1.1"), 2, "bad_usage"),
    (("orchestrator", "iterate", "1.1", "--reason", ""), 2, "bad_text"),
    (("orchestrator", "iterate", "1.1", "--reason", HUGE), 2, "bad_text"),
    (("orchestrator", "iterate", "9.9", "--reason", "x"), 4, "no_task"),
    (("orchestrator", "iterate", "1.2", "--reason", "x"), 3, "wrong_status"),
    (("orchestrator", "iterate", "1.1", "--reason", "x", "--token", "9-00000000000000000000000000000000"), 5, "fenced"),
    (("orchestrator", "retry", "9.9"), 4, "no_task"),
    (("orchestrator", "skip", "plan"), 4, "no_task"),
    (("orchestrator", "manual", "1.2"), 3, "person_needed"),
    (
        (
            "orchestrator",
            "supervise",
        ),
        2,
        "bad_usage",
    ),
    (("orchestrator", "supervise", "sometimes", "1.1"), 2, "bad_usage"),
    (("orchestrator", "supervise", "pre_task", "9.9"), 4, "no_task"),
    (("orchestrator", "supervise", "pre_task", "9.9", "--verdict", "PASS"), 4, "no_step"),
    (("orchestrator", "supervise", "pre_task", "1.1", "--verdict", "GOOD"), 2, "bad_usage"),
    (("orchestrator", "supervise", "pre_task", "1.1", "--verdict", "AUTO_FIX"), 2, "bad_verdict"),
    (("orchestrator", "supervise", "pre_task", "1.1", "--verdict", "AUTO_FIX", "--conflict", "api"), 2, "bad_verdict"),
    (("orchestrator", "supervise", "pre_task", "1.1", "--verdict", "AUTO_FIX", "--conflict", "pattern"), 2, "bad_text"),
    (("orchestrator", "supervise", "pre_task", "1.1", "--file", "nowhere.json"), 4, "no_file"),
    (("orchestrator", "supervise", "pre_task", "1.1", "--token", "9-00000000000000000000000000000000"), 5, "fenced"),
    (("commit", "1.1"), 2, "bad_usage"),
    (("commit", "-m", "x"), 2, "bad_usage"),
    (("commit", "1.1", "--supervisor", "-m", "x"), 2, "bad_usage"),
    (("commit", "--outer", "--supervisor", "-m", "x"), 2, "bad_usage"),
    (("commit", "9.9", "-m", "x"), 4, "no_task"),
    (("commit", "1.1", "-m", ""), 2, "bad_text"),
    (("commit", "1.1", "-m", "x", "--path", "../x"), 2, "outside_root"),
    (("orchestrator", "milestone", "1"), 2, "bad_usage"),
    (("orchestrator", "milestone", "9", "--url", PAGE), 4, "no_phase"),
    (("orchestrator", "milestone", "plan", "--url", PAGE), 4, "no_phase"),
    (("orchestrator", "milestone", "1", "--url", PAGE), 3, "phase_not_done"),
    (("learnings", "--type", "wisdom"), 2, "bad_usage"),
    (("learnings", "--limit", "0"), 2, "bad_number"),
    (("learn", "", "--type", "insight"), 2, "bad_text"),
    (("trust", "nowhere.md"), 4, "no_definition"),
    (("workflows", "check", "nowhere.md"), 4, "no_feature"),
    (("restore", "9"), 4, "no_snapshot"),
]


@pytest.mark.parametrize(
    ("words", "code", "error"), BAD, ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else str(value)
)
def test_bad_input_is_refused_with_a_remedy_and_changes_nothing(at_work, words, code, error):
    at_work.write("a.py", "1\n")
    before = everything(at_work)
    answer = at_work.agent(*words, "--json")
    assert (answer.code, answer.error["code"]) == (code, error), answer
    assert answer.error["remedy"]
    assert {path: data for path, data in everything(at_work).items() if path in before} == before
