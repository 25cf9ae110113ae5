"""Commands that start a fresh interpreter, against a bare one."""

from __future__ import annotations

import os
import subprocess
import sys

from bench.measure import heading, interleaved, p50, row
from bench.project import Transitions, repository, started


def run(folder: str) -> None:
    repository(folder)
    transition = Transitions(started(folder))
    for _ in range(20):
        transition()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    holdfast = os.path.join(os.path.dirname(sys.executable), "holdfast")

    def call(*argv: str):
        return lambda: subprocess.run(argv, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)

    bare = call(sys.executable, "-c", "pass")
    taken = interleaved(
        {
            "bare": bare,
            "version": call(holdfast, "--version"),
            "status": call(holdfast, "status"),
            "note": call(holdfast, "note", "a decision"),
        },
        40,
    )
    heading(f"A command ÷ `python -c pass` ({p50(taken['bare']) * 1e3:.1f} ms)")
    row("holdfast --version", p50(taken["version"]) / p50(taken["bare"]), "")
    row("holdfast status", p50(taken["status"]) / p50(taken["bare"]), "≤ 3.5")
    row("holdfast note, durable", p50(taken["note"]) / p50(taken["bare"]), "")
