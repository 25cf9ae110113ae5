"""A writer's project on disk: which scene, plan and blueprint is meant, and what a blueprint has to list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError, NotFound, Refused, UsageError
from holdfast.systems.story import project as stories
from tests.workbench import Bench

SCENES = "chapters/chapter-02/scenes"
BLUEPRINT = f"acts/act-1/{SCENES}/scene-0204-blueprint.md"


def put(root: Path, name: str, text: str = "# Scene\n") -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return name


def listed(root: Path, text: str) -> list[str]:
    return stories.constraints(str(root), put(root, BLUEPRINT, text))


def test_a_scene_is_four_digits_chapter_and_scene():
    for word in ("0204", "0101", "9999"):
        assert stories.scene_id(word) == word


@pytest.mark.parametrize(
    "word", ["", "204", "02040", "0004", "0200", "02-4", "scene", "0204\n", " 0204", "٠٢٠٤", "../1", None, 204, 0.24]
)
def test_what_is_no_scene_is_refused_with_an_example(word):
    with pytest.raises(UsageError) as refused:
        stories.scene_id(word)
    assert refused.value.code == "bad_scene"
    assert "holdfast start generation SCENE" in refused.value.remedy


def test_a_plan_keeps_the_numbers_that_its_level_needs_and_no_others():
    said = {"act": 1, "chapter": 2, "scene": 4, "mood": "dry"}
    assert stories.planned({"level": "scene", **said}) == {"level": "scene", "act": 1, "chapter": 2, "scene": 4}
    assert stories.planned({"level": "chapter", **said}) == {"level": "chapter", "act": 1, "chapter": 2}
    assert stories.planned({"level": "act", **said}) == {"level": "act", "act": 1}


@pytest.mark.parametrize("level", [None, "", "book", "Scene", 1, ["scene"]])
def test_an_unknown_level_names_those_there_are(level):
    with pytest.raises(UsageError) as refused:
        stories.planned({"level": level, "act": 1, "chapter": 2, "scene": 4})
    assert refused.value.code == "bad_level"
    assert "scene, chapter or act" in refused.value.message


@pytest.mark.parametrize("number", [None, 0, 100, -1, True, "two", 2.0, []])
def test_every_number_that_is_missing_or_wrong_is_named_at_once(number):
    with pytest.raises(UsageError) as refused:
        stories.planned({"level": "scene", "act": number, "chapter": 2, "scene": number})
    assert refused.value.code == "bad_number"
    assert "act and scene" in refused.value.message
    assert (
        refused.value.remedy
        == "holdfast start story/planning --set level=scene --set act=NUMBER --set chapter=2 --set scene=NUMBER"
    )


def test_a_scene_builds_on_its_chapter_a_chapter_on_its_act_and_an_act_on_nothing():
    scene = {"level": "scene", "act": 1, "chapter": 2, "scene": 4}
    chapter = stories.above(scene)
    assert chapter == {"level": "chapter", "act": 1, "chapter": 2}
    act = stories.above(chapter)
    assert act == {"level": "act", "act": 1}
    assert stories.above(act) is None


def test_every_plan_has_its_place():
    scene = {"level": "scene", "act": 3, "chapter": 12, "scene": 4}
    assert stories.plan_path({"level": "act", "act": 3}) == "acts/act-3/strategic-plan.md"
    assert stories.plan_path({"level": "chapter", "act": 1, "chapter": 2}) == "acts/act-1/chapters/chapter-02/plan.md"
    assert stories.plan_path(scene) == "acts/act-3/chapters/chapter-12/scenes/scene-1204-blueprint.md"
    assert stories.plan_path({"level": "scene", "act": 1, "chapter": 2, "scene": 4}) == BLUEPRINT


def test_a_blueprint_is_found_in_whichever_act_its_chapter_lies(tmp_path):
    put(tmp_path, f"acts/act-1/{SCENES}/scene-0203-blueprint.md")
    put(tmp_path, f"acts/notes/{SCENES}/scene-0204-blueprint.md")
    other = put(tmp_path, f"acts/act-2/{SCENES}/scene-0204-blueprint.md")
    assert stories.blueprint(str(tmp_path), "0204") == other


def test_a_session_sees_its_own_blueprint_and_falls_back_to_the_projects(tmp_path):
    put(tmp_path, f"workspace/sessions/s/{BLUEPRINT}")
    assert stories.blueprint(str(tmp_path), "0204", "s") == BLUEPRINT
    with pytest.raises(Refused):
        stories.blueprint(str(tmp_path), "0204")
    put(tmp_path, BLUEPRINT)
    assert stories.blueprint(str(tmp_path), "0204", "s") == BLUEPRINT
    assert stories.blueprint(str(tmp_path), "0204", "other") == BLUEPRINT


@pytest.mark.parametrize("made", [(), ("acts",), (BLUEPRINT.replace("0204", "0205"),)])
def test_a_missing_blueprint_is_refused_with_the_place_where_it_belongs(tmp_path, made):
    for name in made:
        (tmp_path / name).mkdir(parents=True)
    with pytest.raises(Refused) as refused:
        stories.blueprint(str(tmp_path), "0204")
    assert refused.value.code == "no_blueprint"
    assert refused.value.facts["looked_for"] == f"acts/act-*/{SCENES}/scene-0204-blueprint.md"
    assert f"{SCENES}/scene-0204-blueprint.md" in refused.value.remedy
    act = "1" if made and SCENES in made[0] else "NUMBER"
    assert refused.value.remedy.endswith(
        f"holdfast start story/planning --set level=scene --set act={act} --set chapter=2 --set scene=4"
    )


def test_a_folder_is_no_blueprint(tmp_path):
    (tmp_path / BLUEPRINT).mkdir(parents=True)
    with pytest.raises(Refused) as refused:
        stories.blueprint(str(tmp_path), "0204")
    assert refused.value.code == "no_blueprint"


def test_two_blueprints_of_one_scene_are_both_named_and_neither_is_taken(tmp_path):
    found = [put(tmp_path, f"acts/act-{number}/{SCENES}/scene-0204-blueprint.md") for number in (1, 2)]
    with pytest.raises(Refused) as refused:
        stories.blueprint(str(tmp_path), "0204")
    assert refused.value.code == "ambiguous_blueprint"
    assert refused.value.facts["found"] == found
    assert "blueprint_path=PATH" in refused.value.remedy


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("## Constraints\n\n- no rain\n- two people\n", ["no rain", "two people"]),
        ("# CONSTRAINTS\n1. no rain\n2. two people\n", ["no rain", "two people"]),
        ("### Hard constraints of the scene\n\nThese hold:\n\n* no rain\n", ["no rain"]),
        ("Constraints\n===========\n\n- no rain\n", ["no rain"]),
        ("## Constraints\n\n### Place\n\n- indoors\n\n## Beats\n\n- she leaves\n", ["indoors"]),
        ("- before\n\n## Constraints\n\n- no rain\n\n# Notes\n\n- after\n", ["no rain"]),
        ("## Constraints\n\n- **no** rain\n\n  at all\n", ["**no** rain"]),
    ],
)
def test_constraints_are_the_items_below_a_heading_that_names_them(tmp_path, text, found):
    assert listed(tmp_path, text) == found


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("", "has no Constraints section"),
        ("# Scene\n\n- no rain\n", "has no Constraints section"),
        ("Constraints: none\n\n- no rain\n", "has no Constraints section"),
        ("```\n## Constraints\n- no rain\n```\n", "has no Constraints section"),
        ("## Constraints\n\nNo rain.\n", "has a Constraints section without a list"),
        ("## Constraints\n\n## Beats\n\n- she leaves\n", "has a Constraints section without a list"),
        ("## Constraints\n\n-\n", "has a Constraints section without a list"),
    ],
)
def test_a_blueprint_with_nothing_to_hold_the_prose_to_is_refused(tmp_path, text, lacks):
    with pytest.raises(Refused) as refused:
        listed(tmp_path, text)
    assert refused.value.code == "no_constraints"
    assert refused.value.message == f"{BLUEPRINT} {lacks}"
    assert "## Constraints" in refused.value.remedy


def test_an_empty_item_does_not_borrow_the_text_of_what_follows(tmp_path):
    with pytest.raises(Refused):
        listed(tmp_path, "## Constraints\n\n-\n\n## Beats\n\nShe leaves.\n")
    assert listed(tmp_path, "## Constraints\n\n-\n- no rain\n") == ["no rain"]


def test_the_constraints_of_a_session_are_those_of_its_own_copy(tmp_path):
    put(tmp_path, BLUEPRINT, "## Constraints\n\n- rain\n")
    put(tmp_path, f"workspace/sessions/s/{BLUEPRINT}", "## Constraints\n\n- no rain\n")
    assert stories.constraints(str(tmp_path), BLUEPRINT, "s") == ["no rain"]
    assert stories.constraints(str(tmp_path), BLUEPRINT) == ["rain"]


def test_a_blueprint_that_is_gone_or_far_too_large_is_said_to_be_so(tmp_path):
    with pytest.raises(NotFound) as gone:
        stories.constraints(str(tmp_path), BLUEPRINT)
    assert gone.value.code == "no_file"
    with pytest.raises(HoldfastError) as large:
        listed(tmp_path, "## Constraints\n- no rain\n" + " " * stories.LARGEST)
    assert large.value.code == "no_file"


def test_a_pipe_in_place_of_a_blueprint_keeps_nobody_waiting(tmp_path):
    (tmp_path / BLUEPRINT).parent.mkdir(parents=True)
    os.mkfifo(tmp_path / BLUEPRINT)
    with pytest.raises(NotFound):
        stories.constraints(str(tmp_path), BLUEPRINT)


def test_bytes_that_are_no_text_do_not_keep_a_blueprint_from_being_read(tmp_path):
    put(tmp_path, BLUEPRINT)
    (tmp_path / BLUEPRINT).write_bytes(b"\xff\xfe caf\xe9\n\n## Constraints\n\n- no rain\n")
    assert stories.constraints(str(tmp_path), BLUEPRINT) == ["no rain"]


def test_a_blueprint_is_named_from_where_one_stands(tmp_path, monkeypatch):
    bench = Bench(tmp_path)
    put(tmp_path, BLUEPRINT, "# Scene\n\n## Constraints\n\n- Rain.\n")
    workflow = bench.open().start("generation", "0204")
    first = workflow.state.plan.children("")[0]
    monkeypatch.chdir((tmp_path / BLUEPRINT).parent)
    workflow.begin(first).done(first, {"blueprint_path": os.path.basename(BLUEPRINT)})
    assert workflow.state.step(first).data["blueprint_path"] == BLUEPRINT
    assert not workflow.state.step(first).artifacts
