"""What the files of a Python project say: pytest, ruff, flake8 or pylint, bandit, and how to start them."""

from __future__ import annotations

from _collections_abc import Iterator

from holdfast.checks.tooling.folder import Folder, Tool, table
from holdfast.core.value import Any

PYPROJECT = "pyproject.toml"

_ENVIRONMENTS = (".venv", "venv")
_PYTEST_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")  # these count even when they are empty
_PYLINT_FILES = ("pylintrc", "pylintrc.toml", ".pylintrc", ".pylintrc.toml")


def find(folder: Folder) -> dict[str, Tool]:
    project = _Project(folder)
    found = {"lint": project.lint(), "test": project.test(), "security_review": project.security_review()}
    return {name: tool for name, tool in found.items() if tool}


class _Project:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._data = folder.toml(PYPROJECT)
        self._tools = table(self._data, "tool")
        self._required = {_package(text) for text in _requirements(self._data)}

    def test(self) -> Tool | None:
        source = (
            self._declared("pytest")
            or self._folder.first(*_PYTEST_FILES)
            or self._section("setup.cfg", "tool:pytest")
            or self._section("tox.ini", "pytest")
            or self._folder.first("conftest.py", "tests/conftest.py")
            or self._test_file()
        )
        return Tool(run=self._run("pytest", "-v"), source=source) if source else None

    def lint(self) -> Tool | None:
        source = self._declared("ruff") or self._folder.first("ruff.toml", ".ruff.toml")
        if source:
            run = self._run("ruff", "check", ".")
            # Without an environment of its own the project relies on the program, which comes by other ways than pip.
            return Tool(run=run[2:] if run[0] == "python3" else run, source=source)
        source = self._declared("flake8") or self._folder.first(".flake8") or self._ini_section("flake8")
        if source:
            return Tool(run=self._run("flake8", "."), source=source)
        source = self._declared("pylint") or self._folder.first(*_PYLINT_FILES) or self._ini_section("pylint")
        return Tool(run=self._run("pylint", "--recursive=y", "."), source=source) if source else None

    def security_review(self) -> Tool | None:
        source = self._declared("bandit")
        if not source:
            return None
        config = ("-c", PYPROJECT) if "bandit" in self._tools else ()
        aside = [f"./{name}" for name in _ENVIRONMENTS if self._folder.has(f"{name}/pyvenv.cfg")]
        # Bandit would judge the packages of others as well. Its own file of options loses to the command line.
        exclude = ("-x", ",".join(aside)) if aside and not self._folder.has(".bandit") else ()
        return Tool(run=self._run("bandit", "-q", *config, *exclude, "-r", "."), source=source)

    def _run(self, module: str, *arguments: str) -> tuple[str, ...]:
        """A lock file names the launcher that knows the environment; else it is the project's own interpreter."""
        if self._folder.has("uv.lock"):
            return ("uv", "run", module, *arguments)
        if self._folder.has("poetry.lock"):
            return ("poetry", "run", module, *arguments)
        interpreters = (f"{name}/bin/python" for name in _ENVIRONMENTS)
        own = next((path for path in interpreters if self._folder.is_program(path)), "python3")
        return (own, "-m", module, *arguments)

    def _declared(self, package: str) -> str:
        return PYPROJECT if package in self._tools or package in self._required else ""

    def _section(self, file: str, name: str) -> str:
        """The file, if it has the section or one below it."""
        return file if any(f"{each}.".startswith(f"{name}.") for each in self._folder.sections(file)) else ""

    def _ini_section(self, name: str) -> str:
        return self._section("setup.cfg", name) or self._section("tox.ini", name)

    def _test_file(self) -> str:
        import re

        found = self._folder.names("tests")
        names = (f"tests/{name}" for name in found if re.fullmatch(r"test_[A-Za-z0-9_]*\.py", name))
        return self._folder.first(*names)


def _package(requirement: str) -> str:
    """`Pytest[x]>=8; python_version>"3.10"` → pytest."""
    import re

    name = re.match(r"\s*([A-Za-z0-9._-]*)", requirement)
    return re.sub(r"[-_.]+", "-", name[1]).lower() if name else ""


def _requirements(data: dict[str, Any]) -> Iterator[str]:
    """Everything the project asks for, whatever for. What a group includes is listed where it stands itself."""
    tool = table(data, "tool")
    poetry = table(tool, "poetry")
    lists = [
        table(data, "project").get("dependencies"),
        table(tool, "uv").get("dev-dependencies"),
        *table(data, "project", "optional-dependencies").values(),
        *table(data, "dependency-groups").values(),
        *table(tool, "pdm", "dev-dependencies").values(),
    ]
    for environment in table(tool, "hatch", "envs").values():
        lists += [table(environment).get("dependencies"), table(environment).get("extra-dependencies")]
    for group in table(poetry, "group").values():
        lists.append(list(table(group, "dependencies")))
    lists += [list(table(poetry, "dependencies")), list(table(poetry, "dev-dependencies"))]
    for each in lists:
        if isinstance(each, list):
            yield from (item for item in each if isinstance(item, str))
