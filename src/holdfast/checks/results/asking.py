"""How a known tool is asked for its results as data, without touching the project's files.

The words that are added name files in a folder of the run alone. A tool that is asked through a script of
`package.json` gets them at the end, and only where the script is one plain command.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast.core.value import Value

_REPORTERS = os.path.join(os.path.dirname(__file__), "reporters")
_LARGEST_MANIFEST = 1 << 20
_PYTHON_RUNNERS = ("uv", "poetry", "pdm", "pipenv", "hatch", "rye")
_NODE_RUNNERS = ("npx", "pnpm", "yarn", "bunx", "bun", "cross-env", "env", "c8", "nyc")
_SUBCOMMANDS = ("run", "exec", "x", "dlx")
_TOOLS = {
    "pytest": "pytest",
    "py.test": "pytest",
    "jest": "jest",
    "jest.js": "jest",
    "vitest": "vitest",
    "vitest.mjs": "vitest",
    "mocha": "mocha",
    "mocha.js": "mocha",
    "_mocha": "mocha",
}
_MANAGE = "manage.py"
"""The program of a Django project, which tests it."""
_SCRIPT_RUNNERS = {"npm": ("--",), "pnpm": (), "yarn": (), "bun": ()}
"""What parts a package manager's own options from those of the script."""
_OPERATORS = frozenset("();<>|&")


class Asked(Value):
    """A command that reports. `form` is how: `lines`, `jest`, or nothing where it is the output that is read."""

    tool: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = {}
    form: str = ""
    report: str = ""


def asked(argv: Sequence[str], folder: str, scratch: str, environment: Mapping[str, str]) -> Asked | None:
    """The command as it is to be run in the folder; None for a tool that is not known, or that is hidden in another."""
    script, parted = _script(argv, folder)
    words, tool = script or list(argv), known(argv, folder)
    if not tool:
        return None
    report = os.path.join(scratch, "report")
    match tool:
        case "go" | "cargo":
            at = argv.index("test") + 1
            flag = "-json" if tool == "go" else "--no-fail-fast"
            return Asked(tool, (*argv[:at], *(() if flag in argv else (flag,)), *argv[at:]))
        case "pytest":
            env = _python(scratch, "holdfast_pytest.py", report, environment)
            return Asked(tool, _ended(argv, parted, ("-p", "holdfast_pytest")), env, "lines", report)
        case "unittest":
            env = _python(scratch, "holdfast_unittest.py", report, environment)
            own = list(argv)
            own[own.index("unittest")] = "holdfast_unittest"
            return Asked(tool, tuple(own), env, "lines", report)
        case "django":
            env = _python(scratch, "holdfast_unittest.py", report, environment)
            at = next(place for place, word in enumerate(argv) if os.path.basename(word) == _MANAGE)
            return Asked(tool, (*argv[:at], "-m", "holdfast_unittest", *argv[at:]), env, "lines", report)
        case "jest":
            return Asked(tool, _ended(argv, parted, ("--json", f"--outputFile={report}")), {}, "jest", report)
        case "vitest":
            flags = (*(() if _has(words, "--reporter") else ("--reporter=default",)), "--reporter=json")
            return Asked(tool, _ended(argv, parted, (*flags, f"--outputFile.json={report}")), {}, "jest", report)
        case "mocha":
            flags = ("--reporter", _copied("mocha.cjs", scratch))
            return Asked(tool, _ended(argv, parted, flags), {"HOLDFAST_REPORT": report}, "lines", report)
        case _:
            options = _node_options(words, _copied("node.mjs", scratch), report)
            before = environment.get("NODE_OPTIONS", "")
            return Asked(tool, tuple(argv), {"NODE_OPTIONS": f"{before} {options}".strip()}, "lines", report)


def known(argv: Sequence[str], folder: str) -> str:
    """The tool that can be asked for its results as data; empty where there is none."""
    script, _ = _script(argv, folder)
    tool = _tool(script or list(argv))
    return "" if script and tool in ("go", "cargo", "unittest", "django") else tool


def _tool(words: Sequence[str]) -> str:
    """The test tool that the words start, directly or by a runner that passes everything on."""
    at = 0
    while at < len(words) and "=" in words[at].partition("/")[0] and not words[at].startswith("-"):
        at += 1  # assignments before a command
    words = words[at:]
    if not words:
        return ""
    name = os.path.basename(words[0])
    if name in ("go", "cargo"):
        return name if list(words[1:2]) == ["test"] else ""
    if name in _TOOLS:
        return _TOOLS[name]
    if name.startswith("python") or name == "pypy3":
        return _module(words[1:])
    if name in ("node", "nodejs"):
        return _of_node(words[1:])
    if name == "coverage":
        return _covered(words[1:])
    if name in (*_PYTHON_RUNNERS, *_NODE_RUNNERS):
        return _behind(words[1:])
    return ""


def _behind(words: Sequence[str]) -> str:
    """What a runner starts: its own words come first, and each of its options may have a value."""
    optional = False
    for at, word in enumerate(words):
        if word == "-m":
            return _module(words[at:])
        if word.startswith("-"):
            optional = "=" not in word
            continue
        found = _tool(words[at:])
        if found:
            return found
        if word not in _SUBCOMMANDS and not optional and "=" not in word:
            return ""
        optional = False
    return ""


def _covered(words: Sequence[str]) -> str:
    """What `coverage` starts: a module, or a program of the project."""
    if "-m" in words:
        return _behind(words)
    program = next((at for at, word in enumerate(words) if os.path.basename(word) == _MANAGE), len(words))
    return _managed(words[program:])


def _managed(words: Sequence[str]) -> str:
    return "django" if words and os.path.basename(words[0]) == _MANAGE and list(words[1:2]) == ["test"] else ""


def _module(words: Sequence[str]) -> str:
    for at, word in enumerate(words):
        if word == "-m":
            module = next(iter(words[at + 1 : at + 2]), "")
            if module in ("pytest", "unittest"):
                return module
            return _covered(words[at + 2 :]) if module == "coverage" else ""
        if not word.startswith("-") or word == "-c":
            return _managed(words[at:])
    return ""


def _of_node(words: Sequence[str]) -> str:
    for word in words:
        if word == "--test":
            return "node"
        if not word.startswith("-"):
            return _TOOLS.get(os.path.basename(word), "") if "node_modules" in word else ""
    return ""


def _script(argv: Sequence[str], folder: str) -> tuple[list[str], tuple[str, ...]]:
    """The command of a script of `package.json` as words, and what goes before words for it; nothing for none."""
    said = script(argv, folder)
    if not said:
        return [], ()
    runner = os.path.basename(next(word for word in argv if not word.startswith("-")))
    return _plain(said), () if "--" in argv else _SCRIPT_RUNNERS[runner]


def script(argv: Sequence[str], folder: str, manifest: bytes | None = None) -> str:
    """The script that a command starts, of the `package.json` there or of another one; empty where it starts none."""
    from holdfast.machine.place import read_regular
    from holdfast.plain.plainjson import object_in

    words = [word for word in argv if not word.startswith("-")]
    runner = os.path.basename(words[0]) if words else ""
    if runner not in _SCRIPT_RUNNERS:
        return ""
    names = words[2:] if words[1:2] in (["run"], ["run-script"]) else words[1:]
    if manifest is None:
        manifest = read_regular(os.path.join(folder, "package.json"), _LARGEST_MANIFEST) or b""
    data = object_in(manifest) or {}
    scripts = data.get("scripts")
    name = "test" if names[:1] == ["t"] and runner == "npm" else next(iter(names), "")
    found = scripts.get(name) if isinstance(scripts, dict) else None
    return found if isinstance(found, str) and (runner != "bun" or words[1:2] == ["run"]) else ""


def _plain(script: str) -> list[str]:
    """The words of a script that is one command; none for anything that takes a shell to tell."""
    import shlex

    reader = shlex.shlex(script, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    reader.commenters = ""
    try:
        words = list(reader)
    except ValueError:
        return ["?"]
    return ["?"] if "\n" in script or any(_OPERATORS.issuperset(word) for word in words) else words or ["?"]


def _ended(argv: Sequence[str], parted: tuple[str, ...], flags: tuple[str, ...]) -> tuple[str, ...]:
    """The flags at the end of the options: what follows two dashes is not for the tool, unless a script is started."""
    if parted or "--" not in argv or _is_script_runner(argv):
        return (*argv, *parted, *flags)
    at = argv.index("--")
    return (*argv[:at], *flags, *argv[at:])


def _is_script_runner(argv: Sequence[str]) -> bool:
    return os.path.basename(argv[0]) in _SCRIPT_RUNNERS


def _has(words: Sequence[str], option: str) -> bool:
    return any(word.partition("=")[0] == option for word in words)


def _python(scratch: str, name: str, report: str, environment: Mapping[str, str]) -> dict[str, str]:
    folder = os.path.dirname(_copied(name, scratch))
    before = environment.get("PYTHONPATH", "")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (folder, before))), "HOLDFAST_REPORT": report}


def _node_options(words: Sequence[str], reporter: str, report: str) -> str:
    """Every reporter of node needs a destination as soon as there are two, and what the command says comes after."""
    own = f"--test-reporter={reporter} --test-reporter-destination={report}"
    if not _has(words, "--test-reporter"):
        return f"{own} --test-reporter=spec --test-reporter-destination=stdout"
    return own if _has(words, "--test-reporter-destination") else f"{own} --test-reporter-destination=stdout"


def _copied(name: str, scratch: str) -> str:
    """A reporter in the folder of the run: whatever its interpreter keeps beside it goes with the folder."""
    import shutil

    folder = os.path.join(scratch, "reporters")
    os.makedirs(folder, 0o700, exist_ok=True)
    return shutil.copyfile(os.path.join(_REPORTERS, name), os.path.join(folder, name))
