"""Every shipped system is driven by `run`, from its start to where a person is needed, and from there to its end."""

from __future__ import annotations

import json

from tests.phases import MAKEFILE, OUTPUTS, PHASES
from tests.systems.story.writing import REPORT
from tests.trusted import trust_file

STEP = "step=$(holdfast next --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"step\"])')\n"
UNITTEST = '[commands]\ntest = ["python3", "-B", "-m", "unittest", "-v"]\nlint = ["true"]\n'
CODER = STEP + (
    """
n=$(echo $step | cut -d/ -f2 -s); n=${n:-1}; name=part$n
case $step in
*red)
  printf "import unittest, $name\\n\\nclass T(unittest.TestCase):\\n    def test_$name(self):\\n" > test_$name.py
  printf "        self.assertEqual($name.say(), $n)\\n" >> test_$name.py
  printf 'def say():\\n    pass\\n' > $name.py
  holdfast done --test test_$name.T.test_$name ;;
*green)
  value=0; grep -q 'return' $name.py && value=$n
  printf "def say():\\n    return $value\\n" > $name.py ;;
verification)
  holdfast check security_review --passed; holdfast check code_simplifier --passed ;;
esac
"""
)
"""Writes a test that fails, code that is wrong at first, and corrects it; commits and the checks are Holdfast's."""


def configured(stage, *scripts: str, more: str = "", commands: str = "") -> None:
    """The host, and the project's own commands."""
    stage.host(*scripts, more=more)
    path = stage.root / ".holdfast/config.toml"
    path.write_text(commands + path.read_text())
    trust_file(stage.bench.open(), str(path))


def begun(stage, definition: str, subject: str, **how: object) -> None:
    stage.id = stage.bench.open().start(definition, subject, **how).id


def test_a_cycle_is_driven_from_its_test_to_its_commit(stage):
    configured(stage, CODER, commands=UNITTEST)
    begun(stage, "tdd", "Say one")
    answer = stage.run()
    assert answer.code == 0
    assert stage.bench.git("log", "-1", "--format=%s") == "Say one"
    assert "0 != 1" in stage.asked(3)
    assert stage.many == 4


def test_a_feature_of_tasks_is_developed_until_its_pull_request(stage):
    configured(stage, CODER, commands=UNITTEST)
    file = stage.bench.saved_feature("features/greet.md", "Greet", "Part", "Thank")
    begun(stage, "dev", file)
    answer = stage.run()
    assert answer.code == 3
    assert "pr_creation" in answer.out
    assert stage.bench.git("log", "--format=%s", "main..").splitlines() == ["Thank", "Part", "Greet"]


TASKS = """# Task: Doors

## Goal
Doors open.

## Safety Bounds
**Maximum iterations per task**: 3

## Phases

### Phase 1: Foundation

#### Task 1.1: Hinges
- [ ] Hinges hold: `grep -q strong hinges.txt`

#### Task 1.2: Handles
- [ ] Handles turn
**Dependencies**: Task 1.1

## Supervisor Checks
**Enable**: Yes

## Outer Ralph Loop
**Enable**: Yes
"""
EXECUTOR = STEP + (
    """
case $step in
plan) holdfast done plan ;;
*1.1)
  grep -q weak hinges.txt 2>/dev/null && echo strong > hinges.txt || echo weak > hinges.txt
  holdfast orchestrator supervise pre_task 1.1 --verdict PASS; holdfast commit 1.1 -m hinges; holdfast task done 1.1 ;;
*1.2)
  if [ ! -e planned ]; then
    touch planned
    holdfast orchestrator supervise post_task 1.1 --verdict RE_PLAN --conflict api --affects 1.2 \\
      --resolution 'handles of the second kind'
  else
    echo turn > handles.txt; holdfast commit 1.2 -m handles
    holdfast check handles_turn --passed --step 1.2; holdfast task done 1.2
  fi ;;
review) holdfast done review ;;
esac
true
"""
)


def test_a_task_document_is_worked_through_with_a_plan_that_people_approve(stage):
    configured(stage, EXECUTOR)
    stage.bench.write(".gitignore", "planned\n")
    task = stage.bench.write("docs/task.md", TASKS)
    stage.bench.save()
    trust_file(stage.bench.open(), str(task))
    begun(stage, "orchestrate", str(task))
    assert "holdfast approve plan" in stage.run().out
    assert stage.many == 0
    stage.bench.open("human").latest().approve("plan")
    answer = stage.run()
    assert answer.code == 3
    assert "attempt 2 needs a new one" in answer.out
    assert stage.state.step("phase-1/1.1").attempt == 2
    assert "the check 'hinges_hold' failed" in stage.asked(2)
    assert stage.state.step("phase-1/1.2").status == "pending"
    stage.bench.open("human").latest().approve("plan")
    answer = stage.run()
    assert "holdfast skip pull_request" in answer.out
    assert stage.bench.git("log", "--format=%s", "-3").splitlines()[:2] == [
        "feat(task-1.2): handles",
        "feat(task-1.1): hinges",
    ]
    assert [stage.many, len(stage.events("-w", stage.id))] == [6, 1]


FEATURE = """
home=workflow/greet-by-name
echo "${HOLDFAST_ACTOR:-lead}" >> @turns@/who
step=$(holdfast next --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["step"] or "")')
case $HOLDFAST_ACTOR in
*-creator)
  for name in @outputs@; do case $name in $step/*) printf "# $name\\n\\nWords of $n.\\n" > $home/$name ;; esac; done
  case $step in 03*) echo "print('Hello')" > greet.py ;; esac
  holdfast done $step > @turns@/$n.refused 2>&1 ;;
*-reviewer)
  file=$(grep -o "$home/$step/reviews/review-[0-9]*.md" @turns@/$n.asked | tail -1); mkdir -p $(dirname $file)
  case $file in
  */01-requirements/reviews/review-1.md)
    printf '# Review\\n\\n## Decision: NEEDS_REVISION\\n\\n- **[MAJOR]** no numbers\\n' > $file ;;
  *) printf '# Review\\n\\n## Decision: APPROVED\\n' > $file ;;
  esac ;;
*) holdfast feature finalize ;;
esac
true
"""
"""Each member of the team writes its own files; the first review asks for a revision."""


def test_a_feature_is_worked_on_by_its_team(stage):
    outputs = " ".join(f"{phase}/{name}" for phase in PHASES for name in OUTPUTS[phase])
    configured(stage, FEATURE.replace("@turns@", str(stage.turns)).replace("@outputs@", outputs))
    stage.bench.write("Makefile", MAKEFILE)
    stage.bench.save()
    begun(stage, "feature", "Greet by name")
    for phase in PHASES:
        answer = stage.run()
        assert answer.code == 3
        assert f"holdfast approve {phase}" in answer.out
        stage.bench.open("human").latest().approve(phase)
    assert stage.run().code == 0
    assert stage.state.finalized
    pairs = [f"{phase[3:]}-{kind}" for phase in PHASES for kind in ("creator", "reviewer")]
    assert (stage.turns / "who").read_text().split() == [*pairs[:2], *pairs, "lead"]
    assert "You write what a feature must do" in stage.asked(1)
    assert "requirements-creator may look" in (stage.turns / "1.refused").read_text()
    assert "[MAJOR] no numbers" in stage.asked(3)
    assert "[workflow] 03-implementation: Greet by name" in stage.bench.git("log", "--format=%s").splitlines()


BLUEPRINT = "acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md"
WRITER = (
    STEP
    + """
id=@id@; dir=workspace/generation-runs/$id
hand_in() { holdfast done $step -w $id $(for one; do echo --artifact ${one%%=*}=$dir/${one#*=}; done); }
mkdir -p $dir
case $step in
file-check) holdfast done $step ;;
blueprint-validation) echo '["no rain"]' > $dir/list.json; hand_in constraints_list=list.json ;;
verification-plan) echo plan > $dir/plan.md; hand_in verification_plan=plan.md ;;
generation) echo "prose $n" > $dir/draft.md; echo echo $n > $dir/echo.md
  hand_in draft=draft.md compliance_echo=echo.md ;;
fast-compliance-check)
  if [ ! -e $dir/failed ]; then
    touch $dir/failed
    echo '{"status": "FAIL", "violations": [{"check": "word_count", "severity": "error", "message": "701 words"}],
      "retry_guidance": {"emphasis_needed": ["length above all"]}}' > $dir/fast.json
  else
    echo '{"status": "PASS", "violations": []}' > $dir/fast.json
  fi
  hand_in fast_compliance_result=fast.json ;;
full-validation) echo '@report@' > $dir/report.json; hand_in final_validation_report=report.json ;;
final-output) echo report > $dir/final.md; echo scene > $dir/scene.md
  hand_in final_report=final.md scene_content=scene.md ;;
esac
true
"""
)


def test_a_scene_is_written_again_with_what_the_check_wants_emphasized(stage):
    stage.bench.write(BLUEPRINT, "# Scene 0204\n\n## Constraints\n\n- no rain\n")
    stage.bench.save()
    begun(stage, "generation", "0204")
    configured(stage, WRITER.replace("@id@", stage.id).replace("@report@", json.dumps(REPORT)))
    answer = stage.run()
    assert "holdfast approve verification-plan" in answer.out
    stage.bench.open("human").latest().approve("verification-plan")
    answer = stage.run()
    assert answer.code == 0
    assert stage.state.step("generation").attempt == 2
    retried = next(stage.asked(n) for n in range(1, stage.many + 1) if "701 words" in stage.asked(n))
    assert "length above all" in retried
    assert "Work on the step generation now" in retried
