"""Which files of a project are tests, or what tests are run with: neither is the work that a test shows."""

from __future__ import annotations

import os
import re

from holdfast.core.value import Any

SET_UP = frozenset(
    {"package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "pyproject.toml", "pytest.ini", "setup.cfg",
     "setup.py", "tox.ini", "uv.lock", "poetry.lock", "go.mod", "go.sum", "go.work", "Cargo.toml", "Cargo.lock",
     "tsconfig.json", "Makefile"}
)  # fmt: skip
"""Files that say how tests run: they are neither test nor work."""
_TESTS = frozenset({"test", "tests"})
_SPECS = frozenset({"spec", "specs"})
_BESIDE = frozenset({"fixture", "fixtures", "mock", "mocks"})
_FOLDERS = _TESTS | _SPECS | _BESIDE | {"testing", "testdata", "testutil", "testutils", "snapshots", "e2e", "cypress"}
_SUPPORT = frozenset({"util", "utils", "helper", "helpers", "support", "lib", "data", "common", "setup", "resources"})
_TOOLS = frozenset(
    {"jest", "vitest", "mocha", "mocharc", "karma", "playwright", "cypress", "conftest", "pytest", "tox"}
)
_SPEC_SUFFIXES = (
    ".js",
    ".mjs",
    ".cjs",
    ".jsx",
    ".ts",
    ".mts",
    ".cts",
    ".tsx",
    ".rb",
    ".kt",
    ".scala",
    ".groovy",
    ".lua",
)
_LARGEST = 1 << 20


def is_test_side(name: str) -> bool:
    """Whether a path is of a test, a helper or a fixture, or of the set-up of a test tool, by its name."""
    return is_test(name) or bool({*_words(os.path.splitext(os.path.basename(name))[0])[:1]} & _TOOLS)


def is_test(name: str) -> bool:
    """Whether a path is of a test, or of a helper or fixture beside it.

    Only whole words count: `latest.py`, `spec.py` and `packages/spec-parser` are work.
    """
    *folders, file = name.split("/")
    if any(_is_folder_of_tests(_words(folder)) for folder in folders):
        return "main" not in folders  # `src/main` of Maven and Gradle has only work
    stem, kind = os.path.splitext(file)
    words = _words(stem)
    ends = {*words[:1], *words[-1:]}
    is_spec = len(words) > 1 and kind in _SPEC_SUFFIXES and bool(ends & _SPECS)
    return is_spec or kind in (".snap", ".test", ".bats") or bool(ends & (_TESTS | _BESIDE))


def _is_folder_of_tests(words: list[str]) -> bool:
    if words[-1:] and words[-1] in _FOLDERS:
        return True
    return len(words) > 1 and words[0] in _TESTS and words[-1] in _SUPPORT


def _words(text: str) -> list[str]:
    """`setupTests` and `__mocks__` in words of small letters."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)]


def of_tests(name: str, content: bytes | None) -> str:
    """What a manifest that is no file of tests alone says of how they run; empty where it says nothing."""
    file = os.path.basename(name)
    data = content if content and len(content) <= _LARGEST else b""
    if file == "pyproject.toml":
        return _said(_toml(data).get("tool"), "pytest")
    if file == "package.json":
        from holdfast.plain.plainjson import object_in

        whole = object_in(data) or {}
        return _said(whole, "jest", "vitest", "mocha") + _said(whole.get("scripts"), "test")
    return data.decode("utf-8", "replace") if file == "setup.cfg" else ""


def _said(whole: Any, *names: str) -> str:
    found = {name: whole[name] for name in names if name in whole} if isinstance(whole, dict) else {}
    return repr(found) if found else ""


def _toml(data: bytes) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except ValueError:
        return {}
