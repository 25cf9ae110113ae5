"""The drawings in the docs: one is what the command prints now, and both are whole in themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.docs.blocks import ROOT

PICTURE = ROOT / "docs" / "images" / "status.svg"
PICTURES = sorted(PICTURE.parent.glob("*.svg"))


def test_the_picture_is_drawn_from_what_the_command_prints():
    drawn = subprocess.run(
        [sys.executable, ROOT / "tools" / "screenshot", "--print"], check=True, capture_output=True, text=True
    )
    assert drawn.stdout == PICTURE.read_text(), "it has changed: run tools/screenshot and look at the picture"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_needs_nothing_from_elsewhere_and_says_what_it_shows(picture: Path):
    root = ET.fromstring(picture.read_text())
    assert root[0].tag.endswith("title")
    assert root[0].text
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg",
        "title",
        "rect",
        "path",
        "circle",
        "g",
        "text",
    }
    assert not any("href" in name for element in root.iter() for name in element.attrib)
