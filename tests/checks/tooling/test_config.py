"""`[commands]` of the configuration: lists of words or tables, and every mistake at once with its line."""

from __future__ import annotations

import os

import pytest

from holdfast.checks import tooling
from holdfast.checks.tooling import CONFIG, Tool, configured
from holdfast.errors import UsageError


def mistakes(folder, text):
    folder.write(CONFIG, text)
    with pytest.raises(UsageError) as caught:
        configured(str(folder.path))
    error = caught.value
    assert error.code == "bad_config"
    assert error.remedy == "correct .holdfast/config.toml"
    assert error.facts["path"] == str(folder.path / CONFIG)
    listed = error.facts["mistakes"]
    assert isinstance(listed, list)
    assert all(f"{each['where']}: {each['message']}" in error.message for each in listed)
    return [(each["where"].removeprefix(CONFIG).removeprefix(":"), each["message"]) for each in listed]


def test_without_a_configuration_nothing_is_configured(folder):
    assert configured(str(folder.path)) == {}
    folder.write(".holdfast", "a file, not a folder")
    assert configured(str(folder.path)) == {}


def test_a_command_is_a_list_of_words_or_a_table(folder):
    folder.write(
        CONFIG,
        "[commands]\n"
        'test = ["python", "-m", "pytest", "-v", "a b; $HOME"]\n'
        'lint = { run = ["make", "lint"], report = "" }\n'
        "[commands.security_review]\n"
        'run = ["scan"]\n'
        'report = "out/junit report.xml"\n',
    )

    assert configured(str(folder.path)) == {
        "lint": Tool(run=("make", "lint"), source=CONFIG),
        "test": Tool(run=("python", "-m", "pytest", "-v", "a b; $HOME"), source=CONFIG),
        "security_review": Tool(run=("scan",), source=CONFIG, report="out/junit report.xml"),
    }


def test_only_the_configuration_speaks_and_an_empty_list_is_kept(folder):
    folder.write("Makefile", "lint test:\n")
    folder.write(CONFIG, "[commands]\ntest = []\n")

    assert configured(str(folder.path)) == {"test": Tool(run=(), source=CONFIG)}


def test_other_tables_are_left_alone(folder):
    folder.write(CONFIG, 'trust = 1\n[other]\ntest = "anything"\n[[more]]\nx = 1\n')

    assert configured(str(folder.path)) == {}


def test_every_mistake_is_listed_with_its_line(folder):
    found = mistakes(
        folder,
        "# mine\n"
        "[commands]\n"
        'tset = ["x"]\n'
        "test = 3\n"
        "lint = [\n"
        '  "make",\n'
        '  "",\n'
        "  3,\n"
        "]\n"
        "[commands.security_review]\n"
        'run = ["a\\u0000b"]\n'
        "shell = true\n"
        'report = "../out.xml"\n'
        "[commands.code_simplifier]\n"
        'report = ""\n',
    )

    assert sorted((int(line), message.split(", the")[0].split(" must")[0]) for line, message in found) == [
        (3, "unknown key 'tset', did you mean 'test'?"),
        (4, "test"),
        (7, "word 2 of lint"),
        (8, "word 3 of lint"),
        (11, "word 1 of run"),
        (12, "unknown key 'shell'; known are run, report"),
        (13, "report"),
        (14, "code_simplifier lacks run"),
    ]


@pytest.mark.parametrize("value", ["1", '"a\\u0000b"', "true", "[[1]]", "[{}]", '[["make"]]', "{}", "{ run = 1 }"])
def test_what_is_no_list_of_words_is_a_mistake(folder, value):
    assert [line for line, _ in mistakes(folder, f"[commands]\ntest = {value}\n")] == ["2"]


@pytest.mark.parametrize("text", ["commands = 1\n", 'commands = ["make"]\n', "[[commands]]\n"])
def test_commands_must_be_a_table(folder, text):
    ((line, message),) = mistakes(folder, text)

    assert (line, message.split(" such")[0]) == ("1", "commands is a table")


@pytest.mark.parametrize(
    "report",
    ["/tmp/x.xml", "..", "../x", "a/../../x", "a/..", ".", "a//b", "a/", "~/x\\u0000", "x\\n.xml", "é.xml", "x" * 1001],
)
def test_a_report_stays_inside_the_project(folder, report):
    ((line, message),) = mistakes(folder, f'[commands]\ntest = {{ run = ["x"], report = "{report}" }}\n')

    assert (line, message.split(" must")[0]) == ("2", "report")


@pytest.mark.parametrize("report", ["junit.xml", "./junit.xml", "build/..x/y.xml", ".hidden/a b.xml"])
def test_a_report_may_lie_anywhere_below(folder, report):
    folder.write(CONFIG, f'[commands]\ntest = {{ run = ["x"], report = "{report}" }}\n')

    assert configured(str(folder.path))["test"].report == report


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("[commands]\ntest = [\n", "2", "not TOML"),
        ("[commands]\ntest = ]\n", "2", "not TOML"),
        ("[commands]\ntest = []\ntest = []\n", "3", "not TOML"),
        ("a = 1\nb = " + "[" * 50_000, "2", "not TOML: nested too deeply"),
        ("a = 1\nb = " + "9" * 5000, "2", "not TOML"),
        (b"a = 1\nb = '\xff'\n", "2", "this is not UTF-8"),
        ("#" * (1 << 20) + "\n", "", "it is larger than 1 MiB"),
    ],
    ids=["unclosed", "wrong", "twice", "deep", "number", "bytes", "large"],
)
def test_a_file_that_cannot_be_understood_is_one_mistake(folder, text, line, reason):
    ((where, message),) = mistakes(folder, text)

    assert where == line
    assert message.startswith(reason)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("config.toml", path)])
def test_a_configuration_that_cannot_be_read_is_a_mistake(folder, make):
    (folder.path / ".holdfast").mkdir()
    make(folder.path / CONFIG)

    with pytest.raises(UsageError, match=r"cannot be read: \w") as caught:
        tooling.commands(str(folder.path))

    assert caught.value.code == "bad_config"
