"""Pictures as files: what is written, what is refused, and that pixels have colours."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from xml.etree import ElementTree as ET

import pytest

from tests.tiers import need

SVG = "{http://www.w3.org/2000/svg}svg"


def pixels(png: bytes) -> set[tuple[int, ...]]:
    """The colours of some rows of a PNG with eight bits a channel."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, _, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (depth, kind) == (8, 6)
    data, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        data += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += length + 12
    raw, size = zlib.decompress(data), width * 4
    found, before = set(), bytes(size)
    for start in range(0, len(raw), size + 1):
        before = unfiltered(raw[start], raw[start + 1 : start + 1 + size], before)
        found |= {tuple(before[x : x + 4]) for x in range(0, size, 4)}
    return found


def unfiltered(kind: int, line: bytes, above: bytes) -> bytes:
    out = bytearray(line)
    for x, value in enumerate(line):
        left, up, corner = (out[x - 4], above[x], above[x - 4]) if x >= 4 else (0, above[x], 0)
        guess = left + up - corner
        nearest = min((left, up, corner), key=lambda one: abs(guess - one))
        out[x] = (value + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
    return bytes(out)


def test_the_steps_and_the_timeline_are_written_as_svg(project):
    project.until("look")
    answer = project.ok("diagram", "--svg", "steps.svg")
    assert answer.out == "✓ wrote steps.svg\n"
    said = project.ok("log", "--timeline", "time.SVG", "--json").json
    for name in ("steps.svg", "time.SVG"):
        file = project.root / name
        assert ET.parse(file).getroot().tag == SVG
        assert file.stat().st_mode & 0o777 == 0o600
    assert said["title"] == "The timeline of Release 1.4.0"
    assert said["files"] == [{"path": "time.SVG", "bytes": (project.root / "time.SVG").stat().st_size}]
    assert "check tests passed" in (project.root / "time.SVG").read_text()


def test_a_png_has_the_colours_of_what_it_shows_and_is_not_black(project):
    need("resvg-py")
    project.until("look")
    project.ok("diagram", "--png", "steps.png", "--svg", "steps.svg")
    project.ok("log", "--timeline", "time.png")
    green, white = (0x1A, 0x7F, 0x37, 255), (255, 255, 255, 255)
    for name in ("steps.png", "time.png"):
        found = pixels((project.root / name).read_bytes())
        assert {green, white} <= found
        assert (0, 0, 0, 255) not in found
    assert ET.parse(project.root / "steps.svg").getroot().tag == SVG


def test_without_its_package_a_png_is_refused_and_nothing_is_written(project, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "resvg_py.py").write_text("raise ImportError('not here')\n")
    command = [sys.executable, "-m", "holdfast", "diagram", "--svg", "a.svg", "--png", "a.png"]
    env = {**project.env, "PYTHONPATH": str(hidden)}
    done = subprocess.run(command, cwd=project.root, env=env, capture_output=True, text=True)
    assert done.returncode == 6
    assert "the Python package resvg-py is missing, which a picture in PNG needs" in done.stderr
    assert "resvg-py>=" in done.stderr.partition("→")[2]
    assert "holdfast diagram --svg a.svg" in done.stderr
    assert not list(project.root.glob("a.*"))


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("log", "--timeline", "time.pdf"), "bad_path", 2),
        (("log", "--timeline", "time"), "bad_path", 2),
        (("log", "--timeline", ""), "bad_path", 2),
        (("log", "--timeline", "nowhere/time.svg"), "no_folder", 4),
        (("diagram", "--svg", "nowhere/x.svg"), "no_folder", 4),
        (("diagram", "--svg", "folder"), "not_a_file", 2),
        (("diagram", "--svg", "folder/"), "not_a_file", 2),
        (("diagram", "--svg", "link.svg"), "symlink", 2),
        (("diagram", "--lifecycle", "--svg", "x.svg"), "bad_usage", 2),
    ],
)
def test_what_cannot_be_written_is_refused_with_a_reason(project, words, code, exit_code):
    (project.root / "folder").mkdir()
    (project.root / "link.svg").symlink_to("elsewhere.svg")
    answer = project.agent(*words, "--json")
    assert (answer.code, answer.error["code"]) == (exit_code, code), answer
    assert answer.error["remedies"]
    assert sorted(os.listdir(project.root / "folder")) == []
    assert not (project.root / "elsewhere.svg").exists()


def test_an_earlier_picture_is_replaced_as_a_whole(project):
    (project.root / "x.svg").write_text('<svg xmlns="old">' + "old " * 100_000)
    project.ok("diagram", "--svg", "x.svg")
    text = (project.root / "x.svg").read_text()
    assert "old" not in text
    assert text.endswith("</svg>\n")
    assert [name for name in os.listdir(project.root) if name.endswith(".tmp")] == []
