"""What a person is shown before they decide: one value, whose digest tells one picture from another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.surfaces import approving, handed
from holdfast.surfaces.approving import View
from tests.surfaces.mcp.house import House


@pytest.fixture
def house(tmp_path) -> House:
    return House(tmp_path / "project")


@pytest.fixture
def look(house) -> Callable[[], View]:
    id = house.waiting("# Notes\n\nall is well\n")

    def view() -> View:
        project = house.bench.open("human")
        workflow = project.workflow(id)
        hashes = approving.hashes(workflow, "sign-off")
        return approving.view(project.wired.place, workflow, "sign-off", hashes, most=handed.MANY, room=handed.PAGE)

    return view


def test_the_same_work_gives_the_same_digest_at_any_time(look):
    assert look().digest() == look().digest()
    assert len(look().digest()) == 64


def test_whatever_is_shown_is_in_the_digest(house, look):
    found, id = {look().digest()}, house.bench.open().workflow("release").id
    workflow = house.bench.open().workflow(id)
    house.bench.write("notes.md", "# Notes\n\nall is better\n")
    found.add(look().digest())
    house.bench.open("human").workflow(id).reject("sign-off", "mind the date")
    house.bench.open().workflow(id).done("sign-off", {"notes": "notes.md"})
    found.add(look().digest())
    assert len(found) == 3
    workflow.refresh().note("a remark that no picture shows")
    found.add(look().digest())
    assert len(found) == 3


def test_a_view_has_what_there_is_to_decide_about(look):
    view = look()
    (file,) = view.handed.files
    assert (file.name, file.path, file.is_whole) == ("notes", "notes.md", True)
    assert file.told == ("  | # Notes", "  | ", "  | all is well")
    assert (view.step, view.attempt, view.after) == ("sign-off", 1, "pick")


def test_what_is_cut_is_not_called_whole(house, look):
    for text in ("x" * 5000 + "\n", "line\n" * 5000, "\x00\udcff"):
        (house.root / "notes.md").write_bytes(text.encode("utf-8", "surrogateescape"))
        assert not look().handed.files[0].is_whole


def test_after_work_was_sent_back_what_is_new_since_then_is_shown(house, look):
    text = "".join(f"paragraph {number}\n" for number in range(40))
    house.bench.open("human").workflow("release").reject("sign-off", "write more")
    house.bench.write("notes.md", text)
    house.bench.open().workflow("release").done("sign-off", {"notes": "notes.md"})
    house.bench.open("human").workflow("release").reject("sign-off", "fix paragraph 7")
    house.bench.write("notes.md", text.replace("paragraph 7\n", "paragraph seven\n"))
    house.bench.open().workflow("release").done("sign-off", {"notes": "notes.md"})
    (file,) = look().handed.files
    assert file.told[0].startswith("  changed since it was sent back, ")
    assert [line for line in file.told if line[2:3] in "+-"] == ["  -paragraph 7", "  +paragraph seven"]
    assert file.is_whole


def test_the_checks_of_the_steps_before_are_told_and_whether_they_still_hold(house, look):
    assert {one.said.partition(" (")[0] for one in look().checks} == {
        "check tests of verify passed before the tree changed",
        "check lint of verify passed before the tree changed",
    }
    workflow = house.bench.open("human").workflow("release")
    workflow.reopen("verify")
    workflow.check("lint", passed=True)
    workflow.check("tests")
    workflow.done("verify")
    house.bench.open().workflow("release").begin("look").submit("look")
    house.bench.open("human").workflow("release").review("look", "approved")
    house.bench.open().workflow("release").begin("sign-off").done("sign-off", {"notes": "notes.md"})
    assert [one.is_good for one in look().checks] == [True, True]
    house.bench.write("notes.md", "other\n")
    assert [one.is_good for one in look().checks] == [False, False]


REVIEWED = """\
name = "reviewed"

[[step]]
id = "text"
outputs = ["text"]
review = { by = ["editor"], max = 3 }
approval = { by = "human" }
"""


def test_a_review_of_an_earlier_round_is_told_as_such(house):
    house.bench.write(".holdfast/workflows/reviewed.toml", REVIEWED)
    workflow = house.bench.open().start("reviewed", "1").begin("text")
    for verdict in ("needs_revision", "approved"):
        workflow = house.bench.open().workflow(workflow.id)
        workflow.submit("text", {"text": str(house.bench.write("text.md", f"{verdict}\n"))})
        house.bench.open("human").workflow(workflow.id).review("text", verdict, feedback="more of it")
    first, second = approving.reviews(house.bench.open().workflow(workflow.id), "text")
    assert "before this change" in first
    assert "before this change" not in second
