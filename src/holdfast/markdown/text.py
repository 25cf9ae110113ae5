"""The plain text of a markdown document, and what its author is told of the mistakes in it."""

from __future__ import annotations

from _collections_abc import Iterable, Sequence

from holdfast.core.mistakes import mistaken as listed
from holdfast.plain.terminal import CONTROLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

    from holdfast.core.remedy import Remedy
    from holdfast.errors import UsageError

LONGEST_SOURCE = 4000  # of one text with its links and marks; the parser's time may grow with the square of it
BOX = r"\[([ xX])\](?:[ \t\n]+|$)"
LIKE_A_BOX = r"\[\s*[xX]?\s*\](?![(\[:])"
BAD_BOX = "a check box is '[ ]' or '[x]', with a space after it"
_MOST_SHOWN = 20


class Markdown:
    """A document taken apart into blocks; what is within a block is parsed only when it is asked for."""

    def __init__(self, text: str, *rules: str) -> None:
        from markdown_it import MarkdownIt

        self.mistakes: list[tuple[int, str]] = []
        self._links: dict[str, object] = {}
        self._markdown = MarkdownIt("commonmark").enable(["strikethrough", *rules]).disable("inline")
        self.parse(text)

    def parse(self, text: str) -> None:
        self.tokens = self._markdown.parse(text, self._links)

    def within(self, content: str) -> list[Token]:
        """The parts of a block's content, such as its pieces of code."""
        return self._markdown.inline.parse(content, self._markdown, self._links, [])

    def plain(self, content: str) -> str:
        return shown(self.within(content))

    def text(self, content: str, line: int, what: str, longest: int = LONGEST_SOURCE) -> str | None:
        """The plain text of a paragraph; None, and a mistake noted, when it cannot be kept."""
        return self.kept(self.plain(content) if len(content) <= LONGEST_SOURCE else content, line, what, longest)

    def kept(self, text: str, line: int, what: str, longest: int) -> str | None:
        import re

        if len(text) > longest:
            self.mistakes.append((line, f"the {what} is longer than {longest} characters"))
        elif re.search(CONTROLS, text):
            self.mistakes.append((line, f"the {what} has control characters in it"))
        else:
            return text
        return None


def shown(tokens: Iterable[Token]) -> str:
    """What a reader sees of it, on one line. A tag stays, as `List<String>` has one too; a comment does not."""
    import re

    return re.sub(r"[ \t]+", " ", "".join(map(_seen, tokens))).strip()


def _seen(token: Token) -> str:
    match token.type:
        case "softbreak" | "hardbreak":
            return " "
        case "image":
            return "".join(map(_seen, token.children or ()))
        case "html_inline":
            return "" if token.content.startswith("<!--") else token.content.replace("\n", " ")
        case _:
            return token.content


def line_of(token: Token) -> int:
    return token.map[0] + 1 if token.map else 1


def says_something(text: str) -> bool:
    return any(character.isprintable() and not character.isspace() for character in text)


def mistaken(
    code: str,
    what: str,
    name: str,
    mistakes: Sequence[tuple[int, str]],
    remedy: Remedy | str,
    warnings: Sequence[tuple[int, str]] = (),
    **facts: str,
) -> UsageError:
    """One error for all mistakes of the document `name`; `warnings` are told with them."""
    told, warned = (
        [{"where": f"{name}:{line}", "message": message} for line, message in found] for found in (mistakes, warnings)
    )
    error = listed(code, what, told, remedy, _MOST_SHOWN, **facts)
    error.facts |= {"warnings": warned} if warned else {}
    return error
