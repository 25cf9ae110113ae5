"""A clone without the older commits: what cannot be seen there is not taken for settled."""

from __future__ import annotations

import subprocess

import pytest

from tests.acceptance.feature import BRANCH, CODE, FIRST, SLUG, House

UNSHALLOW = "git fetch --unshallow"


@pytest.fixture(params=[FIRST, CODE])
def there(request, tmp_path) -> House:
    house = House(tmp_path / "here").publish().up_to(request.param)
    house.git("push", "-q", "-u", "origin", BRANCH)
    remote = f"file://{tmp_path / 'remote.git'}"
    command = ("git", "clone", "-q", "--depth", "1", "-b", BRANCH, remote, str(tmp_path / "there"))
    subprocess.run(command, check=True)
    return house.at(tmp_path / "there")


def test_a_shallow_clone_is_named_with_the_command_that_completes_it(there):
    for words in (("status",), ("next",), ("feature", "recover", SLUG), ("feature", "continue", SLUG)):
        answer = there.agent(*words)
        assert UNSHALLOW in answer.out + answer.err, (words, answer)
        assert "shallow" in answer.out + answer.err, (words, answer)
        assert "as its journal says" not in answer.out, words
    refusal = there.refused("feature", "recover", SLUG)
    assert (refusal["code"], refusal["remedy"]) == ("shallow_clone", UNSHALLOW)
    there.git("fetch", "-q", "--unshallow")
    assert SLUG in there.ok("status").out
    assert "as its journal says" in there.ok("feature", "recover", SLUG).out
