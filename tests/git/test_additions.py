"""A commit of Holdfast's that would add a likely secret is refused, with the place and never with the secret."""

from __future__ import annotations

import pytest

from holdfast import git
from holdfast.core.secrets import DEFAULT, Secrets
from holdfast.errors import Refused
from holdfast.git import commits
from tests.workbench import Bench

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


def commit(bench, *paths, message="more", secrets=DEFAULT):
    repository = git.find(str(bench.root))
    assert repository is not None
    return commits.commit(repository, paths, message, secrets)


def refused(bench, *paths, **how):
    before, status = bench.head, bench.git("status", "--porcelain")
    with pytest.raises(Refused) as caught:
        commit(bench, *paths, **how)
    assert caught.value.code == "secret_in_commit"
    assert TOKEN not in f"{caught.value} {caught.value.facts} {caught.value.remedies}"
    assert (bench.head, bench.git("status", "--porcelain")) == (before, status)
    return caught.value


def test_each_place_is_named(bench):
    bench.write("a b/ä.py", f"one\ntwo\ntoken = '{TOKEN}'\n")
    bench.write("deploy.env", "X=1\nDB_PASSWORD=hunter2\n")
    error = refused(bench, "a b/ä.py", "deploy.env")
    assert error.facts["secrets"] == [
        {"file": "a b/ä.py", "line": 3, "kind": "GitHub token"},
        {"file": "deploy.env", "line": 2, "kind": "password"},
    ]
    assert "a b/ä.py:3 (GitHub token), deploy.env:2 (password)" in error.message


def test_a_message_is_searched_too(bench):
    bench.write("a.txt", "one\n")
    assert "its message (GitHub token)" in refused(bench, "a.txt", message=f"use {TOKEN}").message


def test_only_what_is_added_counts(bench):
    bench.write("old.py", f"# {TOKEN}\nsecond\nthird\n")
    bench.save("it was there before")
    bench.write("old.py", f"# {TOKEN}\nsecond, changed\nthird\n+++ x\n@@ -1 +1 @@\n")
    assert commit(bench, "old.py") == bench.head
    bench.write("old.py", "second, changed\nthird\n")
    assert commit(bench, "old.py") == bench.head


def test_a_repository_without_commits_is_searched(tmp_path):
    bench = Bench(tmp_path / "new")
    bench.git("init", "-q")
    bench.write("a.txt", f"x\n{TOKEN}")
    with pytest.raises(Refused) as caught:
        commit(bench, "a.txt")
    assert "a.txt:2" in caught.value.message


@pytest.mark.parametrize("allow", ["fixtures/*", "fixtures", "fixtures/keys.txt"])
def test_a_person_may_allow_files(bench, allow):
    bench.write("fixtures/keys.txt", TOKEN)
    bench.write("other.txt", TOKEN)
    secrets = Secrets(allow=(allow,))
    assert commit(bench, "fixtures/keys.txt", secrets=secrets) == bench.head
    refused(bench, "other.txt", secrets=secrets)


def test_an_agent_is_told_to_remove_it_and_only_a_person_how_to_allow_it(bench):
    bench.write("a.txt", TOKEN)
    error = refused(bench, "a.txt")
    assert error.remedy == "move it to a file that git ignores, and commit again"
    assert [getattr(one, "who", "") for one in error.remedies] == ["", "person"]


def test_a_message_with_a_secret_is_to_be_said_without_it(bench):
    bench.write("a.txt", "nothing secret\n")
    error = refused(bench, "a.txt", message=f"use {TOKEN}")
    assert [str(one) for one in error.remedies] == ["say it in the message without the secret, and commit again"]
