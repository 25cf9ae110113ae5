"""JSON that somebody else wrote, edited as text: order, indent, line ends and, where a host allows them, comments stay.

A document is read into nodes that know where they are. Every edit cuts or inserts text and reads the result again, so
what comes out is JSON for certain.
"""

from __future__ import annotations

import json
from _collections_abc import Iterator

from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.plain.plainjson import scan

DEEPEST = 200
_SPACE = " \t\n\r"
_CLOSERS = {"{": "}", "[": "]"}


class Node:
    """A value and its place. `children` are those of an object or array, `keys` what an object calls them."""

    __slots__ = ("children", "commas", "end", "keys", "kind", "start", "starts", "value")

    def __init__(self, kind: str, start: int) -> None:
        self.kind, self.start, self.end = kind, start, start
        self.value: Any = None
        self.children: list[Node] = []
        self.keys: list[str] = []
        self.starts: list[int] = []
        """Where each child begins, its key included."""
        self.commas: list[int] = []

    def child(self, key: str | int) -> Node | None:
        """The value of a key, the last one where it is there twice, as every reader has it; or the item of a number."""
        if isinstance(key, int):
            return self.children[key] if self.kind == "[" and key < len(self.children) else None
        if self.kind != "{" or key not in self.keys:
            return None
        return self.children[len(self.keys) - 1 - self.keys[::-1].index(key)]


class Document:
    """A text with its nodes. Every edit gives another document."""

    def __init__(self, text: str, name: str, *, comments: bool = False) -> None:
        self.text, self.name, self.comments = text, name, comments
        self.root = _Reader(self).whole()
        self._eol = "\r\n" if "\r\n" in text else "\n"

    def find(self, *path: str | int) -> Node | None:
        node: Node | None = self.root
        for key in path:
            node = node.child(key) if node else None
        return node

    def value(self, *path: str | int) -> Any:
        node = self.find(*path)
        return node.value if node else None

    def put(self, path: tuple[str | int, ...], value: object) -> Document:
        """The value at a path, in place of what is there; objects on the way are made where they are missing."""
        node = self.root
        for at, key in enumerate(path):
            kind = "[" if isinstance(key, int) else "{"
            if node.kind != kind:
                where = ".".join(map(str, path[:at])) or "the file"
                raise self.mistake(node.start, f"{where} must be {'a list' if kind == '[' else 'an object'}")
            there = node.child(key)
            if there is None:
                for inner in reversed(path[at + 1 :]):
                    value = {inner: value}
                return self._inserted(node, str(key), value)
            node = there
        is_inline = "\n" not in self.text.strip(_SPACE)
        shown = self._shown(value, self._indent_at(node.start), inline=is_inline)
        return self._edited(node.start, node.end, shown)

    def append(self, path: tuple[str | int, ...], value: object) -> Document:
        """One more item at the end of the list at a path, which is made where it is missing."""
        node = self.find(*path)
        if node is None:
            return self.put(path, [value])
        if node.kind != "[":
            raise self.mistake(node.start, f"{'.'.join(map(str, path))} must be a list")
        return self._inserted(node, None, value)

    def take(self, path: tuple[str | int, ...]) -> Document:
        """Without the value at a path, and without what held nothing else."""
        around = self.find(*path[:-1])
        node = self.find(*path)
        if around is None or node is None:
            return self
        if len(around.children) == 1 and len(path) > 1:
            return self.take(path[:-1])
        return self._removed(around, around.children.index(node))

    def mistake(self, at: int, sentence: str) -> UsageError:
        return broken(self.name, self.text.count("\n", 0, at) + 1, sentence)

    def _edited(self, start: int, end: int, text: str) -> Document:
        return Document(self.text[:start] + text + self.text[end:], self.name, comments=self.comments)

    def _inserted(self, around: Node, key: str | None, value: object) -> Document:
        last = around.end - 1
        before = self._indent_at(around.start)
        if not around.children:
            inside = self.text[around.start + 1 : last]
            indent = before + self._unit()
            kept = inside.rstrip(_SPACE)
            element = self._element(key, value, indent, inline=False)
            return self._edited(around.start + 1, last, f"{kept}{self._eol}{indent}{element}{self._eol}{before}")
        end, first = around.children[-1].end, around.starts[0]
        is_trailed = len(around.commas) == len(around.children)
        after, comma = (around.commas[-1] + 1, "") if is_trailed else (end, ",")
        closing = "," if is_trailed else ""
        if "\n" not in self.text[around.start : first]:
            gap = "" if self._is_dense() else " "
            return self._edited(after, after, f"{comma}{gap}{self._element(key, value, '', inline=True)}{closing}")
        indent = self._indent_at(first)
        at = after + len(self.text[after:last].rstrip(_SPACE))
        element = self._element(key, value, indent, inline=False)
        return self._edited(after, at, f"{comma}{self.text[after:at]}{self._eol}{indent}{element}{closing}")

    def _removed(self, around: Node, number: int) -> Document:
        start, end = around.starts[number], around.children[number].end
        comma = around.commas[number] if number < len(around.commas) else -1
        if number + 1 < len(around.children):
            end = comma + 1
            end += len(self.text[end:]) - len(self.text[end:].lstrip(_SPACE))
            return self._edited(start, end, "")
        is_trailed = comma >= 0
        if is_trailed:
            end = comma + 1
        if number:
            before = around.commas[number - 1]
            kept = self.text[before + 1 : start].rstrip(_SPACE)
            return self._edited(before + is_trailed, end, kept)
        kept = self.text[around.start + 1 : start] + self.text[end : around.end - 1]
        return self._edited(around.start + 1, around.end - 1, kept if kept.strip(_SPACE) else "")

    def _element(self, key: str | None, value: object, indent: str, *, inline: bool) -> str:
        shown = self._shown(value, indent, inline=inline)
        if key is None:
            return shown
        gap = "" if inline and self._is_dense() else " "
        return f"{_dumped(key)}:{gap}{shown}"

    def _shown(self, value: object, indent: str, *, inline: bool) -> str:
        if inline or not isinstance(value, dict | list):
            return _dumped(value, dense=self._is_dense())
        return _dumped(value, indent=self._unit()).replace("\n", self._eol + indent)

    def _is_dense(self) -> bool:
        return "\n" not in self.text.strip(_SPACE) and ": " not in self.text and ":" in self.text

    def _indent_at(self, at: int) -> str:
        """The blanks that the line of a position begins with."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _unit(self) -> str:
        """What the file indents by: as its first child does."""
        if self.root.starts:
            indent = self._indent_at(self.root.starts[0])
            if indent:
                return indent
        return "  "


class _Reader:
    def __init__(self, document: Document) -> None:
        self._document, self._text, self._at = document, document.text, 0

    def whole(self) -> Node:
        self._skip()
        node = self._node(0)
        self._skip()
        if self._at < len(self._text):
            raise self._document.mistake(self._at, "there is more text after the end of the JSON")
        return node

    def _node(self, depth: int) -> Node:
        opener = self._text[self._at : self._at + 1]
        if depth > DEEPEST:
            raise self._document.mistake(self._at, "the nesting is too deep")
        node = Node(opener, self._at)
        if opener in _CLOSERS:
            self._at += 1
            node.value = {} if opener == "{" else []
            for _ in self._children(node):
                self._child(node, depth)
        else:
            try:
                node.value, self._at = scan(self._text, self._at)
            except (ValueError, RecursionError):
                raise self._document.mistake(self._at, "invalid JSON") from None
        node.end = self._at
        return node

    def _children(self, node: Node) -> Iterator[None]:
        """Once for each child, with the reader before it; afterwards it is behind the closing bracket."""
        closer = _CLOSERS[node.kind]
        while True:
            self._skip()
            found = self._text[self._at : self._at + 1]
            is_due = len(node.commas) == len(node.children)
            if found == closer and (not is_due or not node.children or self._document.comments):
                self._at += 1
                return
            if not found:
                raise self._document.mistake(node.start, f"unclosed {node.kind}")
            if is_due:
                yield
            elif found == ",":
                node.commas.append(self._at)
                self._at += 1
            else:
                raise self._document.mistake(self._at, "missing comma")

    def _child(self, node: Node, depth: int) -> None:
        start = self._at
        if node.kind == "{":
            key = self._node(depth + 1)
            if not isinstance(key.value, str):
                raise self._document.mistake(start, "a key must be a string in double quotes")
            self._skip()
            if self._text[self._at : self._at + 1] != ":":
                raise self._document.mistake(self._at, f"missing : after {key.value[:40]!r}")
            self._at += 1
            self._skip()
            node.keys.append(key.value)
        child = self._node(depth + 1)
        node.starts.append(start)
        node.children.append(child)
        if node.kind == "{":
            node.value[node.keys[-1]] = child.value
        else:
            node.value.append(child.value)

    def _skip(self) -> None:
        """Past blanks, and past comments where there may be some."""
        text = self._text
        while self._at < len(text):
            if text[self._at] in _SPACE:
                self._at += 1
            elif self._document.comments and text.startswith("//", self._at):
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif self._document.comments and text.startswith("/*", self._at):
                end = text.find("*/", self._at + 2)
                if end < 0:
                    raise self._document.mistake(self._at, "unclosed comment")
                self._at = end + 2
            else:
                return


def broken(name: str, line: int, sentence: str) -> UsageError:
    """A file of a host that cannot be understood: nothing is written, neither there nor elsewhere."""
    said = f"{name}:{line}: {sentence}; nothing was changed"
    facts = {"path": name, "line": line}
    return UsageError("broken_file", said, remedy=f"fix {name}, then the same command again", facts=facts)


def _dumped(value: object, indent: str | None = None, *, dense: bool = False) -> str:
    separators = (",", ":") if dense and indent is None else None
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
