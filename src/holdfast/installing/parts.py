"""What Holdfast puts into a file of a host: each part knows how to get in, how to get out, and whether it is there."""

from __future__ import annotations

from holdfast.installing import lines, paragraph, tomltext
from holdfast.installing.jsontext import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    """One value of a JSON file that is known by its place: a server, or the status line."""

    nothing = "{}\n"

    def __init__(self, about: str, path: tuple[str, ...], value: dict[str, Any], *, comments: bool = False) -> None:
        self.about, self.path, self.value, self.comments = about, path, value, comments

    def put(self, text: str, name: str, said: list[str]) -> str:
        document = Document(text, name, comments=self.comments)
        there = document.value(*self.path)
        if there is None and document.find(*self.path) is None:
            return document.put(self.path, self.value).text
        for key, value in self.value.items():
            if not isinstance(there, dict):
                return document.put(self.path, self.value).text
            if key not in there or (there[key] != value and key in ("command", "args")):
                document = document.put((*self.path, key), value)
        return document.text

    def take(self, text: str, name: str) -> str:
        return Document(text, name, comments=self.comments).take(self.path).text

    def commands(self, text: str, name: str) -> list[str]:
        there = Document(text, name, comments=self.comments).value(*self.path)
        if not isinstance(there, dict):
            return []
        command, args = there.get("command"), there.get("args", [])
        words = command if isinstance(command, list) else [command, *(args if isinstance(args, list) else [])]
        return [lines.joined(words)] if words and all(isinstance(word, str) for word in words) else []


class StatusLine(Entry):
    """A host has one status line: somebody's own stays, and they are told how to have both."""

    def __init__(self, line: str) -> None:
        super().__init__("status line", ("statusLine",), {"type": "command", "command": line})

    def put(self, text: str, name: str, said: list[str]) -> str:
        there = Document(text, name).value(*self.path)
        command = there.get("command") if isinstance(there, dict) else None
        if there is not None and not lines.is_status(command):
            said.append(f"{name} has a status line of its own, which stays; ours is: holdfast statusline")
            return text
        return text if lines.is_portable(command) else super().put(text, name, said)

    def take(self, text: str, name: str) -> str:
        return super().take(text, name) if self.commands(text, name) else text

    def commands(self, text: str, name: str) -> list[str]:
        command = _object(Document(text, name).value(*self.path)).get("command")
        return [str(command)] if lines.is_status(command) else []


class Table(Part):
    about = "MCP server"

    def __init__(self, path: tuple[str, ...], values: dict[str, str | list[str]]) -> None:
        self.path, self.values = path, values

    def put(self, text: str, name: str, said: list[str]) -> str:
        return tomltext.put(text, name, self.path, self.values)

    def take(self, text: str, name: str) -> str:
        return tomltext.take(text, name, self.path)

    def commands(self, text: str, name: str) -> list[str]:
        found: Any = tomltext.read(text, name)
        for key in self.path:
            found = _object(found).get(key)
        command, args = _object(found).get("command"), _object(found).get("args", [])
        return [lines.joined([command, *args])] if isinstance(command, str) and isinstance(args, list) else []


class Paragraph(Part):
    about = "paragraph"

    def __init__(self, text: str) -> None:
        self.text = text

    def put(self, text: str, name: str, said: list[str]) -> str:
        return paragraph.put(text, self.text)

    def take(self, text: str, name: str) -> str:
        return paragraph.take(text)


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


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
