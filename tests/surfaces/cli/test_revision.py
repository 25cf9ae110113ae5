"""Whoever decided by what a workflow said at one revision is refused at the next: nobody writes over another's move."""

from __future__ import annotations

CONFLICT = 5


def revision(project) -> int:
    return project.ok("log", "--json").json["revision"]


def test_a_command_for_the_revision_that_was_seen_is_taken(project):
    seen = revision(project)
    answer = project.ok("begin", "draft", "--revision", str(seen), "--json")
    assert answer.json["revision"] == seen + 1


def test_a_command_for_an_older_revision_is_refused_and_changes_nothing(project):
    seen = revision(project)
    project.ok("note", "somebody else was faster")
    before = project.fingerprint()
    answer = project.agent("begin", "draft", "--revision", str(seen), "--json")
    assert (answer.code, answer.error["code"]) == (CONFLICT, "stale_revision")
    assert answer.error["facts"] == {"expected": seen, "revision": seen + 1}
    assert project.fingerprint() == before
    assert "somebody else was faster" in project.ok(*answer.error["remedy"].split("holdfast ")[1].split()).out


def test_a_repetition_under_its_key_is_no_conflict(project):
    seen = revision(project)
    words = ("begin", "draft", "--revision", str(seen), "--key", "k1", "--json")
    first = project.ok(*words).json
    assert project.ok(*words).json["revision"] == first["revision"]
