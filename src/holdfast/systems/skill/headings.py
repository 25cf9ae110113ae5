"""What headings and titles of feature files mean."""

from __future__ import annotations

from _collections_abc import Iterable

from holdfast.core.value import Value

TASKS, CRITERIA, ASIDE = "tasks", "criteria", "aside"
"""What a section lists: tasks, what must hold of the result, or boxes that are neither."""

_LISTS = r"(?:task|to[- ]?do|check ?list|work breakdown)"
_NOT_NOW = (
    r"(?:later|future|someday|out[- ]of[- ]scope|not in scope|deferred|postponed|won't (?:do|have)|not (?:now|planned))"
)
_WORK = r"(?:tasks?|items?|work|ideas|improvements|enhancements|features|things|to-?dos?|steps)"
_KNOWN = (
    (ASIDE, r"definition of (?:done|ready)|do[dr]|done when"),
    (ASIDE, r"(?:non|anti)[- ]?goals?|nice[- ]to[- ]haves?|could[- ]haves?|stretch goals?|(?:open )?questions"),
    (ASIDE, r"backlog|ice ?box|parking lot|wish ?list|ideas|post[- ]mvp"),
    (ASIDE, r"follow[- ]?ups?(?: (?:tasks|work|items|issues))?"),
    (ASIDE, r"(?:external |known )?(?:dependenc(?:y|ies)|blockers|risks|assumptions)(?: (?:and|&|/) .*)?"),
    (ASIDE, rf"{_NOT_NOW}|related(?: (?:work|issues|tasks|links|to))?"),
    (ASIDE, r"(?:(?:review|reviewer|pr|pull request|release)(?:'s)? check ?list|check ?list for .*review.*)"),
    (CRITERIA, r"(?:user |business )?acceptance(?: criteri(?:a|on)| tests?| check ?list)?"),
    (CRITERIA, r"(?:(?:success|exit|completion) )?criteri(?:a|on)"),
)  # fmt: skip
_IN_A_FILE = (
    (ASIDE, rf"(?:related|{_NOT_NOW}|depends on|blocked by|waiting for)\b.*"),
    (ASIDE, rf"{_WORK} (?:(?:that (?:is|are) )?(?:for|until|in) (?:the |a )?)?(?:{_NOT_NOW}|next|another)\b.*"),
    (ASIDE, rf".*[(\[]{_NOT_NOW}\b.*[)\]]"),
)
"""What begins or ends like this is no list of tasks; as the title of a file, it may be any feature."""
_LISTED = (
    r"(?:(?!no |not |non-|without )[\w/&+.-]+:? ){0,3}(?:sub-?)?tasks?(?:[ -]?(?:list|breakdown))?",
    r"(?:(?!no |not |non-|without )[\w/&+.-]+:? ){0,2}(?:to[- ]?do(?:'?s)?|check[- ]?list)(?: (?:list|items))?",
    r"implementation(?: (?:plan|steps?))?|steps|(?:action|work) items|work breakdown",
    r"in[- ]progress|doing|done|completed",
)
_BARE = (
    r"(?:implementation )?tasks?(?:[ -]?list)?|to[- ]?do(?:'?s)?(?: list)?|check[- ]?list"
    r"|implementation(?: (?:plan|steps?))?|steps"
)
_SUFFIXED = r"tasks?(?:\s*[-–—:&/+]\s*| (?:for|of|and|in|to) ).*"
_AROUND = r"[\W\d_]*{}\s*(?:[(\[].*[)\]])?[\W\d_]*"
_SHORT_CODE = r":[a-z0-9_+-]+:"
_FEATURE = r"(?i)^[\W\d_]*feature(?: request| spec(?:ification)?)?(?:\s*:\s*|\]\s*:?\s*|\s+[–—-]\s+)"


class Section:
    """A part of the file below one heading; `root` is the section whose heading says what it lists.

    A list of tasks below a heading that is set aside is set aside with it.
    """

    def __init__(self, kind: str, name: str, line: int, above: Section | None = None) -> None:
        own = "" if above and kind == TASKS and above.kind == ASIDE else kind
        self.kind: str = own or (above.kind if above else "")
        self.name, self.line = name, line
        self.root: Section = above.root if above and not own else self
        self.boxes = 0
        self.others = 0  # what could have been a task and has no box: items, tables, code with boxes


class Title(Value):
    """The title of a feature, and where it is from: `heading`, `front matter` or `file name`."""

    text: str
    source: str


def kind_of(name: str, *, bare: bool = False) -> str:
    """What a heading of this plain text lists, if it is one we know; `bare` where it may be a sentence."""
    return _kind(name, (*_KNOWN, *_IN_A_FILE, (TASKS, _BARE)), () if bare else (*_LISTED, _SUFFIXED))


def is_title(name: str) -> bool:
    """Whether a first heading may be the title: it is not only the name of a section."""
    return not _kind(name, (*_KNOWN, (TASKS, _BARE)), ())


def _kind(name: str, known: Iterable[tuple[str, str]], tasks: Iterable[str]) -> str:
    import re

    text = " ".join(re.sub(_SHORT_CODE, " ", name.lower().replace("’", "'")).split())
    patterns = [*known, *((TASKS, words) for words in tasks)]
    return next((kind for kind, words in patterns if re.fullmatch(_AROUND.format(f"(?:{words})"), text)), "")


def is_list(name: str) -> bool:
    """Whether a heading can mean nothing but a list of tasks."""
    import re

    return re.search(_LISTS, name.lower()) is not None


def untitled(heading: str) -> str:
    """A title without the word `Feature:` before it, and without the emoji or number before that word."""
    import re

    return re.sub(_FEATURE, "", heading).strip()


def says_feature(heading: str) -> bool:
    import re

    return re.search(_FEATURE, heading) is not None


def from_name(path: str) -> str:
    """`features/20-sign-out.md` is "Sign out"."""
    import re

    stem = re.sub(r"(?i)\.(?:md|markdown)$", "", path.rstrip("/").rpartition("/")[2])
    words = re.sub(r"[-_\s]+", " ", re.sub(r"^\d+[-_. ]+", "", stem)).strip() or stem
    return words[:1].upper() + words[1:]


def in_front_matter(lines: list[str]) -> tuple[str, list[tuple[int, str]]]:
    """The title that front matter gives, in YAML or TOML, and what of it is not read, with its line."""
    import re

    title, unread = "", []
    for number, line in enumerate(lines, 1):
        found = re.fullmatch(r"(?i)title\s*[:=]\s*(.*?)\s*", line)
        if found:
            quoted = re.fullmatch(r"\"((?:[^\"\\]|\\.)*)\"(?:\s+#.*)?|'((?:[^']|'')*)'(?:\s+#.*)?", found[1])
            if quoted:
                title = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted[1] is not None else quoted[2].replace("''", "'")
            elif re.match(r"[>|&*!\[{\"']", found[1]):
                unread.append((number, "the title of the front matter is no text on one line, and is not read"))
            else:
                title = re.sub(r"\s+#.*", "", found[1])
        elif re.match(r"(?i)\s*(?:(?:tasks|todos?|checklist)\s*[:=]|[-*]\s+\[[ x]\]\s)", line):
            unread.append((number, "tasks in the front matter are not read"))
    return title, unread[:1]
