"""Definitions: what may be written, and that every mistake is reported at once, at its place."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core.definition import Approval, Bounds, Check, Choice, Definition, Retry, Review, Step, fill
from holdfast.core.mistakes import check_steps, dotted
from holdfast.core.names import nearest
from holdfast.core.reading import read
from holdfast.errors import UsageError
from tests.core.play import definition, step


def mistakes(*steps: dict[str, Any], **keys: Any) -> dict[str, str]:
    """Where → what, of a definition that must not be accepted."""
    with pytest.raises(UsageError) as caught:
        definition(*steps, **keys)
    found = caught.value.facts["mistakes"]
    assert isinstance(found, list)
    told: dict[str, str] = {}
    for one in found:
        told[one["where"]] = "; ".join(filter(None, (told.get(one["where"]), one["message"])))
    return told


def test_a_definition_is_read_with_everything_it_says():
    read_back = definition(
        step(
            "verify",
            name="Verify it",
            description="All of it",
            kind="work",
            agents=["tester"],
            requires=[],
            outputs=["report"],
            checks=[{"name": "tests", "run": ["pytest", "-q"], "run_by": "engine", "timeout": "10m"}, "lint"],
            review={"by": ["reviewer"], "max": 2},
            optional=True,
        ),
        step("pick", choice={"options": ["A", "B"], "by": "human"}, retry={"max": 3, "back_to": "verify"}),
        step("publish", step("wheel"), step("docs"), parallel=True, approval={"by": "signed"}),
        version=2,
        title="Release {subject}",
        dialect="gated",
        bounds={"max_cost": "$10", "max_time": "2h", "max_iterations": 30},
    )
    verify = Step(
        "verify",
        "Verify it",
        "All of it",
        "work",
        ("tester",),
        (),
        ("report",),
        (Check("tests", ("pytest", "-q"), "engine", 600), Check("lint")),
        Review(("reviewer",), 2),
        optional=True,
    )
    pick = Step("pick", choice=Choice(("A", "B"), "human"), retry=Retry(3, "verify"))
    publish = Step("publish", approval=Approval("signed"), parallel=True, steps=(Step("wheel"), Step("docs")))
    bounds = Bounds(10_000_000, 7200, 30)
    assert read_back == Definition(
        name="release",
        steps=(verify, pick, publish),
        version=2,
        title="Release {subject}",
        dialect="gated",
        bounds=bounds,
    )


def test_what_is_not_said_has_its_default():
    assert definition(step("a")) == Definition(name="release", steps=(Step("a"),))


@pytest.mark.parametrize(
    ("written", "read_as"), [(True, Approval("relayed")), ({}, Approval("relayed")), (False, None)]
)
def test_an_approval_may_be_said_in_one_word(written, read_as):
    assert definition(step("a", approval=written)).steps[0].approval == read_as


def test_the_digest_of_the_file_is_kept():
    assert read({"name": "x", "step": [{"id": "a"}]}, digest="abc").digest == "abc"


def test_a_step_is_called_by_its_name_and_without_one_by_its_id():
    assert [one.label for one in definition(step("a", name="First"), step("b")).steps] == ["First", "b"]


def test_every_mistake_is_reported_at_once_with_its_place():
    found = mistakes(
        step("no spaces", agents=["two words"]),
        step("b", step("c", optional="yes"), retry={"max": 0, "exhausted": "gone"}),
        step("d", parallel=True),
        version=0,
        bounds={"max_cost": "ten", "max_time": "soon", "max_iterations": -1},
    )
    assert set(found) == {
        "version",
        "bounds.max_cost",
        "bounds.max_time",
        "bounds.max_iterations",
        "step[1].id",
        "step[1].agents",
        "step[2].step[1].optional",
        "step[2].retry.max",
        "step[2].retry.exhausted",
        "step[3].parallel",
    }


def test_a_bad_reference_is_reported_beside_other_mistakes():
    found = mistakes(step("a", colour="red"), step("b", requires=["nowhere"]))
    assert set(found) == {"step[1].colour", "step[2].requires"}


def test_a_circle_is_reported_beside_a_bad_reference():
    found = mistakes(step("a", requires=["a"]), step("b", requires=["nowhere"]))
    assert set(found) == {"step[1].requires", "step[2].requires"}


def test_the_sentence_of_the_error_counts_and_lists_the_mistakes():
    with pytest.raises(UsageError) as caught:
        definition(step("a", colour="red"), version=0)
    assert caught.value.code == "bad_definition"
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith("2 mistakes in the definition: version: ")
    assert "step[1].colour: " in caught.value.message
    assert caught.value.remedy


def test_one_mistake_is_counted_as_one():
    with pytest.raises(UsageError, match=r"^1 mistake in the definition"):
        definition(step("a"), version=0)


def test_places_can_be_told_in_the_words_of_the_caller():
    with pytest.raises(UsageError) as caught:
        read({"name": "x", "step": [{"id": "a", "x": 1}]}, locate=lambda path: f"file.toml:{len(path)}")
    assert caught.value.facts["mistakes"][0]["where"] == "file.toml:3"  # type: ignore[index]


@pytest.mark.parametrize(
    ("path", "text"),
    [((), "definition"), (("step", 0, "id"), "step[1].id"), (("step", 1, "step", 0), "step[2].step[1]")],
)
def test_a_place_is_written_from_one(path, text):
    assert dotted(path) == text


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("aproval", "approval"), ("require", "requires"), ("check", "checks"), ("outputs_", "outputs"), ("Id", "id")],
)
def test_an_unknown_key_is_a_mistake_that_names_the_nearest_known_one(wrong, meant):
    found = mistakes(step("a", **{wrong: []}))
    assert f"did you mean {meant!r}?" in found[f"step[1].{wrong}"]


def test_an_unknown_key_with_nothing_near_lists_the_known_ones():
    found = mistakes(step("a", approval={"zzzzzzzz": 1}))
    assert found["step[1].approval.zzzzzzzz"] == "unknown key 'zzzzzzzz'; known are by, rejected, of"


def test_a_far_word_has_no_nearest():
    assert nearest("elephant", ("id", "name")) == ""
    assert nearest("x", ()) == ""


@pytest.mark.parametrize("key", ["step", "bounds", "name", "title"])
def test_top_level_keys_are_checked_too(key):
    assert f"did you mean {key!r}?" in mistakes(step("a"), **{key + "s": 1})[key + "s"]


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({"id": ""}, "step[1].id"),
        ({"id": 7}, "step[1].id"),
        ({"id": "../up"}, "step[1].id"),
        ({"id": "a/b"}, "step[1].id"),
        ({"id": "ä"}, "step[1].id"),
        ({"id": "x" * 65}, "step[1].id"),
        ({"name": 7}, "step[1].name"),
        ({"name": "x" * 2001}, "step[1].name"),
        ({"name": "nul\0"}, "step[1].name"),
        ({"requires": "b"}, "step[1].requires"),
        ({"requires": [""]}, "step[1].requires"),
        ({"outputs": ["a b"]}, "step[1].outputs"),
        ({"checks": "tests"}, "step[1].checks"),
        ({"checks": [7]}, "step[1].checks[1]"),
        ({"checks": ["t", "t"]}, "step[1].checks[2].name"),
        ({"checks": [{"name": "t", "run": []}]}, "step[1].checks[1].run"),
        ({"checks": [{"name": "t", "run": "pytest -q"}]}, "step[1].checks[1].run"),
        ({"checks": [{"name": "t", "run": ["a\0"]}]}, "step[1].checks[1].run"),
        ({"checks": [{"name": "t", "run_by": "me"}]}, "step[1].checks[1].run_by"),
        ({"checks": [{"name": "t", "run_by": "engine"}]}, "step[1].checks[1].run_by"),
        ({"checks": [{"name": "t", "timeout": "long"}]}, "step[1].checks[1].timeout"),
        ({"review": {"max": True}}, "step[1].review.max"),
        ({"review": "yes"}, "step[1].review"),
        ({"approval": {"by": "anyone"}}, "step[1].approval.by"),
        ({"choice": {"options": ["A"]}}, "step[1].choice.options"),
        ({"choice": {"options": ["A", "B"], "by": "x"}}, "step[1].choice.by"),
        ({"retry": 3}, "step[1].retry"),
        ({"parallel": 1}, "step[1].parallel"),
        ({"step": {"id": "b"}}, "step[1].step"),
        ({"step": ["b"]}, "step[1].step"),
    ],
)
def test_a_wrong_value_is_a_mistake_at_its_place(keys, where):
    assert where in mistakes({"id": "a", **keys})


def test_a_step_needs_an_id():
    assert mistakes({"name": "no id"}) == {"step[1]": "'id' is missing"}


def test_a_definition_needs_a_name_and_a_step():
    with pytest.raises(UsageError) as caught:
        read({})
    where = {one["where"] for one in caught.value.facts["mistakes"]}  # type: ignore[attr-defined]
    assert where == {"definition", "step"}


def test_an_id_is_used_once_among_siblings_and_may_recur_elsewhere():
    assert "step[2].id" in mistakes(step("a"), step("a"))
    assert len(definition(step("a", step("x")), step("b", step("x"))).steps) == 2


@pytest.mark.parametrize(
    ("written", "micros"),
    [("$10", 10_000_000), ("$0.75", 750_000), (10, 10_000_000), (0.5, 500_000), ("3", 3_000_000)],
)
def test_money_is_read_as_people_write_it(written, micros):
    assert definition(step("a"), bounds={"max_cost": written}).bounds.max_cost == micros


@pytest.mark.parametrize("written", ["$0", 0, -1, "-$1", "€5", "1e3", "", True, [], float("nan"), float("inf")])
def test_what_is_not_an_amount_is_a_mistake(written):
    assert "bounds.max_cost" in mistakes(step("a"), bounds={"max_cost": written})


@pytest.mark.parametrize(
    ("written", "seconds"), [("90s", 90), ("90", 90), (90, 90), ("2h", 7200), ("1h 30m", 5400), ("1d", 86_400)]
)
def test_spans_are_read_as_people_write_them(written, seconds):
    assert definition(step("a"), bounds={"max_time": written}).bounds.max_time == seconds


@pytest.mark.parametrize(
    "written", ["", "0s", 0, -5, "-5m", "5 minutes", "5M", "1h30m", 1.5, True, "١h", "9999999999s"]
)
def test_what_is_not_a_span_is_a_mistake(written):
    assert "bounds.max_time" in mistakes(step("a"), bounds={"max_time": written})


@pytest.mark.parametrize(
    "steps",
    [
        [step("a", requires=["a"])],
        [step("a", requires=["b"]), step("b")],
        [step("a", requires=["b"]), step("b", requires=["c"]), step("c", requires=["a"])],
        [step("a", step("x", requires=["a"]))],
        [step("a", step("x"), requires=["a/x"])],
        [step("a", step("x", requires=["b"])), step("b")],
    ],
)
def test_nothing_may_wait_for_itself(steps):
    assert any("requires itself" in message for message in mistakes(*steps).values())


def test_a_duplicate_leads_to_no_other_mistake():
    steps = [step("a"), step("b", step("x"), step("x")), step("a", requires=["z"]), step("c", requires=["a"])]
    assert mistakes(*steps) == {
        "step[3].id": "the id 'a' is used twice here",
        "step[2].step[2].id": "the id 'x' is used twice here",
    }


def test_a_prerequisite_must_exist():
    assert mistakes(step("a"), step("b", requires=["z"])) == {"step[2].requires": "there is no step 'z' to require"}


def test_a_prerequisite_is_a_sibling_or_a_path_from_the_top():
    read_back = definition(step("a", step("x")), step("b", step("y"), step("z", requires=["y", "a/x"])))
    assert read_back.steps[1].steps[1].requires == ("y", "a/x")


def test_the_step_to_go_back_to_must_exist():
    found = mistakes(step("a"), step("b", retry={"max": 2, "back_to": "z"}))
    assert found == {"step[2].retry": "there is no step 'z' to go back to"}


@pytest.mark.parametrize("back_to", ["b", "c"])
def test_the_step_to_go_back_to_must_come_before(back_to):
    found = mistakes(step("a"), step("b", retry={"max": 2, "back_to": back_to}), step("c"))
    assert found == {"step[2].retry": "back_to must be a step that comes before 'b'"}


def nested(depth: int) -> dict[str, Any]:
    return step("s", nested(depth - 1)) if depth > 1 else step("s")


def test_steps_nest_eight_deep_and_no_deeper():
    assert definition(nested(8)).steps[0].id == "s"
    assert any("8 deep" in message for message in mistakes(nested(9)).values())


def test_a_definition_has_at_most_2000_steps():
    found = mistakes(*(step(f"s{number}") for number in range(2001)))
    assert "at most 2000 steps" in found["step"]


def test_a_definition_may_have_2000_steps():
    assert len(definition(*(step(f"s{number}") for number in range(2000))).steps) == 2000


def test_trees_written_in_python_are_checked_for_references():
    with pytest.raises(UsageError, match="no step 'z'"):
        check_steps((Step("a", requires=("z",)),))


@pytest.mark.parametrize(
    "steps",
    [
        (Step("a"), Step("a", requires=())),
        (Step("a", parallel=True, steps=(Step("x"), Step("x"))),),
        (Step("a", steps=(Step("x"),)), Step("a/x", requires=())),
        (Step(""),),
        (Step("../up"),),
        (),
    ],
    ids=["twin", "twin children", "a path as id", "no id", "a way out", "nothing"],
)
def test_trees_written_in_python_are_held_to_the_same_names(steps):
    with pytest.raises(UsageError) as caught:
        check_steps(steps)
    assert caught.value.code == "bad_definition"


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("", ""),
        ("plain", "plain"),
        ("Release {subject}", "Release 1.4"),
        ("{subject}{subject}", "1.41.4"),
        ("{context.level} {context.n}", "scene 7"),
        ("{context.unknown}", "{context.unknown}"),
        ("{subject.upper}", "{subject.upper}"),
        ("{0} {} {subject!r}", "{0} {} {subject!r}"),
        ("{{subject}}", "{1.4}"),
        ("open { end", "open { end"),
        ("{subject", "{subject"),
        ("} {subject}", "} 1.4"),
        ("{context.loop}", "{subject}"),
    ],
)
def test_only_the_subject_and_the_context_are_filled_in(template, filled):
    assert fill(template, "1.4", {"level": "scene", "n": 7, "loop": "{subject}"}) == filled
