"""Frozen values: what `dataclasses` gives, without its start-up cost.

Hooks and `holdfast status` start a fresh interpreter on every call, and importing `dataclasses` costs more than
twice a bare start. A field is an annotation of the class; its default, if it has one, is the class attribute.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, Self, assert_never, dataclass_transform
else:  # `typing` costs start-up, and none of this is needed at run time
    Any = object

    class Protocol: ...

    def assert_never(value: object) -> None:
        raise AssertionError(f"unhandled {value!r}")

    def dataclass_transform(**_: object):
        return lambda cls: cls


__all__ = ["Any", "Protocol", "Value", "assert_never"]


_new, _set = object.__new__, object.__setattr__


class UnknownField(TypeError):
    """A value was given what its class has no field for."""


@dataclass_transform(frozen_default=True)
class Value:
    """Base of every value in the core: compared by content, never changed in place."""

    _fields: tuple[str, ...] = ()
    _known: frozenset[str] = frozenset()
    _required: frozenset[str] = frozenset()

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        own = cls.__dict__.get("__annotations__", {})
        cls._required = (cls._required | (own.keys() - cls._known)).difference(cls.__dict__)
        cls._fields = tuple(dict.fromkeys((*cls._fields, *own)))
        cls._known = frozenset(cls._fields)

    def __init__(self, *args: Any, **named: Any) -> None:
        fields = {**dict(zip(self._fields, args)), **named} if args else named  # noqa: B905
        names = fields.keys()
        if len(fields) != len(args) + len(named) or not self._required <= names or not names <= self._known:
            raise self._wrong(args, named)
        _set(self, "__dict__", fields)

    def _wrong(self, args: tuple[object, ...], named: dict[str, object]) -> TypeError:
        """What is wrong with the values that a new one was given."""
        name, given = type(self).__name__, self._fields[: len(args)]
        if len(args) > len(self._fields):
            return TypeError(f"{name} takes {len(self._fields)} values, got {len(args)}")
        if twice := named.keys() & given:
            return TypeError(f"{name}.{', '.join(twice)} is given twice")
        missing = self._required.difference(named, given)
        if missing:
            return TypeError(f"{name} lacks {', '.join(sorted(missing))}")
        return UnknownField(f"{name} has no field {', '.join(named.keys() - self._known)}")

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Self:
        """An instance of fields whose names were compared with those of the class, which become its own. Reading a
        journal makes millions.
        """
        made = _new(cls)
        _set(made, "__dict__", fields)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: use replace({name}=…)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        if not changes.keys() <= self._known:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(changes.keys() - self._known)}")
        return type(self).from_fields({**self.__dict__, **changes})

    def items(self) -> list[tuple[str, Any]]:
        """Every field with its value, in the order of declaration."""
        return [(name, getattr(self, name)) for name in self._fields]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._fields)

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self._fields)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"{type(self).__name__}({shown})"
