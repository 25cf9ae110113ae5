"""Windows is told to use WSL, in one sentence."""

from __future__ import annotations

import subprocess
import sys

import pytest

WINDOWS = "import sys; sys.platform = 'win32'; sys.argv = [{program!r}]; import holdfast"


@pytest.mark.parametrize("program", ["C:\\Tools\\holdfast.exe", "C:\\Tools\\holdfast", "-m"])
def test_the_command_says_where_it_runs(program):
    done = subprocess.run([sys.executable, "-c", WINDOWS.format(program=program)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Holdfast runs on Linux and macOS. On Windows, install and run it inside WSL")
    assert done.stderr.count("\n") == 1


def test_an_import_raises_import_error_with_the_same_sentence():
    done = subprocess.run([sys.executable, "-c", WINDOWS.format(program="job.py")], capture_output=True, text=True)
    assert "ImportError: Holdfast runs on Linux and macOS." in done.stderr
