"""Ctrl-C at any moment of a command is answered with a sentence."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

HOLDFAST = str(Path(sys.executable).parent / "holdfast")
WHILE_IMPORTING = """import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupting:
    def find_spec(name, path=None, target=None):
        if name == os.environ["INTERRUPTED_AT"]:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting)
"""


@pytest.mark.parametrize(
    "module", ["holdfast.plain.terminal", "holdfast.surfaces.cli.lookup", "holdfast.project.project"]
)
def test_an_interruption_while_modules_are_imported_is_no_traceback(tmp_path, module, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(WHILE_IMPORTING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("INTERRUPTED_AT", module)
    for words in ([HOLDFAST], [sys.executable, "-m", "holdfast"]):
        done = subprocess.run([*words, "list"], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr.strip()) == (128 + signal.SIGINT, "interrupted"), done
