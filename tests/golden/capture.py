"""Golden files of what every surface tells an agent, scenario by scenario.

    .venv/bin/python -m tests.golden.capture              writes tests/golden/data/SCENARIO.txt, all of them
    .venv/bin/python -m tests.golden.capture NAME…        only these
    .venv/bin/python -m tests.golden.capture --check      compares, prints a unified diff, ends with 1 if there is one
    .venv/bin/python -m tests.golden.capture --into DIR   writes the files to another folder

Only public surfaces are used: the command line, hooks, the status line and the MCP server. So the same script runs
before and after any change of the package's inside, and the diff of the files shows what agents are told otherwise.
"""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
import tempfile
from pathlib import Path

from tests.golden import drive
from tests.golden.desk import Desk
from tests.golden.scenarios import SCENARIOS

DATA = Path(__file__).parent / "data"


def captured(name: str) -> str:
    """What a scenario says, normalised."""
    folder = Path(tempfile.mkdtemp(prefix="golden-", dir="/tmp"))
    desk = Desk(folder)
    try:
        SCENARIOS[name](desk)
        return desk.text()
    finally:
        desk.close()
        shutil.rmtree(folder, ignore_errors=True)


def difference(name: str, text: str) -> str:
    """A unified diff from the stored file to this; empty where they are the same."""
    path = DATA / f"{name}.txt"
    stored = path.read_text() if path.exists() else ""
    lines = (stored.splitlines(keepends=True), text.splitlines(keepends=True))
    return "".join(difflib.unified_diff(*lines, f"stored/{name}.txt", f"now/{name}.txt"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Golden files of what every surface tells an agent.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios; all of them by default")
    parser.add_argument("--check", action="store_true", help="compare with the stored files instead of writing them")
    parser.add_argument("--into", type=Path, default=DATA, metavar="DIR", help="write the files to this folder")
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(SCENARIOS))
    if unknown:
        parser.error(f"no such scenario: {', '.join(unknown)}; there are {', '.join(SCENARIOS)}")
    drive.clean_environment()
    drive.load_everything()
    different = False
    for name in given.names or SCENARIOS:
        text = captured(name)
        if given.check:
            found = difference(name, text)
            different = different or bool(found)
            sys.stdout.write(found)
        else:
            given.into.mkdir(parents=True, exist_ok=True)
            (given.into / f"{name}.txt").write_text(text)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
