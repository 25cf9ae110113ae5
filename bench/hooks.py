"""Hooks as a host runs them, each in a fresh interpreter, against a bare one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

from bench.measure import heading, interleaved, p50, row
from bench.project import repository
from holdfast.machine.settings import read
from holdfast.project.project import open_project
from holdfast.surfaces import hooks

LOCKS = 1000


def run(folder: str) -> None:
    quiet, busy, idle, work = (os.path.join(folder, name) for name in ("quiet", "busy", "idle", "work"))
    for place in (quiet, busy, idle, work):
        repository(place)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["CLAUDE_CODE_SESSION_ID"] = "bench"
    settings = read(environment, terminal=False, surface="python")
    for place in (idle, work):
        open_project(place, settings=settings).start("implementation", "A feature", reminders=["Run the tests"])
    locking = open_project(busy, settings=settings).start("implementation", "A feature")
    locking.lock(*(f"{busy}/src/module_{number}.py" for number in range(LOCKS)), agent="coder", ttl=86_400)
    line = [sys.executable, "-I", "-S", os.path.join(hooks.__path__[0], "run.py")]
    launcher = _installed(folder)

    def call(place: str, *words: str, by: list[str] = line, **event: object):
        said = {"session_id": "bench", "transcript_path": "/t.jsonl", "cwd": place, **event}
        data = json.dumps(said).encode()
        return lambda: subprocess.run([*by, *words], input=data, env=environment, stdout=subprocess.DEVNULL, check=True)

    edit = {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": f"{busy}/src/free.py"}}
    shell = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "pytest -q && git diff"}}
    taken = interleaved(
        {
            "bare": lambda: subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True),
            "nothing": call(quiet, **shell),
            "launched": call(quiet, by=[launcher], **shell),
            "note": call(busy, **{**edit, "hook_event_name": "PostToolUse"}),
            "edit": call(busy, **edit),
            "shell": call(busy, **shell),
            "status": call(idle, "statusline", cost={"total_cost_usd": 1.25}),
            "compact": call(work, hook_event_name="PreCompact", trigger="auto", custom_instructions=None),
            "start": call(work, hook_event_name="SessionStart", source="compact"),
        },
        60,
    )
    bare = p50(taken["bare"])
    heading(f"A hook ÷ `python -c pass` ({bare * 1e3:.1f} ms)")
    row("nothing to do", p50(taken["nothing"]) / bare, "≤ 0.9")
    row("nothing to do, by holdfast-hook", p50(taken["launched"]) / bare, "≤ 1.0")
    row("PostToolUse that notes a file", p50(taken["note"]) / bare, "≤ 1.0")
    row(f"PreToolUse of an edit, {LOCKS} locks", p50(taken["edit"]) / bare, "≤ 1.1")
    row(f"PreToolUse of a shell line, {LOCKS} locks", p50(taken["shell"]) / bare, "≤ 1.1")
    row("status line, nothing has happened", p50(taken["status"]) / bare, "≤ 1.0")
    row("PreCompact that saves", p50(taken["compact"]) / bare, "≤ 4")
    row("SessionStart that restores", p50(taken["start"]) / bare, "")


def _installed(folder: str) -> str:
    """The launcher as a wheel lays it out: beside the command, with the package below `lib`."""
    programs, packages = (
        os.path.join(folder, "venv", "bin"),
        os.path.join(folder, "venv", "lib", "python3", "site-packages"),
    )
    for place in (programs, packages):
        os.makedirs(place)
    package = hooks.__path__[0].rsplit("/", 2)[0]
    os.symlink(package, os.path.join(packages, "holdfast"))
    shutil.copy(os.path.join(package, "..", "launcher", "holdfast-hook"), programs)
    with open(os.path.join(programs, "holdfast"), "w", encoding="utf-8") as file:
        file.write(f"#!{sys.executable}\n")
    return os.path.join(programs, "holdfast-hook")
