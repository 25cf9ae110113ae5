"""What the files of a Python project say: pytest, Django or unittest, the linter, bandit, and how to start them."""

from __future__ import annotations

from _collections_abc import Iterator

from holdfast.checks.tooling.folder import Folder, Tool, table
from holdfast.core.value import Any

PYPROJECT = "pyproject.toml"

_ENVIRONMENTS = (".venv", "venv")
_PYTEST_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")  # these count even when they are empty
_REQUIREMENTS = (
    *("requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "requirements-test.txt"),
    *("test-requirements.txt", "requirements.txt", "requirements/dev.txt", "requirements/test.txt"),
)
_MANAGE = "manage.py"
_TESTS = ("tests", "test")
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
        """pytest where the project says so or its interpreter has it; else what every interpreter has."""
        source = (
            self._declared("pytest")
            or self._folder.first(*_PYTEST_FILES)
            or self._section("setup.cfg", "tool:pytest")
            or self._section("tox.ini", "pytest")
            or self._folder.first("conftest.py", "tests/conftest.py")
        )
        if not source and self._is_django():
            return Tool(run=self._script(_MANAGE, "test"), source=_MANAGE)
        file = "" if source else self._test_file()
        if source or (file and (self._is_of_pytest(file) or self._can_import("pytest"))):
            return Tool(run=self._run("pytest", "-v"), source=source or file)
        return Tool(run=self._run("unittest", *self._discovery(file)), source=file) if file else None

    def _is_of_pytest(self, file: str) -> bool:
        """Whether only pytest runs the tests of a file: they are plain functions."""
        import re

        text = self._folder.text(file)
        return "unittest" not in text and re.search(r"^(?:async )?def test_", text, re.MULTILINE) is not None

    def _is_django(self) -> bool:
        return "django" in self._folder.text(_MANAGE).lower()

    def _discovery(self, file: str) -> tuple[str, ...]:
        """How unittest finds the tests beside this one: a folder that is no package is not looked into by itself."""
        folder = file.partition("/")[0] if "/" in file else ""
        if not folder:
            return ("-v",)
        return ("discover", "-v", "-s", folder, *(("-t", ".") if self._folder.has(f"{folder}/__init__.py") else ()))

    def _can_import(self, module: str) -> bool:
        """Whether the project's interpreter has a module; nothing of the project, nor the module, is imported."""
        launcher, *words = self._run(module)
        if words[:1] == ["run"]:
            return False  # a lock file lists what there is, and then the project declares it
        environment = launcher.removesuffix("/bin/python")
        if launcher != environment:
            folders = (f"{environment}/lib/{name}/site-packages" for name in self._folder.names(f"{environment}/lib"))
            return any(self._folder.occupied(f"{folder}/{module}") for folder in folders)
        import subprocess

        asked = f"import importlib.util as i; raise SystemExit(i.find_spec({module!r}) is None)"
        try:
            found = subprocess.run([launcher, "-c", asked], cwd="/", capture_output=True, timeout=10, check=False)
            return found.returncode == 0
        except (OSError, subprocess.SubprocessError):
            return False

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
        """By the launcher that knows the environment, else by the project's own interpreter."""
        launcher = self._launcher()
        if launcher and module != "unittest":
            return (*launcher, module, *arguments)
        return self._script("-m", module, *arguments)

    def _script(self, *words: str) -> tuple[str, ...]:
        """What the project's interpreter is started with."""
        if launcher := self._launcher():
            return (*launcher, "python", *words)
        interpreter = self._folder.above(*(f"{name}/bin/python" for name in _ENVIRONMENTS))
        usable = interpreter if interpreter and self._folder.is_program(interpreter) else "python3"
        return (usable, *words)

    def _launcher(self) -> tuple[str, ...]:
        """A lock file names the program that knows the environment."""
        if self._folder.above("uv.lock"):
            return ("uv", "run")
        return ("poetry", "run") if self._folder.has("poetry.lock") else ()

    def _declared(self, package: str) -> str:
        """The file that asks for a package: `pyproject.toml`, or a list of requirements."""
        if package in self._tools or package in self._required:
            return PYPROJECT
        return next((name for name in _REQUIREMENTS if package in self._listed(name)), "")

    def _listed(self, name: str) -> set[str]:
        return {_package(line) for line in self._folder.text(name).splitlines()}

    def _section(self, file: str, name: str) -> str:
        """The file, if it has the section or one below it."""
        return file if any(f"{each}.".startswith(f"{name}.") for each in self._folder.sections(file)) else ""

    def _ini_section(self, name: str) -> str:
        return self._section("setup.cfg", name) or self._section("tox.ini", name)

    def _test_file(self) -> str:
        """A test by its name: beside the manifests, in the folder of tests, or in one inside that."""
        import re

        inside = [f"{name}/" for top in _TESTS for name in (top, *(f"{top}/{one}" for one in self._folder.names(top)))]
        for folder in ("", *inside):
            named = [name for name in self._folder.names(folder) if re.fullmatch(r"test_[A-Za-z0-9_]*\.py", name)]
            if found := self._folder.first(*(f"{folder}{name}" for name in named)):
                return found
        return ""


def _package(requirement: str) -> str:
    """`Pytest[x]>=8; python_version>"3.10"` → pytest."""
    import re

    name = re.match(r"\s*([A-Za-z0-9._-]*)", requirement)
    return re.sub(r"[-_.]+", "-", name[1]).lower() if name else ""


def _requirements(data: dict[str, Any]) -> Iterator[str]:
    """Everything the project asks for, whatever for. What a group includes is listed where it is itself."""
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
