"""Variables of the environment that make a test tool load other code, or run other tests, than the project says.

They are kept, since projects and machines need some of them, and every answer about the run names them.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast.checks.results import asking

_ANY = ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES")
_PYTHON = ("PYTHONPATH", "PYTHONHOME", "PYTHONOPTIMIZE", "COVERAGE_PROCESS_START")
_NODE = ("NODE_OPTIONS", "NODE_PATH", "npm_config_script_shell", "npm_config_node_options")
_OF_TOOLS = {
    "pytest": ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", *_PYTHON),
    "unittest": _PYTHON,
    "django": ("DJANGO_SETTINGS_MODULE", *_PYTHON),
    "jest": _NODE,
    "vitest": _NODE,
    "mocha": ("MOCHA_OPTIONS", *_NODE),
    "node": _NODE,
    "go": ("GOFLAGS", "GOROOT", "GOWORK"),
    "cargo": ("RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "RUSTDOCFLAGS"),
}
_OTHERS = ("BASH_ENV", "MAKEFLAGS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS")
_SEARCHED = ("PYTHONPATH", "NODE_PATH")
"""Lists of folders: those of the project are its own to name."""
_LONGEST = 200


def found(argv: Sequence[str], folder: str, top: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Those that are set for the tool that a command starts, or where that is not known for any, with their values."""
    tool = asking.known(argv, folder)
    all_names = {*_OTHERS, *(name for names in _OF_TOOLS.values() for name in names)}
    names = sorted({*_ANY, *(_OF_TOOLS[tool] if tool else all_names)})
    said = {name: _outside(environment.get(name, ""), name, top) for name in names}
    runners = {name: value for name, value in environment.items() if _is_cargo_runner(name) and tool in ("", "cargo")}
    return {name: value[:_LONGEST] for name, value in {**said, **runners}.items() if value}


def _outside(value: str, name: str, top: str) -> str:
    if name not in _SEARCHED:
        return value
    own = os.path.join(os.path.realpath(top), "")
    folders = (one for one in value.split(os.pathsep) if one)
    others = [one for one in folders if not os.path.join(os.path.realpath(os.path.join(top, one)), "").startswith(own)]
    return os.pathsep.join(others)


def _is_cargo_runner(name: str) -> bool:
    return name.startswith(("CARGO_TARGET_", "CARGO_BUILD_RUSTC")) and name.endswith(("_RUNNER", "RUSTC", "_WRAPPER"))
