"""JSON as it is written by hand: read where its meaning is beyond doubt, with what was overlooked in it."""

from __future__ import annotations

from holdfast.plain.plainjson import compact, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Mapping
    from typing import Any

LARGEST = 1 << 20
DEEPEST = 100
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_TWO_BYTES = (b"\xff\xfe", b"\xfe\xff")
"""How a text in UTF-16 begins."""
_MARK = "\ufeff"
_DOUBTFUL = (*"{}[]\0", "<<<<<<<", "=======", ">>>>>>>")
"""What is around an object that is not all of it: other values, zeros of a crash, a conflict of git."""
_ENDS = frozenset(",:[]{}\"'/#")


def object_in(data: bytes) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """The object that a text means, and what JSON does not allow in it; None where it is not beyond doubt."""
    try:
        if len(data) > LARGEST:
            return None
        text = data.decode()
        try:
            reader = _Reader(text)
            value = reader.whole()
        except ValueError:
            reader = _Reader(text)
            value = reader.among_prose()
        compact(value).encode()  # half a character is text for Python, and cannot be kept
    except ValueError:
        return None
    return (value, tuple(dict.fromkeys(reader.overlooked))) if isinstance(value, dict) else None


def with_all_keys(data: bytes, document: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """The object with what is under the same key twice, which JSON leaves open; None where no key does."""
    text = data.decode("utf-8", "replace")
    inner = (key for value in document.values() if isinstance(value, dict) for key in value)
    if all(text.count(f'"{key}"') < 2 for key in (*document, *inner)):
        return None
    read = object_in(data)
    return read if read and any(one.endswith(" twice") for one in read[1]) else None


def fault(data: bytes) -> str:
    """Where a text stops to be a JSON object, and what is wrong there."""
    from json import JSONDecodeError, loads

    def refuse(name: str) -> object:
        raise ValueError(f"{name} is no JSON: write null, or leave it out")

    if data[:2] in _TWO_BYTES:
        return "it is UTF-16: write it in UTF-8"
    try:
        found = loads(data.decode("utf-8-sig"), parse_constant=refuse)
    except UnicodeDecodeError as wrong:
        return f"byte {wrong.start + 1} is no UTF-8"
    except JSONDecodeError as wrong:
        return f"line {wrong.lineno}, column {wrong.colno}: {wrong.msg[:1].lower()}{wrong.msg[1:]}"
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as wrong:
        return str(wrong)[:200]
    return "it cannot be kept" if isinstance(found, dict) else "it is no object in braces"


class _Reader:
    def __init__(self, text: str) -> None:
        self.overlooked: list[str] = ["a byte order mark"] if text.startswith(_MARK) else []
        self._text = self._unfenced(text.removeprefix(_MARK))
        self._at = 0

    def _unfenced(self, text: str) -> str:
        lines = text.strip().split("\n")
        if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
            self.overlooked.append("a code fence")
            return "\n".join(lines[1:-1])
        return text

    def whole(self) -> Any:
        value = self._value(0)
        if self._next():
            raise ValueError("more follows")
        return value

    def among_prose(self) -> Any:
        """The only object of a text that says something before or after it."""
        self._at = self._text.index("{")
        before = self._text[: self._at]
        value = self._value(0)
        around = before + self._text[self._at :]
        if not value or any(mark in around for mark in _DOUBTFUL):
            raise ValueError("it is not the only one, or a part of something else")
        self.overlooked.append("text around the object")
        return value

    def _next(self) -> str:
        """The next character that means something; empty at the end."""
        text = self._text
        while self._at < len(text):
            if text[self._at].isspace():
                self._at += 1
            elif text.startswith("/*", self._at):
                self._comment(text.index("*/", self._at) + 2)
            elif text[self._at] == "#" or text.startswith("//", self._at):
                end = text.find("\n", self._at)
                self._comment(len(text) if end < 0 else end)
            else:
                return text[self._at]
        return ""

    def _comment(self, end: int) -> None:
        self.overlooked.append("a comment")
        self._at = end

    def _take(self, mark: str) -> bool:
        found = self._next() == mark
        self._at += found
        return found

    def _value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
        if self._take("{"):
            return self._object(self._items("}", lambda: self._pair(depth)))
        if self._take("["):
            return self._items("]", lambda: self._value(depth + 1))
        if self._next() in ('"', "'"):
            return self._string()
        word = self._word()
        if word in _WORDS:
            if word[0].isupper():
                self.overlooked.append(f"the word {word}")
            return _WORDS[word]
        return parse(word.encode())

    def _items(self, end: str, item: Any) -> list[Any]:
        found: list[Any] = []
        while not self._take(end):
            found.append(item())
            if not self._take(","):
                if not self._take(end):
                    raise ValueError("an item does not end")
                break
            if self._next() == end:
                self.overlooked.append("a comma at the end")
        return found

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Of what is under one key twice, objects and lists are joined; of other values the last one counts."""
        found: dict[str, Any] = {}
        for key, value in pairs:
            known = found.get(key)
            if key in found:
                self.overlooked.append(f"the key {key[:80]!r} twice")
            if isinstance(known, dict) and isinstance(value, dict):
                value = {**known, **value}
            elif isinstance(known, list) and isinstance(value, list):
                value = [*known, *(one for one in value if one not in known)]
            found[key] = value
        return found

    def _pair(self, depth: int) -> tuple[str, Any]:
        if self._next() in ('"', "'"):
            key = self._string()
        else:
            key = self._word()
            if not key.replace("-", "_").isidentifier():
                raise ValueError("no key")
            self.overlooked.append("a key without quotes")
        if not self._take(":"):
            raise ValueError("a key without a value")
        return key, self._value(depth + 1)

    def _word(self) -> str:
        self._next()
        begun = self._at
        while self._at < len(self._text) and not (self._text[self._at].isspace() or self._text[self._at] in _ENDS):
            self._at += 1
        return self._text[begun : self._at]

    def _string(self) -> str:
        quote, out = self._next(), ['"']
        self._at += 1
        while (c := self._text[self._at : self._at + 1]) != quote:
            if not c:
                raise ValueError("a text does not end")
            if c == "\\":
                c = self._text[self._at : self._at + 2]
                self._at += 1
                c = "'" if c == "\\'" else c
            elif c == '"':
                c = '\\"'
            elif c == "\n":
                self.overlooked.append("a line break in a text")
                c = "\\n"
            out.append(c)
            self._at += 1
        self._at += 1
        if quote == "'":
            self.overlooked.append("single quotes")
        text: str = parse("".join((*out, '"')).encode())
        return text
