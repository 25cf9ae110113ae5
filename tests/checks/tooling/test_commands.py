"""Of all that provide a command, the configuration comes first, then the files of the worktree in a fixed order."""

from __future__ import annotations

import os

import pytest

from holdfast.checks import tooling

EVERYTHING = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "package.json": '{"scripts": {"test": "jest", "lint": "eslint .", "simplify": "knip"}}',
    "Cargo.toml": '[package]\nname = "x"\n',
    "deny.toml": "",
    "go.mod": "module x\n",
    "Makefile": "test lint security simplify:\n\ttrue\n",
}


def test_an_empty_folder_has_no_commands(folder):
    assert folder.tools() == {}


def test_each_name_takes_the_first_ecosystem_that_provides_it(folder):
    for name, text in EVERYTHING.items():
        folder.write(name, text)

    assert folder.runs() == {
        "lint": "npm run --silent lint",
        "test": "python3 -m pytest -v",
        "security_review": "cargo deny check",
        "code_simplifier": "npm run --silent simplify",
    }
    assert list(folder.sources().items()) == [
        ("lint", "package.json"),
        ("test", "pyproject.toml"),
        ("security_review", "deny.toml"),
        ("code_simplifier", "package.json"),
    ]


@pytest.mark.parametrize(
    ("gone", "next_one"),
    [
        (("pyproject.toml",), "npm test --silent"),
        (("pyproject.toml", "package.json"), "cargo test"),
        (("pyproject.toml", "package.json", "Cargo.toml"), "go test -v ./..."),
        (("pyproject.toml", "package.json", "Cargo.toml", "go.mod"), "make test"),
    ],
)
def test_what_comes_later_steps_in_for_what_is_not_there(folder, gone, next_one):
    for name in EVERYTHING.keys() - set(gone):
        folder.write(name, EVERYTHING[name])

    assert folder.runs()["test"] == next_one


def test_what_is_configured_comes_before_what_is_found(folder):
    folder.write("Makefile", "test lint:\n\ttrue\n")
    folder.write(tooling.CONFIG, '[commands]\ntest = ["./check"]\n')

    assert folder.runs() == {"lint": "make lint", "test": "./check"}
    assert folder.sources() == {"lint": "Makefile", "test": ".holdfast/config.toml"}


def test_an_empty_list_says_that_there_is_none_and_ends_the_search(folder):
    folder.write("Makefile", "test lint:\n\ttrue\n")
    folder.write(tooling.CONFIG, "[commands]\ntest = []\nlint = { run = [] }\n")

    assert folder.tools() == {}


def test_the_configuration_is_the_roots_and_the_files_are_the_worktrees(folder, tmp_path):
    worktree = tmp_path / "worktree"
    (worktree / ".holdfast").mkdir(parents=True)
    (worktree / tooling.CONFIG).write_text('[commands]\nlint = ["not", "this"]\n')
    (worktree / "go.mod").write_text("module x\n")
    folder.write(tooling.CONFIG, '[commands]\nlint = ["this"]\n')
    folder.write("Makefile", "security test:\n")

    found = tooling.commands(str(folder.path), str(worktree))

    assert {name: (tool.run, tool.source) for name, tool in found.items()} == {
        "lint": (("this",), ".holdfast/config.toml"),
        "test": (("go", "test", "-v", "./..."), "go.mod"),
    }


@pytest.mark.parametrize("name", [*EVERYTHING, "setup.cfg", "tox.ini", "pytest.ini", "conftest.py", "ruff.toml"])
def test_folders_loops_and_pipes_in_place_of_files_show_nothing(folder, name):
    path = folder.path / name

    path.mkdir()
    assert folder.tools() == {}
    path.rmdir()

    path.symlink_to(name)
    assert folder.tools() == {}
    path.unlink()

    os.mkfifo(path)
    assert folder.tools() == {}


def test_a_file_of_more_than_1_mib_shows_nothing(folder):
    for name, text in EVERYTHING.items():
        padding = " " if name == "package.json" else "\n"
        folder.write(name, text + padding * (1 << 20))

    assert folder.tools() == {}


def test_a_file_of_exactly_1_mib_is_read(folder):
    text = "test:\n"
    folder.write("Makefile", text + "\n" * ((1 << 20) - len(text)))

    assert folder.runs() == {"test": "make test"}


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b"[tool.pytest", b"[" * 50_000, b"{" * 50_000, b"a=" + b"[" * 50_000, b"\0"]
)
def test_broken_files_show_nothing_and_raise_nothing(folder, text):
    for name in (*EVERYTHING, "setup.cfg", "tox.ini"):
        if name != "deny.toml":
            folder.write(name, text)

    assert folder.tools() == {}


def test_a_file_reached_by_a_link_counts(folder, tmp_path):
    (tmp_path / "shared.mk").write_text("lint:\n\ttrue\n")
    (folder.path / "Makefile").symlink_to(tmp_path / "shared.mk")

    assert folder.sources() == {"lint": "Makefile"}
