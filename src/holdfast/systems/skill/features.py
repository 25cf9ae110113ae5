"""Feature files: the markdown that describes a piece of work, its tasks as check boxes.

A parser of markdown says what is a task: a box in a code fence, a comment or a quotation is text like any other. The
file belongs to its author. The one thing ever written to it is the character between the brackets of a finished task.
"""

from __future__ import annotations

import os
from _collections_abc import Iterable, Sequence

from holdfast.core.value import Value
from holdfast.errors import NotFound, UsageError
from holdfast.markdown import feature_file
from holdfast.markdown.text import BAD_BOX, BOX, LIKE_A_BOX, Markdown, line_of, mistaken, says_something
from holdfast.plain.terminal import CONTROLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

_LONGEST_TEXT = 1000
_UNTESTED = r"\s*\(no tests\)$"
_SECTIONS = (("tasks", r"(?:implementation )?tasks?"), ("criteria", r"acceptance(?: criteri(?:a|on))?"))
_REMEDY = "mend them: '# Feature: Login', '## Tasks', '- [ ] Add the form', a line each, would do (docs/how-to/dev.md)"


class Task(Value):
    """A check box of the Tasks section. `line` counts from 1; one that is not `tested` has no test phases."""

    text: str
    done: bool
    line: int
    tested: bool = True


class Feature(Value):
    """What a feature file says, in plain text. `path` is how the file is written down: relative, with `/`."""

    path: str
    title: str
    summary: str
    tasks: tuple[Task, ...]
    criteria: tuple[str, ...]


def read(full: str, path: str) -> Feature:
    """The feature in the file `full`, which messages call `path`. One error lists all mistakes of the file.

    At most `feature_file.LARGEST` bytes of UTF-8, with or without a byte order mark, with any line ends. Links are not
    followed.
    """
    import re

    if re.search(CONTROLS, path):
        said = f"the file name {path!r} has characters that cannot be written down"
        facts = {"path": ascii(path)}
        raise UsageError("bad_feature", said, remedy="rename the file with letters, digits and dashes", facts=facts)
    outline = _Outline(feature_file.load(full, path).text(path))
    if mistakes := sorted((*outline.mistakes, *outline.missing()), key=lambda mistake: mistake[0]):
        raise mistaken("bad_feature", "feature file", path, mistakes, _REMEDY)
    criteria = tuple(outline.criteria or outline.prose)
    return Feature(path, outline.title or "", " ".join(filter(None, outline.summary)), tuple(outline.tasks), criteria)


def tick(full: str, text: str, before: int, *, done: bool = True) -> bool:
    """Tick the box of the task with this text, of several the one nearest to the line `before`; whether it is ticked.

    `done` False takes the tick back. Every other byte stays. False, and nothing written: there is no such task any
    more, the file is gone, has become a link or something that is not a feature file, or others write to it all the
    time. A write that fails is an error.
    """
    for _ in range(5):
        try:
            file = feature_file.load(full, full)
            tasks = [task for task in _Outline(file.text(full)).tasks if task.text == text]
        except (UsageError, NotFound):
            return False
        if not tasks:
            return False
        nearest = min(tasks, key=lambda task: abs(task.line - before))
        if nearest.done == done or feature_file.tick(full, file, nearest.line, done=done):
            return True
    return False


def slug(path: str) -> str:
    """A name for the branch of a feature file or folder, at most 60 of `A-Z a-z 0-9 . _ -`: its last part, no `.md`.

    A name that is made of these already keeps its case; any other is put in lower case. Two paths may share a slug.
    """
    import re

    stem = re.sub(r"(?i)\.(?:md|markdown)$", "", os.path.basename(path.rstrip("/")))
    if not re.fullmatch(r"[A-Za-z0-9._-]+", stem):
        stem = re.sub(r"[^a-z0-9._]+", "-", stem.lower())
    return _trimmed(re.sub(r"\.{2,}", ".", stem.strip("-."))[:60]) or _nameless(path)


def step_id(path: str) -> str:
    """The slug as the id of a step, which begins with a letter or a digit."""
    return slug(path).lstrip("_-.") or _nameless(path)


class _Outline(Markdown):
    """What a text holds, gathered in one pass over its blocks; only what is asked for is parsed within the line."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "table")
        self.title: str | None = ""  # None: there is one, with a mistake in it
        self.summary: list[str] = []
        self.tasks: list[Task] = []
        self._title_line = self._tasks_line = self._boxes = 0
        self.criteria: list[str] = []
        self.prose: list[str] = []  # the paragraphs among the criteria, which count where there is no list
        self._headings: list[tuple[int, str]] = []  # the open ones: level, and the section they are in
        self._items: list[bool] = []  # the open list items: whether each is a check box or below one
        self._quotes = 0
        self._past_summary = False  # which is the first quotation, unless a heading other than the title comes before
        for token, *inner in zip(self.tokens, self.tokens[1:], self.tokens[2:], strict=False):
            self._take(token, inner)

    def missing(self) -> Iterable[tuple[int, str]]:
        """What the file as a whole lacks, and tasks that could not be told apart."""
        if self.title == "":
            yield self._title_line or 1, "there is no title: write '# Feature: …'"
        if not self._tasks_line:
            yield 1, "there is no section '## Tasks'"
        elif not self._boxes:
            yield self._tasks_line, "there is no task in this section: write '- [ ] …'"
        first: dict[str, int] = {}
        for task in self.tasks:
            if first.setdefault(task.text, task.line) != task.line:
                yield task.line, f"the task of line {first[task.text]} has the same text: {task.text[:60]!r}"

    @property
    def _section(self) -> str:
        return self._headings[-1][1] if self._headings else ""

    def _take(self, token: Token, inner: Sequence[Token]) -> None:
        match token.type:
            case "heading_open" if token.level == 0:
                self._heading(int(token.tag[1:]), inner[0])
            case "blockquote_open":
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
                self._past_summary = self._past_summary or not self._quotes
            case "inline" if self._quotes and not self._past_summary:
                self.summary.append(self.text(token.content, line_of(token), "summary") or "")
            case "list_item_open":
                own = inner[1] if inner[0].type in ("paragraph_open", "heading_open") else None
                self._items.append(self._item(own) or any(self._items[-1:]))
            case "list_item_close":
                self._items.pop()
            case "paragraph_open" if token.level == 0 and self._section == "criteria":
                self.prose.append(self.text(inner[0].content, line_of(inner[0]), "criterion") or "")

    def _heading(self, level: int, inline: Token) -> None:
        import re

        line = line_of(inline)
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        if level == 1 and not self._title_line:
            self._title_line = line
            self._headings.append((level, ""))
            title = self.text(inline.content, line, "title", _LONGEST_TEXT)
            self.title = title and re.sub(r"(?i)^feature ?: ?", "", title)
            return
        self._past_summary = True
        self._headings.append((level, self._named(inline.content) or self._section))
        if self._section == "tasks":
            self._tasks_line = self._tasks_line or line

    def _named(self, content: str) -> str:
        """The section that a heading of this content opens, if it is one we know."""
        import re

        name = self.plain(content).lower() if len(content) <= _LONGEST_TEXT else ""
        known = ((kind, rf"[\W\d_]*{words} ?(?:\(.*\))? ?:?") for kind, words in _SECTIONS)
        return next((kind for kind, pattern in known if re.fullmatch(pattern, name)), "")

    def _item(self, inline: Token | None) -> bool:
        """Take a list item by its first paragraph; whether it is a check box."""
        import re

        if inline is None or self._quotes:
            return False
        line = line_of(inline)
        box = re.match(BOX, inline.content)
        content = inline.content[box.end() :] if box else inline.content
        if self._section == "criteria":
            if text := self.text(content, line, "criterion"):
                self.criteria.append(text)
        elif self._section == "tasks" and not any(self._items[-1:]) and re.match(LIKE_A_BOX, inline.content):
            self._boxes += 1
            if box:
                self._task(content, box[1] != " ", line)
            else:
                self.mistakes.append((line, BAD_BOX))
        return box is not None

    def _task(self, content: str, done: bool, line: int) -> None:
        import re

        whole = self.text(content, line, "task", _LONGEST_TEXT)
        if whole is None:
            return
        text = re.sub(_UNTESTED, "", whole, flags=re.IGNORECASE)
        if says_something(text):
            self.tasks.append(Task(text, done, line, text == whole))
        else:
            self.mistakes.append((line, "the task has no text"))


def _trimmed(name: str) -> str:
    """The name without ends that git refuses or that look like an option or a hidden file."""
    while (shorter := name.strip("-.")[: -5 if name.lower().endswith(".lock") else None]) != name:
        name = shorter
    return name


def _nameless(path: str) -> str:
    from hashlib import blake2b

    return "feature-" + blake2b(path.rstrip("/").encode("utf-8", "surrogateescape"), digest_size=3).hexdigest()
