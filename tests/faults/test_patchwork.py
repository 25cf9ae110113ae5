"""Blocks of several renderings in one document: a power cut in the middle of writing over an older one."""

from __future__ import annotations

import os

import pytest

from tests.faults.project import APPROVE, DOCUMENTS, ID, disk, is_json, lay, play

BLOCK = 4096


@pytest.mark.parametrize("first", ["new", "old"])
def test_a_document_of_old_and_new_blocks_is_damage_and_no_edit_even_if_it_is_whole_json(memory, commands, first):
    root = play(lay(os.path.join(memory, "project")), commands, APPROVE)
    path = os.path.join(root, DOCUMENTS, "active", f"{ID}.json")
    seen = []
    for number in (127, 128, 129):
        seen.append(disk(root).views[os.path.relpath(path, root)])
        assert commands(root, "note", f"remark {number}").code == 0
    old, new = seen[0], disk(root).views[os.path.relpath(path, root)]
    mixed = new[:BLOCK] + old[BLOCK:] if first == "new" else old[:BLOCK] + new[BLOCK:]
    assert is_json(mixed)
    with open(path, "wb") as file:
        file.write(mixed)
    os.utime(path, (1e9, 1e9))
    answer = commands(root, "status", "--json")
    assert [alert["code"] for alert in answer.json["alerts"]] == ["document_damaged"]
    assert [line["command"] for line in disk(root).lines()[-2:]] == ["note", "alarm"]
    assert commands(root, "approve", "sign").code == 0
