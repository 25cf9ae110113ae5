"""A workspace that is deleted by accident: what git has of it comes back, and the loss is not committed."""

from __future__ import annotations

import shutil

import pytest

from tests.acceptance.feature import FIRST, HOME, House


@pytest.fixture
def house(tmp_path):
    house = House(tmp_path / "here")
    house.up_to(FIRST, "in_progress")
    house.make(FIRST)
    house.git("add", HOME)
    return house


@pytest.mark.parametrize("first", [("done", FIRST), ("next",), ("status",)], ids=lambda words: words[0])
def test_the_next_command_brings_the_files_back_and_says_so(house, first):
    before = house.git("ls-files", HOME).splitlines()
    written = house.read(f"{HOME}/{FIRST}/requirements.md")
    shutil.rmtree(house.root / "workflow")
    answer = house.ok(*first)
    assert f"{HOME} was missing and is written again" in answer.out + answer.err
    house.agent("done", FIRST)
    assert house.read(f"{HOME}/{FIRST}/requirements.md") == written
    assert set(before) <= set(house.git("ls-tree", "-r", "--name-only", "HEAD", HOME).splitlines())


def test_a_file_that_is_deleted_while_the_document_stays_is_a_decision(house):
    diagram = f"{HOME}/02-architecture/diagrams/door.svg"
    (house.root / diagram).unlink()
    house.agent("done", FIRST)
    assert diagram not in house.git("ls-files", HOME)


def test_on_another_branch_nothing_is_brought_back(house):
    house.git("commit", "-q", "-m", "work")
    house.git("switch", "-q", "main")
    house.agent("status")
    assert not (house.root / HOME).exists()
