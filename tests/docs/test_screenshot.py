"""The picture in the README is what the command prints now."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree as ET

from tests.docs.blocks import ROOT

PICTURE = ROOT / "docs" / "images" / "status.svg"


def test_the_picture_is_drawn_from_what_the_command_prints():
    drawn = subprocess.run(
        [sys.executable, ROOT / "tools" / "screenshot", "--print"], check=True, capture_output=True, text=True
    )
    assert drawn.stdout == PICTURE.read_text(), "it has changed: run tools/screenshot and look at the picture"


def test_the_picture_needs_nothing_from_elsewhere():
    root = ET.fromstring(PICTURE.read_text())
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
