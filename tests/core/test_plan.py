"""The tree of steps: numbers, paths, prerequisites and what depends on what."""

from __future__ import annotations

import pytest

from holdfast.core.definition import Step
from holdfast.core.plan import Plan, ancestors, parent
from tests.core.play import definition, step

STEPS = (
    step("plan"),
    step("build", step("code"), step("tests", step("unit"), step("system"))),
    step("publish", step("wheel"), step("docs", requires=["plan"]), parallel=True),
    step("tell", requires=["build/code"]),
    step("2"),
)
PLAN = Plan(definition(*STEPS).steps)


def test_paths_are_the_ids_from_the_top_parents_first():
    assert PLAN.paths == (
        "plan",
        "build",
        "build/code",
        "build/tests",
        "build/tests/unit",
        "build/tests/system",
        "publish",
        "publish/wheel",
        "publish/docs",
        "tell",
        "2",
    )


def test_leaves_are_the_steps_without_children():
    assert PLAN.leaves() == [
        "plan",
        "build/code",
        "build/tests/unit",
        "build/tests/system",
        "publish/wheel",
        "publish/docs",
        "tell",
        "2",
    ]


def test_children_and_everything_below():
    assert PLAN.children("") == ("plan", "build", "publish", "tell", "2")
    assert PLAN.children("build") == ("build/code", "build/tests")
    assert PLAN.below("build") == ("build/code", "build/tests", "build/tests/unit", "build/tests/system")
    assert PLAN.below("plan") == ()


def test_what_is_below_does_not_mistake_a_longer_name_for_a_child():
    plan = Plan(definition(step("a", step("x")), step("a.b"), step("a-b", step("x"))).steps)
    assert plan.below("a") == ("a/x",)


@pytest.mark.parametrize(
    ("path", "requires"),
    [
        ("plan", ()),
        ("build", ("plan",)),
        ("build/code", ("plan",)),
        ("build/tests", ("plan", "build/code")),
        ("build/tests/unit", ("plan", "build/code")),
        ("build/tests/system", ("plan", "build/code", "build/tests/unit")),
        ("publish", ("build",)),
        ("publish/wheel", ("build",)),
        ("publish/docs", ("build", "plan")),
        ("tell", ("build/code",)),
        ("2", ("tell",)),
    ],
)
def test_a_step_requires_the_one_before_it_unless_it_says_otherwise_and_what_its_branch_requires(path, requires):
    assert PLAN.requires(path) == requires


def test_children_of_a_parallel_branch_do_not_wait_for_each_other():
    assert "publish/wheel" not in PLAN.closure("publish/docs")


def test_an_empty_list_of_prerequisites_waits_for_nothing():
    plan = Plan(definition(step("a"), step("b", requires=[])).steps)
    assert plan.requires("b") == ()


def test_an_id_means_the_sibling_before_it_means_a_step_at_the_top():
    plan = Plan(definition(step("x"), step("b", step("x"), step("y", requires=["x"]))).steps)
    assert plan.beside("b/y", "x") == "b/x"
    assert plan.requires("b/y") == ("x", "b/x")
    assert plan.beside("b/y", "b") == "b"
    assert plan.beside("b/y", "nowhere") is None


def test_the_closure_has_the_prerequisites_of_prerequisites_and_all_that_is_inside_them():
    assert PLAN.closure("plan") == frozenset()
    assert PLAN.closure("publish") == {"plan", "build", *PLAN.below("build")}
    assert PLAN.closure("tell") == {"plan", "build/code"}
    assert PLAN.closure("2") == {"plan", "build/code", "tell"}


def test_dependents_are_all_that_wait_for_a_step_in_order():
    assert PLAN.dependents("build/code") == (
        "build/tests",
        "build/tests/unit",
        "build/tests/system",
        "publish",
        "publish/wheel",
        "publish/docs",
        "tell",
        "2",
    )
    assert PLAN.dependents("2") == ()


def test_dependents_leave_out_the_step_itself_and_the_branches_it_stands_in():
    assert not {"build/tests", "build", "build/tests/unit"} & set(PLAN.dependents("build/tests/unit"))


def test_closure_and_dependents_are_two_sides_of_one_thing():
    for path in PLAN.paths:
        waiting = {p for p in PLAN.paths if path in PLAN.closure(p)} - {path, *ancestors(path)}
        assert set(PLAN.dependents(path)) == waiting


def test_a_step_is_numbered_among_its_siblings_from_one():
    assert [PLAN.number(path) for path in ("plan", "build", "build/tests", "build/tests/system")] == [1, 2, 2, 2]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("plan", ["plan"]),
        ("1", ["plan"]),
        ("3", ["publish"]),
        ("2", ["2"]),
        ("build/tests/unit", ["build/tests/unit"]),
        ("build/2/1", ["build/tests/unit"]),
        ("3/docs", ["publish/docs"]),
        ("wheel", ["publish/wheel"]),
        ("tests/unit", ["build/tests/unit"]),
        ("0", []),
        ("6", []),
        ("-1", []),
        ("99999999999999999999", []),
        ("²", []),
        ("٣", []),
        ("", []),
        ("/", []),
        ("plan/", []),
        ("plan/1", []),
        ("../plan", []),
        ("nowhere", []),
    ],
)
def test_a_step_is_found_by_number_id_or_path_and_an_id_goes_before_a_number(word, found):
    assert PLAN.find(word) == found


def test_an_id_that_stands_in_several_branches_is_found_in_all_of_them():
    plan = Plan(definition(step("a", step("x")), step("b", step("x"))).steps)
    assert plan.find("x") == ["a/x", "b/x"]


def test_a_changed_tree_is_another_tree():
    changed = PLAN.changed("build/code", lambda old: old.replace(name="Write it"))
    assert changed.step("build/code").name == "Write it"
    assert PLAN.step("build/code").name == ""
    assert changed != PLAN


def test_a_retired_step_is_gone_and_the_next_one_waits_for_the_one_before_it():
    retired = PLAN.changed("tell", lambda _: None)
    assert "tell" not in retired
    assert retired.requires("2") == ("publish",)


def test_a_step_is_added_last_after_a_sibling_or_first():
    new = Step("new")
    assert PLAN.added("build", new, None).children("build") == ("build/code", "build/tests", "build/new")
    assert PLAN.added("build", new, "code").children("build") == ("build/code", "build/new", "build/tests")
    assert PLAN.added("", new, "plan").children("")[:2] == ("plan", "new")
    assert PLAN.added("", new, "").children("")[:2] == ("new", "plan")


def test_parents_and_ancestors_of_a_path():
    assert parent("a/b/c") == "a/b"
    assert parent("a") == ""
    assert ancestors("a/b/c") == ["a/b", "a"]
    assert ancestors("a") == []


def test_plans_are_equal_when_their_steps_are():
    assert Plan(definition(*STEPS).steps) == PLAN
    assert PLAN.steps != PLAN
