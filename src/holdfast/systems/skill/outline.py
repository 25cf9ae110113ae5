"""The outline of a feature file: its title, what is a task in it, what must hold, and what was left out."""

from __future__ import annotations

from _collections_abc import Iterator

from holdfast.core.value import Value
from holdfast.markdown.text import BAD_BOX, says_something
from holdfast.plain.terminal import CONTROLS
from holdfast.systems.skill.blocks import LONGEST_DESCRIPTION, LONGEST_TEXT, Blocks
from holdfast.systems.skill.boxes import Box
from holdfast.systems.skill.headings import (
    ASIDE,
    TASKS,
    Section,
    Title,
    from_name,
    in_front_matter,
    is_list,
    is_statement,
)

_UNTESTED = r"(?i)\s*\(no tests\)$"
_NO_TEST = (
    r"(?:no|without(?: any)?|w/o|skip|needs? no|no need for|(?:does not|doesn't|do not|don't) need)"
    r"[\s_-]*(?:unit[\s-]*)?test(?:s|ing)?"
)
_ASKED = r"(?:\s(?:needed|required|necessary|here))?"
_NEARLY_UNTESTED = (
    rf"(?i)[(\[{{<]\s*(?:{_NO_TEST}{_ASKED}|untested|not tested|tests?\s*[:=]\s*(?:no|none|false|skip))\s*[)\]}}>]"
    rf"|(?:\s[-–—/|]+\s*|[,;:]\s*){_NO_TEST}{_ASKED}\W*$|[#@](?:no|skip)[_-]?tests?\b"
)
_HIDDEN = {
    "table": "boxes in a table count below a row of headings and a line of dashes",
    "code": "boxes and headings in a code block are text",
    "comment": "boxes in a comment are text, and another comment begins in this one: is its '-->' missing?",
    "quotation": "boxes in a quotation are text",
    "html": "boxes within HTML are not read: leave a blank line before the first one",
}


class Task(Value):
    """A check box that is a task. `line` counts from 1; one that is not `tested` has no test phases."""

    text: str
    done: bool
    line: int
    tested: bool = True
    description: str = ""


class Remark(Value):
    """What was left out, or read in a way that its author may not expect."""

    line: int
    code: str
    text: str


class Outline(Blocks):
    """What a file says as a whole; `path` gives a title where nothing else does."""

    def __init__(self, front: list[str], text: str, path: str) -> None:
        super().__init__(text)
        self._path = path
        given, unread = in_front_matter(front)
        self.remarks = [Remark(line, "front_matter", text) for line, text in unread]
        for line, lacking, after in self.without_end:
            said = f"{lacking}: the file is read again from line {after} on" if after else lacking
            self.remarks.append(Remark(line, "no_end", said))
        self._entitle(given)
        self.headings: tuple[str, ...] = ()
        self.is_empty = False  # nothing in it is a task, nor was meant to be one
        self.tasks = self._chosen()
        self.remarks.sort(key=lambda one: one.line)

    def _entitle(self, given: str) -> None:
        if not self.title.text and given:
            text = self.kept(given, 1, "title", LONGEST_TEXT)
            self.title = Title(text or "", "front matter")
        if not self.title.text and not self.mistakes:
            self.title = Title(from_name(self._path), "file name")
            said = f"there is no title, so the name of the file is taken: {self.title.text}"
            self.remarks.append(Remark(1, "title", said))

    def _chosen(self) -> tuple[Task, ...]:
        """The tasks: boxes below headings of tasks; where none has any, all that are no criteria and not set aside."""
        boxes = self._without_statements()
        named = [box for box in boxes if box.section.kind == TASKS]
        if named and self.titled and self.titled.name:
            named = [box for box in boxes if box.section.kind == TASKS or box.section is self.titled]
        if any(box.is_numbered_within() for box in named):
            named = [box for box in boxes if box in named or (not box.section.kind and box.is_numbered_within())]
        roots = [one for one in self.sections if one.kind == TASKS and one.root is one]
        empty = [one for one in roots if not one.boxes and one.others]
        taken = named or [box for box in boxes if box.section.kind != ASIDE]
        lists = [one for one in empty if is_list(one.name)]
        if not named and (lists or not taken):
            self._no_tasks(lists, roots)
            return ()
        sections = [box.section for box in taken]
        self.headings = tuple(dict.fromkeys(section.name for section in sections if section.name))
        if not named:
            below = ", ".join(repr(name[:60]) for name in self.headings)
            said = f"no heading names tasks, so every box{f' below {below}' if below else ''} is one"
            self.remarks.append(Remark(taken[0].line, "no_heading", said))
        self._left_out(boxes, taken, empty, TASKS if named else "")
        tasks = tuple(self._told_apart(taken))
        if not tasks and not self.mistakes:
            self._no_tasks([], roots)
        return tasks

    def _no_tasks(self, lists: list[Section], roots: list[Section]) -> None:
        self.is_empty = True
        for one in lists:
            self.mistakes.append((one.line, "there is no check box in this section: write '- [ ] …'"))
        if not lists:
            line = roots[0].line if roots else 1
            self.mistakes.append((line, "there is no task: write '- [ ] …' below '## Tasks'"))

    def _without_statements(self) -> list[Box]:
        """The boxes but those in which the author of an issue agrees to something, as forms for issues ask for."""
        said = [box for box in self.boxes if box.section.kind != ASIDE and is_statement(self.plain(box.content[:400]))]
        for section in dict.fromkeys(box.section for box in said):
            first, *others = [box for box in said if box.section is section]
            count = f"{len(others) + 1} boxes are statements" if others else "the box is a statement"
            self.remarks.append(Remark(first.line, "statement", f"{count} of the issue's author, so no task"))
        return [box for box in self.boxes if box not in said]

    def _left_out(self, boxes: list[Box], taken: list[Box], empty: list[Section], kind: str) -> None:
        say = self.remarks.append
        for one in empty:
            say(
                Remark(
                    one.line, "no_box", f"nothing below {one.name[:60]!r} has a check box, so nothing there is a task"
                )
            )
        kept = {id(box) for box in taken}
        others: dict[int, list[Box]] = {}
        for box in boxes:
            if id(box) not in kept:
                others.setdefault(id(box.section.root if box.section.kind == ASIDE else box.section), []).append(box)
        for left in others.values():
            where = f"below {left[0].section.name[:60]!r}" if left[0].section.name else "before the first heading"
            count = f"{len(left)} {'boxes' if len(left) > 1 else 'box'}"
            why = "set aside" if left[0].section.kind == ASIDE else "no heading of tasks"
            say(Remark(left[0].line, "section", f"{count} {where}: {why}, so no task"))
        lists = {box.listed for box in taken} | self.groups
        for line, section, listed in self.unboxed:
            if (section.kind == kind == TASKS and section.root.boxes) or (section.kind == kind and listed in lists):
                say(Remark(line, "no_box", "there is no check box, so this is no task"))
        for line, code in self.hidden:
            say(Remark(line, code, _HIDDEN[code]))
        for line, section in self.loose:
            if section.kind == kind == TASKS:
                say(Remark(line, "text", "this text belongs to no task: indent it below the one it is about"))

    def _told_apart(self, taken: list[Box]) -> Iterator[Task]:
        """The tasks with their texts; those with the same words each say first which heading or group they are of."""
        found = [(box, task) for box in taken if (task := self._task(box)) is not None]
        alike: dict[str, list[tuple[str, ...]]] = {}
        for box, task in found:
            alike.setdefault(task.text, []).append(box.groups)
        first: dict[str, int] = {}
        for box, task in found:
            group = _difference(box.groups, alike[task.text])
            name = f"{group[:100].rstrip(':')}: {task.text}" if group else task.text
            before = first.setdefault(name, task.line)
            if before != task.line:
                said = f"the task of line {before} has the same text and headings: {task.text[:60]!r}"
                self.mistakes.append((task.line, said))
            yield task.replace(text=name)

    def _task(self, box: Box) -> Task | None:
        import re

        if not box.done and re.fullmatch(r"~~(?:(?!~~).)+~~", box.content.strip(), re.DOTALL):
            self.remarks.append(Remark(box.line, "struck_out", "the task is struck out, so it is none"))
            return None
        if box.bad:
            self.mistakes.append((box.line, BAD_BOX))
            return None
        whole = self.text(box.content, box.line, "task", LONGEST_TEXT)
        if whole is None:
            return None
        text = re.sub(_UNTESTED, "", whole)
        if not says_something(text):
            self.mistakes.append((box.line, "the task has no text"))
            return None
        if text == whole:
            self._nearly_untested(box, text)
        if box.is_underway:
            said = f"'[{box.mark}]' is read as '[ ]': the task is open; if it was dropped, strike it out: ~~…~~"
            self.remarks.append(Remark(box.line, "box", said))
        if box.optional:
            self.remarks.append(Remark(box.line, "box", "'[ ]*' is read as '[ ]': the task is not optional"))
        if box.tight or box.joined:
            lack = "blank between the bullet and this box" if box.tight else "bullet before this box"
            said = f"there is no {lack}: it is read as a task of its own"
            self.remarks.append(Remark(box.line, "box", said))
        if box.open_below:
            said = f"the task of line {box.line} is ticked, and a box below it is open"
            self.remarks.append(Remark(box.open_below, "open_below", said))
        return Task(text, box.done, box.line, text == whole, self._description(box))

    def _nearly_untested(self, box: Box, text: str) -> None:
        """Names what looks like the mark of an untested task and is none: the first of a task."""
        import re

        for said in (text, *box.description.split("\n")):
            if re.search(r"(?i)\(no tests\)", said):
                why = "'(no tests)' counts only at the end of a task's text"
            elif found := re.search(_NEARLY_UNTESTED, said):
                why = f"{found[0].strip()!r} does not count: a task without test phases ends with '(no tests)'"
            else:
                continue
            self.remarks.append(Remark(box.line, "no_tests", why))
            return

    def _description(self, box: Box) -> str:
        import re

        said = box.description
        if re.search(CONTROLS, said.replace("\n", " ")):
            self.mistakes.append((box.line, "the description of the task has control characters in it"))
            return ""
        if len(said) > LONGEST_DESCRIPTION:
            cut = f"only the first {LONGEST_DESCRIPTION} characters below the task are its description"
            self.remarks.append(Remark(box.line, "cut", cut))
        return said[:LONGEST_DESCRIPTION]


def _difference(own: tuple[str, ...], every: list[tuple[str, ...]]) -> str:
    """What tells a task from others with its words: the nearest heading that differs for each, else all that differ."""
    if len(every) == 1:
        return ""
    for depth in range(max(map(len, every))):
        names = [groups[depth] if depth < len(groups) else "" for groups in every]
        if len(set(names)) == len(names):
            return own[depth] if depth < len(own) else ""
    return ": ".join(name for name in reversed(own) if not all(name in groups for groups in every))
