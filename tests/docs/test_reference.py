"""The reference names everything that there is, and nothing that there is not."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import holdfast
from holdfast import errors
from holdfast.core import cycle, lifecycle, packet
from holdfast.core.diagram import lifecycle_diagram
from holdfast.core.reading import read
from holdfast.documents.lens.spec import Items
from holdfast.engine.codec import _EVENTS
from holdfast.forges.github.repository import token_names
from holdfast.forges.gitlab.project import TOKENS
from holdfast.machine import settings
from holdfast.machine.configuration import resuming, uses_pull_requests
from holdfast.project.step_work import StepWork
from holdfast.surfaces import tools
from holdfast.surfaces.cli import overview
from holdfast.surfaces.cli.grammar import Command, Option
from holdfast.surfaces.cli.table import ALWAYS, COMMANDS, COMMON
from holdfast.surfaces.hooks import quick
from holdfast.systems.compaction import document as compaction
from holdfast.systems.gated import central
from holdfast.systems.gated import document as gated
from holdfast.systems.gated import words as gated_words
from holdfast.systems.orchestrator import document as orchestrator
from holdfast.systems.orchestrator.task_document import model
from holdfast.systems.orchestrator.task_document.blocks import normal
from holdfast.systems.orchestrator.task_document.sections import _SETTINGS, field_of, kind_of
from holdfast.systems.skill import document as skill
from holdfast.systems.skill.document import DOCUMENT
from holdfast.systems.story import document as story
from holdfast.upkeep import schemas
from tests import sources
from tests.docs.blocks import PAGES, ROOT, blocks
from tests.docs.terminal import Terminal

REFERENCE = ROOT / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / name).read_text()


def sections() -> dict[str, str]:
    """The part of the page on the command line about each command, by how the command is written."""
    parts = re.split(r"^###? ", page("command-line.md"), flags=re.MULTILINE)
    found = (re.match(r"`holdfast (.*)`\n", part) for part in parts)
    return {match[1]: part for match, part in zip(found, parts, strict=True) if match}


def prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def flags(text: str) -> set[str]:
    """Options that are named in code of one line."""
    return {
        flag
        for code in re.findall(r"`([^`\n]+)`", prose(text))
        for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", code)
    }


def flags_of(options: tuple[Option, ...]) -> set[str]:
    return {flag for option in options if option.is_flag for flag in option.flags.split()}


def written(command: Command) -> str:
    return overview._usage(command)


def test_every_command_has_a_section_and_no_other_has_one():
    assert sections().keys() == {written(command) for command in COMMANDS.values()}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_a_command_s_section_has_all_its_options_no_others_and_an_example(command):
    section = sections()[written(command)]
    common = {letter: option.flags.split()[0] for letter, option in COMMON.items()}
    own, takes = flags_of(command.options), {common[letter] for letter in command.takes}
    named = flags(section)
    assert own | takes <= named
    elsewhere = {flag for other in COMMANDS for flag in mentioned(section, other)}
    assert named - own - takes - flags_of(ALWAYS) <= elsewhere
    also = re.search(r"^Also takes (.*)\.$", section, flags=re.MULTILINE)
    assert set(re.findall(r"-[\w-]+", also[1] if also else "")) == takes
    for option in (option for option in command.options if option.is_flag and option.type):
        shown = option.shown.replace("|", r"\|")
        assert f"| `{option.flags} {shown}` |" in section
    examples = [block.body for block in blocks(section) if block.language == "console"]
    assert any(f"holdfast {command.name}" in body for body in examples)


def mentioned(text: str, name: str) -> set[str]:
    """The options of another command that a text mentions together with that command: `start --set`."""
    code = re.findall(rf"`(?:holdfast )?{re.escape(name)} (--[a-z-]+)", prose(text))
    return set(code) & flags_of(COMMANDS[name].options)


def test_the_common_options_are_there_and_no_others():
    section = page("command-line.md").partition("## Common options")[2].partition("\n## ")[0]
    assert flags(section) == flags_of((*COMMON.values(), *ALWAYS))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_options_that_a_page_mentions_exist(path):
    wrong = []
    for code in re.findall(r"`([^`\n]+)`", prose(path.read_text())):
        said = re.match(r"holdfast ((?!-)\S+)(?: (\S+))?", code)
        if not said or said[1] in ("COMMAND", "help"):
            continue
        name = f"{said[1]} {said[2]}" if f"{said[1]} {said[2]}" in COMMANDS else said[1]
        known = flags_of((*COMMANDS[name].options, *COMMON.values(), *ALWAYS)) if name in COMMANDS else set()
        if name not in COMMANDS or not flags(f"`{code}`") <= {*known, "--help"}:
            wrong.append(code)
    assert wrong == []


def test_every_exit_code_is_documented_with_no_others():
    classes = [cls for cls in vars(errors).values() if inspect.isclass(cls) and issubclass(cls, errors.HoldfastError)]
    there = {cls.exit_code for cls in classes} | {0}
    section = page("command-line.md").partition("## Exit codes")[2].partition("\n## ")[0]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", section, flags=re.MULTILINE)} == there | {124, 130}
    for cls in classes:
        assert re.search(rf"^\| `{cls.__name__}` \| {cls.exit_code} \|", page("python.md"), flags=re.MULTILINE)


class _Module(NamedTuple):
    """What a module imports, and the calls by a plain name in it and in each of its functions."""

    imported: set[str]
    calls: list[ast.Call]
    functions: dict[ast.FunctionDef, list[ast.Call]]


@functools.cache
def _modules() -> list[_Module]:
    return [
        _Module(
            {name.asname or name.name for node in found if isinstance(node, ast.ImportFrom) for name in node.names},
            list(_calls(found)),
            {node: list(_calls(ast.walk(node))) for node in found if isinstance(node, ast.FunctionDef)},
        )
        for found in sources.nodes().values()
    ]


def _calls(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    return (node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))


def codes(cls: str) -> set[str]:
    """The codes with which the package raises errors of a class, itself or through a function that is handed one."""
    found = set()
    everywhere = {name: how for module in _modules() for name, how in _handed_a_code(module, cls)}
    for module in _modules():
        known = {name: how for name, how in everywhere.items() if name in module.imported}
        handed = known | dict(_handed_a_code(module, cls))
        for call in module.calls:
            given = _argument(call, 0, "code") if _name(call) == cls else None
            if _name(call) in handed:
                place, default = handed[_name(call)]
                given = _argument(call, place, "code") or default
            if isinstance(given, ast.Constant):
                found.add(str(given.value))
    return found


def _handed_a_code(module: _Module, cls: str) -> Iterator[tuple[str, tuple[int, ast.expr | None]]]:
    """The functions of a module that make an error of a class with the code they are given; its place and default."""
    for function, calls in module.functions.items():
        names = [argument.arg for argument in function.args.args]
        made = (call for call in calls if _name(call) == cls and call.args)
        if "code" in names and any(isinstance(call.args[0], ast.Name) and call.args[0].id == "code" for call in made):
            place = names.index("code")
            defaults = [None] * (len(names) - len(function.args.defaults)) + list(function.args.defaults)
            yield function.name, (place, defaults[place])


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    return named[0] if named else call.args[place] if place < len(call.args) else None


@pytest.mark.parametrize(
    ("heading", "cls"),
    [
        ("A rule refused", "Refused"),
        ("A conflict", "Conflict"),
        ("Broken data", "Broken"),
        ("Unknown outcome", "OutcomeUnknown"),
    ],
)
def test_every_code_that_a_script_may_act_on_is_documented_and_no_others(heading, cls):
    section = page("errors.md").partition(f"## {heading}: {getattr(errors, cls).exit_code}\n")[2].partition("\n## ")[0]
    first = "\n".join(re.findall(r"^\| ([^|]*) \|", section, flags=re.MULTILINE))
    kinds = (cls, *(kind.__name__ for kind in getattr(errors, cls).__subclasses__()))
    assert set(re.findall(r"`(\w+)`", first)) == set().union(*map(codes, kinds))


def known_keys(data: dict, at: str) -> set[str]:
    """The keys that the reader of definitions names when it meets one that is like none of them."""
    with pytest.raises(errors.UsageError) as refusal:
        read(data)
    mistakes = refusal.value.facts["mistakes"]
    assert isinstance(mistakes, list)
    (said,) = [
        mistake["message"] for mistake in mistakes if mistake["where"] == at and "known are" in mistake["message"]
    ]
    return set(said.partition("known are ")[2].split(", "))


STRANGE = "zzzzzzzzzzzzzzzzzzzzzzzz"


@pytest.mark.parametrize(
    ("heading", "data", "at"),
    [
        ("Top level", {STRANGE: 1}, STRANGE),
        ("`[bounds]`", {"bounds": {STRANGE: 1}}, f"bounds.{STRANGE}"),
        ("`[[step]]` and `[[step.step]]`", {"step": [{STRANGE: 1}]}, f"step[1].{STRANGE}"),
        ("`checks`", {"step": [{"checks": [{STRANGE: 1}]}]}, f"step[1].checks[1].{STRANGE}"),
        ("`review`", {"step": [{"review": {STRANGE: 1}}]}, f"step[1].review.{STRANGE}"),
        ("`approval`", {"step": [{"approval": {STRANGE: 1}}]}, f"step[1].approval.{STRANGE}"),
        ("`choice`", {"step": [{"choice": {STRANGE: 1}}]}, f"step[1].choice.{STRANGE}"),
        ("`retry`", {"step": [{"retry": {STRANGE: 1}}]}, f"step[1].retry.{STRANGE}"),
    ],
)
def test_every_key_of_a_definition_is_documented_and_no_others(heading, data, at):
    section = page("definition-file.md").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)) == known_keys(data, at)


def test_every_environment_variable_is_documented_and_no_others():
    text = "\n".join(sources.texts().values())
    read_ones = set(re.findall(r'environ(?:\.get\(|, )b?"([A-Z_]+)"', text))
    named = set(re.findall(r"\b(?:HOLDFAST|XDG)_[A-Z_]+\b", text))
    coloured = {"FORCE_COLOR", "CLICOLOR_FORCE"}
    tokens = {*token_names("github.com"), *token_names("github.example.com"), *TOKENS}
    text = page("environment.md")
    shown = set(re.findall(r"`([A-Z][A-Z_]+)`", text))
    assert read_ones | named | coloured | tokens | {"HTTPS_PROXY", "NO_PROXY"} | set(settings.HOST_VARIABLES) == shown


def test_every_event_is_documented_and_no_others():
    section = page("journal.md").partition("## Events")[2]
    shown = set(re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE))
    assert shown == (_EVENTS.keys() - {"moved"}) | lifecycle.MOVES.keys()


def test_every_public_name_of_the_package_is_documented():
    text = page("python.md")
    assert [name for name in holdfast.__all__ if not re.search(rf"`(?:holdfast\.)?{name}\b", text)] == []


@pytest.mark.parametrize("cls", [holdfast.Project, holdfast.Workflow, StepWork], ids=lambda cls: cls.__name__)
def test_every_public_member_is_documented_with_the_arguments_it_has(cls):
    text = page("python.md")
    missing = []
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            found = f"`{name}`" in text or f"`step.{name}`" in text
        else:
            wanted = [a for a in inspect.signature(member).parameters if a not in ("self", "how")]
            calls = re.findall(rf"`(?:step\.)?{name}\((.*?)\)`", text)
            found = any(re.findall(r"(?:^|, )\*{0,2}(\w+)", re.sub(r"=[^,]*", "", call)) == wanted for call in calls)
        if not found:
            missing.append(name)
    assert missing == []


def test_every_field_of_the_skill_document_is_documented():
    text = page("skill-document.md")
    shown = set(re.findall(r"^\| ([^|]+) \|", text, flags=re.MULTILINE))
    named = " ".join(shown)
    for part in DOCUMENT.parts:
        if not isinstance(part, Items):
            assert f"`{part.at}`" in named
            continue
        prefix = {"state_machine.phases": "phases[].", "tasks": "tasks[].", "checkpoints": "checkpoints.NAME."}[part.at]
        for field in part.fields:
            known = f"`{prefix}{field.at}`" in named or f"`.{field.at.rpartition('.')[2]}`" in named
            assert known, f"{prefix}{field.at}"


def test_every_field_of_the_story_document_is_documented_and_no_others():
    whole, _, rest = page("story-document.md").partition("Each entry of `steps` and `phases`")
    entries = rest.partition("\n## ")[0]
    steps = [part for part in story.DOCUMENT.parts if isinstance(part, Items)]
    fields = {part.at for part in story.DOCUMENT.parts if not isinstance(part, Items)}
    assert first_column(whole) == fields | {f"{part.at}[]" for part in steps}
    assert first_column(entries) == {field.at for part in steps for field in part.fields}


def test_every_field_of_the_compaction_document_is_documented_and_no_others():
    fields = {part.at for part in compaction.DOCUMENT.parts if not isinstance(part, Items)}
    assert first_column(page("compaction-document.md")) == fields


def test_every_field_of_the_orchestrator_document_is_documented_and_no_others():
    whole, _, rest = page("orchestrator-document.md").partition("Each entry of `completed_tasks` and `pending_tasks`")
    lists = [part for part in orchestrator.DOCUMENT.parts if isinstance(part, Items)]
    fields = {part.at for part in orchestrator.DOCUMENT.parts if not isinstance(part, Items)}
    assert first_column(whole) == fields | {f"{part.at}[]" for part in lists}
    assert first_column(rest.partition("\n## ")[0]) == {field.at for part in lists for field in part.fields}


def test_every_field_of_the_gated_document_is_documented_and_no_others():
    section = page("gated-document.md").partition("## `workflow-state.json`\n")[2].partition("\n## ")[0]
    whole, _, phases = section.partition("Each of `phases`")
    fields = {part.at for part in gated.DOCUMENT.parts if not isinstance(part, Items)}
    (items,) = (part for part in gated.DOCUMENT.parts if isinstance(part, Items))
    assert first_column(whole) == fields | {items.at}
    assert first_column(phases) == {field.at for field in items.fields}


def owned(schema: Any) -> dict[str, list[str]]:
    """The fields of each owner, in the order of the schema."""
    found: dict[str, dict[str, None]] = {}

    def collect(inner: Any, at: str) -> None:
        if "x-owner" in inner:
            found.setdefault(inner["x-owner"], {})[at] = None
        for name, one in inner.get("properties", {}).items():
            collect(one, f"{at}.{'NAME' if name in gated_words.PHASES else name}" if at else name)
        collect(inner["items"], f"{at}[]") if "items" in inner else None
        collect(inner["additionalProperties"], f"{at}.NAME") if "additionalProperties" in inner else None

    collect(schema, "")
    return {owner: list(places) for owner, places in found.items()}


@pytest.mark.parametrize("part", [compaction, skill, story, orchestrator, gated], ids=lambda part: part.DIALECT.name)
def test_the_table_of_owners_is_made_from_the_fields(part):
    table = page(f"{part.DIALECT.name}-document.md").partition("## Who owns a field\n")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", table, flags=re.MULTILINE)[1:]
    said = {owner: re.findall(r"`([^`]+)`", fields) for owner, fields in rows}
    assert said == owned(schemas.schema(part.DIALECT.name))


def test_every_field_and_action_of_a_phase_s_status_is_documented_and_no_others(tmp_path):
    """As the file has them that a start writes."""
    terminal = Terminal(tmp_path / "project", tmp_path / "home")
    terminal.as_agent("holdfast start feature 'Sign in'")
    code, said = terminal.as_agent("jq -r keys[] workflow/sign-in/*/status.json")
    assert code == 0, said
    section = page("gated-document.md").partition("## `status.json`\n")[2].partition("\n## ")[0]
    fields, _, actions = section.partition("| `action` |")
    assert first_column(fields) == set(said.splitlines())
    words = (value for name, value in vars(cycle).items() if name.isupper() and isinstance(value, str))
    assert first_column(actions) == set(words) - {cycle.APPROVED, cycle.NEEDS_REVISION}


def test_the_central_docs_are_documented_with_the_place_of_each_in_a_workspace():
    section = page("gated-document.md").partition("## Central docs\n")[2].partition("\n## ")[0]
    pairs = dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", section, flags=re.MULTILINE))
    assert pairs == {path: central._own(path) for path in (*central._TABLE, f"{central._DIAGRAMS}/*")}


def test_the_trailers_of_a_feature_s_commits_are_documented_and_no_others():
    section = page("gated-document.md").partition("## Commits\n")[2].partition("\n## ")[0]
    (made,) = (source for source in sources.texts().values() if "def message(state: State, summary" in source)
    written_ones = re.findall(
        r'^        "([A-Z][\w-]+)": ', made.partition("def message(state: State, summary")[2], flags=re.MULTILINE
    )
    assert first_column(section) == set(written_ones)


def test_every_label_of_a_task_document_is_documented_and_no_others():
    _, _, text = page("task-document.md").partition("## Tasks\n")
    tasks, _, settings_text = text.partition("## Settings\n")
    tasks = tasks.partition("## Criteria\n")[0]
    told = {field_of("task", normal(label))[1] for label in first_column(tasks)}
    assert told == {"description", "criteria", "dependencies", "agents", "complexity", "effort"}
    rows = re.findall(r"^\|([^|]*)\| (`[^|]+) \|", settings_text.partition("\n## ")[0], flags=re.MULTILINE)
    kind, found = "", set()
    for section, labels in rows:
        kind = kind_of(section.strip(), within_phase=False) or (kind if not section.strip() else "other")
        found |= {field_of(kind, normal(label)) for label in re.findall(r"`([^`]+)`", labels)}
    assert found == {(kind, field) for kind, fields in _SETTINGS.items() for field in fields}


def test_the_headings_of_a_task_document_open_what_the_reference_says():
    section = page("task-document.md").partition("## Outline\n")[2].partition("\n## ")[0]
    named = {heading.lstrip("# ") for heading in first_column(section) if heading.startswith("## ")}
    assert {kind_of(heading, within_phase=False) for heading in named} == {
        "goal",
        "context",
        "criteria",
        "safety",
        "supervisor",
        "outer",
        "settings",
    }


def test_the_limits_of_a_task_document_are_those_of_its_reader():
    section = page("task-document.md").partition("## Limits\n")[2].partition("\n## ")[0]
    limits = (model.MOST_PHASES, model.MOST_TASKS, model.MOST_CRITERIA, model.LONGEST_NAME, model.LONGEST_CRITERION)
    assert list(map(int, re.findall(r"\d+", section)))[:5] == list(limits)


def test_every_event_that_a_hook_answers_is_documented_and_no_others():
    section = page("hooks.md").partition("## Events\n")[2].partition("\n## ")[0]
    assert first_column(section) == set(quick.REACTIONS)


def test_the_parts_of_the_resume_packet_are_documented_in_the_order_in_which_they_are_kept():
    section = page("hooks.md").partition("## The resume packet\n")[2].partition("\n## ")[0]
    parts = re.findall(r"^\| ([a-z ]+) \|.*\| (\d+) \|$", section, flags=re.MULTILINE)
    assert tuple(name for name, _ in sorted(parts, key=lambda part: int(part[1]))) == packet._IMPORTANCE


def test_every_key_of_resuming_in_the_configuration_is_documented_and_no_others(tmp_path):
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "config.toml").write_text(f"[resume]\n{STRANGE} = 1\n")
    with pytest.raises(errors.UsageError) as refusal:
        resuming(str(tmp_path))
    section = page("configuration.md").partition("## `[resume]`\n")[2].partition("\n## ")[0]
    assert first_column(section) == set(refusal.value.message.partition("known are ")[2].split(", "))


def test_every_key_of_features_in_the_configuration_is_documented_and_no_others(tmp_path):
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "config.toml").write_text(f"[feature]\n{STRANGE} = 1\n")
    with pytest.raises(errors.UsageError) as refusal:
        uses_pull_requests(str(tmp_path))
    section = page("configuration.md").partition("## `[feature]`\n")[2].partition("\n## ")[0]
    assert first_column(section) == {refusal.value.message.partition("known are ")[2]}


def first_column(text: str) -> set[str]:
    cells = "\n".join(re.findall(r"^\| ([^|]+) \|", text, flags=re.MULTILINE))
    return set(re.findall(r"`([^`]+)`", cells))


def test_every_tool_is_documented_with_the_inputs_it_takes_and_no_others():
    parts = re.split(r"^## ", page("tools.md"), flags=re.MULTILINE)
    found = {match[1]: part for part in parts if (match := re.match(r"`(\w+)`\n", part))}
    taken = {name: {field.name for field in tool.inputs} for name, tool in tools.TOOLS.items()}
    assert {name: first_column(part) for name, part in found.items()} == taken


def test_the_tools_require_what_their_pages_say_they_require():
    parts = re.split(r"^## ", page("tools.md"), flags=re.MULTILINE)
    found = {match[1]: part for part in parts if (match := re.match(r"`(\w+)`\n", part))}
    said = {name: set(re.findall(r"^\| `(\w+)` \| [^|]*\brequired\b", found[name], re.MULTILINE)) for name in found}
    assert said == {name: {one.name for one in tool.inputs if one.required} for name, tool in tools.TOOLS.items()}


def test_every_file_that_holdfast_makes_is_documented(tmp_path):
    terminal = Terminal(tmp_path / "project", tmp_path / "home")
    story = """
        holdfast workflows new chore && holdfast start chore one && holdfast cancel && holdfast clean --all
        holdfast start chore two && cd .claude/workflow-state/active && echo '{}' > chore-*.json && holdfast status
        printf '{"workflow": {"id": "x"}, "state_machine": {"phases": [{"name": "y"}]}}' > x.json && holdfast adopt
        python -c 'import holdfast; w = holdfast.open().workflow("chore"); [w.note(str(n)) for n in range(70)]'
        holdfast session create draft
        echo nonsense | holdfast hook
        echo '{"hook_event_name": "SessionEnd", "session_id": "one"}' | holdfast hook
    """
    code, said = terminal.as_agent(f"set -e\n{story}")
    assert code == 0, said
    made = {path.name for path in (tmp_path / "project" / ".holdfast").iterdir()}
    assert {"archive", "index", "journal", "quarantine", "sessions", "slots", "starting", "state", "workflows"} <= made
    assert {"guard", "hook.log", "inbox"} <= made
    text = page("files-on-disk.md")
    assert [name for name in made if not re.search(rf"^\| `\.holdfast/{name}[`/]", text, flags=re.MULTILINE)] == []


def test_the_diagram_of_a_step_s_life_is_the_one_that_the_code_draws():
    text = (ROOT / "docs" / "explanation" / "step-life-cycle.md").read_text()
    assert [block.body for block in blocks(text) if block.language == "mermaid"] == [lifecycle_diagram()]
    statuses = re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)
    assert tuple(statuses) == lifecycle.STATUSES


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_inside_the_repository_lead_somewhere(path):
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path.read_text())):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.is_file() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", prose(path.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached_from_the_readme():
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        path = todo.pop()
        seen.add(path)
        links = re.findall(r"\]\(([^)\s#]+\.md)", prose(path.read_text()))
        todo += [file for link in links if (file := (path.parent / link).resolve()) not in seen and file.is_file()]
    assert set(PAGES) <= seen


def test_the_readme_is_short_and_its_make_targets_exist():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) < 120
    assert max(map(len, lines)) <= 130
    targets = [line.split()[1] for line in lines if line.startswith("    make ")]
    makefile = (ROOT / "Makefile").read_text()
    assert targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, flags=re.MULTILINE)] == []
