"""What the manifests of Node, Rust and Go say, and a makefile. All of them are read as text; nothing is evaluated."""

from __future__ import annotations

from _collections_abc import Callable, Iterator, Mapping

from holdfast.checks.tooling.folder import Folder, Tool, table

PACKAGE, MANIFEST, MODULE, WORKSPACE = "package.json", "Cargo.toml", "go.mod", "go.work"

_SCRIPTS = {
    "lint": ("lint",),
    "test": ("test",),
    "security_review": ("security", "security_review", "audit"),
    "code_simplifier": ("simplify", "code_simplifier"),
}
_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lockb": "bun",
    "bun.lock": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
EACH = {
    "npm": ("npm", "test", "--silent", "--workspaces", "--if-present"),
    "pnpm": ("pnpm", "--recursive", "run", "test"),
    "yarn": ("yarn", "workspaces", "run", "test"),
}
"""How the tests of all packages of a workspace are run."""
_PLACEHOLDER = "no test specified"  # what `npm init` writes for want of tests
_AUDITS = {
    ("cargo", "audit"): (".cargo/audit.toml", "audit.toml"),
    ("cargo", "deny", "check"): ("deny.toml", ".deny.toml", ".cargo/deny.toml"),
}
_GO_LINT_FILES = (".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # the order in which make itself looks
_TARGETS = {
    "lint": ("lint",),
    "test": ("test",),
    "security_review": ("security", "security-review", "security_review"),
    "code_simplifier": ("simplify", "code-simplifier", "code_simplifier"),
}
_REFERENCE = r"\$\([^(){}]*\)|\$\{[^(){}]*\}"
_ASSIGNMENT = r"\s*(?:(?:export|unexport|override|private)\s+)*[\w.-]+\s*(?:[+?!]|:{1,3})?="


def node(folder: Folder) -> dict[str, Tool]:
    """The scripts of `package.json`, started by the package manager whose lock file is beside or around it.

    The top of a workspace that has no tests of its own runs those of its packages.
    """
    package = folder.json(PACKAGE)
    scripts = table(package, "scripts")
    runner = _manager(folder)

    def is_real(name: str) -> bool:
        script = scripts.get(name)
        return isinstance(script, str) and bool(script.strip()) and _PLACEHOLDER not in script

    def run(script: str) -> tuple[str, ...]:
        if runner != "npm":
            return (runner, "run", script)  # `bun test` without `run` would be bun's own test runner
        return ("npm", "test", "--silent") if script == "test" else ("npm", "run", "--silent", script)

    found = _chosen(_SCRIPTS, is_real, run, PACKAGE)
    if "test" not in found and runner in EACH and ("workspaces" in package or folder.has("pnpm-workspace.yaml")):
        found["test"] = Tool(run=EACH[runner], source=PACKAGE)
    return found


def _manager(folder: Folder) -> str:
    lock = folder.above(*_LOCKS)
    if lock:
        return _LOCKS[lock.rpartition("/")[2]]
    named = str(folder.json(folder.above(PACKAGE) or PACKAGE).get("packageManager", "")).partition("@")[0]
    return named if named in _LOCKS.values() else "npm"


def cargo(folder: Folder) -> dict[str, Tool]:
    """Cargo's own commands, and the audit it is set up for."""
    if not folder.toml(MANIFEST).keys() & {"package", "workspace"}:
        return {}
    found = {
        "lint": Tool(run=("cargo", "clippy", "--all-targets", "--", "-D", "warnings"), source=MANIFEST),
        "test": Tool(run=("cargo", "test"), source=MANIFEST),
    }
    for run, files in _AUDITS.items():
        if settings := folder.first(*files):
            return found | {"security_review": Tool(run=run, source=settings)}
    return found


def go(folder: Folder) -> dict[str, Tool]:
    """Go's own commands, and golangci-lint where it is set up. A workspace is tested module by module."""
    source, packages = MODULE, ["./..."]
    if not any(line.split()[:1] == ["module"] for line in folder.text(MODULE).splitlines()):
        source, packages = WORKSPACE, [f"{used.rstrip('/')}/..." for used in _used(folder.text(WORKSPACE))]
    if not packages:
        return {}
    settings = folder.first(*_GO_LINT_FILES)
    vet = Tool(run=("go", "vet", *packages), source=source)
    lint = Tool(run=("golangci-lint", "run"), source=settings) if settings else vet
    return {"lint": lint, "test": Tool(run=("go", "test", "-v", *packages), source=source)}


def _used(text: str) -> Iterator[str]:
    """The folders that a `go.work` names, each as `./path`."""
    inside = False
    for line in text.splitlines():
        words = line.partition("//")[0].split()
        if words[:1] == ["use"]:
            inside, words = words[1:2] == ["("], words[1:]
        elif words == [")"]:
            inside = False
        elif not inside:
            continue
        yield from (word for word in words if word.startswith("."))


def make(folder: Folder) -> dict[str, Tool]:
    """Targets of well-known names. One that make would take for an existing file would pass without doing anything."""
    source = folder.first(*MAKEFILES)
    rules = list(_rules(folder.text(source))) if source else []
    phony = {word for targets, rest in rules if ".PHONY" in targets for word in rest.split()}
    known = {target for targets, _ in rules for target in targets}

    def runs(target: str) -> bool:
        return target in known and (target in phony or not folder.occupied(target))

    return _chosen(_TARGETS, runs, lambda target: ("make", target), source)


def _chosen(
    wanted: Mapping[str, tuple[str, ...]],
    fits: Callable[[str], bool],
    run: Callable[[str], tuple[str, ...]],
    source: str,
) -> dict[str, Tool]:
    """For every name, the first of its words that fits."""
    found = {name: next(filter(fits, words), "") for name, words in wanted.items()}
    return {name: Tool(run=run(word), source=source) for name, word in found.items() if word}


def _rules(text: str) -> Iterator[tuple[list[str], str]]:
    """The targets and the rest of every rule line; recipes, assignments and `define` blocks are none."""
    import re

    defining = False
    for line in text.replace("\r\n", "\n").replace("\\\n", " ").split("\n"):
        word = line.split(maxsplit=1)[:1]
        if defining or word == ["define"]:
            defining = word != ["endef"]
            continue
        left, colon, rest = line.partition("#")[0].partition(":")
        left = re.sub(_REFERENCE, "", left)
        rest = rest.removeprefix(":")
        assigned = "=" in left or rest.lstrip(":").startswith("=") or re.match(_ASSIGNMENT, rest)
        if colon and not line.startswith("\t") and "$" not in left and not assigned:
            yield left.split(), rest
