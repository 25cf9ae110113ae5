"""The criteria of a task document: their texts, their commands and their keys."""

from __future__ import annotations

from holdfast.markdown.text import says_something
from holdfast.systems.orchestrator.task_document import commands, wording
from holdfast.systems.orchestrator.task_document.blocks import Blocks
from holdfast.systems.orchestrator.task_document.model import LONGEST_CRITERION, MOST_CRITERIA, Criterion
from holdfast.systems.orchestrator.task_document.sections import Section


class Criteria:
    """Adds criteria to the sections they are of, and knows the newest one, which what is below it belongs to."""

    def __init__(self, markdown: Blocks, path: str, warnings: list[tuple[int, str]]) -> None:
        self._markdown, self._path, self._warnings = markdown, path, warnings
        self._section: Section | None = None
        self._depth, self._line, self._content, self._box = 0, 0, "", ""
        self._before: tuple[list[Criterion], int, int] = ([], 0, 0)

    def take(self, section: Section, content: str, line: int, depth: int, box: str = "") -> None:
        self._section, self._depth, self._line, self._content, self._box = section, depth, line, content, box
        self._before = (list(section.criteria), len(self._markdown.mistakes), len(self._warnings))
        self._read(section)

    def goes_on(self, section: Section, depth: int) -> bool:
        """Whether an item this deep in a list is below the newest criterion."""
        return section is self._section and 0 < self._depth < depth

    def extend(self, content: str) -> None:
        """What is below a criterion is a part of it, with the commands in it."""
        assert self._section is not None
        kept, mistakes, warnings = self._before
        self._section.criteria[:] = kept
        del self._markdown.mistakes[mistakes:], self._warnings[warnings:]
        self._content += f" – {content}"
        self._read(self._section)

    def _read(self, section: Section) -> None:
        line, mistakes = self._line, self._markdown.mistakes
        text = self._markdown.text(self._content, line, "criterion", LONGEST_CRITERION)
        if text is None:
            return
        if not says_something(text):
            mistakes.append((line, "the criterion has no text"))
            return
        found, doubt = False, ""
        for one in commands.commands(self._markdown.within(self._content)):
            program = one.words[0] if one.words else ""
            there = bool(program) and commands.is_there(program, self._path)
            if one.doubt:
                doubt = doubt or (one.doubt if there else "")
                continue
            if one.wrong and (there or one.meant):
                mistakes.append((line, one.wrong))
                return
            if commands.is_built_in(program):
                self._warnings.append((line, f"{program!r} is a part of the shell: the criterion is reported, not run"))
            if not one.wrong and (there or one.meant):
                found = True
                if one.led and not there:
                    said = f"there is no program {program!r} here: the criterion fails until there is one"
                    self._warnings.append((line, said))
                self._add(section, one, runs=there or one.led)
        if doubt:
            self._warnings.append((line, doubt))
        if doubt or not found:
            self._add(section, commands.Command(text, ()), runs=False)

    def _add(self, section: Section, command: commands.Command, *, runs: bool) -> None:
        position = len(section.criteria) + 1
        if position == MOST_CRITERIA + 1:
            self._markdown.mistakes.append((self._line, f"there are more than {MOST_CRITERIA} criteria here"))
        if position > MOST_CRITERIA + 1:
            return
        if command.words and not runs:
            said = f"there is no program {command.words[0]!r} here: the criterion is reported, not run"
            self._warnings.append((self._line, said))
        taken = {other.name for other in section.criteria}
        name = wording.key(command.text, taken, position)
        run, absent = (command.words, ()) if runs else ((), command.words)
        section.criteria.append(Criterion(command.text, name, run, self._box == "x", self._line, absent))
