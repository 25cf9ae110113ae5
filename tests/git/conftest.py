"""A repository before its first commit, and after it."""

from __future__ import annotations

import pytest

from tests.git.repositories import commit_all, sh, write


@pytest.fixture
def empty(tmp_path):
    folder = tmp_path / "project"
    sh(tmp_path, "init", "-q", "-b", "main", str(folder))
    return folder


@pytest.fixture
def project(empty):
    write(empty, "a.txt", "one\n")
    write(empty, "lib/b.txt", "two\n")
    commit_all(empty, "first")
    return empty
