"""What headings and titles of feature files mean."""

from __future__ import annotations

from _collections_abc import Iterable

from holdfast.core.value import Value
from holdfast.systems.skill import languages

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
    (ASIDE, r"(?:pre-?)?submission check ?list|before (?:you )?(?:submit|submitting|open|opening)\b.*"),
    (ASIDE, r"cancell?ed|dropped|abandoned|rejected|descoped|superseded|obsolete|removed|won't fix|wontfix"),
    (CRITERIA, r"(?:user |business )?acceptance(?: criteri(?:a|on)| tests?| check ?list| scenarios?)?|acs?"),
    (CRITERIA, r"(?:(?:success|exit|completion) )?criteri(?:a|on)|success (?:metrics?|measures?|indicators?)"),
    (CRITERIA, r"(?<![\d.)] )verification(?: check ?list)?"),  # a numbered one is a phase of the work
    (ASIDE, languages.ASIDE),
    (CRITERIA, languages.CRITERIA),
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
    languages.TASKS,
)
_BARE = (
    r"(?:implementation )?tasks?(?:[ -]?list)?|to[- ]?do(?:'?s)?(?: list)?|check[- ]?list"
    rf"|implementation(?: (?:plan|steps?))?|steps|{languages.LISTS}"
)
_SUFFIXED = r"tasks?(?:\s*[-–—:&/+]\s*| (?:for|of|and|in|to) ).*"
_AROUND = r"[\W\d_]*(?:[一二三四五六七八九十]+、)?{}\s*(?:[(\[（【].*[)\]）】])?[\W\d_]*"
_DID = (
    r"(?:already |also |carefully )?(?:read|search|check|verif|look|review|test|add|updat|includ|provid|perform|made"
    r"|tried|confirm|ensur|r[au]n|follow|attach|commented|signed|discuss|linked)"
)
_HELP = r"(?:work|submit|help|contribute|open|send|implement|follow|provide|test|be (?:willing|happy))"
_STATEMENTS = (
    rf"(?:yes, )?i(?: have|'ve|) {_DID}\w*\b.*",
    r"(?:yes, )?i (?:agree|accept|understand|confirm|acknowledge|certify|consent|promise|know that)\b.*",
    r"(?:yes, )?i(?: am|'m) (?:willing|aware|interested|happy|using|running|not sure|able to (?:work|submit))\b.*",
    rf"(?:yes, )?i(?: would|'d| will|'ll| want to| can) (?:like to |be (?:willing|happy) to )?{_HELP}\b.*",
    r"my (?:code|changes?|commits?|branch|pull request|pr|issue|(?:feature )?request)\b .*",
    r"(?:this|the) (?:issue|(?:feature )?request|report|pull request|pr) (?:is|has|does|do|was|contains)\b.*",
    r"(?:by (?:submitting|opening|checking)|there (?:is|are) no (?:similar|duplicate|existing|other|open))\b.*",
    r"(?:agree to|follow|read|accept) .{0,40}\bcode of conduct\b.*|read .{0,40}\bcontributing (?:guide|document)\w*.*",
    r"search(?:ed)? .{0,40}\b(?:issues|discussions|duplicates)\b.*|(?:not|no) (?:a )?duplicates?\b.*",
)
_SHORT_CODE = r":[a-z0-9_+-]+:"
_FEATURE = r"(?i)^[\W\d_]*feature(?: request| spec(?:ification)?)?(?:\s*:\s*|\]\s*:?\s*|\s+[–—-]\s+)"


class Section:
    """A part of the file below one heading; `root` is the section whose heading says what it lists.

    A list of tasks below a heading that is set aside is set aside with it, unless it `is_own`: then what is above says
    nothing about it.
    """

    def __init__(self, kind: str, name: str, line: int, parent: Section | None = None, *, is_own: bool = False) -> None:
        above = None if is_own else parent
        own = "" if above and kind == TASKS and above.kind == ASIDE else kind
        self.kind: str = own or (above.kind if above else "")
        self.name, self.line, self.parent = name, line, parent
        self.root: Section = above.root if above and not own else self
        self.boxes = 0
        self.others = 0  # what could have been a task and has no box: items, tables, code with boxes

    def names(self) -> tuple[str, ...]:
        """Its name and those of the headings above it, the nearest first."""
        return (self.name, *(self.parent.names() if self.parent else ()))


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

    text = _compared(name)
    patterns = [*known, *((TASKS, words) for words in tasks)]
    return next((kind for kind, words in patterns if re.fullmatch(_AROUND.format(f"(?:{words})"), text)), "")


def is_list(name: str) -> bool:
    """Whether a heading can mean nothing but a list of tasks."""
    import re

    return re.search(_LISTS, name.lower()) is not None or bool(_kind(name, (), (languages.LISTS,)))


def _compared(name: str) -> str:
    import re

    plain = languages.without_accents(name.lower().replace("’", "'"))
    return " ".join(re.sub(_SHORT_CODE, " ", plain).split())


def is_statement(text: str) -> bool:
    """Whether the text of a box is what the author of an issue says of it, and no work."""
    import re

    return re.fullmatch("|".join((*_STATEMENTS, languages.STATEMENTS)), _compared(text)) is not None


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
