"""What reading 40 MB of a check's output costs, against the command alone, whose output goes into an emptied pipe."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from holdfast.checks import running
from holdfast.checks.output import Output

BYTES = 40 << 20
PRINTS = f"""
line = "tests/test_module.py::test_something_of_it PASSED [ 50%]"
for number in range({BYTES} // (len(line) + 8)):
    print(line, number)
"""


def run(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    argv = [sys.executable, "-c", PRINTS]
    bare = min(_timed(lambda: _emptied(argv)) for _ in range(3))
    read = min(_timed(lambda: running.run(argv, cwd=folder, timeout=600, output=Output())) for _ in range(3))
    print(f"\noutput of a check, {BYTES >> 20} MB: bare {bare:.2f} s, read {read:.2f} s, {read / bare:.2f} times")


def _timed(work: object) -> float:
    began = time.perf_counter()
    assert callable(work)
    work()
    return time.perf_counter() - began


def _emptied(argv: list[str]) -> None:
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while os.read(process.stdout.fileno(), 65536):
            pass
