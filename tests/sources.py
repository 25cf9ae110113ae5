"""The code of the package, read and parsed once for all tests of a process that look through it."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import holdfast

PACKAGE = Path(holdfast.__file__).parent


@functools.cache
def texts() -> dict[Path, str]:
    return {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def nodes() -> dict[Path, list[ast.AST]]:
    """Every node of every module."""
    return {path: list(ast.walk(ast.parse(text))) for path, text in texts().items()}
