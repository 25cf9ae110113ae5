"""In a session, every surface names the blueprint where Holdfast reads it."""

import json

import pytest

from tests.systems.story.writing import BLUEPRINT, CONSTRAINED, Writer

OWN = f"workspace/sessions/s/{BLUEPRINT}"


@pytest.fixture
def writer(tmp_path):
    made = Writer(tmp_path / "novel")
    made.ok("session", "create", "s")
    return made


def told(writer):
    """What each surface says of the place of the blueprint."""
    packet = writer.tool("get_resume_packet")["text"]
    document = json.loads(writer.ok("show").out)
    return {
        "get_next_step": writer.tool("get_next_step")["task"]["file"],
        "next --json": json.loads(writer.ok("next", "--json").out)["task"]["file"],
        "next": next(line.split()[1] for line in writer.ok("next").out.splitlines() if line.startswith("From ")),
        "packet": next(line.split()[1] for line in packet.splitlines() if line.startswith("From:")),
        "document": document["generation"]["artifacts"]["blueprint_path"],
    }


def test_every_surface_names_the_copy_of_the_session(writer):
    writer.write(OWN, CONSTRAINED)
    writer.begin_scene("s", blueprint="").until(2)
    assert set(told(writer).values()) == {OWN}


def test_a_session_without_a_copy_names_the_projects(writer):
    writer.begin_scene("s").until(2)
    assert set(told(writer).values()) == {BLUEPRINT}


def test_a_copy_that_is_made_after_step_1_is_what_is_named_once_it_is_validated(writer):
    writer.begin_scene("s").until(2)
    writer.write(OWN, CONSTRAINED)
    writer.handed_in(2)
    assert set(told(writer).values()) == {OWN}


def test_the_copy_may_be_named_by_hand_and_is_the_same_blueprint(writer):
    writer.write(OWN, CONSTRAINED)
    writer.begin_scene("s", blueprint="")
    writer.tool("update_workflow_state", step=1, status="completed", artifacts={"blueprint_path": OWN})
    assert set(told(writer).values()) == {OWN}
    assert writer.open().workflow(writer.id).state.step("file-check").data["blueprint_path"] == BLUEPRINT


def test_a_committed_session_leaves_the_place_in_the_project(writer):
    writer.write(OWN, CONSTRAINED)
    writer.begin_scene("s", blueprint="").until(3)
    writer.person("session", "commit", "s", "--force")
    assert set(told(writer).values()) == {BLUEPRINT}


@pytest.mark.parametrize("there", [OWN, BLUEPRINT])
def test_what_lacks_constraints_is_named_where_it_is_read_and_mended_in_the_session(writer, there):
    writer.write(there, "# Scene\n")
    writer.begin_scene("s", blueprint="").until(2)
    refusal = writer.refused_hand_in(2)
    assert refusal.message == f"{there} has no Constraints section"
    assert refusal.facts["path"] == there
    assert refusal.remedy.endswith(f" into {OWN}")
    writer.write(OWN, CONSTRAINED)
    writer.handed_in(2)


def test_a_missing_blueprint_is_to_be_written_in_the_session(writer):
    writer.begin_scene("s", blueprint="")
    way = writer.scoped(writer.refused_hand_in(1))[0]
    assert way.startswith("write workspace/sessions/s/acts/act-N/")


def test_a_changed_blueprint_is_named_where_it_lies(writer):
    writer.write(OWN, CONSTRAINED)
    writer.begin_scene("s", blueprint="").until(3)
    writer.write(OWN, CONSTRAINED + "- more\n")
    said = writer.tool("get_next_step")
    assert OWN in said["blocking_reason"]
    assert f"bring {OWN} back" in said["required_action"]
