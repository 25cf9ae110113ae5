"""Prose that anybody may have written: its lines and words, made safe and plain, and what is seen of a workflow."""

from __future__ import annotations

import re
from _collections_abc import Iterable, Mapping

from holdfast.core.value import Any, Value

MOST_READING = 50
LONGEST_NAME, LONGEST_TEXT = 200, 500

# Besides control characters: what is invisible or turns the direction of text. Joiners stay, as scripts need them.
UNSAFE = (
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
MARKS = "🔄🟡✅☑✔☐⬜⏳🔲🟢🔴⏸🚧❌⭕📋🎯⚪🔵🟠\ufe0f"
_STATUS_WORDS = (
    r"(?i:completed?|done|finished|in[ -]progress|not started|pending|blocked|current|active|skipped|[0-9]{1,3} ?%)"
)
_EDGES = " -–—:：|,"
_OF = r"\s*(?:/|(?:of|von|sur|de|di|из)\s)\s*"
_PROGRESS = (
    rf"(?ai)(?:phase\s+)?#?([0-9]{{1,4}})(?:{_OF}([0-9]{{1,4}}))?(?![0-9a-z]|\.[0-9])"
    r"(?:\s*[:：.–—-]+)?\s*(.*)"
)
LONGEST_LINE, LONGEST_PATH = 1000, 400
_MARKUP = r"(\s*)((?:(?:>|#{1,6}(?=\s)|[-*+•](?=\s)|[0-9]{1,3}[.)](?=\s)|\[[ xX]\](?=\s))\s*)*)"
_LABEL = (
    r"(?ai)([*_`~]*)(?:(?:current|workflow)[\s_]+)?(workflow|phase|step|stage|milestone|status|type)([*_`~]*)\s*"
    rf"(?:[:：|]([*_`~]*)|(?=\s#?[0-9]{{1,4}}{_OF}[0-9]))(?P<value>.*)"
)
_DECORATION = r"[\s\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]+"
_BLANK = (
    r"(?i)(?:[nxm]/[nmyt]|x of y)\b.*|none|n/?a|tbd|todo|nothing|idle|no(?: active)? workflow|keine?r?|aucune?|ninguno"
    r"|nessuno|なし|无|없음|нет|\W*"
)
_GENERAL = (
    r"plans?|workflows?|work|jobs?|tasks?|projects?|features?|implement(?:ation|ing)?|custom|planning|loop|phases?|steps?"
    r"|build|design|development|the|and|for|with|new|add|update|fix|improve|create|main|current|issue|ticket|sprint"
)
"""Words that are in the names of all kinds of work."""
# Letters of every script, with the signs which some scripts put on them.
PATH_SIGN = r"\w./\u0300-\u036f\u0900-\u0963\u0966-\u0eff\u3099\u309a\-"


class Sighting(Value):
    """One workflow that a file speaks of: which, how far it is, and what to read and remember when continuing."""

    source: str
    workflow: str
    type: str
    current: int
    total: int
    phase: str
    names: tuple[str, ...]
    status: str = "in_progress"
    """A word of `words`; `cancelled` and a `completed` whole only of plans."""
    reason: str = ""
    """What it says of its status, as it is there."""
    reading: tuple[str, ...] = ()
    context: Mapping[str, Any] = {}
    reminders: tuple[str, ...] = ()


def lines_of(text: str) -> list[str]:
    """The lines of a text, where several blank ones are as good as one."""
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"\r\n?", "\n", text)).split("\n")


class Line(Value):
    """A line of markdown, and the text in it without the signs that make it a heading or an item."""

    indent: int
    heading: bool
    item: bool
    body: str

    @classmethod
    def of(cls, raw: str) -> Line:
        match = re.match(_MARKUP, raw)
        indent, signs = (match[1], match[2]) if match else ("", "")
        heading = "#" in signs
        item = not heading and any(sign in signs for sign in "-*+•.)")
        return cls(len(indent.expandtabs(4)), heading, item, raw[len(indent) + len(signs) :].strip())

    def label(self) -> tuple[str, str]:
        """The word before the colon and what follows, where it is a word that says something of a workflow."""
        row = self.body.startswith("|")
        match = re.match(_LABEL, undecorated(self.body.lstrip("| ") if row else self.body))
        if not match:
            return "", ""
        value, label = match["value"].strip(" \t|" if row else None), match[2].lower()
        label = "phase" if label in ("step", "stage", "milestone") else label
        return label, unquoted(value if match[3] or match[4] else value.removesuffix(match[1]))

    def list_name(self) -> str:
        """Which list this line announces; empty when it announces none."""
        words = clean(undecorated(self.body)).rstrip(":： ").strip("*_").lower()
        return {"key reminders": "reminders", "reminders": "reminders", "context": "context"}.get(words, "")

    def path(self) -> str:
        """The path in front of which this line puts an `@`; empty when it has none that stays in the project."""
        word = re.split(r"[ \t\xa0\u3000]", self.body.lstrip("*_`"), maxsplit=1)[0]
        path = word[1:].rstrip(".,;:!?)]}>'\"*`。、，；：）」") if word.startswith("@") else ""
        fit = re.fullmatch(rf"(?=.*[./])[{PATH_SIGN}@+()\[\]=,%&#~]{{1,{LONGEST_PATH}}}", path)
        return path if fit and not path.startswith(("/", "~")) and ".." not in path.split("/") else ""


def undecorated(text: str) -> str:
    """A text without the emoji in front of it, also those inside of its emphasis."""
    return re.sub(rf"^(?:{_DECORATION})?([*_`~]*)(?:{_DECORATION})?", r"\1", text)


def unquoted(text: str) -> str:
    """A value without the quotes or brackets around all of it."""
    inner = text[1:-1]
    around = text[:1] + text[-1:]
    return inner.strip() if around in ('""', "''", "“”", "‘’", "[]") and not set(inner) & set(around) else text


def is_blank(text: str) -> bool:
    """Whether a value is what a template has where something is to be filled in, or says that there is nothing."""
    text = re.sub(r"\[[^\[\]]*\]|<[^<>]*>|\{+[^{}]*\}+", "", clean(text)).strip(f"{_EDGES}/")
    return bool(re.fullmatch(_BLANK, text))


def progress_in(name: str) -> tuple[int, int, str] | None:
    """`4/10 - Name` or `Name (4/10)` as its parts. Without a total it is zero; without a number there is nothing."""
    last = re.fullmatch(
        rf"(?ai)(\D.*?)(?:\s*\(|,\s*|\s+[–—-]+\s+)(?:phase\s+)?([0-9]{{1,4}}{_OF}[0-9]{{1,4}})\)?", name
    )
    match = re.match(_PROGRESS, f"{last[2]} - {last[1]}" if last else name)
    if not match:
        return None
    name = match[3].strip(_EDGES)
    if name.startswith("(") and name.find(")") == len(name) - 1:
        name = name[1:-1]
    return int(match[1]), int(match[2] or 0), clean(name)


def plain_name(text: str) -> str:
    """A name without the marks and the words in brackets that say how far it is."""

    def bracketed(match: re.Match[str]) -> str:
        inner = match[1].strip()
        box = match[0].lower() in ("[ ]", "[x]")
        said = box or any(mark in inner for mark in MARKS) or re.fullmatch(_STATUS_WORDS, inner)
        return "" if said else match[0]

    text = re.sub(r"[(\[（【]([^()\[\]（）【】]*)[)\]）】]", bracketed, clean(text, LONGEST_TEXT))
    text = re.sub(rf"[{MARKS}]\s*{_STATUS_WORDS}$", "", text)
    return clean(clean(re.sub(f"[{MARKS}]", "", text)).strip(_EDGES))


def clean(text: str, most: int = LONGEST_NAME) -> str:
    """One line of plain text: no control characters, no emphasis around it, at most so long."""
    text = " ".join(re.sub(UNSAFE, "", text).replace("**", "").replace("~~", "").split())
    for mark in ("`", "__", "_", "*", "`"):
        inner = text[len(mark) : -len(mark)]
        if inner and text.startswith(mark) and text.endswith(mark) and mark not in inner:
            text = inner.strip()
    return text[:most].strip()


def speak_of_one(title: str, others: Iterable[str]) -> bool:
    """Whether one of the other texts has a word of a title, or none of them says what the work is about."""
    own, said = _telling(title), [word for other in others for word in _telling(other)]
    return not own or not said or any(a.startswith(b) or b.startswith(a) for a in own for b in said)


def _telling(text: str) -> list[str]:
    """The words of a name that tell it from another one."""
    words = re.split(r"[\W_0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).casefold())
    return [word for word in words if len(word) > (2 if word.isascii() else 0) and not re.fullmatch(_GENERAL, word)]
