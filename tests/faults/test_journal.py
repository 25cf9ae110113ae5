"""A damaged journal is refused by every command; what was never acknowledged is not missed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.faults.project import DONE, ID, LAST, lay, play

HOLDER = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


def journal(root):
    return next(
        os.path.join(at, name) for at, _, names in os.walk(os.path.join(root, ".holdfast", "journal")) for name in names
    )


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


@pytest.fixture
def project(memory, commands):
    return play(lay(os.path.join(memory, "project")), commands, LAST)


@pytest.mark.parametrize("number", range(len(LAST.before) - 1))
def test_damage_below_the_last_line_is_refused_with_its_place_and_changes_nothing(project, commands, number):
    lines = read(journal(project)).splitlines(keepends=True)
    offset = sum(map(len, lines[:number]))
    lines[number] = lines[number].replace(b'"command":', b'"commend":')
    damaged = b"".join(lines)
    write(journal(project), damaged)
    for words in (["status", "-w", ID], ["next", "-w", ID], ["done", "ship", "-w", ID], ["reopen", "plan", "-w", ID]):
        answer = commands(project, *words)
        assert (answer.code, f"is damaged at byte {offset}:" in answer.err) == (6, True), answer
    error = commands(project, "status", "-w", ID, "--json").json["error"]
    assert (error["code"], error["facts"]["offset"]) == ("journal_damaged", offset)
    assert read(journal(project)) == damaged


def test_a_damaged_workflow_stops_no_other(project, commands):
    data = bytearray(read(journal(project)))
    data[10] ^= 1
    write(journal(project), data)
    other = commands(project, "start", "release", "2.0", "--json").json["workflow_id"]
    assert commands(project, "begin", "plan", "-w", other).code == 0
    assert commands(project, "status", "-w", other).code == 0
    assert commands(project, "status", "-w", ID).code == 6


@pytest.mark.parametrize(
    "tail",
    [
        b'{"seq":8,"synced":7,"pr',
        b"\0" * 5000,
        b"\xff\n\n",
        b'{"seq":8,"synced":0,"prev":"0000000000000000","sum":"0"}\n',
    ],
    ids=["half", "zeros", "noise", "false"],
)
def test_a_torn_tail_is_dropped_without_a_word(project, commands, tail):
    whole = read(journal(project))
    write(journal(project), whole + tail)
    answer = commands(project, "status", "--json")
    assert (answer.code, answer.err, answer.json["revision"], answer.json["alerts"]) == (0, "", len(LAST.before), [])
    assert commands(project, "done", "ship") == (0, "✓ ship done · all steps are done  (holdfast list --all)\n", "")
    assert read(journal(project)).startswith(whole)
    assert json.loads(read(journal(project)).splitlines()[-1])["seq"] == len(LAST.before) + 1


def test_a_lock_that_is_not_had_in_time_names_its_holder_and_is_free_when_that_is_killed(tmp_path, commands):
    root = play(lay(str(tmp_path / "project")), commands, DONE)
    done = [sys.executable, "-P", "-m", "holdfast", "done", "plan"]
    how = {"cwd": root, "env": {**os.environ, "HOLDFAST_LOCK_WAIT": "1"}, "capture_output": True, "text": True}
    holding = [sys.executable, "-c", HOLDER, journal(root)]
    with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout.readline() == "locked\n"
            run = subprocess.run(done, **how)
            assert (run.returncode, run.stdout) == (5, "")
            assert f"is locked by process {holder.pid} ({sys.executable} -c " in run.stderr
            assert f"→ ps -fp {holder.pid}" in run.stderr
        finally:
            holder.kill()
    run = subprocess.run(done, **how)
    assert run.returncode == 0
    assert run.stdout.startswith("✓ plan done · next: sign: the approval by a person is needed")
