"""Sessions of agent hosts: they send events to the hook's real command, and accept of its answers what hosts accept.

What an event holds and what may come back is written down once, as schemas. A session sends nothing and takes nothing
that does not fit them, so every test of a hook is a test of its answers' shape as well.
"""

from __future__ import annotations

import functools
import json
import shlex
import subprocess
from typing import Any

from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from tests.acceptance.checkout import Answer, Checkout, argv
from tests.tiers import need

HANG_SECONDS = 10
"""No measure of anything: a hook that is not back by then never will be."""
SHOWN = 10_000
"""A host shows no more characters of an answer than these."""

_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}
_OBJECT: dict[str, Any] = {"type": "object"}
_TRIGGER: dict[str, Any] = {"enum": ["manual", "auto"]}
_MODE: dict[str, Any] = {"enum": ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]}


def _closed(needed: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**needed, **optional},
        "required": sorted(needed),
        "additionalProperties": False,
    }


_TOOL = {"tool_name": _TEXT, "tool_input": _OBJECT, "tool_use_id": _TEXT}
_AGENT = {"agent_id": _TEXT, "agent_type": _TEXT}
CLAUDE_EVENTS = {
    name: _closed(
        {"session_id": _TEXT, "transcript_path": _TEXT, "cwd": _TEXT, "hook_event_name": {"const": name}, **more},
        **{"permission_mode": _MODE, **({} if name.startswith("Subagent") else _AGENT)},
    )
    for name, more in {
        "SessionStart": {"source": {"enum": ["startup", "resume", "clear", "compact", "fork"]}},
        "PreCompact": {"trigger": _TRIGGER, "custom_instructions": _MAYBE},
        "PostCompact": {"trigger": _TRIGGER, "compact_summary": _TEXT},
        "UserPromptSubmit": {"prompt": _TEXT},
        "PreToolUse": _TOOL,
        "PostToolUse": {**_TOOL, "tool_response": {}, "duration_ms": {"type": "integer"}},
        "Stop": {"stop_hook_active": {"type": "boolean"}, "last_assistant_message": _TEXT},
        "SubagentStart": _AGENT,
        "SubagentStop": {**_AGENT, "stop_hook_active": {"type": "boolean"}},
        "SessionEnd": {"reason": _TEXT},
    }.items()
}
_TURN = {"turn_id": _TEXT}
CODEX_EVENTS = {
    name: _closed(
        {"session_id": _TEXT, "transcript_path": _MAYBE, "cwd": _TEXT, "hook_event_name": {"const": name}, **more},
        model=_TEXT,
        permission_mode=_MODE,
    )
    for name, more in {
        "SessionStart": {"source": {"enum": ["startup", "resume", "clear", "compact"]}},
        "PreCompact": {**_TURN, "trigger": _TRIGGER},
        "PostCompact": {**_TURN, "trigger": _TRIGGER},
        "UserPromptSubmit": {**_TURN, "prompt": _TEXT},
        "PreToolUse": {**_TURN, **_TOOL},
        "PostToolUse": {**_TURN, **_TOOL, "tool_response": {}},
        "Stop": {**_TURN, "stop_hook_active": {"type": "boolean"}, "last_assistant_message": _MAYBE},
    }.items()
}


def _own(name: str, **more: Any) -> dict[str, Any]:
    return _closed({"hookSpecificOutput": _closed({"hookEventName": {"const": name}, **more})})


_SAID: dict[str, Any] = {"type": "string", "minLength": 1}
ANSWERS = {
    "SessionStart": _own("SessionStart", additionalContext={**_SAID, "maxLength": SHOWN}),
    "PostToolUse": _own("PostToolUse", additionalContext=_SAID),
    "PreToolUse": _own("PreToolUse", permissionDecision={"const": "deny"}, permissionDecisionReason=_SAID),
    "Stop": _closed({"decision": {"const": "block"}, "reason": _SAID}),
}
"""Answers that are JSON, by event; an empty one is always in order."""


class Heard:
    """What a host heard back. Empty: the host continues as if there were no hook."""

    def __init__(self, event: str, text: str) -> None:
        self.event, self.text = event, text

    def _part(self, event: str, name: str) -> str:
        assert self.event == event
        said = json.loads(self.text) if self.text else {}
        return str(said.get("hookSpecificOutput", said).get(name, ""))

    @property
    def context(self) -> str:
        """What the agent is told at the start of a session."""
        return self._part("SessionStart", "additionalContext")

    @property
    def denied(self) -> str:
        """Why a tool may not be called."""
        return self._part("PreToolUse", "permissionDecisionReason")

    @property
    def held(self) -> str:
        """Why an agent has to continue."""
        return self._part("Stop", "reason")

    def __repr__(self) -> str:
        return f"{self.event}: {self.text}"


class Session:
    """A session of Claude Code in a checkout: its hooks, and the shell in which its agent types."""

    events = CLAUDE_EVENTS

    def __init__(self, checkout: Checkout, name: str, cwd: str = "") -> None:
        self.checkout, self.name = checkout, name
        self.cwd = cwd or str(checkout.root)
        self.env = self._environment()

    def _environment(self) -> dict[str, str]:
        return {
            "CLAUDECODE": "1",
            "CLAUDE_CODE_SESSION_ID": self.name,
            "CLAUDE_PROJECT_DIR": str(self.checkout.root),
        }

    def _common(self) -> dict[str, Any]:
        return {"transcript_path": f"/home/ada/.claude/projects/house/{self.name}.jsonl", "permission_mode": "default"}

    def event(self, name: str, **fields: Any) -> dict[str, Any]:
        """As this host sends it."""
        made = {"session_id": self.name, **self._common(), "cwd": self.cwd, "hook_event_name": name, **fields}
        Draft7Validator(self.events[name]).validate(made)
        return made

    def send(self, name: str, **fields: Any) -> Heard:
        return self.receive(name, json.dumps(self.event(name, **fields)).encode())

    def receive(self, name: str, data: bytes) -> Heard:
        """What comes back for any bytes, as long as the host can take it for an answer to this event."""
        done = subprocess.run(
            shlex.split(line()),
            input=data,
            cwd=self.cwd,
            env={**self.checkout.env, **self.env},
            capture_output=True,
            timeout=HANG_SECONDS,
        )
        text = done.stdout.decode()
        assert (done.returncode, done.stderr) == (0, b""), (done, text)
        self._accept(name, text)
        return Heard(name, text)

    def _accept(self, name: str, text: str) -> None:
        if text and name == "PreCompact":
            assert not text.lstrip().startswith("{"), text
            assert len(text) <= SHOWN
        elif text:
            assert name in ANSWERS, text
            Draft7Validator(ANSWERS[name]).validate(json.loads(text))

    def start(self, source: str) -> str:
        """What the agent is told at a start."""
        return self.send("SessionStart", source=source).context

    def compact(self, trigger: str = "auto") -> str:
        """A whole compaction, in the order of this host; what the agent knows afterwards."""
        self.send("PreCompact", trigger=trigger, custom_instructions=None)
        told = self.start("compact")
        self.send("PostCompact", trigger=trigger, compact_summary="There was a lot of work.")
        return told

    def prompt(self, text: str) -> None:
        assert self.send("UserPromptSubmit", prompt=text).text == ""

    def before(self, tool: str, **given: Any) -> str:
        """Why a tool may not be called; empty when it may."""
        return self.send("PreToolUse", tool_name=tool, tool_input=given, tool_use_id="toolu_1").denied

    def after(self, tool: str, **given: Any) -> None:
        told = self.send(
            "PostToolUse", tool_name=tool, tool_input=given, tool_use_id="toolu_1", tool_response={}, duration_ms=7
        )
        assert told.text == ""

    def stop(self, *, again: bool = False) -> str:
        """Why the agent may not stop yet; `again` when it only continues because of a hook."""
        return self.send("Stop", stop_hook_active=again, last_assistant_message="Done for now.").held

    def ok(self, *words: str) -> Answer:
        return self.checkout.ok(*words, env=self.env)

    def refused(self, *words: str, code: int = 3) -> dict[str, Any]:
        return self.checkout.refused(*words, env=self.env, code=code)


class CodexSession(Session):
    """A session of Codex, which names the turn, and passes nothing on that is said before a compaction."""

    events = CODEX_EVENTS

    def _environment(self) -> dict[str, str]:
        return {"CODEX_THREAD_ID": self.name, "CODEX_SANDBOX": "workspace-write"}

    def _common(self) -> dict[str, Any]:
        path = f"/home/ada/.codex/sessions/2026/01/31/rollout-2026-01-31T12-00-00-{self.name}.jsonl"
        return {"transcript_path": path, "permission_mode": "default", "model": "gpt-5-codex"}

    def event(self, name: str, **fields: Any) -> dict[str, Any]:
        turn = {} if name == "SessionStart" else {"turn_id": "turn-1"}
        return super().event(name, **turn, **fields)

    def _accept(self, name: str, text: str) -> None:
        assert not (text and name == "PreCompact"), text
        super()._accept(name, text)

    def compact(self, trigger: str = "auto") -> str:
        self.send("PreCompact", trigger=trigger)
        self.send("PostCompact", trigger=trigger)
        return self.start("compact")

    def after(self, tool: str, **given: Any) -> None:
        told = self.send("PostToolUse", tool_name=tool, tool_input=given, tool_use_id="call_1", tool_response={})
        assert told.text == ""


@functools.cache
def line() -> str:
    """The command line that `holdfast hook --line` gives to hosts."""
    return subprocess.run(argv("hook", "--line"), check=True, capture_output=True, text=True).stdout.strip()


def jq(checkout: Checkout, path: str, program: str) -> dict[str, Any]:
    """An agent's own edit of a state file, by the tool it would take; what the file says afterwards."""
    need("jq")
    full = checkout.root / path
    done = subprocess.run(["jq", program, str(full)], check=True, capture_output=True)
    beside = full.with_suffix(".tmp")
    beside.write_bytes(done.stdout)
    beside.rename(full)
    return dict(json.loads(done.stdout))


def said(document: str | bytes | dict[str, Any]) -> dict[str, Any]:
    """What a state file says, but for the time of its last change, which every compaction moves on."""
    read = document if isinstance(document, dict) else json.loads(document)
    return {name: value for name, value in read.items() if name != "updated_at"}


def logged(checkout: Checkout) -> str:
    log = checkout.root / ".holdfast" / "hook.log"
    return log.read_text() if log.is_file() else ""


def state_files(checkout: Checkout) -> list[str]:
    """The paths of all state files that outlive compactions."""
    top = checkout.root
    return sorted(str(path.relative_to(top)) for path in top.glob("untracked/workflow-state/*/state-*.json"))


def happened(checkout: Checkout, id: str, event: str) -> int:
    """How often the journal has it: as an event of the engine's, or as one that it was told of."""
    records = checkout.ok("log", "-w", id, "--json").json["records"]
    events = [one for record in records for one in record["events"]]
    return sum(event in (one["event"], one.get("entry", {}).get("event")) for one in events)
