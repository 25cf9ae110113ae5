"""Disks without room: they take a part of what is written, or no new file."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.faults.errors import is_truthful
from tests.faults.kills import Stage
from tests.faults.project import APPROVE, LAST, REOPEN, START, copy

PAGE = 4096


def scenes(*chosen):
    return pytest.mark.parametrize("scene", chosen, ids=lambda scene: scene.name)


@scenes(START, APPROVE, LAST, REOPEN)
def test_a_file_that_cannot_grow_takes_a_part_of_a_write_which_is_taken_back(memory, commands, scene):
    """The largest size a file may have goes from nothing to enough, in steps shorter than a line of a journal."""
    stage = Stage(memory, commands, scene)
    longest = max(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(stage.base) for name in names)
    outcomes = []
    for largest in range(0, longest + 2000, 97 if longest < 10_000 else 977):
        root = stage.fresh()
        answer = commands(root, *scene.words, largest=largest)
        is_truthful(stage, root, answer)
        outcomes.append((answer.code, stage.judge.is_shown(root)))
        stage.judge.goes_on(root)
    assert (outcomes[0], outcomes[-1]) == ((1, False), (0, True))


@scenes(START, LAST, REOPEN)
@pytest.mark.parametrize("of", ["pages", "files"])
def test_a_disk_with_little_room_left_refuses_and_goes_on_when_there_is_room_again(memory, commands, scene, of):
    stage = Stage(memory, commands, scene)
    small = os.path.join(memory, "small")
    os.mkdir(small)
    outcomes = []
    for free in range(30):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=200", "holdfast-small", small], check=True)
        try:
            root = copy(stage.base, os.path.join(small, "project"))
            ballast = fill_pages(small, free) if of == "pages" else fill_files(small, free)
            answer = commands(root, *scene.words)
            is_truthful(stage, root, answer)
            outcomes.append((answer.code, stage.judge.is_shown(root)))
            for path in ballast:
                os.unlink(path)
            stage.judge.goes_on(root)
        finally:
            subprocess.run(["umount", small], check=True)
    assert (outcomes[0][1], outcomes[-1]) == (False, (0, True))


def fill_pages(folder, free):
    path = os.path.join(folder, "ballast")
    with open(path, "wb") as file:
        file.write(bytes(PAGE * (os.statvfs(folder).f_bavail - free)))
    return [path]


def fill_files(folder, free):
    paths = [os.path.join(folder, f"ballast-{number}") for number in range(os.statvfs(folder).f_favail - free)]
    for path in paths:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    return paths
