"""What Holdfast puts into a file of a host: each part knows how to get in, how to get out, and whether it is there."""

from __future__ import annotations

import shlex
from _collections_abc import Mapping, Sequence

from holdfast.core.value import Any
from holdfast.hosts.installing import lines, tomltext
from holdfast.hosts.installing.jsontext import Document

MARK = "holdfast: put here by holdfast install"
"""Files that are all ours carry it, so that nobody's own file of the same name is taken for one."""
TIMEOUT = 10
"""Seconds that a host gives a hook, which gives up by itself long before."""
AT_THE_END = 3
"""The same at the end of a session: Codex allows no more."""


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

    def edited(self, text: str, name: str) -> list[str]:
        """Hooks that were ours until somebody changed them: they stay, and nobody knows whether they work."""
        return []

    def is_foreign(self, text: str, name: str) -> bool:
        """Whether something that is not Holdfast has the place where a host looks for ours."""
        return False


class Hooks(Part):
    """Our line at every event, in the form that Claude Code and most others share: groups of hooks below each event.

    `second` is how the host counts a second of the time that a hook has.
    """

    about, nothing = "hooks", "{}\n"
    key, time = "command", "timeout"

    def __init__(self, line: str, events: Mapping[str, str], *, second: int = 1, comments: bool = False) -> None:
        self.line, self.events, self.second, self.comments = line, events, second, comments

    def put(self, text: str, name: str, said: list[str]) -> str:
        document = self._read(text, name)
        for event, matcher in self.events.items():
            document = self._at(document, event, matcher)
        if changed := self.edited(text, name):
            said.append(f"{name}: edited hook lines of Holdfast stay as they are: {told_of(changed)}")
        return document.text

    def _at(self, document: Document, event: str, matcher: str) -> Document:
        ours = self._ours(document, event)
        for place in reversed(ours[1:]):
            document = document.take(("hooks", event, *place))
        if not ours:
            seconds = AT_THE_END if event.lower() == "sessionend" else TIMEOUT
            hook = {"type": "command", self.key: self.line, self.time: seconds * self.second}
            return document.append(("hooks", event), self._entry(hook, matcher))
        place = ("hooks", event, *ours[0])
        there = document.value(*place, self.key)
        return document if there == self.line or lines.is_typed(there) else document.put((*place, self.key), self.line)

    def _entry(self, hook: dict[str, Any], matcher: str) -> dict[str, Any]:
        return {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}

    def take(self, text: str, name: str) -> str:
        document = self._read(text, name)
        for event in list(_object(document.value("hooks"))):
            for place in reversed(self._ours(document, event)):
                document = document.take(("hooks", event, *self._whole(document, event, place)))
        return document.text

    def _whole(self, document: Document, event: str, place: tuple[Any, ...]) -> tuple[Any, ...]:
        """What goes with a hook: its group, where nothing else is in it."""
        return place[:1] if len(document.value("hooks", event, place[0], "hooks")) == 1 else place

    def commands(self, text: str, name: str) -> list[str]:
        document = self._read(text, name)
        events = _object(document.value("hooks"))
        found = [
            document.value("hooks", event, *place, self.key)
            for event in events
            for place in self._ours(document, event)
        ]
        return list(dict.fromkeys(found))

    def edited(self, text: str, name: str) -> list[str]:
        document = self._read(text, name)
        events = _object(document.value("hooks"))
        hooks = (_object(hook) for event in events for hook in self._every(document, event))
        return [str(hook[self.key]) for hook in hooks if lines.is_edited(hook.get(self.key))]

    def _every(self, document: Document, event: str) -> list[Any]:
        return [hook for group in _groups(document, event) for hook in _list(_object(group).get("hooks"))]

    def _read(self, text: str, name: str) -> Document:
        return Document(text, name, comments=self.comments)

    def _ours(self, document: Document, event: str) -> list[tuple[Any, ...]]:
        """Where our hooks of an event are: the group, and the place in it."""
        return [
            (at, "hooks", number)
            for at, group in enumerate(_groups(document, event))
            for number, hook in enumerate(_list(_object(group).get("hooks")))
            if lines.is_hook(_object(hook).get(self.key))
        ]


class FlatHooks(Hooks):
    """The same in a file with a version, where the hooks of an event stand without groups."""

    def __init__(self, line: str, events: Mapping[str, str], key: str, time: str) -> None:
        super().__init__(line, events)
        self.key, self.time = key, time

    def put(self, text: str, name: str, said: list[str]) -> str:
        document = self._read(text, name)
        if document.value("version") is None:
            document = document.put(("version",), 1)
        return super().put(document.text, name, said)

    def take(self, text: str, name: str) -> str:
        left = super().take(text, name)
        return "" if left != text and self._read(left, name).value() == {"version": 1} else left

    def _entry(self, hook: dict[str, Any], matcher: str) -> dict[str, Any]:
        return {**hook, **({"matcher": matcher} if matcher else {})}

    def _whole(self, document: Document, event: str, place: tuple[Any, ...]) -> tuple[Any, ...]:
        return place

    def _every(self, document: Document, event: str) -> list[Any]:
        return _groups(document, event)

    def _ours(self, document: Document, event: str) -> list[tuple[Any, ...]]:
        groups = enumerate(_groups(document, event))
        return [(at,) for at, hook in groups if lines.is_hook(_object(hook).get(self.key))]


class Entry(Part):
    """One value of a JSON file that is known by its place and what it runs. Somebody's own at that place stays."""

    nothing = "{}\n"
    called, by_hand = 'a server "holdfast"', 'command "holdfast", args ["mcp"]'

    alone = False
    """Whether the file is there for it alone."""

    def __init__(self, about: str, path: tuple[str, ...], value: dict[str, Any], *, comments: bool = False) -> None:
        self.about, self.path, self.value, self.comments = about, path, value, comments

    def put(self, text: str, name: str, said: list[str]) -> str:
        document = Document(text, name, comments=self.comments)
        there = document.value(*self.path)
        if there is None:
            return document.put(self.path, self.value).text
        if not self.is_ours(there):
            said.append(_stays(name, self.called, self.by_hand))
            return text
        for key, value in _with_toolset(self.value, there).items():
            if key not in there or (there[key] != value and key in ("command", "args")):
                document = document.put((*self.path, key), value)
        return document.text

    def take(self, text: str, name: str) -> str:
        document = Document(text, name, comments=self.comments)
        left = document.take(self.path) if self.is_ours(document.value(*self.path)) else document
        return "" if self.alone and left is not document and not left.value() else left.text

    def commands(self, text: str, name: str) -> list[str]:
        return _started(Document(text, name, comments=self.comments).value(*self.path))

    def is_foreign(self, text: str, name: str) -> bool:
        return _is_foreign_server(Document(text, name, comments=self.comments).value(*self.path))

    def is_ours(self, there: Any) -> bool:
        return _is_our_server(there)


class OwnEntry(Entry):
    alone = True


class StatusLine(Entry):
    """A host has one status line: people who have their own are told how to have both."""

    called, by_hand = "a status line", "holdfast statusline"

    def __init__(self, line: str) -> None:
        super().__init__("status line", ("statusLine",), {"type": "command", "command": line})

    def put(self, text: str, name: str, said: list[str]) -> str:
        there = Document(text, name).value(*self.path)
        is_shared = self.is_ours(there) and lines.is_typed(there["command"])
        return text if is_shared else super().put(text, name, said)

    def commands(self, text: str, name: str) -> list[str]:
        there = Document(text, name).value(*self.path)
        return [there["command"]] if self.is_ours(there) else []

    def is_foreign(self, text: str, name: str) -> bool:
        return False  # having another line is a choice

    def is_ours(self, there: Any) -> bool:
        return lines.is_status(_object(there).get("command"))


class Table(Part):
    about = "MCP server"

    def __init__(self, path: tuple[str, ...], values: dict[str, str | list[str]]) -> None:
        self.path, self.values = path, values

    def put(self, text: str, name: str, said: list[str]) -> str:
        there = self._there(text, name)
        if there is not None and not _is_our_server(there):
            said.append(_stays(name, Entry.called, Entry.by_hand))
            return text
        return tomltext.put(text, name, self.path, _with_toolset(self.values, there))

    def take(self, text: str, name: str) -> str:
        return tomltext.take(text, name, self.path) if _is_our_server(self._there(text, name)) else text

    def commands(self, text: str, name: str) -> list[str]:
        return _started(self._there(text, name))

    def is_foreign(self, text: str, name: str) -> bool:
        return _is_foreign_server(self._there(text, name))

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
    """A program of ours that the host loads or starts, and that runs a hook."""

    def __init__(self, text: str, hook: str, about: str = "plugin") -> None:
        super().__init__(about, text)
        self.hook = hook

    def commands(self, text: str, name: str) -> list[str]:
        return [self.hook] if text == self.text else []

    def edited(self, text: str, name: str) -> list[str]:
        return [f"the {self.about} itself"] if text != self.text and self.is_ours(text) else []


def told_of(lines_: Sequence[str]) -> str:
    """Lines that somebody edited, each once."""
    found = list(dict.fromkeys(lines_))
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return found[0][:100] + more


def _stays(name: str, what: str, by_hand: str) -> str:
    return f"{name} already defines {what}; left unchanged. To use Holdfast's: {by_hand}"


def _groups(document: Document, event: str) -> list[Any]:
    """What is below an event."""
    hooks = document.find("hooks")
    if hooks is not None and hooks.kind != "{":
        raise document.mistake(hooks.start, "hooks must be an object")
    groups = hooks.child(event) if hooks else None
    if groups is None:
        return []
    if groups.kind != "[":
        raise document.mistake(groups.start, f"hooks.{event} must be a list")
    return list(groups.value)


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


def _is_foreign_server(there: Any) -> bool:
    words = _server(there)
    return bool(words) and not lines.is_holdfast(words)


def _started(there: Any) -> list[str]:
    """The line of a server that is ours."""
    words = _server(there)
    return [shlex.join(words)] if lines.is_server(words) else []


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
