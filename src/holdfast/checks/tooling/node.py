"""What `package.json` says: its scripts, started by the package manager whose lock file lies beside it."""

from __future__ import annotations

from holdfast.checks.tooling.folder import Folder, table
from holdfast.checks.tooling.tool import Tool

PACKAGE = "package.json"

_SCRIPTS = {
    "lint": ("lint",),
    "test": ("test",),
    "security_review": ("security", "security_review", "audit"),
    "code_simplifier": ("simplify", "code_simplifier"),
}
_LOCKS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"), ("bun.lock", "bun"))
_PLACEHOLDER = "no test specified"  # what `npm init` writes for want of tests


def find(folder: Folder) -> dict[str, Tool]:
    scripts = table(folder.json(PACKAGE), "scripts")
    found = {}
    for name, candidates in _SCRIPTS.items():
        script = next((each for each in candidates if _is_real(scripts.get(each))), "")
        if script:
            found[name] = Tool(run=_run(folder, script), source=PACKAGE)
    return found


def _is_real(script: object) -> bool:
    return isinstance(script, str) and bool(script.strip()) and _PLACEHOLDER not in script


def _run(folder: Folder, script: str) -> tuple[str, ...]:
    runner = next((runner for lock, runner in _LOCKS if folder.has(lock)), "npm")
    if runner != "npm":
        return (runner, "run", script)  # `bun test` without `run` would be bun's own test runner
    return ("npm", "test", "--silent") if script == "test" else ("npm", "run", "--silent", script)
