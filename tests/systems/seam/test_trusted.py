"""What a person can trust: a file that is sound, with the commands it brings."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFound, UsageError
from holdfast.plain.digest import digest
from holdfast.systems.seam.trusted import content

DEFINITION = 'name = "d"\n[[step]]\nid = "a"\nchecks = [ { name = "tests", run = ["make", "test"] } ]\n'
SETTINGS = '[commands]\nlint = ["make", "lint"]\n'
TASKS = "# Task: Login\n\n## Phase 1: Model\n\n### Task 1.1: Add the field\n\n- [ ] `make test` passes\n"


@pytest.mark.parametrize(
    ("name", "text", "commands"),
    [
        ("d.toml", DEFINITION, [("a", "tests", ("make", "test"))]),
        (".holdfast/config.toml", SETTINGS, [("commands", "lint", ("make", "lint"))]),
        ("task.md", TASKS, None),
    ],
)
def test_every_file_that_brings_commands_is_bound_by_its_bytes(tmp_path, name, text, commands):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    found = content(str(path))
    assert found.digest == digest(text.encode())
    if commands is not None:
        assert list(found.commands) == commands


@pytest.mark.parametrize(("name", "text"), [("d.toml", "name = 3\n"), ("task.md", "nothing\n")])
def test_only_a_sound_file_can_be_trusted(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError):
        content(str(tmp_path / name))
    with pytest.raises(NotFound):
        content(str(tmp_path / f"gone-{name}"))
