"""An agent that does one task of a run until it is done: in a worktree of its own, or with its file locked.

Each command is a process, forked from this one. Started again after a kill, it takes its lease again by its session.
What a command refuses it for ends it, but for what it did itself before.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

from holdfast.surfaces.cli.main import main

DONE_BEFORE = ("nothing_to_commit",)


def command(folder: str, token: str, *words: str) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out:
        pid = os.fork()
        if not pid:
            os.environ["HOLDFAST_TOKEN"] = token
            os.chdir(folder)
            os.dup2(out.fileno(), 1)
            code = 70
            try:
                code = main([*words, "--json"])
            finally:
                sys.stdout.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out.seek(0)
        said = json.loads(out.read() or b"{}")
    if code and said.get("error", {}).get("code") not in DONE_BEFORE:
        raise SystemExit(f"{' '.join(words)}: exit {code}: {json.dumps(said)}")
    return said


def build(root: str, task: str, *, worktree: bool) -> None:
    def status() -> str:
        rows = command(root, "", "task", "list")["tasks"]
        return next(row["status"] for row in rows if row["task"] == task)

    if status() == "done":
        return
    said = command(root, "", "agent", "start", "executor", "--step", task, *(["--worktree"] if worktree else []))
    token, folder, file = said["token"], said.get("worktree", root), f"parts/{task.partition('.')[2]}.txt"
    command(folder, token, "begin", task)
    if not worktree:
        command(folder, token, "lock", file)
    if not os.path.exists(os.path.join(folder, file)):
        os.makedirs(os.path.join(folder, "parts"), exist_ok=True)
        with open(os.path.join(folder, file), "w") as part:
            part.write("right\n")
    command(folder, token, "commit", task, "-m", f"part {task}")
    command(folder, token, "task", "done", task)
    command(root, token, "agent", "end")


build(sys.argv[1], sys.argv[2], worktree=sys.argv[3] == "worktree")
