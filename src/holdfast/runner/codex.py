"""Codex without a terminal: `codex exec --json`. It chooses the id of a session itself, and reports tokens only."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.runner.events import Began, Called, Ended, Event, Limited, Said, Tokens, Total
from holdfast.runner.host import Order, Started, count, digest_of, short, table, text

_SANDBOX = {"edits": "workspace-write", "all": "danger-full-access"}
_LIMITS = ("rate limit", "usage limit", "too many requests", "429")
_MISSING = ("no rollout found", "no recorded session", "session not found", "thread not found")


class Codex:
    name = program = "codex"
    rights = ("edits", "all")
    variables = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME")
    tells_cost = False
    is_sum = True

    def start(self, order: Order) -> Started:
        """Its sandbox would keep commands out of git's own folder, where Holdfast keeps a record of its journals."""
        words = ["codex", "exec", *(("resume",) if order.known else ()), "--json", "--skip-git-repo-check"]
        words += ["-c", f'sandbox_mode="{_SANDBOX[order.rights]}"', "-c", 'approval_policy="never"']
        if order.git:
            words += ["-c", f"sandbox_workspace_write.writable_roots={_list([order.git])}"]
        words += ["-m", order.running.model] if order.running.model else []
        return Started((*words, *((order.known,) if order.known else ()), "-"), order.prompt)

    def read(self, line: Mapping[str, Any]) -> tuple[Event, ...]:
        match line.get("type"):
            case "thread.started":
                return (Began(text(line.get("thread_id"))),)
            case "item.started":
                return _called(table(line.get("item")))
            case "item.completed":
                item = table(line.get("item"))
                return (Said(text(item.get("text"))),) if item.get("type") == "agent_message" else ()
            case "turn.completed":
                usage = table(line.get("usage"))
                cached = count(usage.get("cached_input_tokens"))
                given = max(0, count(usage.get("input_tokens")) - cached)
                return Total(tokens=Tokens(given, count(usage.get("output_tokens")), cached)), Ended()
            case "turn.failed":
                return self._failure(text(table(line.get("error")).get("message")))
        return ()

    def failed(self, said: str) -> Event | None:
        return Ended(said, is_missing=True) if any(one in said.lower() for one in _MISSING) else None

    def _failure(self, said: str) -> tuple[Event, ...]:
        limited = (Limited(),) if any(one in said.lower() for one in _LIMITS) else ()
        return *limited, Ended(said or "the turn failed")


def _called(item: Mapping[str, Any]) -> tuple[Event, ...]:
    if item.get("type") in ("command_execution", "mcp_tool_call", "file_change", "web_search"):
        told = {key: item.get(key) for key in ("command", "tool", "arguments", "changes", "query")}
        return (Called(text(item.get("type")), short(told), digest_of(told)),)
    return ()


def _list(words: list[str]) -> str:
    from json import dumps

    return dumps(words)
