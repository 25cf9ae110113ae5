"""Ctrl-C in a slow hook after a commit: what is advised then is what works."""

from __future__ import annotations

import pytest

from tests.acceptance.committing import PATHS, holdfast


@pytest.mark.parametrize("name", ["phase-done", "finalize"])
def test_a_command_is_to_be_repeated_exactly_where_that_does_something(tmp_path, name):
    prepared = PATHS[name](tmp_path / "base")
    root = prepared.bench.root
    hook = root / ".git/hooks/post-commit"
    hook.write_text("#!/bin/sh\nkill -INT $PPID\nsleep 5\n")
    hook.chmod(0o755)
    said = holdfast(root, *prepared.words).stderr
    hook.unlink()
    again = holdfast(root, *prepared.words)
    assert "interrupted: " in said
    assert ("Repeat the command" in said) == (again.returncode == 0), (said, again)
    assert ("is recorded" in said) == (again.returncode != 0), (said, again)
