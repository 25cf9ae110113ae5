"""What a fresh process imports and does before it answers: start-up is paid on every command and every hook."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import holdfast
from tests.surfaces.hooks.conftest import COMMAND

STEPS = [{"id": f"step-{number}"} for number in range(1, 9)]


@pytest.fixture
def folder(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
    holdfast.open(str(tmp_path)).start({"name": "plain", "step": STEPS}, "one").begin("step-1")
    return tmp_path


def modules(folder, *command: str, said: object = None) -> set[str]:
    """The modules of the package that a process imports."""
    return {name for name in imported(folder, *command, said=said) if name.partition(".")[0] == "holdfast"}


def imported(folder, *command: str, said: object = None) -> set[str]:
    python, *rest = command
    done = subprocess.run(
        [python, "-X", "importtime", *rest],
        cwd=folder,
        input=json.dumps(said),
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize(
    ("words", "most"),
    [(("--version",), 7), (("status",), 106), (("next",), 106), (("note", "x"), 115), (("done",), 117)],
)
def test_a_command_imports_only_the_modules_that_it_asks(folder, words, most):
    words = (*words, "step-1") if words == ("done",) else words
    assert len(modules(folder, sys.executable, "-m", "holdfast", *words)) <= most


@pytest.mark.parametrize(("event", "most"), [("SessionStart", 105), ("PreCompact", 113)])
def test_a_hook_that_asks_the_engine_imports_only_what_it_needs(folder, event, most):
    said = {"hook_event_name": event, "session_id": "S1", "cwd": str(folder), "source": "compact", "trigger": "auto"}
    assert "holdfast.engine.engine" in (found := modules(folder, *COMMAND, said=said))
    assert len(found) <= most


@pytest.mark.parametrize("event", ["SessionStart", "PreCompact"])
def test_saving_and_restoring_a_known_workflow_reads_no_text_by_patterns(tmp_path, event):
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
    holdfast.open(str(tmp_path)).start("implementation", "A feature")
    said = {"hook_event_name": event, "session_id": "S1", "cwd": str(tmp_path), "source": "compact", "trigger": "auto"}
    assert "re" not in imported(tmp_path, *COMMAND, said=said)


PROBE = """
import atexit, sys, threading
from holdfast.surfaces.cli.main import entry
sys.argv[1:] = ["--version"]
{before}
entry()
"""


@pytest.mark.parametrize(
    ("before", "last"),
    [
        ("", ""),
        ("atexit.register(print, 'registered')", "registered\n"),
        ("threading.Timer(0.2, print, ['waited for']).start()", "waited for\n"),
    ],
)
def test_a_process_ends_at_once_unless_something_waits_for_its_end(before, last):
    """Only an interpreter that is taken apart destroys the values of its modules."""
    probe = PROBE.format(before=f"class Value:\n    def __del__(self): print('gone')\nvalue = Value()\n{before}")
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == f"holdfast {holdfast.__version__}\n" + (f"{last}gone\n" if last else "")
