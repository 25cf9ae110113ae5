"""What a Rust project says: cargo's own commands, and the audit it is set up for."""

from __future__ import annotations

from holdfast.checks.tooling.folder import Folder
from holdfast.checks.tooling.tool import Tool

MANIFEST = "Cargo.toml"

_AUDITS = (
    (".cargo/audit.toml", ("cargo", "audit")),
    ("audit.toml", ("cargo", "audit")),
    ("deny.toml", ("cargo", "deny", "check")),
    (".deny.toml", ("cargo", "deny", "check")),
    (".cargo/deny.toml", ("cargo", "deny", "check")),
)


def find(folder: Folder) -> dict[str, Tool]:
    if not folder.toml(MANIFEST).keys() & {"package", "workspace"}:
        return {}
    found = {
        "lint": Tool(run=("cargo", "clippy", "--all-targets", "--", "-D", "warnings"), source=MANIFEST),
        "test": Tool(run=("cargo", "test"), source=MANIFEST),
    }
    for file, run in _AUDITS:
        if folder.has(file):
            return found | {"security_review": Tool(run=run, source=file)}
    return found
