"""JSON without the `json` package, whose decoder imports `re`: two thirds of a bare interpreter start.

The C functions behind it do the same work. Where an interpreter has none, the package itself is used.
"""

from __future__ import annotations

from holdfast.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable
    from typing import Any

_SPACE = " \t\n\r"
BOM_UTF8 = b"\xef\xbb\xbf"
"""What some editors write before a text; it says nothing."""

try:
    from _json import encode_basestring, make_encoder, make_scanner
except ImportError:
    import json

    def scan(text: str, start: int = 0) -> tuple[Any, int]:
        """A value and where it ends; raises ValueError."""
        return json.JSONDecoder().raw_decode(text, start)

    def _encoder(item: str, key: str) -> Callable[[object], str]:
        return json.JSONEncoder(ensure_ascii=False, separators=(item, key), allow_nan=False).encode

    quote: Callable[[str], str] = json.encoder.encode_basestring
else:
    quote = encode_basestring

    class _Rules:
        """What the scanner asks of the decoder it works for."""

        strict = True
        object_hook = None
        object_pairs_hook = None
        parse_int = int

        @staticmethod
        def parse_float(digits: str) -> float:
            number = float(digits)
            if number - number != 0:
                raise ValueError(f"{digits[:20]} is larger than a number can be")
            return number

        @staticmethod
        def parse_constant(name: str) -> object:
            raise ValueError(f"{name} is not JSON")

    _scan = make_scanner(_Rules())  # type: ignore[arg-type]

    def scan(text: str, start: int = 0) -> tuple[Any, int]:
        """A value and where it ends; raises ValueError."""
        try:
            found: tuple[Any, int] = _scan(text, start)
        except (StopIteration, SystemError):  # it can only say what is wrong once the package is imported
            from json import JSONDecoder

            found = JSONDecoder().raw_decode(text, start)
        return found

    def _refuse(value: object) -> object:
        raise TypeError(f"{type(value).__name__} is not JSON")

    def _encoder(item: str, key: str) -> Callable[[object], str]:
        encode = make_encoder(None, _refuse, encode_basestring, None, key, item, False, False, False)

        def written(value: object) -> str:
            return quote(value) if isinstance(value, str) else "".join(encode(value, 0))

        return written


compact: Callable[[object], str] = _encoder(",", ":")
"""A value as short as it can be: for journals."""
spaced: Callable[[object], str] = _encoder(", ", ": ")
"""A value on one line that people read."""


def parse(data: bytes | str) -> Any:
    """JSON from outside. Raises ValueError, also for nesting that is too deep and bytes that are not UTF-8."""
    try:
        text = data.decode() if isinstance(data, bytes) else data
        start = len(text) - len(text.lstrip(_SPACE))
        value, end = scan(text, start)
    except (RecursionError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from None
    if text[end:].strip(_SPACE):
        raise ValueError(f"something is behind the value, at character {end}")
    return value


def object_in(data: bytes | None) -> dict[str, Any] | None:
    """The JSON object that these bytes are; None when they are none."""
    try:
        value = parse(data or b"")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def repeated(data: bytes) -> list[str]:
    """The keys that an object in this JSON has twice: readers differ in which of the two they take."""
    import json

    found: list[str] = []

    def pairs(listed: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in listed]
        found.extend(name for number, name in enumerate(names) if name in names[:number])
        return dict(listed)

    try:
        json.loads(data, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return []
    return list(dict.fromkeys(found))


def require(value: object, what: str) -> None:
    """Refuses what a document could not hold: other types, numbers without a value, text that is not UTF-8."""
    try:
        compact(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        said = f"the {what} cannot be written as JSON: {error}"
        raise UsageError("not_json", said, remedy="use text, numbers, true, false, null, lists and objects") from None
