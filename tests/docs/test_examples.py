"""Everything that README and docs tell people to type is typed here, and prints what they say. See `blocks.py`."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.blocks import EXAMPLES, PAGES, ROOT, Block, blocks, matches, typed
from tests.docs.terminal import Terminal, answers

SHOWN_ONLY = {"", "text", "json", "jsonc", "mermaid", "toml"}
RUN = {"console", "sh", "python"}


def runnable(page: Path) -> bool:
    return any(block.language in RUN or block.file for block in blocks(page.read_text()))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_shows_is_what_happens(page, tmp_path):
    if page in EXAMPLES:
        shutil.copytree(page.parent, tmp_path / "project", ignore=shutil.ignore_patterns("README.md", "__pycache__"))
    terminal = Terminal(tmp_path / "project", tmp_path / "home")
    found = blocks(page.read_text())
    for block, after in pairwise([*found, Block("", "", 0, "…")]):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.file:
            terminal.write(block.file, block.body)
        elif block.language == "console":
            _type_all(terminal, block, page)
        elif block.language == "sh":
            code, seen = terminal.as_agent(f"set -e\n{block.body}")
            assert code == 0, f"{where} ended with {code}:\n{seen}"
        elif block.language == "python":
            terminal.write(".program.py", block.body)
            code, seen = terminal.as_agent("python .program.py; code=$?; rm .program.py; (exit $code)")
            assert code == 0, f"{where} ended with {code}:\n{seen}"
            if after.language == "text" and not after.follows.strip():
                assert matches(after.body, seen), f"{where} printed:\n{seen}"
        else:
            assert block.language in SHOWN_ONLY, f"{where}: nobody says how to run {block.language!r}"


def _type_all(terminal: Terminal, block: Block, page: Path) -> None:
    for one in typed(block):
        if one.by_agent:
            code, seen = terminal.as_agent(one.command)
        else:
            code, seen = terminal.as_person(one.command, answers(one.output))
        where = f"{page.relative_to(ROOT)}:{one.line}: {one.command}"
        assert code == one.code, f"{where}\nended with {code}, not {one.code}:\n{seen}"
        assert matches(one.output, seen), f"{where}\nprinted:\n{seen}"


@pytest.mark.parametrize(
    ("expected", "seen", "same"),
    [
        ("started release-… · next\n", "started release-0d7533cf · next\n", True),
        ("one\n…\nfour\n", "one\ntwo\nthree\nfour\n", True),
        ("one\n…\ntwo\n", "one\ntwo\n", True),
        ("one\n", "one\ntwo\n", False),
        ("one …\n", "one\ntwo\n", False),
        ("", "surprise\n", False),
    ],
)
def test_dots_stand_for_what_changes_and_for_nothing_else(expected, seen, same):
    assert matches(expected, seen) is same


def test_a_page_that_is_wrong_is_noticed(tmp_path):
    terminal = Terminal(tmp_path / "project", tmp_path / "home")
    (wrong_output, wrong_code) = blocks("```console\n$ echo yes\nno\n```\n\n```console\nagent$ false\n```\n")
    with pytest.raises(AssertionError, match="printed"):
        _type_all(terminal, wrong_output, ROOT / "README.md")
    with pytest.raises(AssertionError, match="ended with 1, not 0"):
        _type_all(terminal, wrong_code, ROOT / "README.md")


def test_a_person_has_a_terminal_and_an_agent_has_none(tmp_path):
    terminal = Terminal(tmp_path / "project", tmp_path / "home")
    (block,) = blocks("```console\n$ cd .. && A=1\n$ test -t 0 && echo $A\n1\nagent$ test -t 0  # exit 1\n```\n")
    _type_all(terminal, block, ROOT / "README.md")
