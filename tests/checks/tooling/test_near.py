"""What is found is that of the package nearest to the files, with what is around it."""

from __future__ import annotations

import pytest

from holdfast.checks import tooling

SCRIPT = '{"scripts": {"test": "vitest run"}}'


def found(folder, *files):
    """The test command as it would be typed, and where."""
    tool = tooling.nearest(str(folder.path), files).get("test")
    return (" ".join(tool.run), tool.folder, tool.source) if tool else None


@pytest.mark.parametrize(
    ("lock", "run"),
    [
        ("package-lock.json", "npm test --silent"),
        ("pnpm-lock.yaml", "pnpm run test"),
        ("yarn.lock", "yarn run test"),
        ("bun.lock", "bun run test"),
    ],
)
def test_the_lock_file_of_the_workspace_names_the_package_manager(folder, lock, run):
    folder.write(lock)
    folder.write("package.json", '{"workspaces": ["packages/*"]}')
    folder.write("packages/a/package.json", SCRIPT)
    assert found(folder, "packages/a/src/x.ts") == (run, "packages/a", "packages/a/package.json")


@pytest.mark.parametrize(
    ("lock", "run"),
    [
        ("package-lock.json", "npm test --silent --workspaces --if-present"),
        ("pnpm-lock.yaml", "pnpm --recursive run test"),
        ("yarn.lock", "yarn workspaces run test"),
    ],
)
def test_a_workspace_without_tests_of_its_own_runs_those_of_its_packages(folder, lock, run):
    folder.write(lock)
    folder.write("package.json", '{"workspaces": ["packages/*"]}')
    for name in "ab":
        folder.write(f"packages/{name}/package.json", SCRIPT)
    assert found(folder, "packages/a/x.ts", "packages/b/x.ts") == (run, "", "package.json")


def test_without_a_lock_file_the_manifest_may_name_the_package_manager(folder):
    folder.write("package.json", '{"packageManager": "pnpm@9.1.0", "scripts": {"test": "jest"}}')
    assert found(folder) == ("pnpm run test", "", "package.json")


def test_a_member_of_a_uv_workspace_runs_in_its_own_folder(folder):
    folder.write("uv.lock")
    folder.write("pyproject.toml", '[tool.uv.workspace]\nmembers = ["packages/*"]\n')
    folder.write("packages/a/pyproject.toml", '[dependency-groups]\ndev = ["pytest"]\n')
    run = ("uv run pytest -v", "packages/a", "packages/a/pyproject.toml")
    assert found(folder, "packages/a/tests/test_x.py") == run


def test_the_environment_may_lie_around_the_package(folder):
    folder.program(".venv/bin/python")
    folder.write("packages/a/pyproject.toml", "[tool.pytest.ini_options]\n")
    assert found(folder, "packages/a/x.py")[0] == "../../.venv/bin/python -m pytest -v"


@pytest.mark.parametrize(("manifest", "text"), [("Cargo.toml", '[package]\nname = "a"\n'), ("go.mod", "module a\n")])
def test_a_crate_or_module_inside_is_a_package(folder, manifest, text):
    folder.write(f"inner/a/{manifest}", text)
    assert found(folder, "inner/a/src/x")[1:] == ("inner/a", f"inner/a/{manifest}")


@pytest.mark.parametrize("text", ["use ./a\nuse ./b\n", "go 1.22\n\nuse (\n\t./a // one\n\t./b\n)\n"])
def test_a_go_workspace_is_tested_module_by_module(folder, text):
    folder.write("go.work", text)
    for name in "ab":
        folder.write(f"{name}/go.mod", f"module {name}\n")
    assert found(folder, "a/x.go", "b/x.go") == ("go test -v ./a/... ./b/...", "", "go.work")
    assert found(folder, "a/x.go") == ("go test -v ./...", "a", "a/go.mod")


def test_a_folder_that_is_no_package_is_looked_at_from_above(folder):
    folder.write("pytest.ini")
    folder.write("tests/conftest.py")
    assert found(folder, "tests/unit/test_x.py")[1:] == ("", "pytest.ini")


# pytest only where it is there


@pytest.mark.parametrize(
    ("files", "run"),
    [
        (["test_x.py"], "-m unittest -v"),
        (["tests/test_x.py"], "-m unittest discover -v -s tests"),
        (["tests/__init__.py", "tests/test_x.py"], "-m unittest discover -v -s tests -t ."),
        (["tests/unit/test_x.py"], "-m unittest discover -v -s tests"),
    ],
)
def test_where_the_interpreter_has_no_pytest_it_is_unittest(folder, files, run):
    folder.program(".venv/bin/python")
    for name in files:
        folder.write(name)
    assert found(folder)[0] == f".venv/bin/python {run}"


def test_tests_that_only_pytest_runs_need_pytest(folder):
    folder.program(".venv/bin/python")
    folder.write("tests/test_x.py", "def test_one():\n    assert True\n")
    assert found(folder)[0] == ".venv/bin/python -m pytest -v"


@pytest.mark.parametrize("name", ["requirements-dev.txt", "requirements.txt", "requirements/test.txt"])
def test_a_list_of_requirements_declares_pytest(folder, name):
    folder.program(".venv/bin/python")
    folder.write("tests/test_x.py")
    folder.write(name, "requests\npytest>=8\n")
    assert found(folder) == (".venv/bin/python -m pytest -v", "", name)


def test_pytest_that_the_environment_has_is_taken(folder):
    folder.program(".venv/bin/python")
    folder.write(".venv/lib/python3.12/site-packages/pytest/__init__.py")
    folder.write("tests/test_x.py")
    assert found(folder)[0] == ".venv/bin/python -m pytest -v"


@pytest.mark.parametrize("has", [True, False])
def test_without_an_environment_the_interpreter_on_the_path_is_asked(folder, tmp_path, monkeypatch, has):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text(f"#!/bin/sh\nexit {0 if has else 1}\n")
    (tmp_path / "bin/python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    folder.write("tests/test_x.py")
    assert ("pytest" if has else "unittest") in found(folder)[0]
