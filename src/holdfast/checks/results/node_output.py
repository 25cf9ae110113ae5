"""What node prints when a file cannot be loaded before any test tool has a say, as under mocha."""

from __future__ import annotations

import os
import re

from holdfast.checks.results.gathered import Gathered
from holdfast.checks.results.model import Results


class NodeOutput:
    """Follows the lines, and notes the files of the project that the first error names."""

    def __init__(self, folder: str) -> None:
        tops = "|".join(re.escape(top) for top in {folder, os.path.realpath(folder)})
        self._file = re.compile(rf"(?:{tops})/([^\s:()'\"]+\.[cm]?[jt]sx?)\b")
        self._error = re.compile(r"(?:^|\s)(\w*Error(?: \[\w+\])?: .*)$")
        self._files: dict[str, None] = {}
        self._reason = ""

    def take(self, line: str) -> None:
        for file in self._file.findall(line):
            if "node_modules/" not in file and len(self._files) < 100:
                self._files[file] = None
        if not self._reason and (error := self._error.search(line)):
            self._reason = error[1]

    def results(self) -> Results | None:
        if not self._reason:
            return None
        gathered = Gathered()
        for file in self._files:
            gathered.broke(file, self._reason)
        return gathered.results()
