"""Following the hooks line by line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from holdfast.surfaces.hooks import quick
from tests.surfaces.hooks.conftest import RUN


class Lines:
    """Which lines of the hooks are reached, and what is raised as far as their `main`, which lets nothing out."""

    def __init__(self) -> None:
        self.reached: set[tuple[str, int]] = set()
        self.raised: list[str] = []
        self._ours: dict[object, str] = {}

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code not in self._ours:
            folder, _, name = code.co_filename.rpartition("/")
            self._ours[code] = name if folder == str(RUN.parent) else ""
        return self._inside if self._ours[code] else None

    def _inside(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "line":
            self.reached.add((self._ours[frame.f_code], frame.f_lineno))
        elif event == "exception" and frame.f_code is quick.main.__code__ and not issubclass(arg[0], quick.BadEvent):
            self.raised.append(f"{arg[0].__name__}: {str(arg[1])[:200]}")
        return self._inside


@contextlib.contextmanager
def traced(lines: Lines) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(lines)
    try:
        yield
    finally:
        sys.settrace(before)
