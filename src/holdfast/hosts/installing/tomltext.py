"""One table of a TOML file that somebody else wrote, edited as text: comments and order stay.

Lines are looked at and not the grammar, so every edit is proved by reading the result: it has to say what the file said
before, and the table, and nothing else.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.hosts.installing.jsontext import broken


def put(text: str, name: str, path: tuple[str, ...], table: Mapping[str, str | list[str]]) -> str:
    """The text with these values in the table; other values that it has stay."""
    before = read(text, name)
    there = value(before, path)
    if not isinstance(value(before, path[:-1]) or {}, dict):
        raise _by_hand(name)
    if isinstance(there, dict) and all(there.get(key) == value for key, value in table.items()):
        return text
    eol = "\r\n" if "\r\n" in text else "\n"
    rows = [f"{key} = {_value(value)}" for key, value in table.items()]
    if there is None:
        gap = eol * (not text.endswith("\n")) + eol if text.strip() else ""
        header = f"[{'.'.join(path)}]"
        new = f"{text}{gap}{eol.join([header, *rows])}{eol}"
        wanted: dict[str, Any] = dict(table)
    else:
        new = _rewritten(text, path, dict(zip(table, rows, strict=True)), eol)
        wanted = {**there, **table} if isinstance(there, dict) else {}
    return _proved(new, name, _with(before, path, wanted))


def take(text: str, name: str, path: tuple[str, ...]) -> str:
    """The text without the table and those below it."""
    before = read(text, name)
    if value(before, path) is None:
        return text
    kept: list[str] = []
    behind: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        header = _header(line)
        if header:
            was, inside = inside, header[: len(path)] == path
            if inside and not was and kept and not kept[-1].strip():
                kept.pop()
            if was and not inside:
                kept += behind  # what is above the next table is about that
        if not inside:
            kept.append(line)
        else:
            behind = [*behind, line] if not line.strip() or line.lstrip().startswith("#") else []
    if inside:
        kept += behind
    return _proved("".join(kept), name, _with(before, path, None))


def read(text: str, name: str) -> dict[str, Any]:
    from holdfast.machine.tomlplaces import NotToml, parse

    try:
        return parse(text.encode())[1]
    except NotToml as mistake:
        raise broken(name, mistake.line, str(mistake)) from None


def _rewritten(text: str, path: tuple[str, ...], rows: dict[str, str], eol: str) -> str:
    """The values of a table that is there, each on its line; those that are not there come right behind its name."""
    lines = text.splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if _header(line) == path), None)
    if start is None:
        return text
    missing = dict(rows)
    end = next((at for at in range(start + 1, len(lines)) if _header(lines[at])), len(lines))
    for at in range(start + 1, end):
        key = lines[at].partition("=")[0].strip()
        if key in missing:
            lines[at] = missing.pop(key) + eol
    lines[start + 1 : start + 1] = [row + eol for row in missing.values()]
    return "".join(lines)


def _header(line: str) -> tuple[str, ...]:
    """The path of a table that a line opens; empty when it is another line."""
    said = line.strip()
    if not said.startswith("["):
        return ()
    inner = said.lstrip("[").partition("]")[0]
    return tuple(part.strip().strip("\"'") for part in inner.split("."))


def _proved(text: str, name: str, wanted: dict[str, Any]) -> str:
    try:
        same = _bare(read(text, name)) == _bare(wanted)
    except UsageError:
        same = False
    if same:
        return text
    raise _by_hand(name)


def _by_hand(name: str) -> UsageError:
    said = f"{name} is written in a way that cannot be edited for you; nothing was changed"
    return UsageError("broken_file", said, remedy=f"edit mcp_servers.holdfast in {name} by hand", facts={"path": name})


def value(data: dict[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = data
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _with(data: dict[str, Any], path: tuple[str, ...], value: dict[str, Any] | None) -> dict[str, Any]:
    """The data with a table put in or, for None, taken out, and those that held nothing else with it."""
    key, rest = path[0], path[1:]
    inner = _with(data.get(key, {}), rest, value) if rest else value
    kept = {name: there for name, there in data.items() if name != key}
    return {**kept, key: inner} if inner else kept


def _bare(data: dict[str, Any]) -> dict[str, Any]:
    """Without tables that say nothing: whether one is left behind does not matter."""
    inner = {key: _bare(value) if isinstance(value, dict) else value for key, value in data.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _value(value: str | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    import json

    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
