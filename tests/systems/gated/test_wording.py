"""What counts as the words of a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.systems.gated.wording import is_more
from tests.acceptance.feature import HOME, House
from tests.phases import DOCS, paths

LATER = "todo".upper()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "house")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("# Head\n\n- \n", False),
        ("# Head\n\n<!-- words -->\n", False),
        ("# Head\n\n<!-- never closed\nwords\n", False),
        ("Fill this\n in\n", False),
        ("Fill this in\nand that\n", True),
        *(
            (said, False)
            for said in ("&nbsp;", "&#8203; &#160;", "<br>", '<img src="a.png">', "[](a.md)", "![](a.png)")
        ),
        *(
            (said, False)
            for said in ("|a|", "| a | b |\n|---|---|\n| c | |", "a", "1.", "x y", "- [x]", "```python\n```")
        ),
        *(
            (said, False)
            for said in (
                LATER,
                f"- {LATER}.",
                f"**{LATER}:**",
                f"{LATER}(me)",
                "tbd",
                "To be written.",
                "lorem ipsum",
                "wip …",
            )
        ),
        *(
            (said, False)
            for said in ("None.", "N/A", "- nothing", "Not applicable.", "No changes.", "none &nbsp; <br>")
        ),
        *(
            (said, True)
            for said in ("None: nothing of it is public.", f"{LATER} list", "A <b>key</b>", "鍵です", "| key | door |")
        ),
        *(
            (said, True)
            for said in ("`GET /keys`", "See <https://example.org/keys>", "```\nkeys()\n```", "![the door](a.png)")
        ),
    ],
)
def test_headings_comments_and_the_template_itself_say_nothing(text: str, expected: bool):
    assert is_more(text, "# Head\n\nFill this in\n") is expected


@pytest.mark.parametrize(("said", "shown"), [(LATER, f"'{LATER}'"), ("<br>\n\nNone.\n", "'None.'")])
def test_a_document_that_only_has_a_placeholder_is_told_what_it_lacks(house, said, shown):
    house.up_to(DOCS, "in_progress")
    for path in paths(HOME, DOCS):
        house.write(path, f"# Title\n\n{said}\n")
    error = house.refused("done", DOCS)
    assert f"only says {shown}: write what readers need, or why there is nothing to say" in error["message"]
