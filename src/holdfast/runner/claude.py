"""Claude Code without a terminal: `claude -p`, with a stream of JSON."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.runner.events import Began, Called, Denied, Ended, Event, Limited, Said, Tokens, Total, Used
from holdfast.runner.host import OWN, RIGHTS, Order, Started, count, digest_of, micros, short, table, text

_MODE = {"read": "dontAsk", "edits": "acceptEdits", "all": "bypassPermissions"}
_MISSING = "No conversation found with session ID"
_TAKEN = "is already in use"
_BUSY = (429, 529)
"""Status codes of a service that wants to be asked later."""
_LOOKING = ("Read", "Glob", "Grep")


class ClaudeCode:
    name = program = "claude"
    rights = RIGHTS
    variables = (
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
        "CLAUDE_CONFIG_DIR",
    )
    tells_cost = True
    is_sum = True

    def start(self, order: Order) -> Started:
        running = order.running
        which = ("--resume", order.known) if order.known else ("--session-id", order.session)
        words = ["claude", "-p", *which, "--output-format", "stream-json", "--verbose"]
        words += ["--permission-mode", _MODE[order.rights], "--max-turns", str(running.max_turns)]
        words += ["--model", running.model] if running.model else []
        allowed = [f"Bash({name} *)" for name in OWN] + ["mcp__holdfast", "mcp__plugin_holdfast_holdfast"]
        allowed += list(_LOOKING) if order.rights == "read" else list(running.allow)
        return Started((*words, "--allowedTools", ",".join(allowed)), order.prompt)

    def read(self, line: Mapping[str, Any]) -> tuple[Event, ...]:
        kind, sub = line.get("type"), line.get("subtype")
        if kind == "assistant":
            return self._message(table(line.get("message")))
        if kind == "result":
            return self._result(line)
        if kind == "system" and sub == "init":
            return (Began(text(line.get("session_id"))),)
        if kind == "system" and sub == "permission_denied":
            return (Denied(text(line.get("tool_name")) or "a tool"),)
        if kind == "system" and sub == "api_retry" and line.get("error_status") in _BUSY:
            return (Limited(count(line.get("retry_delay_ms")) / 1000),)
        return ()

    def failed(self, said: str) -> Event | None:
        return Ended(said, is_missing=True) if _MISSING in said or _TAKEN in said else None

    def _message(self, message: Mapping[str, Any]) -> tuple[Event, ...]:
        used = _tokens(table(message.get("usage")), "input_tokens", "output_tokens")
        found: list[Event] = [Used(text(message.get("id")), text(message.get("model")), used)] if used else []
        for part in message.get("content") or ():
            if table(part).get("type") == "tool_use":
                given = part.get("input")
                tool = text(part.get("name"))
                found.append(Called(tool, short(given), digest_of([tool, given])))
            elif table(part).get("type") == "text":
                found.append(Said(text(part.get("text"))))
        return tuple(found)

    def _result(self, line: Mapping[str, Any]) -> tuple[Event, ...]:
        rates = []
        for model, one in table(line.get("modelUsage")).items():
            cost = micros(table(one).get("costUSD"))
            rates += [(model, _tokens(one, "inputTokens", "outputTokens"), cost)] if cost else []
        total = Total(micros(line.get("total_cost_usd")), rates=tuple(rates))
        errors = "; ".join(text(one) for one in line.get("errors") or ())
        if _MISSING in errors:
            return (Ended(errors, is_missing=True),)
        word = text(line.get("subtype"))
        is_over = word in ("success", "error_max_turns")  # what the host's own limit ends is continued in the next turn
        failed = errors or text(line.get("result"))[:300] or text(line.get("terminal_reason")) or word
        return total, Ended("" if is_over and not (line.get("is_error") and word == "success") else failed)


def _tokens(usage: Mapping[str, Any], given: str, written: str) -> Tokens:
    kept = count(usage.get("cache_creation_input_tokens")) + count(usage.get("cacheCreationInputTokens"))
    cached = count(usage.get("cache_read_input_tokens")) + count(usage.get("cacheReadInputTokens"))
    return Tokens(count(usage.get(given)), count(usage.get(written)), cached, kept)
