"""What a Go module says: go's own commands, and golangci-lint where it is set up."""

from __future__ import annotations

from holdfast.checks.tooling.folder import Folder
from holdfast.checks.tooling.tool import Tool

MODULE = "go.mod"

_LINT_FILES = (".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")


def find(folder: Folder) -> dict[str, Tool]:
    if not any(line.split()[:1] == ["module"] for line in folder.text(MODULE).splitlines()):
        return {}
    settings = folder.first(*_LINT_FILES)
    vet = Tool(run=("go", "vet", "./..."), source=MODULE)
    lint = Tool(run=("golangci-lint", "run"), source=settings) if settings else vet
    return {"lint": lint, "test": Tool(run=("go", "test", "-v", "./..."), source=MODULE)}
