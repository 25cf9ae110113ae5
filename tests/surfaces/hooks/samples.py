"""Events as hosts send them, with lines for a shell that are worth a second look.

`{root}`, `{tree}`, `{odd}`, `{first}` and `{second}` stand for what a sandbox fills in.
"""

from __future__ import annotations

import json
from typing import Any

LINES = (
    "ls -la",
    "git push --force origin main",
    "git -C /x -c a=b push",
    "cd src && rm -rf ../.holdfast",
    "echo x > .holdfast/index 2>&1",
    "cat <<'E' > src/locked.py\nx\nE\n",
    "bash -lc 'holdfast approve sign-off -w {second}'",
    "env -u CLAUDECODE -i holdfast next",
    "sudo -u a timeout -k 1 5 nice -n 3 holdfast trust release",
    "python -m holdfast extend --tries 3",
    "mv -t untracked a b; cp -r . {root}; rsync a/ way",
    "find . -name '*.py' -exec rm {} + -o -delete",
    "sed -i.bak s/a/b/ vendor/x.py && dd if=/dev/zero of=src/locked.py",
    "echo $(git push) `holdfast trust x` ${HOME:-$(rm way/x)} $((1 + 2))",
    'echo "a $(rm -r .) \\" b" $\'\\x41\' $"c" \\',
    "git rm -r . && git checkout -- src && git restore src && git clean -xdf && git mv a b",
    "apply_patch <<'P'\n*** Begin Patch\n*** Update File: src/locked.py\n*** End Patch\nP",
    "diff <(ls) >(tee .h[o]ldfast/*) {fd}>x &>>y >|z <<<w <&3",
    "export CODEX_HOME=; unset CLAUDECODE; A= B=c holdfast done build",
    "xargs -I{} flock -w 1 f -c 'rm -rf ~/.holdfast' | su -c 'eval rm x'",
    "uv run holdfast approve; uvx holdfast trust; exec -c holdfast; env -S 'holdfast trust x'",
    "if true; then rm -r src/*; fi # done; rm -rf {root}/..; rm -r workspace",
    "env --unset CODEX_X --chdir=a -- holdfast next --workflow={second}; python -mholdfast trust x",
    "su --command='rm -- -x .holdfast'; cp --target-directory=way a; export -n CLAUDECODE; python3 bin/holdfast trust",
    "bash <<E\nholdfast trust x\nE\ncurl http://example.com/x; echo curl https:x",
    "git checkout -- . && git checkout main src/locked.py; git stash -u; git reset --hard; git apply x; patch -p1 < x",
    'rm -rf "$PWD/.holdfast" $(pwd)/way ${HOME}/x; curl -sLo src/locked.py http://x; wget -P way http://x/y',
    "cat <<E | tee x | bash\nholdfast trust x\nE\nfunction f { git push; }; trap 'git push' EXIT",
    "git submodule foreach 'rm -rf .holdfast'; git rm --cached .holdfast/x; git switch -f main; git clean -fd :/src",
)
_CALLS = (
    *(("Bash", {"command": line, "description": "x"}) for line in LINES),
    ("Edit", {"file_path": "{root}/src/locked.py", "old_string": "a", "new_string": "b"}),
    ("Write", {"file_path": "{root}/.holdfast/index", "content": ""}),
    ("MultiEdit", {"file_path": "vendor/x.py", "edits": []}),
    ("NotebookEdit", {"notebook_path": "~/n.ipynb", "new_source": ""}),
    ("WebFetch", {"url": "https://example.com", "prompt": "x"}),
    ("mcp__files__move_file", {"source": "{root}/way", "destination": "vendor/x.py"}),
    ("mcp__db__drop", {"table": "t"}),
)
_CODEX_CALLS = (
    ("shell", {"command": ["bash", "-lc", "git push"], "workdir": "{root}"}),
    ("exec_command", {"cmd": "rm -rf ."}),
    (
        "apply_patch",
        {"input": "*** Begin Patch\n*** Add File: src/new.py\n+x\n*** Delete File: way/x\n*** End Patch\n"},
    ),
    ("apply_patch", {"command": ["apply_patch", "*** Update File: vendor/a\n*** Move to: src/locked.py\n"]}),
)
_COMPACTIONS = (("manual", "keep the numbers"), ("auto", None))


def claude() -> list[dict[str, Any]]:
    """One event of every kind that Claude Code sends, and more of those that are judged."""
    tool = [{"tool_name": name, "tool_input": given, "tool_use_id": "toolu_1"} for name, given in _CALLS]
    agent = {"agent_id": "A1", "agent_type": "coder"}
    kinds: list[tuple[str, dict[str, Any]]] = [
        *(("SessionStart", {"source": source}) for source in ("startup", "resume", "clear", "compact", "fork")),
        *(("PreCompact", {"trigger": how, "custom_instructions": what}) for how, what in _COMPACTIONS),
        ("PostCompact", {"trigger": "auto", "compact_summary": "There was a lot of work."}),
        ("UserPromptSubmit", {"prompt": "Continue with {first}, please."}),
        ("UserPromptSubmit", {"prompt": "Continue with the database migration."}),
        *(("PreToolUse", call) for call in tool),
        *(("PostToolUse", {**call, "tool_response": {}, "duration_ms": 7}) for call in tool[-7:]),
        ("Stop", {"stop_hook_active": False, "last_assistant_message": "Done for now."}),
        ("SubagentStart", agent),
        ("SubagentStop", {**agent, "stop_hook_active": False}),
        ("SessionEnd", {"reason": "clear"}),
    ]
    path = "/home/ada/.claude/projects/house/S.jsonl"
    common = {"session_id": "S2", "transcript_path": path, "cwd": "{root}", "permission_mode": "default"}
    return [{**common, "hook_event_name": name, **more} for name, more in kinds]


def codex() -> list[dict[str, Any]]:
    """One event of every kind that Codex sends."""
    tool = [{"tool_name": name, "tool_input": given, "tool_use_id": "call_1"} for name, given in _CODEX_CALLS]
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("PreCompact", {"trigger": "auto"}),
        ("PostCompact", {"trigger": "manual"}),
        ("UserPromptSubmit", {"prompt": "Take up {second}"}),
        *(("PreToolUse", call) for call in tool),
        *(("PostToolUse", {**call, "tool_response": "ok"}) for call in tool),
        ("Stop", {"stop_hook_active": True, "last_assistant_message": None}),
    ]
    path = "/home/ada/.codex/sessions/2026/01/31/rollout-2026-01-31T12-00-00-S.jsonl"
    common = {"session_id": "S1", "transcript_path": path, "cwd": "{root}", "model": "gpt-5-codex"}
    start = {**common, "hook_event_name": "SessionStart", "source": "resume"}
    return [start, *({**common, "hook_event_name": name, "turn_id": "turn-1", **more} for name, more in kinds)]


def samples() -> list[bytes]:
    return [json.dumps(event).encode() for event in (*claude(), *codex())]
