"""The many ways in which an event of a host may come out wrong."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

from tests.surfaces.hooks.samples import LINES

TOKENS = (
    *"'\"`$()[]{}<>|&;#\\!~*?\n\t =-",
    "$(",
    "${",
    "$((",
    "$'",
    "<<",
    "<<-",
    "<<<",
    "<(",
    ">(",
    "&>",
    ">&",
    "2>&1",
    "&&",
    "||",
    "bash -c ",
    "env ",
    "-u ",
    "--unset=",
    "-S ",
    "holdfast ",
    "approve ",
    "sign-off",
    "git ",
    "rm -rf ",
    ".holdfast",
    "src/locked.py",
    "eval ",
    "find . -exec ",
    "cd ",
    "A=",
    "--",
    "-t",
    "E\n",
    "-exec ",
    "xargs ",
    "cd ..;",
    "a/",
    "curl http://x",
)
PATHS = (
    "../..",
    "../../../../../../..",
    "{root}/../..",
    "{root}/src/locked.py",
    "{root}/.holdfast/guard",
    "{root}/way/index",
    "{root}/loop/x",
    "{root}/loop",
    "{root}/pipe",
    "{root}/out/../.holdfast",
    "{root}/workspace/workflow-state/{second}.json",
    "{root}/untracked/workflow-state/left-behind/state-left-behind-20260131_120000.json",
    "{tree}",
    "{tree}/src/locked.py",
    "{odd}",
    "{odd}/torn",
    "{odd}/none",
    "{odd}/gone",
    "{odd}/bare",
    "/proc/self/cwd/src/locked.py",
    "/proc/self/fd/0",
    "/proc/self/root",
    "/proc/self/environ",
    "/dev/null",
    "/",
    "//",
    "",
    ".",
    "~",
    "~/x",
    "~nobody/x",
    "vendor/\u202egnp.py",
    "a\0b",
    "a\nb",
    "src/" + "d/" * 600 + "x",
    "x" * 5000,
    "s?c/[l]*",
    "[" * 200,
    "*" * 200,
    "\ud800.py",
    "-rf",
    "{root}/src\udcff",
)
TEXTS = (
    "S1",
    "S2",
    "S3",
    "",
    " ",
    "{first}",
    "please continue with {second}!",
    "database migration",
    "xdatabase migration, Database Migration",
    "a\x1b[31mb",
    "\u2028\u0085",
    "\U000e0041",
    "\ufeffé",
    "e\u0301" * 300,
    "<<< >>>",
    "x" * 3000,
    "compact",
    "startup",
    "manual",
    "turn_id",
    "{root}/.codex/sessions/rollout-1.jsonl",
    "Bash",
    "shell",
    "apply_patch",
    "MultiEdit",
    "mcp__db__drop",
    "WebFetch",
    "*** Add File: src/locked.py\n*** Move to: way/x\n",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2**63,
    10**400,
    1e308,
    0.1,
    [],
    {},
    [[]],
    [None],
    {"": ""},
    {"a": [1, {"b": []}]},
)
NUMBERS = (b"1e999", b"-0", b"9" * 5000, b"NaN", b"Infinity", b"1E+", b"00", b"0.0000000000000000000000000001e-400")
NAMES = (
    "SessionStart",
    "PreCompact",
    "PostCompact",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
    "Notification",
)


def mutated(data: bytes, other: bytes, random: Random) -> bytes:
    """An event with something wrong about it, taken from another one now and then."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = _in_structure(data, other, random) if random.random() < 0.7 else _in_bytes(data, other, random)
    return data


def _in_structure(data: bytes, other: bytes, random: Random) -> bytes:
    """Still JSON, of another shape; what is none any more is left to the bytes."""
    try:
        event = json.loads(data)
        spots = list(_spots(event))
    except (ValueError, RecursionError):
        return _in_bytes(data, other, random)
    if not spots:
        return json.dumps({"hook_event_name": random.choice(NAMES), "cwd": "{root}", "session_id": "S1"}).encode()
    holder, key = random.choice(spots)
    kind = random.randrange(10)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = copy.deepcopy(random.choice(VALUES))
    elif kind == 2:
        holder[key] = [holder[key]] if random.random() < 0.5 else {"x": holder[key]}
    elif kind == 3:
        event["hook_event_name" if isinstance(event, dict) else 0] = random.choice(NAMES)
    elif kind == 4 and isinstance(event, dict):
        name, field = random.choice((("cwd", PATHS), ("session_id", TEXTS), ("tool_name", TEXTS), ("prompt", TEXTS)))
        event[name] = random.choice(field)
    elif kind == 5 and isinstance(event, dict):
        event["tool_input"] = {random.choice(("command", "cmd", "file_path", "input")): _text(random)}
    else:
        holder[key] = _text(random)
    return json.dumps(event, ensure_ascii=random.random() < 0.8).encode("utf-8", "surrogatepass")


def _spots(value: Any) -> Any:
    """Every place in a value that something else could be put in."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from _spots(inner)


def _text(random: Random) -> str:
    kind = random.randrange(4)
    if kind == 0:
        return random.choice(PATHS)
    if kind == 1:
        return random.choice(TEXTS)
    if random.random() < 0.02:
        return random.choice(TOKENS) * random.choice((50, 1000, 20_000))
    line = random.choice(LINES)
    if kind == 2:
        at = random.randrange(len(line))
        return line[:at] + "".join(random.choices(TOKENS, k=random.randrange(1, 6))) + line[at:]
    return "".join(random.choices(TOKENS, k=random.randrange(1, 40)))


def _in_bytes(data: bytes, other: bytes, random: Random) -> bytes:
    at, to = sorted((random.randrange(len(data) + 1), random.randrange(len(data) + 1)))
    there = random.randrange(len(other) + 1)
    few = data[at : min(to, at + 40)]
    return random.choice(
        (
            lambda: data[:at] + bytes([random.randrange(256)]) + data[at + 1 :],
            lambda: data[:at] + bytes(byte ^ (1 << random.randrange(8)) for byte in few) + data[at + len(few) :],
            lambda: data[:at],
            lambda: data[:at] + data[at + len(few) :],
            lambda: data[:at] + other[there:],
            lambda: data[:at] + few * random.choice((2, 5, 60)) + data[at:],
            lambda: data[:at] + random.choice(NUMBERS) + data[to:],
            lambda: _unquoted(data, random.choice(NUMBERS), random),
            lambda: (
                data[:at] + random.choice((b"[", b'{"a":', b"[{", b"(")) * random.choice((3, 900, 3000)) + data[at:]
            ),
            lambda: _nested(data, random),
            lambda: data[:at] + b"\0" * random.choice((1, 7)) + data[at:],
            lambda: data[:at] + random.choice((b"\\ud800", b"\\udfff\\ud800", b"\\u0000", b"\\u001b[2J")) + data[at:],
            lambda: data[:at] + random.choice((b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90")) + data[at:],
            lambda: (
                random.choice((b" \n\t", b"\xef\xbb\xbf", b"\x0c")) + data + random.choice((b"", b"\n", b"{}", b"x"))
            ),
            lambda: data.replace(b"{root}", random.choice((b"{odd}", b"{tree}", b"{root}/src", b"/", b""))),
        )
    )()


def _unquoted(data: bytes, value: bytes, random: Random) -> bytes:
    """One text of an event is a number."""
    parts = data.split(b'"')
    if len(parts) < 5:
        return data
    at = random.randrange(1, len(parts) - 1, 2)
    return b'"'.join([*parts[: at - 1], parts[at - 1] + value + parts[at + 1], *parts[at + 2 :]])


def _nested(data: bytes, random: Random) -> bytes:
    """The whole event, with a field in it that goes down a long way."""
    deep = random.choice((50, 400, 900, 980, 5000))
    opens, closes = random.choice(((b"[", b"]"), (b'{"a":', b"}")))
    field = random.choice((b"tool_input", b"tool_response", b"session_id", b"cwd", b"x"))
    value = opens * deep + b'"holdfast"' + closes * deep
    return data[: data.rfind(b"}")] + b',"' + field + b'":' + value + b"}"
