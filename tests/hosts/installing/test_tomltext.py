"""A table in TOML of somebody else comes and goes, and everything else stays as it is written."""

from __future__ import annotations

import tomllib

import pytest

from holdfast.errors import UsageError
from holdfast.hosts.installing import tomltext

PATH = ("mcp_servers", "holdfast")
TABLE: dict[str, str | list[str]] = {"command": "/opt/py thon", "args": ["-m", "holdfast", "mcp"]}
CONFIG = """\
# my model
model = "gpt-5"   # the good one

[mcp_servers.other]
command = "x"

[profiles.fast]
text = \"\"\"
[not a table]
\"\"\"
"""


def test_the_table_comes_to_the_end_and_nothing_else_changes():
    text = tomltext.put(CONFIG, "config.toml", PATH, TABLE)
    assert text.startswith(CONFIG + "\n[mcp_servers.holdfast]\n")
    assert tomllib.loads(text)["mcp_servers"]["holdfast"] == TABLE
    assert tomltext.put(text, "config.toml", PATH, TABLE) == text
    assert tomltext.take(text, "config.toml", PATH) == CONFIG


def test_line_ends_and_a_missing_last_one_are_kept_in_mind():
    text = tomltext.put('model = "x"\r\n[a]\r\nb = 1', "f", PATH, TABLE)
    assert "\n" not in text.replace("\r\n", "")
    assert tomllib.loads(text)["a"] == {"b": 1}


def test_an_upgrade_changes_only_what_is_run():
    text = '[mcp_servers.holdfast]\n# mine\ncommand = "/old/python"\nstartup_timeout_sec = 20\n\n[z]\na = 1\n'
    edited = tomltext.put(text, "f", PATH, TABLE)
    assert tomllib.loads(edited)["mcp_servers"]["holdfast"] == {**TABLE, "startup_timeout_sec": 20}
    assert "# mine\n" in edited
    assert edited.endswith("\n\n[z]\na = 1\n")


def test_what_is_below_the_table_goes_with_it():
    text = (
        '[a]\nb = 1\n\n[mcp_servers.holdfast]\ncommand = "x"\n[mcp_servers.holdfast.env]\nA = "1"\n\n# z\n[z]\nc = 2\n'
    )
    assert tomltext.take(text, "f", PATH) == "[a]\nb = 1\n\n# z\n[z]\nc = 2\n"


def test_comments_behind_the_table_at_the_end_of_the_file_stay():
    text = tomltext.put(CONFIG, "f", PATH, TABLE) + "\n# my notes\n# [old]\n"
    assert tomltext.take(text, "f", PATH) == CONFIG + "\n# my notes\n# [old]\n"


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "x" } }\n',
        'mcp_servers = { holdfast = { command = "x" } }\n',
        "mcp_servers = 1",
    ],
)
def test_a_file_that_cannot_be_edited_as_text_is_refused(text):
    with pytest.raises(UsageError) as refusal:
        tomltext.put(text, "config.toml", PATH, TABLE)
    assert refusal.value.code == "broken_file"


def test_a_broken_file_is_named_with_the_line():
    with pytest.raises(UsageError, match=r"^config.toml:2: "):
        tomltext.put('a = 1\nb = "\n', "config.toml", PATH, TABLE)


@pytest.mark.parametrize("value", ["[" * 2000 + "]" * 2000, "1" * 5000])
def test_a_file_that_the_parser_gives_up_on_is_named_with_the_line_too(value):
    with pytest.raises(UsageError, match=r"^config.toml:2: ") as refusal:
        tomltext.put(f"a = 1\nb = {value}\n", "config.toml", PATH, TABLE)
    assert refusal.value.code == "broken_file"
