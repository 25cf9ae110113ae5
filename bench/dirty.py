"""What a check costs in a repository with many files that are not committed, against git's own commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from bench.measure import heading, interleaved, p50, row
from bench.project import repository

FILES = 10_000
DEFINITION = """name = "dirty"
[[step]]
id = "build"
checks = [{ name = "tests", run = ["true"] }]
[[step]]
id = "later"
"""


def run(folder: str) -> None:
    repository(folder)
    tools = os.path.dirname(sys.executable)
    own = {"XDG_CONFIG_HOME": f"{folder}-config", "XDG_DATA_HOME": f"{folder}-data"}
    environment = {**os.environ, **own, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}

    def call(*argv: str, **more: str) -> None:
        subprocess.run(argv, cwd=folder, env={**environment, **more}, stdout=subprocess.DEVNULL, check=True)

    _write(f"{folder}-config/holdfast/config.toml", f'trust = ["{folder}"]\n')
    _write(f"{folder}/.holdfast/workflows/dirty.toml", DEFINITION)
    _fill(folder, "old", FILES // 2, "one\n" * 20)
    call("git", "add", "-A")
    call("git", "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", "first")
    call("holdfast", "start", "dirty", "one")
    call("holdfast", "begin", "build")
    _fill(folder, "old", FILES // 2, "two\n" * 21)
    _fill(folder, "new", FILES // 2, "new\n" * 20)
    time.sleep(3)  # files that changed just now are compared by their content

    shutil.copy2(f"{folder}/.git/index", f"{folder}-index")
    os.mkdir(f"{folder}-objects")
    elsewhere = {
        "GIT_INDEX_FILE": f"{folder}-index",
        "GIT_OBJECT_DIRECTORY": f"{folder}-objects",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{folder}/.git/objects",
    }
    once = {name: p50(taken) for name, taken in interleaved({
        "add": lambda: call("git", "add", "-A", **elsewhere),
        "check": lambda: call("holdfast", "check", "tests"),
    }, 1).items()}  # fmt: skip
    taken = {name: p50(samples) for name, samples in interleaved({
        "start": lambda: call("holdfast", "list"),
        "status": lambda: call("git", "status", "--short"),
        "check": lambda: call("holdfast", "check", "tests"),
    }, 15).items()}  # fmt: skip
    begin = time.perf_counter()
    call("holdfast", "done", "build")
    done = time.perf_counter() - begin
    twice = 2 * taken["status"] + taken["start"]
    heading(f"{FILES:,} files that are not committed (`git status` {taken['status'] * 1e3:.0f} ms)".replace(",", " "))
    row("the first check ÷ `git add -A` into a temporary index", once["check"] / once["add"], "≤ 1")
    row("a check of unchanged files ÷ (2 × `git status` + start-up)", taken["check"] / twice, "≤ 1")
    row("done ÷ (2 × `git status` + start-up)", done / twice, "≤ 1")


def _fill(folder: str, kind: str, count: int, text: str) -> None:
    for number in range(count):
        _write(f"{folder}/{kind}/{number % 100}/{number}.txt", f"{number}\n{text}")


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
