"""The end of a feature publishes what people approved, what the remote's base has, and Holdfast's own commits."""

from __future__ import annotations

import shlex

import pytest

from tests.acceptance.feature import BRANCH, CODE, SLUG, House
from tests.systems.gated.test_ending import merge, protect, remote

EVIL = "evil.py"


@pytest.fixture
def house(tmp_path) -> House:
    """A completed feature, pushed, in a clone that knows the main branch of its remote."""
    house = House(tmp_path / "house").publish().completed()
    house.git("push", "-q", "-u", "origin", BRANCH)
    house.git("remote", "set-head", "origin", "main")
    return house


def commit(house: House, path: str = EVIL, text: str = "print('evil')\n") -> None:
    house.write(path, text)
    house.git("add", "-f", path)
    house.git("commit", "-q", "-m", f"Add {path}")


def tested(house: House) -> None:
    house.ok("check", "test", "--step", "04-testing", "-w", SLUG)


def has_evil(house: House, branch: str, path: str = EVIL) -> bool:
    there = house.root.with_name("remote.git")
    listed = house.git("-C", str(there), "for-each-ref", "--format=%(refname:short)").split()
    return branch in listed and path in house.git("-C", str(there), "ls-tree", "-r", "--name-only", branch).split()


def other_base(house: House) -> None:
    """Another branch of the remote has code that the feature merges."""
    house.git("switch", "-q", "-c", "dev", "main")
    commit(house)
    house.git("push", "-q", "origin", "dev")
    house.git("switch", "-q", BRANCH)
    house.git("merge", "-q", "--no-edit", "dev")


def test_another_main_branch_of_the_remote_hides_nothing_from_the_end(house):
    other_base(house)
    tested(house)
    assert house.refused("feature", "finalize")["code"] == "gate_unmet"
    house.git("remote", "set-head", "origin", "dev")
    assert house.refused("feature", "finalize")["code"] == "gate_unmet"
    assert "holdfast approve" in str(house.ok("next", "-w", SLUG, "--json").json)
    assert not has_evil(house, BRANCH)


def test_another_main_branch_of_the_remote_hides_nothing_from_who_approves(tmp_path):
    house = House(tmp_path / "house").publish().up_to(CODE, "in_progress")
    house.make(CODE)
    other_base(house)
    house.git("remote", "set-head", "origin", "dev")
    house.reviewed(CODE, 1)
    answer = house.person("approve", CODE, "--yes")
    assert answer.code == 0, answer
    assert EVIL in answer.out


def beside(house: House, how: str) -> str:
    """The feature is merged, and there is something on the base that nobody approved; which file."""
    if how == "squashed":
        house.git("switch", "-q", "main")
        house.git("merge", "-q", "--squash", BRANCH)
        house.write(EVIL, "print('evil')\n")
        house.git("add", EVIL)
        house.git("commit", "-q", "-m", "Sign in by key")
        return EVIL
    merge(house, "--no-ff", "-m", "Merge", delete=how != "kept")
    path = ".holdfast/config.toml" if how == "config" else EVIL
    commit(house, path, "# ours\n")
    if how == "protected":
        protect(house)
    return path


HOW = ["kept", "deleted", "config", "squashed", "protected"]


@pytest.mark.parametrize("how", HOW)
def test_on_the_base_nothing_goes_out_that_nobody_approved(house, how):
    path = beside(house, how)
    tested(house)
    before, ends = house.git("rev-parse", "HEAD"), [remote(house, "main"), remote(house, f"finalize/{SLUG}")]
    error = house.refused("feature", "finalize", SLUG)
    assert error["code"] == "not_approved", error
    assert path in error["message"]
    assert [house.git("rev-parse", "HEAD"), house.status()] == [before, []]
    assert [remote(house, "main"), remote(house, f"finalize/{SLUG}")] == ends


def test_what_is_put_on_a_branch_of_its_own_no_longer_stops_the_end(house):
    beside(house, "kept")
    tested(house)
    error = house.refused("feature", "finalize", SLUG)
    for one in error["remedies"][:2]:
        house.git(*shlex.split(one["command"])[1:])
    tested(house)
    assert "pushed main" in house.ok("feature", "finalize", SLUG).out
    assert not has_evil(house, "main")
    assert EVIL in house.git("log", "--all", "--name-only", "--format=")


@pytest.mark.parametrize("how", ["deleted", "squashed"])
def test_a_person_is_shown_it_and_lets_it_out(house, how):
    beside(house, how)
    tested(house)
    answer = house.person("feature", "finalize", SLUG, "--yes")
    assert answer.code == 0, answer
    assert "print('evil')" in answer.out or "# ours" in answer.out
    assert has_evil(house, "main")


def test_what_the_feature_has_otherwise_than_approved_is_named_once_it_is_merged(house):
    commit(house)
    house.git("push", "-q", "origin", f"{BRANCH}:main", BRANCH)
    house.git("switch", "-q", "main")
    house.git("pull", "-q", "--ff-only", "origin", "main")
    tested(house)
    error = house.refused("feature", "finalize", SLUG)
    assert error["code"] == "not_approved"
    assert EVIL in error["message"]
    assert house.person("feature", "finalize", SLUG, "--yes").code == 0


def hidden(house: House, how: str) -> None:
    """The clone says of the base what the remote does not have."""
    house.git("switch", "-q", "main")
    commit(house)
    house.git("switch", "-q", BRANCH)
    house.git("merge", "-q", "--no-edit", "main")
    there = house.root.with_name("remote.git")
    if how == "removed":
        house.git("remote", "remove", "origin")
    else:
        house.git("update-ref", "refs/remotes/origin/main", "main")
        there.rename(there.with_name("away.git"))
    tested(house)
    house.ok("feature", "finalize")
    if how == "removed":
        house.git("remote", "add", "origin", str(there))
        house.git("fetch", "-q")
    else:
        there.with_name("away.git").rename(there)


@pytest.mark.parametrize("how", ["removed", "offline"])
@pytest.mark.parametrize("words", [("feature", "finalize", SLUG), ("feature", "continue", SLUG)])
def test_a_later_push_is_compared_with_what_the_remote_has(house, how, words):
    hidden(house, how)
    answer = house.agent(*words)
    assert EVIL in answer.out + answer.err, answer
    assert not has_evil(house, BRANCH)
    assert house.person("feature", "finalize", SLUG, "--yes").code == 0
    assert has_evil(house, BRANCH)


def test_what_is_committed_after_the_end_does_not_go_out_with_it(house):
    there = house.root.with_name("remote.git")
    there.rename(there.with_name("away.git"))
    house.ok("feature", "finalize")
    there.with_name("away.git").rename(there)
    commit(house, "docs/requirements.md", "# Nothing is required\n")
    assert "docs/requirements.md" in house.refused("feature", "finalize", SLUG)["message"]
    assert not has_evil(house, BRANCH, "docs/user-guide.md")
    house.git("reset", "-q", "--hard", "HEAD^")
    assert f"pushed {BRANCH}" in house.ok("feature", "finalize", SLUG).out


def fork(house: House) -> tuple[str, str]:
    """A copy of the remote whose base has code that the feature merges: its address, and the remote's."""
    there, copy = house.root.with_name("remote.git"), house.root.with_name("fork.git")
    house.git("clone", "-q", "--bare", str(there), str(copy))
    house.git("switch", "-q", "-c", "dev", "main")
    commit(house)
    house.git("push", "-q", str(copy), "dev:main")
    house.git("switch", "-q", BRANCH)
    house.git("merge", "-q", "--no-edit", "dev")
    return str(copy), str(there)


REWRITTEN: dict[str, list[tuple[str, ...]]] = {
    "push address": [("config", "remote.origin.url", "FORK"), ("config", "remote.origin.pushurl", "ORIGIN")],
    "pushes rewritten": [("config", "remote.origin.url", "FORK"), ("config", "url.ORIGIN.pushInsteadOf", "FORK")],
    "all rewritten": [
        ("config", "url.FORK.insteadOf", "ORIGIN"),
        ("config", "url.ORIGIN.pushInsteadOf", "ORIGIN"),
    ],
    "another remote": [
        ("config", "remote.origin.url", "FORK"),
        ("remote", "add", "real", "ORIGIN"),
        ("config", f"branch.{BRANCH}.pushRemote", "real"),
        ("config", "remote.pushDefault", "real"),
    ],
    "replaced": [("config", "remote.origin.url", "FORK")],
    "renamed": [("remote", "rename", "origin", "up"), ("remote", "add", "origin", "FORK")],
}


def rewritten(house: House, how: str) -> None:
    copy, there = fork(house)
    for words in REWRITTEN[how]:
        house.git(*(word.replace("FORK", copy).replace("ORIGIN", there) for word in words))
    house.git("fetch", "-q", "origin")


def ends(house: House) -> list[str]:
    """What each repository has of the feature."""
    there = [house.root.with_name(name) for name in ("remote.git", "fork.git")]
    return [house.git("-C", str(one), "rev-parse", BRANCH) for one in there]


@pytest.mark.parametrize("how", REWRITTEN)
def test_an_agent_is_refused_another_address_of_the_remote(house, how):
    rewritten(house, how)
    tested(house)
    before = ends(house)
    error = house.refused("feature", "finalize", SLUG)
    assert error["code"] == "other_remote", error
    assert str(house.root.with_name("fork.git")) in error["message"]
    assert str(house.root.with_name("remote.git")) in error["message"]
    assert ends(house) == before
    assert not has_evil(house, BRANCH)


@pytest.mark.parametrize("how", ["push address", "pushes rewritten", "all rewritten", "another remote"])
def test_a_confirmed_address_is_asked_where_it_is_pushed_to(house, how):
    rewritten(house, how)
    tested(house)
    answer = house.person("feature", "finalize", SLUG, "--yes")
    assert str(house.root.with_name("fork.git")) in answer.out, answer
    assert not has_evil(house, BRANCH)


@pytest.mark.parametrize("how", ["push address", "replaced", "all rewritten"])
def test_what_another_address_has_hides_nothing_from_who_approves(tmp_path, how):
    house = House(tmp_path / "house").publish().up_to(CODE, "in_progress")
    house.git("push", "-q", "-u", "origin", BRANCH)
    house.make(CODE)
    rewritten(house, how)
    house.reviewed(CODE, 1)
    answer = house.person("approve", CODE, "--yes")
    assert answer.code == 0, answer
    assert EVIL in answer.out


def test_a_person_confirms_a_new_address_once(house):
    new = house.root.with_name("new.git")
    house.root.with_name("remote.git").rename(new)
    house.git("remote", "set-url", "origin", str(new))
    assert house.refused("feature", "finalize", SLUG)["code"] == "other_remote"
    answer = house.person("feature", "finalize", SLUG, "--yes")
    assert (answer.code, f"pushed {BRANCH}" in answer.out) == (0, True), answer
    assert str(new) in answer.out
    assert house.ok("feature", "finalize", SLUG).out.strip().endswith("is finalized")


def test_an_end_that_went_elsewhere_is_not_taken_for_one_here(house):
    there, copy = house.root.with_name("remote.git"), house.root.with_name("fork.git")
    house.git("clone", "-q", "--bare", str(there), str(copy))
    house.git("remote", "set-url", "origin", str(copy))
    assert house.person("feature", "finalize", SLUG, "--yes").code == 0
    house.git("remote", "set-url", "origin", str(there))
    assert house.refused("feature", "finalize", SLUG)["code"] == "other_remote"
    answer = house.person("feature", "finalize", SLUG, "--yes")
    assert f"pushed {BRANCH}" in answer.out, answer
    assert has_evil(house, BRANCH, "docs/user-guide.md")
