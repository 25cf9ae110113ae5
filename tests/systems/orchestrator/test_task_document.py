"""Task documents: what they say, in the many ways authors write it, and every mistake with its line."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from holdfast.core.names import is_name
from holdfast.errors import NotFound, UsageError
from holdfast.systems.orchestrator import task_document
from holdfast.systems.orchestrator.task_document import Criterion, Phase, Task
from holdfast.systems.orchestrator.task_document.model import OuterLoop, Supervisor

WHOLE = """\
# Task: User authentication

## Goal

Users log in
with their `email`.

## Context

We have:

- a model
- **no** form

```python
## Phase 9: not a heading
```

## Success Criteria (Global)

- [ ] Everything passes: `pytest -q`
- The docs are written

## Safety Bounds

- **Maximum iterations per task**: 20
- **Maximum cost**: $10
- **Maximum time**: 2 hours

## Phases

### Phase 1: Foundation

#### Task 1.1: Update User model

**Description**: Add the field
and a migration.

**Success Criteria**:
- [ ] Migration created
- [x] Tests pass (run: `npm test -- "a b"`)
**Agents Needed**: task-executor, supervisor
**Complexity**: Low
**Dependencies**: None
**Estimated Effort**: 2 hours

### Phase 2: Login

#### Task 2.1: The form

A form with two fields.

**Dependencies**: Task 1.1

## Supervisor Checks

**Enable**: Yes
**Frequency**: before and after each task
**Auto-Fix**: Yes

## Outer Ralph Loop

**Enable**: No
**Maximum Iterations**: 7
"""
SMALL = "# Task: T\n## Phase 1: P\n### Task 1.1: A\n"  # what follows is in the task, from line 4 on


@pytest.fixture
def file(tmp_path):
    def file(content, name="task.md"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return file


def document(text):
    return task_document.parse(text, "docs/task.md")


def task(body):
    """The one task with this body."""
    return document(SMALL + body).phases[0].tasks[0]


def whole(body):
    """A document with this before its one phase, from line 2 on."""
    return document(f"# Task: T\n{body}\n## Phase 1: P\n### Task 1.1: A\n")


def mistakes(text):
    with pytest.raises(UsageError) as refusal:
        document(text)
    assert refusal.value.code == "bad_task_document"
    assert refusal.value.facts["path"] == "docs/task.md"
    found: Any = refusal.value.facts["mistakes"]
    assert all(f"{each['where']}: {each['message']}" in refusal.value.message for each in found[:20])
    return [(int(each["where"].removeprefix("task.md:")), each["message"]) for each in found]


def test_a_whole_document_is_read(file):
    path = file(WHOLE)
    read = task_document.read(path)
    assert (read.path, read.title, read.goal) == (path, "User authentication", "Users log in with their email.")
    assert read.context == "We have:\n\n- a model\n- no form\n\n## Phase 9: not a heading"
    assert read.criteria == (
        Criterion("Everything passes", "everything_passes", ("pytest", "-q"), False, 21),
        Criterion("The docs are written", "the_docs_are_written", (), False, 22),
    )
    assert (read.max_iterations, read.max_cost, read.max_time) == (20, 10_000_000, 7200)
    assert read.supervisor == Supervisor(enabled=True, frequency=("pre_task", "post_task"), auto_fix=True)
    assert read.outer == OuterLoop(max_iterations=7)
    criteria = (
        Criterion("Migration created", "migration_created", (), False, 40),
        Criterion("Tests pass", "tests_pass", ("npm", "test", "--", "a b"), True, 41),
    )
    agents = ("task-executor", "supervisor")
    first = Task(
        "1.1", "Update User model", "Add the field and a migration.", criteria, agents, "Low", (), "2 hours", 34
    )
    second = Task("2.1", "The form", "A form with two fields.", (), (), "", ("1.1",), "", 49)
    assert read.phases == (Phase(1, "Foundation", (first,), 32), Phase(2, "Login", (second,), 47))


def test_title_phase_and_task_are_enough_and_the_rest_has_defaults():
    read = document(SMALL)
    assert read.path == os.path.abspath("docs/task.md")
    assert (read.goal, read.context, read.criteria) == ("", "", ())
    assert (read.max_iterations, read.max_cost, read.max_time) == (30, None, None)
    assert (read.supervisor, read.outer, read.approval) == (Supervisor(), OuterLoop(), "human")
    assert read.phases == (Phase(1, "P", (Task("1.1", "A", "", (), (), "", (), "", 3),), 2),)


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_other_line_ends_and_a_byte_order_mark_make_no_difference(file, ends):
    plain = task_document.read(file(WHOLE))
    assert task_document.read(file(b"\xef\xbb\xbf" + WHOLE.replace("\n", ends).encode())) == plain


@pytest.mark.parametrize(
    ("key", "way"),
    [
        ("timeout: 2h", "write 'max_time: 2h'"),
        ('time = "2h"', "write 'max_time: 2h'"),
        ("deadline: 2026-12-01", "bounds are those of the whole run"),
        ("cost: $3", "write 'max_cost: $10'"),
        ("iterations: 5", "write 'max_iterations: 30'"),
        ("approval: nobody", "'nobody' is not 'person' or 'relayed'"),
        ("gate: manual", "only the plan is approved"),
        ("depends_on: other.md", "in the task that waits"),
        ("depends_on:\n  - other.md", "in the task that waits"),
        ("bounds:\n  timeout: 2h", "write 'max_time: 2h'"),
    ],
)
def test_a_key_of_the_front_matter_that_may_be_a_bound_a_gate_or_a_dependency_is_a_mistake_in_its_line(file, key, way):
    with pytest.raises(UsageError) as refusal:
        task_document.read(file(f"---\nmax_cost: $3\n{key}\n---\n{SMALL}- [ ] a\n"))
    found: Any = refusal.value.facts["mistakes"]
    last = 3 + key.count("\n")
    assert (int(found[-1]["where"].rpartition(":")[2]), way in found[-1]["message"]) == (last, True), found


def test_other_keys_of_the_front_matter_are_warnings_in_their_lines_and_settings_count(file):
    front = "---\nauthor: me  # as always\n\ntags:\n  - a\nsafety:\n  max_time: '2h'\n"
    front += "supervisor:\n  enabled: yes\n---\n"
    read = task_document.read(file(f"{front}{SMALL}- [ ] a\n"))
    assert (read.max_time, read.supervisor.enabled) == (7200, True)
    assert [line for line, _ in read.warnings] == [2, 5]
    assert "of the front matter is not read" in read.warnings[0][1]


def test_a_setting_of_the_front_matter_that_cannot_be_read_is_a_mistake_in_its_line(file):
    with pytest.raises(UsageError) as refusal:
        task_document.read(file(f"---\nauthor: me\nmax_cost: a lot\n---\n{SMALL}- [ ] a\n"))
    assert "task.md:3: 'a lot' is not an amount" in refusal.value.message


@pytest.mark.parametrize(
    "sentence",
    [
        "`rm -rf build` darf nicht ausgeführt werden",
        "Es wird kein `rm -rf build` gestartet",
        "Nicht ausführen: `rm -rf build`",
        "`grep -c foo x` schlägt fehl",
        "Niemals: `rm -rf build`",
        "Verboten: `rm -rf build`",
        "Ne lancez jamais `rm -rf build`",
        "Ne pas exécuter : `rm -rf build`",
        "`grep -c foo x` échoue",
        "No ejecutar `rm -rf build`",
        "No se debe ejecutar: `rm -rf build`",
        "`grep -c foo x` falla",
        "Não executar `rm -rf build`",
        "`grep -c foo x` falha sempre",
        "Non eseguire `rm -rf build`",
        "`grep -c foo x` non trova niente",
        "`grep -c foo x` fallisce",
        "Voer `rm -rf build` niet uit",
        "`grep -c foo x` mislukt",
        "Nie uruchamiaj `rm -rf build`",
        "`grep -c foo x` kończy się błędem",
        "Не запускать `rm -rf build`",
        "Нельзя выполнять: `rm -rf build`",
        "`grep -c foo x` завершается с ошибкой",
        "不要运行 `rm -rf build`",
        "不要运行：`rm -rf build`",
        "`grep -c foo x` 失败",
        "`rm -rf build` を実行しない",
        "`grep -c foo x` は失敗する",
        "`rm -rf build`를 실행하지 않는다",
    ],
)
def test_a_criterion_that_seems_to_negate_its_command_in_another_language_is_reported_not_run(sentence):
    read = document(f"{SMALL}- [ ] {sentence}\n")
    (criterion,) = read.phases[0].tasks[0].criteria
    assert (criterion.run, criterion.absent) == ((), ())
    assert read.warnings == ((4, "the sentence seems to negate its command: the criterion is reported, not run"),)


@pytest.mark.parametrize(
    "sentence",
    [
        "`grep -c foo x` läuft ohne Fehler",
        "`grep -c foo x` meldet keine Warnungen",
        "Die Seite lädt nicht neu: `git fsck`",
        "`grep -c foo x` passe sans erreur",
        "`grep -c foo x` pasa sin errores",
        "`grep -c foo x` passa sem erros",
        "`grep -c foo x` passa senza errori",
        "`grep -c foo x` slaagt zonder fouten",
        "`grep -c foo x` kończy się bez błędów",
        "`grep -c foo x` проходит без ошибок",
        "`grep -c foo x` 通过，没有错误",
        "`grep -c foo x` がエラーなしで通る",
        "`git fsck` passes with no terminal, no fallback and no function without a test",
    ],
)
def test_a_criterion_that_wants_no_errors_in_another_language_is_run(sentence):
    (criterion,) = task(f"- [ ] {sentence}\n").criteria
    assert criterion.run in (("grep", "-c", "foo", "x"), ("git", "fsck"))


@pytest.mark.parametrize(
    "sentence",
    [
        "`git grep foo` ist leer",
        "`git grep foo` findet nichts",
        "Nichts gefunden: `git grep foo`",
        "Kein Treffer: `git grep foo`",
        "`git status --porcelain` est vide",
        "`git grep foo` ne trouve rien",
        "`git status` está vacío",
        "`git grep foo` è vuoto",
        "`git status` is leeg",
        "Вывод `git status` пуст",
        "`git status` 为空",
    ],
)
def test_a_criterion_whose_command_is_to_print_nothing_in_another_language_is_reported_not_run(sentence):
    read = document(f"{SMALL}- [ ] {sentence}\n")
    (criterion,) = read.phases[0].tasks[0].criteria
    assert criterion.run == ()
    assert len(read.warnings) == 1


def test_front_matter_is_passed_over_and_lines_keep_their_numbers(file):
    assert task_document.read(file(f"---\nauthor: me\n---\n{SMALL}")).phases[0].line == 5


@pytest.mark.parametrize(
    "body",
    [
        "**Complexity**: High\n**Dependencies**: None",
        "**complexity:** high",
        "- **Complexity**: HIGH",
        "* **COMPLEXITY:** High",
        "- [ ] a criterion\n**Complexity**: High",
        "- a\n  - b\n    **Complexity**: High",
        "Text before it\n**Complexity**: High  \nand after it",
        "**Complexity**: High\n---",
        "**Agents Needed**: a **Complexity**: High",
        "**Success Criteria**:\n- [ ] a\n\n**Complexity**: High",
        "##### Complexity\nHigh",
        "__Complexity__: High",
        "> **Complexity**: High",
        "*Complexity*: High",
        "Complexity: High",
    ],
)
def test_a_label_counts_wherever_it_stands(body):
    assert task(body).complexity.lower() == "high"


@pytest.mark.parametrize("body", ["```\n**Complexity**: High\n```", "`**Complexity**: High`"])
def test_an_example_is_no_label(body):
    assert task(body).complexity == ""


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("**Success Criteria**:\n- [ ] a\n- b\n1. c", ["a", "b", "c"]),
        ("- **Success Criteria**:\n  - [ ] a\n  - b\n- **Files**: c.py", ["a", "b"]),
        ("**Success Criteria**: all of it\n", ["all of it"]),
        ("**Success Criteria**: these:\n- a", ["a"]),
        ("##### Success Criteria\n- a", ["a"]),
        ("- [ ] a box without a label", ["a box without a label"]),
        ("**Success Criteria**:\n- a\n\n**Notes**:\n- b", ["a"]),
        ("**Success Criteria**:\n- a\n\nTo be read:\n\n- b", ["a"]),
        ("**Success Criteria**:\n- **Speed**: fast\n- two\n  lines", ["Speed: fast", "two lines"]),
        ("**Files**:\n- a.py", []),
        ("```\n- [ ] a\n```\n> - [ ] b", ["b"]),
        ("##### Definition of Done\nAll of it holds.", ["All of it holds."]),
        ("- [ ] a\n  - in all rooms\n- [ ] b", ["a – in all rooms", "b"]),
    ],
)
def test_what_is_a_criterion_of_a_task(body, texts):
    assert [criterion.text for criterion in task(body).criteria] == texts


def test_prose_that_belongs_to_no_label_describes_the_task():
    body = "First.\n\n**Complexity**: Low\n**Files**:\n- `a.py`\n- b.py\n\n##### Notes\nLast.\n\n~~~\nx = 1\n~~~\n"
    assert task(body).description == "First.\n\nFiles:\n\n- a.py\n- b.py\n\nNotes\n\nLast.\n\nx = 1"


@pytest.mark.parametrize(
    ("item", "text", "run"),
    [
        ("Tests pass: `pytest -q`", "Tests pass", ("pytest", "-q")),
        ("Tests pass: `pytest -q`.", "Tests pass", ("pytest", "-q")),
        ("Tests pass (run: `npm test`)", "Tests pass", ("npm", "test")),
        ("Tests pass (run `npm test`).", "Tests pass", ("npm", "test")),
        ("**Tests**: `make test`", "Tests", ("make", "test")),
        ("Run: `make test`", "make test", ("make", "test")),
        ("All tests run: `make test`", "All tests run", ("make", "test")),
        ("Some word: `grep -c 'a|b;$x' \"c & d\"`", "Some word", ("grep", "-c", "a|b;$x", "c & d")),
        ("The field `name` is there", "The field name is there", ()),
        ("It answers `200`", "It answers 200", ()),
        ("One: `a` and two", "One: a and two", ()),
        ("`git fsck` passes", "git fsck passes", ("git", "fsck")),
        ("Say `git` twice", "Say git twice", ()),
        ("No error in `git fsck --strict`", "No error in git fsck --strict", ("git", "fsck", "--strict")),
        ("`no-such-tool x` passes", "no-such-tool x passes", ()),
    ],
)
def test_a_criterion_may_end_in_a_command(item, text, run):
    (criterion,) = task(f"- [ ] {item}").criteria
    assert (criterion.text, criterion.run) == (text, run)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        *((f"a {sign} b", f"needs a shell for its {sign!r}") for sign in ("|", ">", "<", ";", "&", "$")),
        ("``a `b` ``", "needs a shell for its '`'"),
        ('echo "$HOME"', "needs a shell for its '$'"),
        ("make&&make", "needs a shell for its '&'"),
        ("A=1 make", "needs a shell to set a variable"),
        ("ls src/*.py", "needs a shell for its '*'"),
        ("ls a?", "needs a shell for its '?'"),
        ("ls ~/a", "needs a shell for its '~'"),
        ("ls {a,b}", "needs a shell for its '{a,b}'"),
        ("echo 'a", "quotes of the command do not match"),
        ("''", "the command is empty"),
    ],
)
def test_a_command_that_cannot_run_without_a_shell_is_a_mistake(command, said):
    code = command if command.startswith("``") else f"`{command}`"
    ((line, message),) = mistakes(f"{SMALL}- [ ] fine\n- [ ] Works: {code}\n")
    assert line == 5
    assert said in message


def test_names_of_criteria_are_keys_of_their_own():
    long = "x" * 70
    texts = ["Tests pass!", "tests PASS", "Tests pass 2", "…", "Ünder", long, long, "_a_"]
    names = [criterion.name for criterion in task("".join(f"- [ ] {text}\n" for text in texts)).criteria]
    assert names[:5] == ["tests_pass", "tests_pass_2", "tests_pass_2_2", "criterion_4", "nder"]
    assert names[5:] == ["x" * 64, "x" * 62 + "_2", "a"]
    assert all(is_name(name) for name in names)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("2 hours", 7200),
        ("90 minutes", 5400),
        ("2h", 7200),
        ("1h 30m", 5400),
        ("1h30m", 5400),
        ("30 min", 1800),
        ("1 hour and 5 minutes", 3900),
        ("1 day (at most)", 86400),
        ("1.5 hours", 5400),
        ("3 hours per session", 10800),
        ("up to 2 hours", 7200),
        ("no limit", None),
    ],
)
def test_spans_are_read_as_people_write_them(said, seconds):
    assert whole(f"## Safety Bounds\n**Maximum time**: {said}").max_time == seconds


@pytest.mark.parametrize(
    ("said", "micros"), [("$10", 10_000_000), ("0.75", 750_000), ("$ 5 USD", 5_000_000), ("None", None)]
)
def test_amounts_are_read_as_people_write_them(said, micros):
    assert whole(f"## Safety Bounds\n- Max cost: {said}").max_cost == micros


@pytest.mark.parametrize(
    "line",
    [
        "**Maximum cost**: cheap",
        "**Maximum cost**: $0",
        "**Maximum cost**:",
        "**Maximum cost**: $5\n**Max cost**: $6",
        "**Maximum time**: 90",
        "**Maximum time**: soon",
        "**Maximum time**: 2-3 hours",
        "**Maximum time**: 1 hour\n\nNever spend more than $5.",
        "**Maximum cost**: $5\n- [ ] be careful",
        "**Maximum time**: 2 months",
        "**Maximum iterations per task**: 0",
        "**Maximum iterations per task**: unlimited",
        "**Maximum iterations per task**: -3",
        "- Maximum tokens: 5000",
    ],
)
def test_a_bound_that_cannot_be_kept_is_a_mistake(line):
    found = mistakes(f"{SMALL}## Safety Bounds\n{line}\n")
    assert [where for where, _ in found] == [4 + len(line.split("\n"))]


@pytest.mark.parametrize("body", ["- be careful", ""])
def test_bounds_that_nobody_can_read_are_a_mistake_and_not_no_bounds(body):
    ((line, message),) = mistakes(f"{SMALL}## Safety Bounds\n{body}\n")
    assert line == 4
    assert "**Maximum cost**: $10" in message


@pytest.mark.parametrize(
    ("section", "supervisor"),
    [
        ("", False),
        ("## Supervisor Checks:", True),
        *((f"## Supervisor\nEnable: {w}", w == "Yes") for w in ("Yes", "No")),
    ],
)
def test_a_section_that_is_there_is_meant_unless_it_says_no(section, supervisor):
    assert whole(section).supervisor.enabled is supervisor
    outer = section.replace("Supervisor Checks", "Outer Ralph Loop").replace("Supervisor", "Outer Loop")
    assert whole(outer).outer.enabled is supervisor


def test_settings_count_below_a_phase_too():
    assert document(f"{SMALL}### Safety Bounds\n**Maximum cost**: $3\n").max_cost == 3_000_000


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("None", ()),
        ("N/A", ()),
        ("None (first task)", ()),
        ("Task 1.1", ("1.1",)),
        ("1.1, 1.2", ("1.1", "1.2")),
        ("Tasks 1.1 and 1.02", ("1.1", "1.2")),
        ("Task 1.1 (model), Task 1.1: The model", ("1.1",)),
        ("1.1,\n1.2", ("1.1", "1.2")),
        ("\n- Task 1.1\n- 1.2", ("1.1", "1.2")),
    ],
)
def test_dependencies_are_read_as_people_write_them(said, numbers):
    text = f"{SMALL}### Task 1.2: B\n### Task 1.3: C\n**Dependencies**: {said}\n"
    assert document(text).phases[0].tasks[2].dependencies == numbers


def test_a_list_below_its_label_ends_where_the_text_goes_on():
    read = task("**Agents Needed**:\n- one\n- two (b)\n\nSome text, and more.\n\n- three\n")
    assert (read.agents, read.description) == (("one", "two"), "Some text, and more.\n\n- three")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [(1, "there is no title"), (1, "there is no phase")]),
        (SMALL.replace("# Task: T", "# Other", 1), [(1, "there is no title")]),
        ("# Task: T\n\n## Phase 1: P\n", [(3, "there is no task in this phase")]),
        (f"{SMALL}### Task 1.01: B\n", [(4, "the number 1.1 is that of the task in line 3")]),
        (f"{SMALL}### Task 2.1: B\n", [(4, "task 2.1 is in phase 1")]),
        (f"{SMALL}### Task 11.1: B\n", [(4, "task 11.1 is in phase 1")]),
        (f"{SMALL}## Task 1.2: B\n", [(4, "the task is below no phase")]),
        (f"{SMALL}### Task 1.2\n", [(4, "the heading of a task has a number and a name")]),
        (f"{SMALL}### Task B: b\n", [(4, "the heading of a task has a number and a name")]),
        (f"{SMALL}## Phase two: Q\n### Task 2.1: B\n", [(4, "the heading of a phase has a number and a name")]),
        (f"{SMALL}##### Phase 2: Q\n###### Task 2.1: B\n", [(4, "the heading of a phase has two to four #")]),
        (f"{SMALL}## Phase 1: Q\n### Task 1.2: B\n", [(4, "the number 1 is that of the phase in line 2")]),
        (f"{SMALL}## Phase 0: Q\n### Task 0.1: B\n", [(4, "phase 0 comes after phase 1")]),
        (f"{SMALL}\n**Dependencies**: 1.7, none\n", [(5, "there is no task 1.7 to depend on")]),
        (f"{SMALL}**Dependencies**: 1.1\n", [(4, "task 1.1 depends on itself")]),
        (f"{SMALL}**Dependencies**: Phase 1\n", [(4, "task 1.1 depends on itself")]),
        (f"{SMALL}**Dependencies**: Phase 7\n", [(4, "there is no task in 'Phase 7'")]),
        (f"{SMALL}**Dependencies**: the database\n", [(4, "'the database' names no task")]),
        (
            f"{SMALL}**Dependencies**: 2.1\n## Phase 2: Q\n### Task 2.1: B\n**Dependencies**: 1.1\n",
            [(4, "task 1.1 depends on task 2.1 of a later phase")],
        ),
        (f"{SMALL}## Plan Approval\n- [ ] x\n", [(5, "this check box belongs to no task")]),
        (f"**Plan approval**: never\n\n{SMALL}", [(1, "'never' is not 'person' or 'relayed'")]),
        (f"{SMALL}## Phase 2: Q\n**Dependencies**: Phase 3\n### Task 2.1: B\n", [(5, "'Phase 3' is no phase")]),
        (f"{SMALL}**Success Criteria**:\n\n| # | it |\n|--|--|\n| 1 | a |\n", [(6, "criteria in"), (8, "criteria in")]),
        (f"{SMALL}<div>\n- [ ] a\n</div>\n", [(4, "this is HTML")]),
        (f"{SMALL}**Agents**: a\n\n**Agents**: b\n", [(6, "this was said before, in line 4")]),
        (f"{SMALL}- [] a\n- [ ]\n", [(5, "the criterion has no text")]),
        (f"{SMALL}## Supervisor\n**Enable**: Yes/No\n", [(5, "'Yes/No' is not 'Yes' or 'No'")]),
        (f"{SMALL}## Goal\n## Goal\n", [(5, "there is such a section already, in line 4")]),
    ],
)
def test_a_mistake_is_told_with_its_line(text, found):
    told = mistakes(text)
    assert [line for line, _ in told] == [line for line, _ in found]
    assert all(message.startswith(begin) for (_, message), (_, begin) in zip(told, found, strict=True))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{SMALL}- [ ] a\n", []),
        (SMALL, [3]),
        (f"{SMALL}- [ ] a\n**Agents Needed**: a, ../b\n", [5]),
        (f"{SMALL}- [ ] a\n**Agents Needed**: 2\n", [5]),
        (f"{SMALL}- [ ] a\n## Risks\nIt rains.\n", [5]),
        (f"{SMALL}- [ ] a\n## Safety Bounds\n**Budget**: $3\nBe careful.\n", [7]),
        (f"{SMALL}- [ ] a\n## Settings\n**Colour**: blue\n", [6]),
        (f"{SMALL}- [ ] a\n## Success Criteria\n- b\n\nThat is all.\n", [8]),
        (f"{SMALL}- [ ] a\n<div>x</div>\n\nText.\n", [5]),
        (f"{SMALL}- [ ] a\n## Supervisor\nFrequency: now and then\n", [6]),
    ],
)
def test_what_has_no_effect_is_a_warning_with_its_line(text, lines):
    assert [line for line, _ in document(text).warnings] == lines


def test_all_mistakes_are_told_at_once_by_their_lines():
    text = f"{SMALL}**Dependencies**: 9.9\n- [ ] a: `b|c`\n### Task 1.1: B\n## Safety Bounds\n**Max cost**: x\n"
    assert [line for line, _ in mistakes(text)] == [4, 5, 6, 8]


def test_each_circle_of_dependencies_is_told_once_and_not_whoever_waits_for_it():
    wanted = {1: "1.2", 2: "1.3", 3: "1.1", 4: "1.1", 5: "1.6", 6: "1.5", 7: "None"}
    tasks = "".join(f"### Task 1.{number}: x\n**Dependencies**: {other}\n" for number, other in wanted.items())
    assert mistakes(f"# Task: T\n## Phase 1: P\n{tasks}") == [
        (4, "these tasks wait for each other: 1.1 → 1.2 → 1.3 → 1.1"),
        (12, "these tasks wait for each other: 1.5 → 1.6 → 1.5"),
    ]


def test_a_task_may_wait_for_a_later_one_of_its_phase():
    assert document(f"{SMALL}**Dependencies**: 1.2\n### Task 1.2: B\n").phases[0].tasks[0].dependencies == ("1.2",)


def _phases(many):
    return "# Task: T\n" + "".join(f"## Phase {n}: P\n### Task {n}.1: A\n" for n in range(1, many + 1))


def _tasks(many):
    return "# Task: T\n## Phase 1: P\n" + "".join(f"### Task 1.{n}: A\n" for n in range(1, many + 1))


@pytest.mark.parametrize(
    ("make", "most", "line", "said"),
    [
        (_phases, 50, 102, "there are more than 50 phases"),
        (_tasks, 500, 503, "there are more than 500 tasks"),
        (lambda n: SMALL + "- [ ] a\n" * n, 50, 54, "there are more than 50 criteria here"),
        (lambda n: f"# Task: {'x' * n}\n{SMALL.partition(chr(10))[2]}", 200, 1, "the title is longer than 200"),
        (lambda n: f"{SMALL}### Task 1.2: {'x' * n}\n", 200, 4, "the name of the task is longer than 200"),
        (lambda n: f"{SMALL}- [ ] {'x' * n}\n", 1000, 4, "the criterion is longer than 1000"),
    ],
)
def test_what_is_too_much_is_a_mistake_and_the_most_is_none(make, most, line, said):
    document(make(most))
    for more in (1, 2):
        ((where, message),) = mistakes(make(most + more))
        assert where == line
        assert message.startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        f"# Task: a\x1bb\n{SMALL}",
        f"{SMALL}## Phase 2: \x1b\n### Task 2.1: B\n",
        f"{SMALL}### Task 1.2: a\u202eb\n",
        f"{SMALL}- [ ] a\x07\n",
        f"{SMALL}Text\x9b.\n",
        f"{SMALL}~~~\n\x1b[2J\n~~~\n",
        f"{SMALL}**Estimated Effort**: \x1b\n",
        f"{SMALL}Text \ud800.\n",
    ],
)
def test_control_characters_are_refused(text):
    assert any("control characters" in message for _, message in mistakes(text))


def test_a_feature_file_is_sent_where_it_belongs():
    with pytest.raises(UsageError) as refusal:
        task_document.parse("# Feature: Login\n\n## Tasks\n\n- [ ] a\n", "my features/a.md")
    assert refusal.value.remedy == "holdfast start dev 'my features/a.md'"
    assert "this is a feature file" in refusal.value.message


def test_a_file_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(NotFound) as refusal:
        task_document.read(str(tmp_path / "none.md"))
    assert refusal.value.code == "no_task_document"


def _link(path):
    (path.parent / "real.md").write_text(SMALL)
    path.symlink_to("real.md")


@pytest.mark.parametrize(
    ("make", "said", "remedy"),
    [
        (_link, "symbolic link", "readlink"),
        (lambda path: path.mkdir(), "not a regular file", "ls"),
        (lambda path: os.mkfifo(path), "not a regular file", "ls"),
        (lambda path: path.write_bytes(SMALL.encode() + b"\xff"), "not UTF-8 at line 4", "file"),
        (lambda path: path.write_bytes(SMALL.encode() + b"\0"), "NUL", "file"),
        (lambda path: path.write_bytes(b"x" * (task_document.LARGEST + 1)), "larger than", "task documents"),
    ],
)
def test_what_is_no_text_file_of_its_own_is_refused(tmp_path, make, said, remedy):
    path = tmp_path / "task.md"
    make(path)
    with pytest.raises(UsageError) as refusal:
        task_document.read(str(path))
    assert refusal.value.code == "bad_task_document"
    assert said in refusal.value.message
    assert remedy in refusal.value.remedy


@pytest.mark.parametrize("path", ["", "a\nb.md", "a\x1b.md"])
def test_a_path_that_cannot_be_shown_is_refused(path):
    with pytest.raises(UsageError) as refusal:
        task_document.read(path)
    assert refusal.value.message.isprintable()


def test_reading_changes_nothing(file):
    path = file(WHOLE)
    before = os.stat(path)
    task_document.read(path)
    assert os.stat(path).st_mtime_ns == before.st_mtime_ns
    assert os.listdir(os.path.dirname(path)) == ["task.md"]


def test_the_parser_of_markdown_is_imported_only_to_parse(file):
    path = file(SMALL)
    code = (
        "import sys; from holdfast.systems.orchestrator import task_document;"
        "print('markdown_it' in sys.modules); task_document.read(sys.argv[1]); print('markdown_it' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]
