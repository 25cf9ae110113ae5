"""Notes and plans line by line: what a line of markdown is, and what it says."""

from __future__ import annotations

from holdfast.core.value import Value
from holdfast.systems.compaction.detection.words import MARKS, clean

LONGEST_LINE, LONGEST_PATH = 1000, 400
_MARKUP = r"(\s*)((?:(?:>|#{1,6}(?=\s)|[-*+•](?=\s)|[0-9]{1,3}[.)](?=\s)|\[[ xX]\](?=\s))\s*)*)"
_LABEL = (
    r"(?ai)([*_`~]*)(?:(?:current|workflow)\s+)?(workflow|phase|status|type)([*_`~]*)\s*[:：]([*_`~]*)(?P<value>.*)"
)
# Letters of every script, with the signs which some scripts put on them.
PATH_SIGN = r"\w./\u0300-\u036f\u0900-\u0963\u0966-\u0eff\u3099\u309a\-"


def lines_of(text: str) -> list[str]:
    """The lines of a text, where several blank ones are as good as one."""
    import re

    return re.sub(r"\n{3,}", "\n\n", re.sub(r"\r\n?", "\n", text)).split("\n")


class Line(Value):
    """A line of markdown, and the text in it without the signs that make it a heading or an item."""

    indent: int
    heading: bool
    item: bool
    body: str

    @classmethod
    def of(cls, raw: str) -> Line:
        import re

        match = re.match(_MARKUP, raw)
        indent, signs = (match[1], match[2]) if match else ("", "")
        heading = "#" in signs
        item = not heading and any(sign in signs for sign in "-*+•.)")
        return cls(len(indent.expandtabs(4)), heading, item, raw[len(indent) + len(signs) :].strip())

    def label(self) -> tuple[str, str]:
        """The word before the colon and what follows, where it is a word that says something of a workflow."""
        import re

        match = re.match(_LABEL, self.body.lstrip(MARKS + " "))
        if not match:
            return "", ""
        value = match["value"].strip()
        return match[2].lower(), value if match[3] or match[4] else value.removesuffix(match[1])

    def list_name(self) -> str:
        """Which list this line announces; empty when it announces none."""
        words = clean(self.body.lstrip(MARKS + " ")).rstrip(":： ").strip("*_").lower()
        return {"key reminders": "reminders", "reminders": "reminders", "context": "context"}.get(words, "")

    def path(self) -> str:
        """The path in front of which this line puts an `@`; empty when it has none that stays in the project."""
        import re

        word = re.split(r"[ \t\xa0\u3000]", self.body.lstrip("*_`"), maxsplit=1)[0]
        path = word[1:].rstrip(".,;:!?)]}>'\"*`。、，；：）」") if word.startswith("@") else ""
        fit = re.fullmatch(rf"(?=.*[./])[{PATH_SIGN}@+()\[\]=,%&#~]{{1,{LONGEST_PATH}}}", path)
        return path if fit and not path.startswith(("/", "~")) and ".." not in path.split("/") else ""
