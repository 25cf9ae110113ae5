"""Remedies: every command that is printed can be typed as it is, once its blanks are filled."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator

import pytest

from holdfast.core import naming, remedies
from holdfast.core.remedy import WORDS, Blank, Remedy, Scope, as_json, is_blank, one_of, shell, told, typed
from holdfast.errors import UsageError
from holdfast.surfaces.cli import arguments, lookup
from holdfast.surfaces.cli.table import COMMANDS
from tests.sources import PACKAGE, nodes

ULID, OTHER = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"
ODD = '-a b\'s "$HOME" é'
EXAMPLES = {
    "--PASSED-OR-FAILED": "--passed",
    "APPROVED_OR_NEEDS_REVISION": "approved",
    "GIT_OR_HERE": "git",
    "NUMBER": "1",
}
FUNCTIONS = {
    "begin": ("step",),
    "done": ("step",),
    "check": ("name",),
    "report": ("name",),
    "fail": ("step",),
    "unblock": ("step",),
    "skip": ("step",),
    "review": ("step",),
    "approve": ("step",),
    "reject": ("step",),
    "reopen": ("step",),
    "reset": ("step",),
    "resume": ("step",),
    "cancel": (),
    "revalidate": (),
    "restore": (3,),
    "start": ("dev",),
    "status": (),
    "next_step": (),
    "log": (7,),
    "listing": (),
    "doctor": (),
    "adopt": ("a file.json",),
    "trust": ("a definition.toml",),
    "schema": ("story",),
    "recover": ("user-login",),
    "go_on": (),
    "finalize": (("docs/a b.md",),),
    "amend": ("step",),
    "add_step": ("step",),
    "resume_packet": (),
    "ack": ("83d3d5b3",),
    "unlock": ("src/*.py",),
    "agent_end": (4,),
    "agent_start": (),
    "check_file": ("a b.toml",),
    "usage": ("learn",),
}


def parsed(line: str):
    """What the command line makes of a line, as a shell would hand it over."""
    word, *argv = shlex.split(line)
    assert word == "holdfast"
    command, rest = lookup.find(argv)
    return command, arguments.parse(command, rest)


def filled(remedy: Remedy) -> Remedy:
    def fill(value):
        if isinstance(value, Blank):
            return Blank(EXAMPLES.get(value.shown, "example"))
        if isinstance(value, dict):
            return {name: fill(one) for name, one in value.items()}
        return [fill(one) for one in value] if isinstance(value, list) else value

    return remedy.replace(arguments={name: fill(value) for name, value in remedy.arguments.items()})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_remedy_is_read_by_the_command_line_with_and_without_its_workflow(name, capsys):
    made = getattr(remedies, name)(*FUNCTIONS[name]).replace(text="")
    for scope in (Scope(), Scope(OTHER, {ULID: "my-work"}, ULID)):
        command, args = parsed(typed(filled(made), scope))
        assert command.name == made.command
        if scope.about and args is not None:
            assert (getattr(args, "workflow", "my-work") or getattr(args, "slug", "")) == "my-work"
            assert hasattr(args, "workflow") == naming.is_about_workflow(made.command)
    capsys.readouterr()


@pytest.mark.parametrize(
    "remedy",
    [
        Remedy("note", {"text": ODD, "step": "a b"}),
        Remedy("fail", {"step": "-1x", "reason": "--json"}),
        Remedy("done", {"step": "a", "artifact": {"out": "a dir/-f.md"}, "message": "-m", "paths": ["-x", "y z"]}),
        Remedy("start", {"definition": "dev", "subject": ODD, "values": {"n": 3, "t": "x y"}, "fresh": True}),
        Remedy("lock", {"paths": ["src/*.py", "-odd"], "agent": "coder"}),
    ],
    ids=lambda one: one.command,
)
def test_arguments_arrive_as_they_are_whatever_characters_they_have(remedy):
    command, args = parsed(typed(remedy, Scope(OTHER, {ULID: "my-work"}, ULID)))
    for name, value in remedy.arguments.items():
        found = getattr(args, name)
        assert (dict(found) if isinstance(value, dict) else found) == value
    assert "w" not in command.takes or "my-work" in (args.workflow, getattr(args, "slug", ""))


def test_the_workflow_is_named_exactly_where_it_would_not_be_picked():
    begin = remedies.begin("plan")
    assert typed(begin, Scope(ULID, {ULID: "mine"}, ULID)) == "holdfast begin plan"
    assert typed(begin, Scope("", {ULID: "mine"}, ULID)) == "holdfast begin plan -w mine"
    assert typed(begin, Scope(OTHER, {OTHER: "same"}, ULID)) == f"holdfast begin plan -w {ULID}"
    assert typed(begin.replace(workflow=OTHER), Scope(ULID, {OTHER: "other"}, ULID)) == "holdfast begin plan -w other"
    assert typed(remedies.listing(), Scope(OTHER, {}, ULID)) == "holdfast list"


def test_an_agent_is_told_to_show_the_work_and_a_person_what_to_type():
    both = remedies.person("plan", remedies.approve("plan"))
    assert told(both) == "show plan to a person and stop, or holdfast wait --for person"
    assert told(both, Scope(person=True)) == "holdfast approve plan"
    alone = (remedies.approve("plan"), remedies.reject("plan"))
    assert told(alone) == "show this to a person and stop"
    assert told(alone, Scope(person=True)) == "holdfast approve plan · or holdfast reject plan --feedback TEXT"
    assert [one["who"] for one in as_json(both)] == ["agent", "agent", "person"]


def test_no_suggestion_has_a_verdict_in_it():
    assert typed(remedies.report("lint")) == "holdfast check lint --PASSED-OR-FAILED"
    assert typed(remedies.review("plan")) == "holdfast review plan --verdict APPROVED_OR_NEEDS_REVISION"
    for name, arguments_ in FUNCTIONS.items():
        made = getattr(remedies, name)(*arguments_)
        assert made.who == "person" or made.command not in ("approve", "reject", *naming.PEOPLES)


def test_what_follows_is_told_as_following():
    line = told((remedies.resume_packet(), remedies.ack(Blank("ID"), text="then")))
    assert line == "holdfast resume-packet · then: holdfast ack ID"
    assert told((shell("git", "switch", "a b"), "do something else")) == "git switch 'a b' · or do something else"


def test_every_command_has_its_spelling_once():
    assert set(naming.NAMES) == set(COMMANDS)
    assert {name for name in COMMANDS if COMMANDS[name].options is None} == set()


def _blanks() -> Iterator[str]:
    """Every blank of the package that is spelled where it is made; what is computed in it counts as a word."""
    for found in nodes().values():
        for node in found:
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Blank":
                (given,) = node.args
                parts = given.values if isinstance(given, ast.JoinedStr) else [given]
                yield "".join(str(one.value) if isinstance(one, ast.Constant) else "TEXT" for one in parts)


def test_no_shell_obeys_a_blank_and_no_command_takes_one():
    found = set(_blanks()) - {"TEXT"}
    assert {"PATH", "--PASSED-OR-FAILED"} <= found
    for blank in (*found, one_of("git", "here").shown):
        assert not set(blank) & set("|<>()&;$`"), blank
        is_file = "/" in blank
        assert is_file or is_blank(shlex.split(blank)[0]) or "-OR-" in blank or "_OR_" in blank, blank


@pytest.mark.parametrize("blank", sorted(WORDS))
def test_a_blank_that_is_not_filled_in_is_refused(blank):
    for words in (["fail", "a", "--reason", blank], ["done", "a", "--artifact", f"text={blank}"], ["note", blank]):
        command, rest = lookup.find(words)
        with pytest.raises(UsageError, match=f"^[^:]+: {blank} is a blank: |^{blank} is a blank: "):
            arguments.parse(command, rest)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("check lint --PASSED-OR-FAILED", "--PASSED-OR-FAILED is a blank: type --passed or --failed"),
        ("review a --verdict APPROVED_OR_NEEDS_REVISION", "is not one of approved, needs_revision"),
        ("feature recover a --take GIT_OR_HERE", "is not one of git, here"),
    ],
)
def test_a_choice_that_is_left_open_is_refused_with_what_to_type(line, said):
    command, rest = lookup.find(line.split())
    with pytest.raises(UsageError, match=said):
        arguments.parse(command, rest)


def test_where_all_is_a_persons_an_agent_has_an_entry_of_its_own():
    stop, own = as_json((remedies.trust("a.toml"),))
    assert stop == {"who": "agent", "text": "show this to a person and stop"}
    assert own == {"who": "person", "command": "holdfast trust a.toml"}


def test_blanks_are_listed_once_and_without_their_quotes():
    (said,) = as_json((Remedy("done", {"step": "a", "artifact": {"x": Blank("PATH"), "y": Blank("'PATH'")}}),))
    assert said["blanks"] == ["PATH"]


PROGRAMS = ("chmod", "echo", "gh", "git", "holdfast", "ls", "mv", "pip", "ps", "rm", "ssh-add", "ssh-keygen", "unset")


def _sentences():
    """Every string in the code that is given as a remedy, with its place."""
    for path, found in nodes().items():
        for node in found:
            if isinstance(node, ast.keyword) and node.arg == "remedy":
                given = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for one in given:
                    first = one.values[0] if isinstance(one, ast.JoinedStr) else one
                    if isinstance(first, ast.Constant) and isinstance(first.value, str):
                        yield f"{path.relative_to(PACKAGE)}:{one.lineno}", first.value


def test_no_command_is_given_as_a_sentence():
    """A command has its own place in the JSON form, where an agent finds it and sees whose it is."""
    sentences = list(_sentences())
    assert len(sentences) > 50
    assert [one for one in sentences if one[1].partition(" ")[0] in PROGRAMS or one[1].startswith("$")] == []
