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
