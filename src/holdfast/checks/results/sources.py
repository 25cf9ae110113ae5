"""The files of a task, and which tests are in them."""

from __future__ import annotations

import os
import re
from _collections_abc import Callable, Collection

from holdfast.checks.results.model import Case, function_name
from holdfast.machine.place import below, read_regular

_LARGEST = 4 << 20
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_DEFINED = {
    ".py": r"^[ \t]*(?:async[ \t]+)?def[ \t]+{}\b",
    ".go": r"^func[ \t]+{}\(",
    ".rs": r"\bfn[ \t]+{}\b",
}
_RUST_TEST = rb"#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest|wasm_bindgen_test)\b"
_MARKS = (" > ", "::", " ", " › ")


class Sources:
    """A folder with the files that the task wrote, as paths from there; None where nobody can tell, without git."""

    def __init__(
        self, folder: str, written: Collection[str] | None, earlier: Callable[[str], bytes] = lambda _: b""
    ) -> None:
        """`earlier` gives the content that a file had when the task began."""
        self._folder = folder
        self._written = written
        self._earlier = earlier

    @property
    def is_untouched(self) -> bool:
        """Whether the task wrote nothing at all."""
        return self._written is not None and not self._written

    def has(self, file: str) -> bool:
        """Whether the task wrote the file."""
        return self._written is None or file in self._written

    def is_own(self, case: Case) -> bool:
        """Whether the task wrote the test."""
        return self._written is None or bool(self.file_of(case))

    def file_of(self, case: Case) -> str:
        """The file of the task that a test is in; empty when it is in none."""
        if self._written is None or case.file:
            return case.file if self.has(case.file) else ""
        asked = case.titles[-1] if case.titles else case.id
        files = (file for file in self._written if self._is_of(file, case.id) and self.may_have(file, asked))
        return next((file for file in files if self._is_changed(file, asked)), "")

    def is_own_test(self, file: str) -> bool:
        """Whether this is a test file that the task wrote. One of Rust has to gain a test: any file may have some."""
        if not self.has(file):
            return False
        kind = os.path.splitext(file)[1]
        if kind == ".rs":
            count = len(re.findall(_RUST_TEST, self.content(file) or b""))
            return count > len(re.findall(_RUST_TEST, self._earlier(file)))
        if kind == ".go":
            return file.endswith("_test.go")
        if kind in _SCRIPTS:
            return "test" in file.lower() or "spec" in file.lower()
        return os.path.basename(file) not in ("conftest.py", "__init__.py", "setup.py")

    def may_have(self, file: str, name: str) -> bool:
        """Whether a test of this name is in the file."""
        path = name.partition("::")[0]
        if os.path.splitext(path)[1] in (*_DEFINED, *_SCRIPTS) and not f"/{file}".endswith(f"/{path}"):
            return False
        text = (self.content(file) or b"").decode("utf-8", "replace")
        kind = os.path.splitext(file)[1]
        function = function_name(name)
        if kind in _DEFINED:
            function = function.rpartition(".")[2] if kind == ".py" else function
            return re.search(_DEFINED[kind].format(re.escape(function)), text, re.MULTILINE) is not None
        if kind in _SCRIPTS:
            titles = {found[1] for found in re.findall(r"(['\"`])((?:(?!\1)[^\\\n]|\\.)+)\1", text)}
            return any(name == title or name.endswith(tuple(f"{mark}{title}" for mark in _MARKS)) for title in titles)
        return re.search(rf"(?<!\w)(?:{re.escape(name)}|{re.escape(function)})(?!\w)", text) is not None

    def text_of(self, file: str, name: str) -> str:
        """What is in the file for a test: for Rust, where code and tests share files, its function; else all."""
        data = self.content(file) or b""
        return _function(data, function_name(name)) if file.endswith(".rs") else data.decode("utf-8", "replace")

    def why_gone(self, file: str, test: str) -> str:
        """Why a test that was in a file cannot be there now; empty when it may be."""
        if not file or self._written is None:
            return ""
        if self.content(file) is None:
            return f"was deleted: {file} is not there any more"
        return "" if self.may_have(file, test) else f"was deleted: it is no longer in {file}"

    def content(self, file: str) -> bytes | None:
        full = below(self._folder, file)
        return read_regular(full, _LARGEST) if full else None

    def _is_changed(self, file: str, name: str) -> bool:
        """Whether the task wrote the test itself. In a file of Rust it may have written only the code beside it."""
        if not file.endswith(".rs"):
            return True
        return self.text_of(file, name) != _function(self._earlier(file), function_name(name))

    @staticmethod
    def _is_of(file: str, name: str) -> bool:
        """Whether a file can be the one of a test of Go, which is named by its package; of others it can."""
        package, parted, _ = name.rpartition("::")
        if not file.endswith(".go") or not parted:
            return True
        folder = os.path.dirname(file)
        return file.endswith("_test.go") and (not folder or f"/{package}".endswith(f"/{folder}"))


def _function(data: bytes, name: str) -> str:
    """A function of Rust with its attributes, its words one blank apart; empty when it is not there."""
    text = data.decode("utf-8", "replace")
    found = re.search(rf"(?:#\[[^\]\n]*\]\s*)*(?:pub\s+|async\s+)*\bfn\s+{re.escape(name)}\b", text)
    if not found:
        return ""
    depth, end = 0, len(text)
    for brace in re.finditer(r"[{}]", text[found.end() :]):
        depth += 1 if brace[0] == "{" else -1
        if depth <= 0:
            end = found.end() + brace.end()
            break
    return " ".join(text[found.start() : end].split())
