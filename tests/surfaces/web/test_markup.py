"""Whatever people, agents and programs write is text on a page, and nothing else."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.web.markup import Markup, el, joined, text


class Read(HTMLParser):
    """What a parser of HTML makes of a text."""

    def __init__(self, written: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.words = ""
        self.feed(written)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.words += data


@given(st.text())
def test_any_text_is_one_text_inside_of_its_element(said):
    found = Read(el("p", said, title=said))
    assert [tag for tag, _ in found.tags] == ["p"]
    shown = dict(found.tags[0][1])["title"]
    assert found.words == (shown or "")
    assert not any(one in found.words for one in "\u202e\u2066\x1b\x00")


def test_what_is_markup_is_not_escaped_again_and_empty_attributes_are_left_out():
    assert el("p", el("b", "<"), class_="x", hidden=True, open=False, title=None) == (
        '<p class="x" hidden><b>&lt;</b></p>'
    )
    assert joined("a&", [Markup("<br>"), None, 3]) == "a&amp;<br>3"
    assert text("\x1b[31m\u202e") == "\\x1b[31m\\u202e"
