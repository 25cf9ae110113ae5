"""opencode without a terminal: `opencode run --format json`. Each step of it has its cost."""

from __future__ import annotations

from _collections_abc import Mapping
from json import dumps

from holdfast.core.value import Any
from holdfast.runner.events import Began, Called, Ended, Event, Limited, Said, Tokens, Used
from holdfast.runner.host import OWN, RIGHTS, Order, Started, count, digest_of, micros, short, table, text

_BUSY = (429, 529)


class Opencode:
    name = program = "opencode"
    rights = RIGHTS
    variables = (
        *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    )
    tells_cost = True
    is_sum = False

    def start(self, order: Order) -> Started:
        """What is neither allowed nor denied is refused, because nobody is there who could be asked."""
        running = order.running
        words = ["opencode", "run", "--format", "json", *(("--session", order.known) if order.known else ())]
        words += ["--model", running.model] if running.model else []
        with open(order.prompt, encoding="utf-8") as file:
            prompt = file.read()
        return Started((*words, "--", prompt), env={"OPENCODE_PERMISSION": dumps(_rights(order))})

    def read(self, line: Mapping[str, Any]) -> tuple[Event, ...]:
        part, began = table(line.get("part")), Began(text(line.get("sessionID")))
        match line.get("type"):
            case "step_start":
                return (began,)
            case "tool_use":
                given, tool = table(part.get("state")).get("input"), text(part.get("tool"))
                return began, Called(tool, short(given), digest_of([tool, given]))
            case "text":
                return began, Said(text(part.get("text")))
            case "step_finish":
                usage = table(part.get("tokens"))
                cache = table(usage.get("cache"))
                written = count(usage.get("output")) + count(usage.get("reasoning"))
                tokens = Tokens(count(usage.get("input")), written, count(cache.get("read")), count(cache.get("write")))
                cost = micros(part.get("cost")) or (None if tokens else 0)  # 0 where it knows no price
                used = Used(text(part.get("messageID")), "", tokens, cost)
                return (began, used, *((Ended(),) if part.get("reason") == "stop" else ()))
            case "error":
                return _failure(table(line.get("error")))
        return ()

    def failed(self, said: str) -> Event | None:
        return Ended(said, is_missing=True) if "session not found" in said.lower() else None


def _rights(order: Order) -> Mapping[str, Any]:
    if order.rights == "all":
        return {"*": "allow"}
    own = {f"{name} *": "allow" for name in OWN}
    if order.rights == "read":
        return {"edit": "deny", "bash": {"*": "deny", **own}, "webfetch": "deny"}
    asked = {_pattern(rule): "allow" for rule in order.running.allow if rule.startswith("Bash(")}
    return {"edit": "allow", "bash": {"*": "deny", **own, **asked}, "webfetch": "deny"}


def _pattern(rule: str) -> str:
    return rule.removeprefix("Bash(").removesuffix(")").replace(":*", " *")


def _failure(error: Mapping[str, Any]) -> tuple[Event, ...]:
    data = table(error.get("data"))
    said = text(data.get("message")) or text(error.get("name")) or "the turn failed"
    limited = (Limited(),) if data.get("statusCode") in _BUSY else ()
    return *limited, Ended(said)
