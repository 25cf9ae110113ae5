"""What Holdfast puts into a file of a host: each part knows how to get in, how to get out, and whether it is there."""

from __future__ import annotations

import shlex
from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.hosts.installing import lines, tomltext
from holdfast.hosts.installing.jsontext import Document

MARK = "holdfast: put here by holdfast install"
"""Files that are all ours carry it, so that nobody's own file of the same name is taken for one."""
TIMEOUT = 10
"""Seconds that a host gives a hook, which gives up by itself long before."""


class Part:
    """Something in a file. `name` is how messages call the file; `said` takes what people should hear."""

    about = ""
    nothing = ""
    """What the file is before anything is in it."""

    def put(self, text: str, name: str, said: list[str]) -> str:
        raise NotImplementedError

    def take(self, text: str, name: str) -> str:
        raise NotImplementedError

    def commands(self, text: str, name: str) -> list[str]:
        """The lines of ours that a host would run, for the doctor to try."""
        return []


class Hooks(Part):
    """Our line at every event, in the form that Claude Code and Codex share: groups of hooks below each event."""

    about, nothing = "hooks", "{}\n"

    def __init__(self, line: str, events: dict[str, str]) -> None:
        self.line, self.events = line, events

    def put(self, text: str, name: str, said: list[str]) -> str:
        document = Document(text, name)
        for event, matcher in self.events.items():
            document = self._at(document, event, matcher)
        return document.text

    def _at(self, document: Document, event: str, matcher: str) -> Document:
        ours = list(_ours(document, event))
        for group, number in reversed(ours[1:]):
            document = document.take(("hooks", event, group, "hooks", number))
        if ours:
            path = ("hooks", event, ours[0][0], "hooks", ours[0][1], "command")
            there = document.value(*path)
            return document if there == self.line or lines.is_portable(there) else document.put(path, self.line)
        hook = {"type": "command", "command": self.line, "timeout": TIMEOUT}
        entry = {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}
        return document.append(("hooks", event), entry)

    def take(self, text: str, name: str) -> str:
        document = Document(text, name)
        for event in list(_object(document.value("hooks"))):
            for group, number in reversed(list(_ours(document, event))):
                if len(document.value("hooks", event, group, "hooks")) == 1:
                    document = document.take(("hooks", event, group))
                else:
                    document = document.take(("hooks", event, group, "hooks", number))
        return document.text

    def commands(self, text: str, name: str) -> list[str]:
        document = Document(text, name)
        events = _object(document.value("hooks"))
        found = [
            document.value("hooks", event, group, "hooks", number, "command")
            for event in events
            for group, number in _ours(document, event)
        ]
        return list(dict.fromkeys(found))


class Entry(Part):
    """One value of a JSON file that is known by its place and what it runs. Somebody's own at that place stays."""

    nothing = "{}\n"
    called, by_hand = "server", "holdfast mcp"

    def __init__(self, about: str, path: tuple[str, ...], value: dict[str, Any], *, comments: bool = False) -> None:
        self.about, self.path, self.value, self.comments = about, path, value, comments

    def put(self, text: str, name: str, said: list[str]) -> str:
        document = Document(text, name, comments=self.comments)
        there = document.value(*self.path)
        if there is None:
            return document.put(self.path, self.value).text
        if not self.is_ours(there):
            said.append(f"{name} has a {self.called} of its own, which stays; ours is: {self.by_hand}")
            return text
        for key, value in _with_toolset(self.value, there).items():
            if key not in there or (there[key] != value and key in ("command", "args")):
                document = document.put((*self.path, key), value)
        return document.text

    def take(self, text: str, name: str) -> str:
        document = Document(text, name, comments=self.comments)
        return document.take(self.path).text if self.is_ours(document.value(*self.path)) else text

    def commands(self, text: str, name: str) -> list[str]:
        return _started(Document(text, name, comments=self.comments).value(*self.path))

    def is_ours(self, there: Any) -> bool:
        return _is_our_server(there)


class StatusLine(Entry):
    """A host has one status line: people who have their own are told how to have both."""

    called, by_hand = "status line", "holdfast statusline"

    def __init__(self, line: str) -> None:
        super().__init__("status line", ("statusLine",), {"type": "command", "command": line})

    def put(self, text: str, name: str, said: list[str]) -> str:
        there = Document(text, name).value(*self.path)
        is_shared = self.is_ours(there) and lines.is_portable(there["command"])
        return text if is_shared else super().put(text, name, said)

    def commands(self, text: str, name: str) -> list[str]:
        there = Document(text, name).value(*self.path)
        return [there["command"]] if self.is_ours(there) else []

    def is_ours(self, there: Any) -> bool:
        return lines.is_status(_object(there).get("command"))


class Table(Part):
    about = "MCP server"

    def __init__(self, path: tuple[str, ...], values: dict[str, str | list[str]]) -> None:
        self.path, self.values = path, values

    def put(self, text: str, name: str, said: list[str]) -> str:
        there = self._there(text, name)
        if there is not None and not _is_our_server(there):
            said.append(f"{name} has a server of its own, which stays; ours is: holdfast mcp")
            return text
        return tomltext.put(text, name, self.path, _with_toolset(self.values, there))

    def take(self, text: str, name: str) -> str:
        return tomltext.take(text, name, self.path) if _is_our_server(self._there(text, name)) else text

    def commands(self, text: str, name: str) -> list[str]:
        return _started(self._there(text, name))

    def _there(self, text: str, name: str) -> Any:
        return tomltext.value(tomltext.read(text, name), self.path)


class Whole(Part):
    """A file that is all ours."""

    def __init__(self, about: str, text: str) -> None:
        self.about, self.text = about, text

    def put(self, text: str, name: str, said: list[str]) -> str:
        if text and not self.is_ours(text):
            said.append(f"{name} is somebody's own and stays; the {self.about} is not there")
            return text
        return self.text

    def take(self, text: str, name: str) -> str:
        return "" if self.is_ours(text) else text

    def is_ours(self, text: str) -> bool:
        return MARK in text[-200:] or MARK in text[:200]


class Plugin(Whole):
    """A program of ours that the host loads, and that runs a hook."""

    def __init__(self, text: str, hook: str) -> None:
        super().__init__("plugin", text)
        self.hook = hook

    def commands(self, text: str, name: str) -> list[str]:
        return [self.hook] if text == self.text else []


def _ours(document: Document, event: str) -> list[tuple[int, int]]:
    """Where our hooks of an event are: the group, and the place in it."""
    hooks = document.find("hooks")
    if hooks is not None and hooks.kind != "{":
        raise document.mistake(hooks.start, "hooks is no object")
    groups = hooks.child(event) if hooks else None
    if groups is None:
        return []
    if groups.kind != "[":
        raise document.mistake(groups.start, f"hooks.{event} is no list")
    return [
        (at, number)
        for at, group in enumerate(groups.value)
        for number, hook in enumerate(_list(_object(group).get("hooks")))
        if lines.is_hook(_object(hook).get("command"))
    ]


def _server(there: Any) -> list[str]:
    """What an entry of a server starts; nothing where it is reached by an address, or is none."""
    command, args = _object(there).get("command"), _object(there).get("args", [])
    words = command if isinstance(command, list) else [command, *_list(args)]
    return words if "url" not in _object(there) and all(isinstance(word, str) for word in words) else []


def _with_toolset(values: Mapping[str, Any], there: Any) -> dict[str, Any]:
    """Our values of a server, with the toolsets that somebody added to those that are there."""
    chosen, name = lines.toolset(_server(there)), "args" if "args" in values else "command"
    return {**values, name: [*values[name], *chosen]} if chosen else dict(values)


def _is_our_server(there: Any) -> bool:
    return lines.is_server(_server(there))


def _started(there: Any) -> list[str]:
    """The line of a server that is ours, or that many machines share."""
    words = _server(there)
    return [shlex.join(words)] if lines.is_server(words) or words == ["holdfast", "mcp"] else []


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
