"""Definition files: every mistake with its line, names that find one file, changes that running workflows take over."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import definitions
from holdfast.core import commands as cmd
from holdfast.core.apply import apply
from holdfast.core.decide import decide
from holdfast.core.definition import Approval, Check, Definition, Retry, Step
from holdfast.core.facts import Facts
from holdfast.core.plan import Plan
from holdfast.core.state import Actor
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.machine.tomlplaces import Places
from holdfast.plain.digest import digest
from holdfast.systems.seam.registry import folders, words

PERSON = Actor("human", "pat")
NOW = "2026-01-01T00:00:00.000Z"

GOOD = """\
name = "release"
version = 2
title = "Release {subject}"

[bounds]
max_cost = "$10"

[[step]]
id = "changelog"
outputs = ["changelog"]

[[step]]
id = "verify"
checks = [ { name = "tests", run = ["pytest", "-q"], run_by = "engine", timeout = "10m" }, { name = "lint" } ]
retry = { max = 3, back_to = "changelog", exhausted = "escalated" }

[[step]]
id = "publish"
parallel = true
[[step.step]]
id = "wheel"
[[step.step]]
id = "docs"
"""


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def minimal(name, more=""):
    return f'name = "{name}"\n{more}\n[[step]]\nid = "only"\n'


def listed(error, fact) -> list:
    found = error.facts[fact]
    assert isinstance(found, list)
    return found


def mistakes(tmp_path, text):
    """What is said about a file: (line, message) of every mistake."""
    path = write(tmp_path, "d.toml", text)
    with pytest.raises(UsageError) as caught:
        definitions.load(path, str(tmp_path))
    assert caught.value.code == "bad_definition"
    assert caught.value.remedy.endswith("holdfast workflows check d.toml")
    found = []
    for mistake in listed(caught.value, "mistakes"):
        file, _, line = mistake["where"].rpartition(":")
        assert file == "d.toml"
        found.append((int(line), mistake["message"]))
    return found


def lines(tmp_path, text):
    return [line for line, _ in mistakes(tmp_path, text)]


# Reading


def test_a_file_becomes_a_definition_with_the_digest_of_its_bytes(tmp_path):
    definition = definitions.load(write(tmp_path, "r.toml", GOOD))
    assert (definition.name, definition.version, definition.dialect) == ("release", 2, "skill")
    assert definition.digest == digest(GOOD.encode())
    assert Plan(definition.steps).leaves() == ["changelog", "verify", "publish/wheel", "publish/docs"]
    assert definition.steps[1].checks[0] == Check("tests", ("pytest", "-q"), "engine", 600)


def test_every_mistake_is_reported_at_once_with_its_line(tmp_path):
    text = """\
# a comment
nam = "x"

[bounds]
max_cost = "lots"

[[step]]
id = "a"
parallel = 3

[[step]]
name = "no id"
  [[step.step]]
  id = "deep"
  optional = "yes"
  [step.step.review]
  max = 0
[[step]]
id = "a"
"""
    found = dict(mistakes(tmp_path, text))
    assert sorted(found) == [1, 2, 5, 9, 11, 15, 17, 19]
    assert found[1] == "'name' is missing"
    assert found[2] == "unknown key 'nam', did you mean 'name'?"
    assert found[11] == "'id' is missing"


def test_what_is_wrong_inside_a_list_is_found_on_the_line_of_its_item(tmp_path):
    text = """\
name = "x"
[[step]]
id = "a"
checks = [
  { name = "fine", run = [
      "echo", "[", # ]
  ] },

  { name = "odd", rum = ["x"] },
  "", "bad name" ]
outputs = ["a b"]
"""
    assert sorted(lines(tmp_path, text)) == [9, 10, 10, 11]


def test_text_that_looks_like_toml_inside_strings_moves_no_line(tmp_path):
    text = '''\
name = "x"
title = """
[[step]]
id = "not a step" # = [ {
\\""" still inside """""
[[step]]
id = 'a'
description = \'\'\'
]]] \'\' """ [[step]]
\'\'\'
kid = "} ] # \\" ["
'''
    assert lines(tmp_path, text) == [11]


def test_dotted_and_quoted_keys_headers_with_spaces_and_carriage_returns_are_found(tmp_path):
    text = """\
name = "x"
bounds.max_time = "long"
"a key" = 1
[[ step ]]   # one
id = "a"
retry . "max" = 0
[[ "step" ]]
id = "b"
[ step . review ]
"by" = ["a b"]
""".replace("\n", "\r\n")
    assert sorted(lines(tmp_path, text)) == [2, 3, 6, 10]


def test_steps_written_as_one_list_of_tables_are_found_too(tmp_path):
    text = """\
name = "x"
step = [
  { id = "a" },
  { id = "b", kid = 1 },
]
"""
    assert lines(tmp_path, text) == [4]


def test_links_between_steps_that_lead_nowhere_are_found_at_their_key(tmp_path):
    text = GOOD.replace('back_to = "changelog"', 'back_to = "nowhere"').replace(
        'id = "docs"', 'id = "docs"\nrequires = ["gone"]'
    )
    assert sorted(lines(tmp_path, text)) == [15, 24]


def test_a_definition_without_steps_is_found_on_its_first_line(tmp_path):
    assert lines(tmp_path, 'name = "x"\n') == [1]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('name = "x"\n\nname = "y"\n', 3),
        ('name = "x"\n[[step]\nid = 1\n', 2),
        ('name = "x"\nlist = [\n1,\n', 3),
        ('\ufeffname = "x"\n', 1),
        (b'name = "x"\ntitle = "\xff"\n', 2),
        ('name = "x"\nversion = ' + "9" * 5000 + "\n", 2),
        ('name = "x"\ndeep = ' + "[" * 50_000 + "]" * 50_000 + "\n", 2),
        ("# " + "x" * (1 << 20), 1),
    ],
    ids=["twice", "header", "end", "mark", "utf-8", "number", "deep", "large"],
)
def test_what_is_not_toml_is_one_mistake_with_its_line(tmp_path, text, line):
    assert lines(tmp_path, text) == [line]


def test_a_file_of_exactly_the_largest_size_is_read(tmp_path):
    text = minimal("x")
    text += "#" * (definitions.LARGEST - len(text))
    assert definitions.load(write(tmp_path, "x.toml", text)).name == "x"


def test_a_missing_file_a_folder_and_a_pipe_are_said_to_be_so_and_nothing_waits(tmp_path):
    with pytest.raises(NotFound) as missing:
        definitions.load(str(tmp_path / "gone.toml"))
    assert missing.value.code == "no_file"
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path, tmp_path / "pipe.toml", "nul\0.toml"):
        with pytest.raises(UsageError) as refused:
            definitions.load(str(path))
        assert refused.value.code == "unreadable"


def test_a_path_outside_the_root_is_shown_whole(tmp_path):
    path = write(tmp_path / "project-two", "d.toml", "x = 1")
    with pytest.raises(UsageError) as caught:
        definitions.load(path, str(tmp_path / "project"))
    assert listed(caught.value, "mistakes")[0]["where"] == f"{path}:1"


KEYS = st.sampled_from(["a", "b-c", '"q [x]"', "'l = 1'"])
VALUES = st.sampled_from(['"x"', "1", '"""\n[a]\n\\"""x"""', "'''\n#'''", "[\n 1,\n [2,\n3],\n]", '{ k = "]" }', "[]"])


@given(st.lists(st.tuples(st.sampled_from(["[{}]", "[[{}]]", "[[s.{}]]", "{} = "]), KEYS, VALUES), max_size=12))
def test_every_path_of_any_valid_text_has_a_line_that_holds_its_key(parts):
    """Whatever the layout: the line found for a key or a header contains that key."""
    text = ""
    for form, key, value in parts:
        text += form.format(key) + (value if form == "{} = " else "") + " # [\n"
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return
    places, rows = Places(text), text.split("\n")

    def visit(data, path):
        for key, value in data.items():
            row = rows[places.line((*path, key)) - 1]
            assert key in row
            for index, item in enumerate(value if isinstance(value, list) else []):
                if isinstance(item, dict):
                    assert key in rows[places.line((*path, key, index)) - 1]
                    visit(item, (*path, key, index))
            if isinstance(value, dict):
                visit(value, (*path, key))

    visit(tomllib.loads(text), ())


# Finding


@pytest.fixture
def house(tmp_path):
    """A root with a folder for the user's definitions, and one that stands for the built-in ones."""

    class House:
        root = str(tmp_path / "root")

        def own(self, name, text):
            return write(tmp_path / "root" / ".holdfast" / "workflows", name, text)

        def builtin(self, name, text):
            return write(tmp_path / "builtin", name, text)

        def catalogue(self, trusted=None):
            return definitions.Catalogue(self.root, trusted, builtin=(str(tmp_path / "builtin"),))

    return House()


def test_a_definition_is_found_by_its_name_whatever_its_file_is_called(house):
    house.own("a.toml", minimal("release"))
    path = house.own("release.toml", minimal("other"))
    assert house.catalogue().get("release").name == "release"
    assert house.catalogue().path_of("other") == path


def test_two_files_with_one_name_are_refused_and_both_are_named(house):
    house.own("a.toml", minimal("release"))
    house.own("b.toml", minimal("release"))
    with pytest.raises(UsageError) as caught:
        house.catalogue().get("release")
    assert caught.value.code == "ambiguous_definition"
    assert caught.value.facts["candidates"] == [".holdfast/workflows/a.toml", ".holdfast/workflows/b.toml"]
    assert all("a.toml" in entry.error and "b.toml" in entry.error for entry in house.catalogue().all())


def test_a_file_that_bears_its_own_name_is_found_without_reading_the_others(house):
    house.own("release.toml", minimal("release"))
    house.own("another.toml", minimal("another"))
    look = (
        "import sys\n"
        "sys.addaudithook(lambda event, args: event == 'open' and str(args[0]).endswith('.toml') and print(args[0]))\n"
        "from holdfast.definitions import Catalogue\n"
        "Catalogue(sys.argv[1]).get(sys.argv[2])\n"
    )
    for name in ("release", "another"):
        seen = subprocess.run(
            [sys.executable, "-c", look, house.root, name], capture_output=True, text=True, check=True
        )
        assert [os.path.basename(path) for path in seen.stdout.splitlines()] == [f"{name}.toml"]


def test_a_built_in_definition_has_a_short_and_a_full_name(house):
    house.builtin("dev.toml", minimal("dev"))
    house.builtin("tdd.toml", minimal("tdd", 'dialect = "story"'))
    catalogue = house.catalogue()
    assert catalogue.get("dev") == catalogue.get("skill/dev")
    assert catalogue.get("story/tdd").dialect == "story"
    assert catalogue.path_of("dev") is None
    assert [(entry.name, entry.builtin, entry.trusted) for entry in catalogue.all()] == [
        ("dev", True, True),
        ("tdd", True, True),
    ]


def test_a_built_in_definition_is_found_in_a_file_of_any_name(house):
    house.builtin("other.toml", minimal("dev"))
    assert house.catalogue().get("dev") == house.catalogue().get("skill/dev")


def test_a_short_name_that_two_share_is_refused_and_the_full_ones_work(house):
    house.builtin("planning.toml", minimal("planning", 'dialect = "story"'))
    house.builtin("compaction-planning.toml", minimal("planning", 'dialect = "compaction"'))
    catalogue = house.catalogue()
    with pytest.raises(UsageError) as caught:
        catalogue.get("planning")
    assert caught.value.code == "ambiguous_definition"
    assert sorted(listed(caught.value, "candidates")) == ["compaction/planning", "story/planning"]
    assert catalogue.get("compaction/planning").dialect == "compaction"
    assert sorted(entry.name for entry in catalogue.all()) == ["compaction/planning", "story/planning"]


def test_the_users_own_definition_wins_and_the_built_in_one_keeps_its_full_name(house):
    own = house.own("mine.toml", minimal("dev", 'title = "mine"'))
    house.builtin("dev.toml", minimal("dev", 'title = "theirs"'))
    catalogue = house.catalogue()
    assert (catalogue.get("dev").title, catalogue.path_of("dev")) == ("mine", own)
    assert (catalogue.get("skill/dev").title, catalogue.path_of("skill/dev")) == ("theirs", None)
    assert [entry.name for entry in catalogue.all()] == ["dev", "skill/dev"]


def test_an_unknown_name_is_answered_with_the_nearest_known_one(house):
    house.own("release.toml", minimal("release"))
    with pytest.raises(NotFound) as caught:
        house.catalogue().get("relaese")
    assert (caught.value.code, caught.value.remedy) == ("no_definition", "holdfast workflows")
    assert "did you mean 'release'?" in caught.value.message


@pytest.mark.parametrize("name", ["", "../secret", "/etc/passwd", "a/b/c", "a\0b", "skill/", "/dev", "..", "x" * 5000])
def test_a_name_never_becomes_a_path_out_of_the_folder(house, name):
    house.own("x.toml", minimal("x"))
    write(Path(house.root, ".holdfast"), "secret.toml", minimal("../secret"))
    with pytest.raises(NotFound):
        house.catalogue().get(name)


def test_a_root_without_anything_offers_nothing_and_says_so(house):
    assert house.catalogue().all() == []
    with pytest.raises(NotFound):
        house.catalogue().get("dev")


def test_a_broken_file_is_listed_with_its_error_and_hides_no_other(house):
    house.own("a.toml", "name = \n")
    house.own("b.toml", 'name = "bee"\n')
    house.own("c.toml", GOOD)
    house.own(".#c.toml", "an editor's lock")
    broken, lacking, good = house.catalogue(lambda digest, path: True).all()
    assert (broken.name, lacking.name, good.name) == ("a", "bee", "release")
    assert ".holdfast/workflows/a.toml:1" in broken.error
    assert "at least one [[step]]" in lacking.error
    assert (good.error, good.steps, good.title, good.dialect, good.trusted) == (
        "",
        3,
        "Release {subject}",
        "skill",
        True,
    )


def test_asking_for_a_broken_definition_tells_its_mistakes(house):
    house.own("b.toml", 'name = "bee"\n')
    house.own("wasp.toml", "not toml")
    for name in ("bee", "wasp"):
        with pytest.raises(UsageError) as caught:
            house.catalogue().get(name)
        assert caught.value.code == "bad_definition"


def test_trust_is_asked_for_the_users_definitions_and_its_refusal_hides_nothing(house):
    path = house.own("release.toml", GOOD)
    asked = []

    def refuse(digest, path):
        asked.append((digest, path))
        raise HoldfastError("unsafe_trust", "the folder is not safe")

    (entry,) = house.catalogue(refuse).all()
    assert asked == [(digest(GOOD.encode()), path)]
    assert (entry.name, entry.trusted, entry.error) == ("release", None, "the folder is not safe")


def test_every_definition_that_comes_with_holdfast_is_sound_and_lies_where_its_name_says(tmp_path):
    catalogue = definitions.Catalogue(str(tmp_path), builtin=folders("definitions"), words=words())
    assert len(catalogue.all()) == 10
    for entry in catalogue.all():
        assert entry.builtin
        assert entry.error == ""
        short = entry.name.rpartition("/")[2]
        assert os.path.basename(entry.path) in (f"{short}.toml", f"{entry.dialect}-{short}.toml")
        assert catalogue.get(entry.name) == catalogue.get(f"{entry.dialect}/{short}")


# Beginning one


def test_the_starter_definition_is_valid_and_bears_the_name(tmp_path):
    definition = definitions.load(write(tmp_path, "n.toml", definitions.template("night.build-2")))
    assert definition.name == "night.build-2"
    assert len(Plan(definition.steps).leaves()) == 4


@pytest.mark.parametrize("name", ["", "a b", 'x"\nname = "y', "ä"])
def test_a_starter_definition_needs_a_proper_name(name):
    with pytest.raises(UsageError) as caught:
        definitions.template(name)
    assert caught.value.code == "bad_name"


# What changed


def running(steps):
    command = cmd.Start.of(Definition(name="d", steps=steps), "0" * 26, "d-1")
    return applied(None, command)


def applied(state, command):
    for event in decide(state, cmd.Request(command, PERSON), Facts(now=NOW)):
        state = apply(state, event, NOW, PERSON)
    return state


def command_of(change):
    if change.op == "add":
        return cmd.AddStep(change.above, change.step, change.after)
    return cmd.RetireStep(change.path) if change.op == "retire" else cmd.ChangeStep(change.path, change.step)


def taken_over(old, new):
    """The steps after a person took every change over, one by one, through the rules."""
    state = running(old)
    for change in definitions.changes(old, Definition(name="d", steps=new)):
        state = applied(state, command_of(change))
    return state.plan.steps


def summary(old, new):
    return [(change.op, change.path) for change in definitions.changes(old, Definition(name="d", steps=new))]


A, B, C, D = (Step(name) for name in "abcd")


def test_nothing_changed_is_no_change():
    assert summary((A, B), (A, B)) == []


def test_steps_that_are_new_changed_or_gone_are_told_apart():
    old = (A, B, C)
    new = (A, D, C.replace(approval=Approval("human")))
    assert summary(old, new) == [("add", "d"), ("change", "c"), ("retire", "b")]
    assert taken_over(old, new) == new


def test_a_changed_branch_keeps_its_children_which_are_compared_by_themselves():
    old = (A, Step("p", steps=(B, C)))
    new = (A, Step("p", name="Publish", parallel=True, steps=(B, C.replace(optional=True), D)))
    found = definitions.changes(old, Definition(name="d", steps=new))
    assert [(change.op, change.path) for change in found] == [("add", "p/d"), ("change", "p"), ("change", "p/c")]
    assert found[1].step == Step("p", name="Publish", parallel=True, steps=(B, C, D))
    assert (found[0].above, found[0].after) == ("p", "c")
    assert taken_over(old, new) == new


def test_a_step_that_others_require_goes_after_they_stopped_requiring_it():
    old = (A, B, C.replace(requires=("b",), retry=Retry(2, back_to="b")))
    new = (A, C.replace(requires=("a",)))
    assert summary(old, new) == [("change", "c"), ("retire", "b")]
    assert taken_over(old, new) == new


def test_changes_that_would_make_a_circle_for_a_moment_change_places():
    old = (A, B.replace(requires=("a",)), C.replace(requires=("b",)))
    new = (A, B.replace(requires=("c",)), C.replace(requires=("a",)))
    assert summary(old, new) == [("change", "c"), ("change", "b")]
    assert taken_over(old, new) == new


def test_new_steps_come_in_the_order_in_which_they_require_each_other():
    old = (A,)
    new = (A, B.replace(requires=("d",)), C.replace(requires=("a",)), D.replace(requires=("c",)))
    assert summary(old, new) == [("add", "c"), ("add", "d"), ("add", "b")]
    assert taken_over(old, new) == new


def test_a_step_that_moved_is_retired_and_added_again_and_the_one_in_front_stays():
    assert summary((A, B, C), (A, C, B)) == [("retire", "c"), ("add", "c")]
    assert taken_over((A, B, C), (A, C, B)) == (A, C, B)
    assert summary((A, B, C, D), (A, D, B, C)) == [("retire", "d"), ("add", "d")]


def test_a_new_first_step_says_that_it_stands_before_all():
    (change,) = definitions.changes((A, B), Definition(name="d", steps=(C, A, B)))
    assert (change.op, change.path, change.above, change.after) == ("add", "c", "", "")
    assert taken_over((A, B), (C, A, B)) == (C, A, B)


def test_a_step_in_place_of_the_first_is_put_behind_it_before_that_goes():
    found = definitions.changes((A, B), Definition(name="d", steps=(C, B)))
    assert [(change.op, change.after) for change in found] == [("add", "a"), ("retire", None)]
    assert taken_over((A, B), (C, B)) == (C, B)


def test_changes_that_no_order_allows_are_listed_and_the_rules_refuse_them():
    """c requires b before and after, so b cannot leave its place for a moment."""
    e, c = Step("e"), C.replace(requires=("b",))
    old, new = (A, B, D, e, c), (A, D, e, B, c)
    assert summary(old, new) == [("retire", "b"), ("add", "b")]
    with pytest.raises(UsageError) as caught:
        taken_over(old, new)
    assert caught.value.code == "bad_definition"


NAMES = ["a", "b", "c", "d", "e"]
FIELDS = st.fixed_dictionaries({}, optional={"name": st.sampled_from(["x", "y"]), "optional": st.booleans()})


def rows(children):
    def build(names, fields, below):
        return tuple(Step(name, **own, steps=steps) for name, own, steps in zip(names, fields, below, strict=True))

    return st.permutations(NAMES).flatmap(
        lambda names: st.integers(1, len(names)).flatmap(
            lambda n: st.builds(
                build,
                st.just(names[:n]),
                st.lists(FIELDS, min_size=n, max_size=n),
                st.lists(st.one_of(st.just(()), children), min_size=n, max_size=n),
            )
        )
    )


TREES = rows(rows(st.just(())))


@given(TREES, TREES)
def test_taking_every_change_over_through_the_rules_gives_the_definition(old, new):
    assert taken_over(old, new) == new
