"""Remedies: every command that is printed can be typed as it stands, once its blanks are filled."""

from __future__ import annotations

import shlex

import pytest

from holdfast.core import naming, remedies
from holdfast.core.remedy import Blank, Remedy, Scope, as_json, shell, told, typed
from holdfast.surfaces.cli import arguments, lookup
from holdfast.surfaces.cli.table import COMMANDS

ULID, OTHER = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"
ODD = '-a b\'s "$HOME" é'
EXAMPLES = {"--passed|--failed": "--passed", "approved|needs_revision": "approved", "git|here": "git", "N": "1"}
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
            assert getattr(args, "workflow", "my-work") == "my-work"
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
    assert "w" not in command.takes or args.workflow == "my-work"


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
    assert typed(remedies.report("lint")) == "holdfast check lint --passed|--failed"
    assert typed(remedies.review("plan")) == "holdfast review plan --verdict 'approved|needs_revision'".replace("'", "")
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
