"""The stories: each brings one system into the states in which agents ask where they are."""

from __future__ import annotations

from collections.abc import Callable

from tests.golden.desk import Desk

Scenario = Callable[[Desk], None]

FEATURE = """\
# Feature: User login

> People come in by name and password.

## Context

There are no users yet.

## Tasks

- [ ] Add the user
- [ ] Describe the door (no tests)

## Acceptance Criteria

- [ ] Somebody with the right password comes in
"""
RUNNER = """\
#!/bin/sh
# Says what pytest would: a test of NAME passes when src/NAME.txt is right.
failed=0
passed=0
echo "===== test session starts ====="
for test in tests/test_*.txt; do
    [ -e "$test" ] || continue
    name=$(basename "$test" .txt)
    code=src/${name#test_}.txt
    if [ "$(cat "$code" 2>/dev/null)" = right ]; then
        echo "$test::$name PASSED"
        passed=$((passed + 1))
    else
        echo "$test::$name FAILED"
        summary="$summary\\nFAILED $test::$name - AssertionError: $code is not right"
        failed=$((failed + 1))
    fi
done
echo "===== short test summary info ====="
printf "$summary\\n" | sed 1d
echo "===== $failed failed, $passed passed in 0.01s ====="
[ $failed = 0 ]
"""
RELEASE = """\
name = "release"
title = "Release {subject}"

[bounds]
max_cost = "$10"

[[step]]
id = "changelog"
name = "Write the changelog"
description = "What changed since the last release, for people."
outputs = ["notes"]

[[step]]
id = "verify"
checks = [
  { name = "tests", run = ["sh", "check.sh"], run_by = "engine", timeout = "1m" },
  { name = "read" },
]
retry = { max = 2, back_to = "changelog", exhausted = "escalated" }

[[step]]
id = "sign-off"
review = { by = ["reviewer"], max = 2 }
approval = { by = "human" }

[[step]]
id = "publish"
parallel = true

[[step.step]]
id = "wheel"

[[step.step]]
id = "docs"
optional = true
"""
CHORES = """\
name = "chores"
keep_going = true
require_ack = true

[[step]]
id = "sweep"

[[step]]
id = "polish"
choice = { options = ["wax", "oil"] }
"""
SCENES = "acts/act-1/chapters/chapter-02/scenes"
BLUEPRINT = "# Scene 0204\n\n## Constraints\n\n- 900 to 1100 words\n- The tower stays shut\n"
FAILED_RESULT = """\
{
  "status": "FAIL",
  "violations": [
    {"check": "words", "severity": "error", "found": 2, "required": 900, "message": "2 words, not 900"},
    {"check": "tower", "severity": "error", "line": 7, "message": "the tower is open"}
  ],
  "retry_guidance": {"emphasis_needed": ["length"], "hint": "Stay outside."}
}
"""
TASKS = """\
# Task: Login
**Plan approval**: relayed

## Goal
People log in by name.

## Success Criteria
- Nobody is locked out

## Safety Bounds
**Maximum iterations per task**: 3
**Maximum cost**: $2

## Phases

### Phase 1: Foundation

#### Task 1.1: Add the user model
**Description**: A user has a name.
**Success Criteria**:
- [ ] Names are unique
- [ ] The model loads: `sh check.sh`
**Agents Needed**: task-executor

#### Task 1.2: Store the names
- [ ] Names survive a restart
**Dependencies**: Task 1.1

### Phase 2: Pages

#### Task 2.1: Show the form
- [ ] The form asks for a name

#### Task 2.2: Greet
- [ ] The greeting has the name

## Supervisor Checks
**Enable**: Yes
**Auto-Fix**: Yes

## Outer Ralph Loop
**Enable**: Yes
**Maximum Iterations**: 2
"""
CHECK = "test -e built && echo all good || { echo 'built is missing'; exit 1; }\n"


def _with_tests(desk: Desk) -> None:
    desk.write("run-tests.sh", RUNNER)
    desk.write("features/user-login.md", FEATURE)
    desk.save("The feature")


def dev(desk: Desk) -> None:
    """A feature file: fresh, a failed check in red, the end of red, green, ready to commit."""
    _with_tests(desk)
    desk.does("start", "dev", "features/user-login.md", "--set", "test_command=sh run-tests.sh")
    desk.look("fresh")
    desk.refused("begin", "green")
    desk.refused("check", "test_fails", "--passed")
    desk.refused("done", "red")
    desk.write("tests/test_user.txt", "A test.\n")
    desk.write("src/user.txt", "right\n")
    desk.does("check", "test_fails", code=3)
    desk.look("red, failed check")
    desk.write("src/user.txt", "wrong\n")
    desk.does("check", "test_fails")
    desk.does("done", "red")
    desk.look("green")


def dev_commit(desk: Desk) -> None:
    """The same feature later: after the first commit, on another branch, in verification, finished."""
    _with_tests(desk)
    desk.does("start", "dev", "features/user-login.md", "--set", "test_command=sh run-tests.sh")
    desk.write("tests/test_user.txt", "A test.\n")
    desk.does("check", "test_fails")
    desk.does("done", "red")
    desk.write("src/user.txt", "right\n")
    for phase in ("green", "refactor"):
        desk.does("check", "test_passes")
        desk.does("done", phase)
    desk.does("task", "done", "1")
    desk.look("after the first commit")
    desk.does("start", "dev", "features/user-login.md", "--resume")
    desk.refused("start", "dev", "features/user-login.md")
    desk.git("switch", "-q", "main")
    desk.refused("start", "dev", "features/user-login.md", "--resume")
    desk.git("switch", "-q", "feat/user-login")
    desk.write("DOOR.md", "It is red.\n")
    desk.does("task", "done", "2")
    desk.does("check", "lint", "--passed")
    desk.refused("done", "verification")
    desk.look("verification")
    for name in ("security_review", "code_simplifier"):
        desk.does("check", name, "--passed", "--set", "findings=0", "--set", "issues=0")
    desk.does("check", "test")
    desk.does("done", "verification")
    desk.look("pull request")
    desk.git("remote", "add", "origin", "https://example.com/ada/shop.git")
    desk.git("update-ref", "refs/remotes/origin/work", "HEAD")
    desk.does("done", "pr_creation", "--url", "https://github.com/ada/shop/pull/7")
    desk.look("finished", desk.workflows()[0])
    desk.does("signal")


def tdd(desk: Desk) -> None:
    """One cycle: red with two failing tests, green that fails, refactor."""
    _with_tests(desk)
    desk.refused("start", "tdd", "Greet by name", "--set", 'test_command=["sh"]', code=2)
    desk.does("start", "tdd", "Greet by name", "--set", "test_command=sh run-tests.sh")
    desk.write("tests/test_user.txt", "A test.\n")
    desk.write("tests/test_door.txt", "A test.\n")
    desk.does("check", "test_fails", code=3)
    desk.look("red, two tests fail")
    desk.does("check", "test_fails", "--set", "test=test_user")
    desk.does("done", "red")
    desk.write("src/door.txt", "right\n")
    desk.write("src/user.txt", "wrong\n")
    desk.does("check", "test_passes", code=3)
    desk.look("green, failed check")
    desk.write("src/user.txt", "right\n")
    desk.does("check", "test_passes")
    desk.write("src/user.txt", "wrong\n")
    desk.refused("done", "green")
    desk.write("src/user.txt", "right\n")
    desk.does("check", "test_passes")
    desk.does("done", "green")
    desk.does("check", "test_passes")
    desk.does("done", "refactor")
    desk.look("commit")
    desk.does("resume")


def _generation(desk: Desk) -> str:
    """A scene, its run at the plan; the folder of the run."""
    desk.write(f"{SCENES}/scene-0204-blueprint.md", BLUEPRINT)
    desk.does("start", "generation", "0204")
    run = desk.found("workspace/generation-runs/*")
    desk.does("begin", "1")
    desk.does("done", "1")
    desk.does("begin", "2")
    desk.write(f"{run}/constraints.md", "Length, tower.\n")
    desk.does("done", "2", "--artifact", f"constraints_list={run}/constraints.md")
    return run


def _planned(desk: Desk, run: str) -> None:
    desk.does("begin", "3")
    desk.write(f"{run}/plan.md", "# Plan\n\nShe waits.\n")
    desk.does("done", "3", "--artifact", f"verification_plan={run}/plan.md")


def generation_start(desk: Desk) -> None:
    """A scene without a blueprint, and a run that has just begun."""
    desk.does("start", "generation", "0204")
    desk.look("fresh")
    desk.does("begin", "1")
    desk.refused("done", "1")
    desk.look("no blueprint")
    desk.does("cancel", "--reason", "there is nothing to write")
    desk.look("cancelled", desk.workflows()[0])
    desk.does("next", code=4)
    desk.does("status", "--json", code=4)
    desk.refused("start", "generation", "0204")


def generation_plan(desk: Desk) -> None:
    """The plan: begun, waiting for approval, sent back with feedback, approved with changes."""
    run = _generation(desk)
    desk.look("before the plan")
    desk.refused("begin", "generation")
    desk.does("begin", "3")
    desk.refused("done", "3")
    desk.look("at the plan")
    desk.write(f"{run}/plan.md", "# Plan\n\nShe waits.\n")
    desk.does("done", "3", "--artifact", f"verification_plan={run}/plan.md")
    desk.look("waits for approval")
    desk.refused("begin", "4")
    id = desk.workflows()[0]
    desk.served("waits for approval", "validate_prerequisites", workflow_id=id, step=4)
    desk.served("waits for approval", "approve_step", workflow_id=id, step=3, approved=True)
    desk.served("waits for approval", "update_workflow_state", workflow_id=id, step=4, status="in_progress")
    desk.does("reject", "3", "--feedback", "Let her leave.")
    desk.look("after a rejection")
    desk.write(f"{run}/plan.md", "# Plan\n\nShe leaves.\n")
    desk.does("done", "3")
    desk.does("approve", "3", "--modify", "mood=colder", "--modify", "words=950")
    desk.look("after an approval with modifications")


def generation_retry(desk: Desk) -> None:
    """A check of the prose that fails: the second of three tries, and the tries used up."""
    run = _generation(desk)
    _planned(desk, run)
    desk.does("approve", "3")
    desk.write(f"{run}/draft.md", "She waited.\n")
    desk.write(f"{run}/echo.md", "Shut.\n")
    desk.does("begin", "4")
    desk.does("done", "4", "--artifact", f"draft={run}/draft.md", "--artifact", f"compliance_echo={run}/echo.md")
    desk.does("begin", "5")
    desk.write(f"{run}/fast.json", FAILED_RESULT)
    result = ("done", "5", "--artifact", f"fast_compliance_result={run}/fast.json")
    desk.does(*result)
    desk.look("try 2 of 3")
    desk.refused("done", "4")
    for number in (2, 3):
        desk.write(f"{run}/draft.md", f"She waited {number} hours.\n")
        desk.does("done", "4")
        desk.does("begin", "5")
        desk.does(*result)
    desk.look("tries used up")
    desk.refused("resume", "--from", "4")
    desk.person("resume", "--from", "4")
    desk.look("opened again by a person")


def generation_stale(desk: Desk) -> None:
    """An approved plan that is edited afterwards."""
    run = _generation(desk)
    _planned(desk, run)
    desk.does("approve", "3")
    desk.write(f"{run}/plan.md", "# Plan\n\nSomething else.\n")
    desk.look("stale approval")
    desk.refused("begin", "4")


def story_planning(desk: Desk) -> None:
    """An act's plan: the choice of a variant, after the choice, the final approval; a chapter that builds on it."""
    desk.refused("start", "story/planning", "--set", "level=chapter", "--set", "act=1", "--set", "chapter=2")
    desk.does("start", "story/planning", "--set", "level=act", "--set", "act=1")
    run = desk.found("workspace/planning-runs/*")
    names = ("exploration_results", "scenarios", "path_plan", "detailed_plans", "integration_analysis")
    for number, name in enumerate(names, 1):
        desk.does("begin", str(number))
        desk.write(f"{run}/{number}.md", f"Phase {number}\n")
        if number == 5:
            desk.write("acts/act-1/strategic-plan.md", "# Act 1\n")
        desk.does("done", str(number), "--artifact", f"{name}={run}/{number}.md")
        if number == 2:
            desk.look("the choice of a variant")
            desk.refused("approve", "2")
            id = desk.workflows()[0]
            desk.served("choice", "approve_step", workflow_id=id, step=2, approved=True, selected_variant="A")
            desk.does("reject", "2", "--feedback", "All three are too kind")
            desk.refused("done", "2")
            desk.write(f"{run}/2.md", "Phase 2, harsher\n")
            desk.does("done", "2")
            desk.does("approve", "2", "--variant", "B", "--modify", "ending=open")
            desk.look("after the choice")
    desk.look("the final approval")
    desk.does("approve", "5")
    desk.does("start", "story/planning", "--set", "level=chapter", "--set", "act=1", "--set", "chapter=2")
    desk.write("acts/act-1/strategic-plan.md", "# Act 1\n\nThe tower burns.\n")
    desk.refused("begin", "1")
    desk.look("the plan above has changed", "planning-chapter")


def _orchestrated(desk: Desk) -> None:
    desk.write("docs/login.md", TASKS)
    desk.write("check.sh", CHECK)
    desk.save("Plan the login")
    desk.person("trust", "docs/login.md")
    desk.does("start", "orchestrate", "docs/login.md")


def orchestrate(desk: Desk) -> None:
    """A task document: the plan, its approval, a task with criteria, a task that failed once."""
    _orchestrated(desk)
    desk.look("fresh")
    desk.does("done", "plan")
    desk.look("the plan waits")
    desk.does("approve", "plan")
    desk.look("the first task")
    desk.refused("task", "start", "1.2")
    desk.does("task", "start", "1.1")
    desk.refused("task", "done", "1.1")
    desk.does("orchestrator", "iterate", "1.1", "--reason", "the model has no name")
    desk.does("learn", "Names have blanks", "--type", "antipattern", "--pattern", "strip them", "--step", "1.1")
    desk.look("a task failed once")
    desk.does("orchestrator", "iterate", "1.1", "--reason", "still no name")
    desk.does("orchestrator", "iterate", "1.1", "--reason", "never a name")
    desk.look("the tries of a task are used up")
    desk.refused("orchestrator", "retry", "1.1")


def orchestrate_parallel(desk: Desk) -> None:
    """A phase whose tasks go side by side, with agents, locks and money; then a re-plan and the review."""
    _orchestrated(desk)
    desk.does("done", "plan")
    desk.does("approve", "plan")
    desk.write("built", "yes\n")
    desk.does("task", "start", "1.1")
    desk.does("check", "names_are_unique", "--passed")
    desk.does("task", "done", "1.1")
    desk.does("task", "start", "1.2")
    desk.does("check", "names_survive_a_restart", "--passed")
    desk.does("task", "done", "1.2")
    desk.does("task", "start", "2.1")
    desk.does("task", "start", "2.2")
    desk.does("agent", "start", "page-builder", "--step", "2.2", "--ttl", "1h")
    desk.does("lock", "form.py", "--agent", "page-builder")
    desk.does("agent", "spend", "1.60", "--step", "2.2")
    desk.does("note", "the form is half done", "--step", "2.1")
    desk.look("two tasks at once")
    desk.refused("begin", "review")
    desk.does(
        "orchestrator",
        "supervise",
        "post_task",
        "2.1",
        "--verdict",
        "RE_PLAN",
        "--conflict",
        "api",
        "--resolution",
        "pass ids",
    )
    desk.look("the plan is opened again")
    desk.does("agent", "spend", "0.50", "--step", "2.1")
    desk.look("the money is spent")
    desk.refused("done", "plan")


def compaction_custom(desk: Desk) -> None:
    """Phases of one's own, with reading, reminders, lessons, notes and context; a phase that is blocked."""
    desk.write("MIGRATION.md", "Dump, migrate, compare.\n")
    desk.write("docs/schema.md", "users, orders\n")
    desk.does(
        *("start", "custom", "Database Migration", "--phases", "Backup,Migrate,Verify", "--read", "MIGRATION.md"),
        *("--remind", "Never touch production", "--set", "target=staging"),
    )
    desk.look("fresh")
    desk.does("done", "backup")
    desk.does("reading", "add", "docs/schema.md")
    desk.does("remind", "Ask before a table is dropped")
    desk.does("learn", "Rebuilding every index takes hours", "--type", "antipattern", "--pattern", "drop them first")
    desk.does("learn", "The dump is small", "--context", "staging")
    desk.does("note", "orders are migrated, users are not")
    (desk.root / "docs/schema.md").unlink()
    desk.look("second phase, a file is missing")
    desk.does("block", "migrate", "--reason", "the dump is not there")
    desk.look("blocked")
    desk.does("unblock", "migrate")
    desk.does("pause", "--reason", "the office is closed")
    desk.look("paused")
    desk.refused("done", "migrate")


def compaction_qa(desk: Desk) -> None:
    """The phases of qa-loop, until they are done; `compaction/planning` fresh."""
    desk.does("start", "qa-loop", "Search")
    desk.does("done", "1")
    desk.look("second phase")
    desk.refused("done", "3")
    desk.does("done", "2")
    desk.does("done", "3")
    desk.look("finished", desk.workflows()[0])
    desk.does("start", "compaction/planning", "Search again")
    desk.look("planning, fresh")


def _feature(desk: Desk) -> str:
    desk.person("feature", "init")
    desk.save("Begin the docs")
    desk.does("start", "feature", "Sign in by key")
    return "workflow/sign-in-by-key/01-requirements"


def _reviewed(desk: Desk, phase: str, number: int, text: str) -> None:
    desk.does("done", "1")
    desk.write(f"{phase}/reviews/review-{number}.md", f"# Review {number}\n\n{text}")
    desk.does("review", "1")


def feature(desk: Desk) -> None:
    """The first phase: fresh, in review, sent back by the reviewer, waiting for a person, sent back by the person."""
    phase = _feature(desk)
    desk.look("fresh")
    desk.refused("begin", "2")
    desk.write(f"{phase}/requirements.md", "# Requirements\n\n- A key opens the door.\n")
    desk.does("done", "1", "-m", "A key opens the door")
    desk.look("in review")
    desk.refused("review", "1", code=4)
    desk.refused("approve", "1")
    finding = "## Decision: NEEDS_REVISION\n\n- **[MAJOR]** Nobody says what becomes of a lost key.\n"
    desk.write(f"{phase}/reviews/review-1.md", f"# Review 1\n\n{finding}")
    desk.does("review", "1")
    desk.look("after a review")
    desk.write(f"{phase}/requirements.md", "# Requirements\n\n- A key opens the door.\n- Lost keys are revoked.\n")
    _reviewed(desk, phase, 2, "## Decision: APPROVED\n\n- **[MINOR]** Revoked by whom?\n")
    desk.look("waits for a person")
    desk.refused("approve", "1")
    desk.refused("reject", "1", "--feedback", "no")
    desk.served("waits for a person", "approve_step", workflow_id="sign-in-by-key", step=1, approved=True)
    desk.does("feature", "continue")
    desk.person("reject", "1", "--feedback", "Keys also expire.")
    desk.look("after a person's no")


def feature_later(desk: Desk) -> None:
    """Approved and the next phase begun, escalated by a crash, reopened, cancelled."""
    phase = _feature(desk)
    desk.write(f"{phase}/requirements.md", "# Requirements\n\n- A key opens the door.\n")
    _reviewed(desk, phase, 1, "## Decision: APPROVED\n")
    desk.person("approve", "1")
    desk.look("approved")
    desk.does("feature", "continue")
    desk.does("fail", "2", "--reason", "the creator was killed")
    desk.look("second phase, failed once")
    desk.does("fail", "2", "--reason", "killed again")
    desk.look("escalated")
    desk.refused("unblock", "2", "--guidance", "Smaller pieces.")
    desk.person("unblock", "2", "--guidance", "Smaller pieces.")
    desk.person("reopen", "1", "--feedback", "Keys also expire.")
    desk.look("reopened")
    desk.does("cancel", "--reason", "Doors stay open")
    desk.look("cancelled", "sign-in-by-key")


def _release(desk: Desk) -> None:
    desk.write(".holdfast/workflows/release.toml", RELEASE)
    desk.write("check.sh", CHECK)
    desk.write("NOTES.md", "# 1.4.0\n\nGreets by name.\n")
    desk.save("A release")


def release(desk: Desk) -> None:
    """A definition of one's own: fresh, without trust, a failed check, a failed try, escalated."""
    _release(desk)
    desk.does("start", "release", "1.4.0", "--set", "channel=beta")
    desk.look("fresh")
    desk.refused("begin", "sign-off")
    desk.refused("done", "nowhere", code=4)
    desk.does("begin", "changelog")
    desk.refused("done", "changelog")
    desk.look("an output is missing")
    desk.does("done", "changelog", "--artifact", "notes=NOTES.md")
    desk.does("begin", "verify")
    desk.refused("check", "tests")
    desk.refused("check", "tests", "--passed")
    desk.person("trust", "release")
    desk.does("check", "tests", code=3)
    desk.look("a check failed")
    desk.refused("done", "verify")
    desk.does("fail", "verify", "--reason", "nobody built it")
    desk.look("try 2, back at the changelog")
    desk.write("NOTES.md", "Built again.\n")
    desk.does("done", "changelog")
    desk.does("begin", "verify")
    desk.does("fail", "verify", "--reason", "still not built")
    desk.look("escalated")
    desk.refused("done", "verify")
    desk.refused("approve", "verify")
    desk.person("unblock", "verify", "--guidance", "Build it first.")
    desk.look("guided")


def release_end(desk: Desk) -> None:
    """The same: in review, reviewed and rejected, waiting for a person, parallel steps, finished, reopened."""
    _release(desk)
    desk.person("trust", "release")
    desk.write("built", "yes\n")
    desk.does("start", "release", "1.4.0")
    desk.does("begin", "changelog")
    desk.does("done", "changelog", "--artifact", "notes=NOTES.md")
    desk.does("begin", "verify")
    desk.does("check", "tests")
    desk.does("check", "read", "--passed")
    desk.does("done", "verify")
    desk.does("begin", "sign-off")
    desk.does("submit", "sign-off")
    desk.look("in review")
    desk.does("review", "sign-off", "--verdict", "needs_revision", "--feedback", "Thank people.", "--as", "reviewer")
    desk.look("after a review")
    desk.does("submit", "sign-off")
    desk.does("review", "sign-off", "--verdict", "approved", "--as", "reviewer")
    desk.look("waits for a person")
    desk.refused("approve", "sign-off")
    desk.refused("begin", "wheel")
    id = desk.workflows()[0]
    desk.served("waits for a person", "approve_step", workflow_id=id, step="sign-off", approved=True)
    desk.person("reject", "sign-off", "--feedback", "Friendlier.")
    desk.look("after a person's no")
    desk.does("submit", "sign-off")
    desk.does("review", "sign-off", "--verdict", "approved", "--as", "reviewer")
    desk.person("approve", "sign-off", "--modify", "tone=warm")
    desk.does("begin", "wheel")
    desk.does("begin", "docs")
    desk.look("parallel steps")
    desk.does("skip", "docs", "--reason", "nothing changed")
    desk.does("done", "wheel")
    desk.look("finished", id)
    desk.does("next", code=4)
    desk.does("list", "--all")
    desk.does("log", "-w", id)
    desk.person("reopen", "wheel", "--feedback", "wrong version", "-w", id)
    desk.look("reopened")


def keep_going(desk: Desk) -> None:
    """A definition that keeps an agent at it and wants its packet acknowledged; then a choice with options."""
    desk.write(".holdfast/workflows/chores.toml", CHORES)
    desk.does("start", "chores", "the hall")
    desk.does("begin", "sweep")
    desk.look("kept at it")
    desk.refused("done", "sweep")
    desk.refused("ack", "00000000")
    packet = desk.packet()
    desk.does("ack", packet)
    desk.does("done", "sweep")
    desk.does("begin", "polish")
    desk.does("submit", "polish")
    desk.look("a choice with options")
    id = desk.workflows()[0]
    desk.served("a choice with options", "approve_step", workflow_id=id, step="polish", approved=True)


def two_workflows(desk: Desk) -> None:
    """Two at once: which one a session is at, and what those say that need a name."""
    _release(desk)
    desk.does("start", "release", "1.4.0")
    desk.does("start", "custom", "Database Migration", "--phases", "Backup,Migrate")
    desk.look("without a name")
    desk.look("the first by its name", "release")
    desk.refused("begin", "changelog", code=2)
    desk.does("begin", "changelog", "-w", "release")
    desk.look("after work on the first")


def alerts(desk: Desk) -> None:
    """A document in which a gate was skipped by hand: the edit is refused and told."""
    _release(desk)
    desk.does("start", "release", "1.4.0")
    path = desk.found(".claude/workflow-state/active/*.json")
    text = (desk.root / path).read_text()
    desk.edit(path, text.replace('"status": "pending"', '"status": "completed"'))
    desk.look("after a forged edit")
    desk.edit(path, "{ not JSON")
    desk.look("after a broken edit")


SCENARIOS: dict[str, Scenario] = {
    "skill-dev": dev,
    "skill-dev-commit": dev_commit,
    "skill-tdd": tdd,
    "story-generation-start": generation_start,
    "story-generation-plan": generation_plan,
    "story-generation-retry": generation_retry,
    "story-generation-stale": generation_stale,
    "story-planning": story_planning,
    "orchestrator": orchestrate,
    "orchestrator-parallel": orchestrate_parallel,
    "compaction-custom": compaction_custom,
    "compaction-qa-loop": compaction_qa,
    "gated-feature": feature,
    "gated-feature-later": feature_later,
    "own-release": release,
    "own-release-end": release_end,
    "own-keep-going": keep_going,
    "two-workflows": two_workflows,
    "alerts": alerts,
}
