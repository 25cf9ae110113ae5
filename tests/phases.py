"""What the phases of a feature hand in, written as a creator would, and a project whose tests pass."""

from __future__ import annotations

from collections.abc import Callable

PHASES = ("01-requirements", "02-architecture", "03-implementation", "04-testing", "05-documentation")
FIRST, SECOND, CODE, TESTING, DOCS = PHASES
OUTPUTS = {
    FIRST: ("requirements.md",),
    SECOND: ("architecture.md",),
    CODE: ("plan.md", "changes.md"),
    TESTING: ("test-plan.md", "coverage-report.md"),
    DOCS: ("user-docs.md", "api-docs.md"),
}
MAKEFILE = "test:\n\t@git --version\n"
"""A project whose tests pass wherever git is, by the exit code."""

Write = Callable[[str, str], object]


def paths(home: str, phase: str) -> list[str]:
    return [f"{home}/{phase}/{name}" for name in OUTPUTS[phase]]


def write_outputs(write: Write, home: str, phase: str, text: str = "") -> None:
    """The required documents of a phase; another text is another round."""
    for path in paths(home, phase):
        write(path, f"# {path.rpartition('/')[2]}\n\n{text or f'What {phase} says.'}\n")


def write_all(write: Write, home: str, text: str = "") -> None:
    for phase in PHASES:
        write_outputs(write, home, phase, text)
