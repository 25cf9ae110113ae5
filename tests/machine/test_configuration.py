"""`[resume]` of the project's settings: what it asks of every workflow, and every mistake at once with its line."""

from __future__ import annotations

import pytest

from holdfast.errors import UsageError
from holdfast.machine import configuration
from holdfast.machine.configuration import CONFIG, Resuming, resuming


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / ".holdfast").mkdir(exist_ok=True)
        (tmp_path / CONFIG).write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(tmp_path)

    return write


def mistakes(root):
    with pytest.raises(UsageError) as caught:
        resuming(root)
    error = caught.value
    assert (error.code, error.exit_code) == ("bad_config", 2)
    assert error.remedy == f"correct {CONFIG}"
    assert error.facts["path"] == f"{root}/{CONFIG}"
    listed = error.facts["mistakes"]
    assert isinstance(listed, list)
    assert all(f"{one['where']}: {one['message']}" in error.message for one in listed)
    return [(one["where"].removeprefix(CONFIG).removeprefix(":"), one["message"]) for one in listed]


def test_without_a_file_or_a_table_nothing_is_asked(tmp_path, write):
    assert resuming(str(tmp_path)) == Resuming(9000, False, False)
    assert resuming(write("")) == Resuming()
    assert resuming(write("[commands]\ntest = []\n")) == Resuming()
    assert resuming(write("[resume]\n")) == Resuming()


def test_the_table_says_what_holds_for_every_workflow(write):
    root = write("[resume]\npacket_limit = 4000\nrequire_ack = true\nkeep_going = true\n")
    assert resuming(root) == Resuming(4000, True, True)
    assert resuming(write("[resume]\nkeep_going = true\n")) == Resuming(keep_going=True)
    assert resuming(write("resume = { require_ack = true }\n")) == Resuming(require_ack=True)


@pytest.mark.parametrize("limit", [1000, 50_000])
def test_a_packet_may_be_this_short_and_this_long(write, limit):
    assert resuming(write(f"[resume]\npacket_limit = {limit}\n")).packet_limit == limit


@pytest.mark.parametrize("limit", ["999", "50001", "-1", "true", '"9000"', "9000.0", "[]"])
def test_a_limit_is_a_number_in_between(write, limit):
    found = mistakes(write(f"[resume]\npacket_limit = {limit}\n"))
    assert found == [("2", "packet_limit is a number from 1000 to 50000")]


def test_every_mistake_is_told_at_once_with_its_line(write):
    text = """\
[commands]
test = ["pytest"]

[resume]
packet_limit = 10
requir_ack = true  # a slip
require_ack = "yes"
keep_going = 1
colour = "blue"
"""
    assert sorted(mistakes(write(text))) == [
        ("5", "packet_limit is a number from 1000 to 50000"),
        ("6", "unknown key 'requir_ack', did you mean 'require_ack'?"),
        ("7", "require_ack is true or false"),
        ("8", "keep_going is true or false"),
        ("9", "unknown key 'colour'; known are packet_limit, require_ack, keep_going"),
    ]


@pytest.mark.parametrize("value", ["true", "false", "0", '""', "[]", "[1]", '"yes"'])
def test_what_is_no_table_is_a_mistake_also_when_it_is_empty(write, value):
    found = mistakes(write(f"trust = 1\nresume = {value}\n"))
    assert found == [("2", "resume is a table such as [resume] with require_ack = true")]


def test_what_is_no_toml_is_told_with_its_line(write):
    ((line, message),) = mistakes(write("[resume]\nrequire_ack = yes\n"))
    assert (line, message.startswith("not TOML: ")) == ("2", True)
    assert mistakes(write(b"[resume]\n# \xff\n")) == [("2", "this is not UTF-8")]
    assert mistakes(write("a = " + "[" * 3000 + "]" * 3000))[0][1] == "not TOML: nested too deeply"


def test_a_file_that_is_too_large_is_not_read(write):
    assert mistakes(write(b"#" * (configuration.LARGEST + 1))) == [("", "it is larger than 1 MiB")]
    assert resuming(write(b"#" * configuration.LARGEST)) == Resuming()


def test_a_folder_in_its_place_is_told_and_a_file_above_is_no_project(tmp_path):
    (tmp_path / CONFIG).mkdir(parents=True)
    ((where, message),) = mistakes(str(tmp_path))
    assert (where, message.startswith("it cannot be read: ")) == ("", True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.holdfast").write_text("a file")
    assert resuming(str(tmp_path / "other")) == Resuming()
