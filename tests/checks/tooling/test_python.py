"""Python projects: what counts as a sign of a tool, and how the tool is started."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "text",
    [
        "[tool.pytest.ini_options]\n",
        "[tool.pytest]\n",
        "[project]\ndependencies = ['pytest']\n",
        "[project]\ndependencies = ['''pytest>=8; python_version>\"3.10\"''']\n",
        "[project]\ndependencies = [' PyTest [testing] ~= 8.0']\n",
        "[project.optional-dependencies]\ntest = ['coverage', 'pytest @ https://example.org/pytest.whl']\n",
        "[dependency-groups]\nall = [{include-group = 'test'}]\ntest = ['pytest<9']\n",
        "[tool.poetry.dependencies]\npytest = '^8'\n",
        "[tool.poetry.dev-dependencies]\npytest = {version = '^8'}\n",
        "[tool.poetry.group.dev.dependencies]\npytest = '*'\n",
        "[tool.uv]\ndev-dependencies = ['pytest']\n",
        "[tool.pdm.dev-dependencies]\ntest = ['pytest']\n",
        "[tool.hatch.envs.test]\ndependencies = ['pytest']\n",
        "[tool.hatch.envs.test]\nextra-dependencies = ['pytest']\n",
    ],
)
def test_pytest_is_known_by_its_table_or_by_a_requirement(folder, text):
    folder.write("pyproject.toml", text)

    assert folder.runs() == {"test": "python3 -m pytest -v"}
    assert folder.sources() == {"test": "pyproject.toml"}


@pytest.mark.parametrize(
    "text",
    [
        "[project]\nname = 'pytest'\n",
        "[project]\ndependencies = ['pytest-xdist>=3', 'pytest_cov', 'pytest.mock', 'not-pytest', 'pytester']\n",
        "[project]\ndependencies = ['coverage; extra == \"pytest\"', 'x[pytest]', 3, {}]\n",
        "[project]\ndependencies = 'pytest'\noptional-dependencies = ['pytest']\n",
        "[dependency-groups]\ntest = [{include-group = 'pytest'}, {pytest = 'x'}]\npytest = []\n",
        "[dependency-groups]\na = [{include-group = 'b'}]\nb = [{include-group = 'a'}]\n",
        "[build-system]\nrequires = ['setuptools']\n",
        "tool = 'pytest'\nproject = 3\ndependency-groups = []\n",
        "[tool]\npoetry = 1\nuv = 2\nhatch = { envs = { x = 1 } }\n",
        "[tool.pytest-watch]\n",
    ],
)
def test_other_names_and_other_shapes_are_not_pytest(folder, text):
    folder.write("pyproject.toml", text)

    assert folder.tools() == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", ""),
        (".pytest.ini", ""),
        ("pytest.toml", ""),
        ("setup.cfg", "[metadata]\nname = x\n[tool:pytest]\n"),
        ("tox.ini", "[tox]\n[pytest] ; mine\n"),
        ("conftest.py", ""),
        ("tests/conftest.py", ""),
        ("tests/test_it.py", ""),
    ],
)
def test_pytest_is_known_by_its_other_files_too(folder, name, text):
    folder.write(name, text)

    assert folder.sources() == {"test": name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.cfg", "[pytest]\n"),
        ("setup.cfg", "text = [tool:pytest]\n[tool:pytest\n"),
        ("tox.ini", "[tool:pytest]\n[testenv]\ncommands = pytest\n"),
        ("tests/it_test.txt", ""),
        ("tests/test_\u00fc.py", ""),
        ("tests/test_it.py/file", ""),
        ("tests", ""),
    ],
)
def test_what_only_looks_like_a_sign_of_pytest_is_none(folder, name, text):
    folder.write(name, text)

    assert folder.tools() == {}


def test_a_broken_pyproject_does_not_hide_the_other_signs(folder):
    folder.write("pyproject.toml", "[tool.ruff\n")
    folder.write("pytest.ini")

    assert folder.sources() == {"test": "pytest.ini"}


def test_the_projects_own_interpreter_is_used(folder):
    folder.write("pyproject.toml", "[tool.pytest]\n[tool.ruff]\n[tool.bandit]\n")
    assert folder.runs() == {
        "lint": "ruff check .",
        "test": "python3 -m pytest -v",
        "security_review": "python3 -m bandit -q -c pyproject.toml -r .",
    }

    folder.program("venv/bin/python")
    assert folder.runs()["test"] == "venv/bin/python -m pytest -v"

    folder.program(".venv/bin/python")
    assert folder.runs() == {
        "lint": ".venv/bin/python -m ruff check .",
        "test": ".venv/bin/python -m pytest -v",
        "security_review": ".venv/bin/python -m bandit -q -c pyproject.toml -r .",
    }


def test_an_interpreter_that_cannot_be_run_is_not_used(folder):
    folder.write("pytest.ini")
    folder.write("venv/bin/python").chmod(0o644)
    (folder.path / ".venv/bin").mkdir(parents=True)
    (folder.path / ".venv/bin/python").symlink_to("/nowhere/python3")

    assert folder.runs() == {"test": "python3 -m pytest -v"}


MANAGE = "import django\n"


def test_a_django_project_is_tested_by_its_own_program(folder):
    folder.write("manage.py", MANAGE)
    folder.write("tests/test_a.py")
    assert folder.runs() == {"test": "python3 manage.py test"}
    folder.program(".venv/bin/python")
    assert folder.runs() == {"test": ".venv/bin/python manage.py test"}
    folder.write("uv.lock")
    assert folder.runs() == {"test": "uv run python manage.py test"}


@pytest.mark.parametrize(("name", "text"), [("pytest.ini", ""), ("requirements.txt", "pytest-django\npytest\n")])
def test_a_django_project_that_asks_for_pytest_is_tested_by_it(folder, name, text):
    folder.write("manage.py", MANAGE)
    folder.write(name, text)
    assert folder.runs() == {"test": "python3 -m pytest -v"}


def test_a_program_of_that_name_without_django_is_none(folder):
    folder.write("manage.py", "print('servers')\n")
    assert folder.runs() == {}


def test_a_lock_file_names_the_launcher(folder):
    folder.write("pyproject.toml", "[tool.pytest]\n[tool.ruff]\n[tool.bandit]\n")
    folder.program(".venv/bin/python")

    folder.write("poetry.lock")
    assert folder.runs()["test"] == "poetry run pytest -v"

    folder.write("uv.lock")
    assert folder.runs() == {
        "lint": "uv run ruff check .",
        "test": "uv run pytest -v",
        "security_review": "uv run bandit -q -c pyproject.toml -r .",
    }


@pytest.mark.parametrize(
    ("name", "text", "run"),
    [
        ("pyproject.toml", "[tool.ruff.lint]\nselect = []\n", "ruff check ."),
        ("pyproject.toml", "[dependency-groups]\nlint = ['flake8', 'ruff==0.1']\n", "ruff check ."),
        ("ruff.toml", "", "ruff check ."),
        (".ruff.toml", "", "ruff check ."),
        (".flake8", "", "python3 -m flake8 ."),
        ("setup.cfg", "[flake8]\n", "python3 -m flake8 ."),
        ("tox.ini", "[flake8]\n", "python3 -m flake8 ."),
        ("pyproject.toml", "[project]\ndependencies = ['flake8', 'pylint']\n", "python3 -m flake8 ."),
        ("pyproject.toml", "[tool.pylint.main]\n", "python3 -m pylint --recursive=y ."),
        (".pylintrc", "", "python3 -m pylint --recursive=y ."),
        ("setup.cfg", "[pylint.main]\n", "python3 -m pylint --recursive=y ."),
    ],
)
def test_the_linter_is_ruff_else_flake8_else_pylint(folder, name, text, run):
    folder.write(name, text)

    assert folder.runs() == {"lint": run}
    assert folder.sources() == {"lint": name}


@pytest.mark.parametrize("text", ["[tool.ruff-lsp]\n", "[project]\ndependencies = ['ruff-lsp', 'flake8-bugbear']\n"])
def test_the_plugins_of_a_linter_are_not_the_linter(folder, text):
    folder.write("pyproject.toml", text)

    assert folder.tools() == {}


def test_bandit_reads_pyproject_only_where_it_is_configured_there(folder):
    folder.write("pyproject.toml", "[dependency-groups]\ndev = ['bandit[toml]>=1.7']\n")

    assert folder.runs() == {"security_review": "python3 -m bandit -q -r ."}


def test_bandit_leaves_environments_aside_unless_its_own_file_says_what_to_leave(folder):
    folder.write("pyproject.toml", "[tool.bandit]\n")
    folder.write(".venv/pyvenv.cfg")
    folder.write("venv/pyvenv.cfg")
    assert folder.runs() == {"security_review": "python3 -m bandit -q -c pyproject.toml -x ./.venv,./venv -r ."}

    folder.write(".bandit", "[bandit]\nexclude = ./.venv\n")
    assert folder.runs() == {"security_review": "python3 -m bandit -q -c pyproject.toml -r ."}
