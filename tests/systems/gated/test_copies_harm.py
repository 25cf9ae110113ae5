"""Copies of a journal that are foreign, damaged, old or taken away: nothing of anybody's work is lost or believed."""

from __future__ import annotations

import json

import pytest

from holdfast.errors import Conflict, HoldfastError
from holdfast.systems.gated import journal_copy
from holdfast.systems.gated.delivery import recovery
from tests.phases import FIRST, PHASES, SECOND
from tests.systems.gated.lost import DOCUMENT, HOME, JOURNAL, SLUG, Site


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory) -> Site:
    """A feature whose first phase was handed in."""
    site = Site(tmp_path_factory.mktemp("reviewed") / "app")
    site.begun()
    site.started()
    site.workflow("agent").done(FIRST)
    return site


@pytest.fixture
def site(reviewed, tmp_path) -> Site:
    return reviewed.copy(tmp_path / "app")


def clone_of(site: Site) -> Site:
    other = Site(site.root.parent / "clone")
    site.git("clone", "-q", str(site.root), str(other.root))
    return other


def journals(site: Site) -> list[bytes]:
    return [path.read_bytes() for path in sorted((site.root / ".holdfast/journal").rglob("*.jsonl"))]


def quarantined(site: Site) -> set[bytes]:
    return {path.read_bytes() for path in (site.root / ".holdfast/quarantine").iterdir()}


def complete(site: Site) -> None:
    for phase in PHASES:
        if phase != FIRST:
            site.workflow("agent").begin(phase).done(phase)
        site.opinion(phase, 1)
        site.workflow("agent").review(phase)
        site.workflow().approve(phase)


def begun_anew_elsewhere(site: Site, tmp_path) -> None:
    """Another clone forgot the journal, put the feature together again and continued; git brings that."""
    other = site.copy(tmp_path / "other")
    other.lost("document deleted")
    other.recovered()
    other.git("commit", "-q", "--allow-empty", "-m", "more")
    site.git("pull", "-q", str(other.root), site.branch)


@pytest.mark.parametrize(
    "words",
    [
        (
            "feature",
            "continue",
        ),
        ("review", FIRST),
    ],
)
def test_another_journal_of_the_feature_is_never_written_over(site, tmp_path, words):
    begun_anew_elsewhere(site, tmp_path)
    site.opinion(FIRST, 1)
    theirs, ours, head = site.read(JOURNAL), journals(site), site.head
    answer = site.agent(*words, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (5, "journal_forked"), answer
    facts = answer.json["error"]["facts"]
    assert (facts["common"], facts["ours"]) == (0, len(ours[0].splitlines()))
    assert (site.read(JOURNAL), journals(site), site.head) == (theirs, ours, head)


@pytest.mark.parametrize("take", ["git", "here"])
def test_another_journal_beside_a_completed_feature_is_for_a_person_too(site, tmp_path, take):
    complete(site)
    begun_anew_elsewhere(site, tmp_path)
    theirs, (ours,) = site.read(JOURNAL).encode(), journals(site)
    assert site.agent("feature", "continue", SLUG, "--json").json["error"]["code"] == "journal_forked"
    assert journals(site) == [ours]
    answer = site.person("feature", "recover", SLUG, "--take", take)
    assert answer.code == 0, answer
    assert site.read(JOURNAL).encode() == (theirs if take == "git" else ours)
    if take == "here":
        assert theirs in quarantined(site)
    assert site.document()["status"] == "completed"
    assert not site.git("status", "--porcelain", "--", HOME)
    site.ok("feature", "continue", SLUG)


def test_a_feature_that_was_given_up_here_gives_way_to_another_journal(site, tmp_path):
    ours = site.workflow()
    begun_anew_elsewhere(site, tmp_path)
    theirs = site.read(JOURNAL)
    site.write(JOURNAL, journals(site)[0].decode())
    site.workflow().cancel("started over elsewhere")
    site.write(JOURNAL, theirs)
    (found,) = site.project().list(status="active")
    assert found.ulid != ours.ulid


@pytest.mark.parametrize("words", [(), ("--take", "here")])
def test_a_damaged_copy_gives_way_to_the_journal_here(site, words):
    damaged = site.read(JOURNAL) + "garbage\n"
    site.write(JOURNAL, damaged)
    site.git("commit", "-qam", "garbage")
    site.opinion(FIRST, 1)
    refused = site.agent("review", FIRST, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (6, "copy_damaged")
    assert f"holdfast feature recover {SLUG}" in refused.json["error"]["remedy"]
    answer = site.person("feature", "recover", SLUG, *words)
    assert answer.code == 0, answer
    assert f"{JOURNAL} is written again" in answer.out
    assert site.git("show", f"HEAD:{JOURNAL}").encode() == journals(site)[0].strip()
    assert damaged.encode() in quarantined(site)
    site.ok("review", FIRST)


def test_what_cannot_be_committed_is_no_success(site):
    site.ok("note", "which the last commit does not have", "-w", SLUG)
    site.write(JOURNAL, "garbage\n")
    site.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    (site.root / ".git/index.lock").touch()
    answer = site.person("feature", "recover", SLUG)
    assert answer.code != 0
    assert "✓" not in answer.out


def test_nothing_is_decided_in_the_middle_of_a_merge(site, tmp_path):
    begun_anew_elsewhere(site, tmp_path)
    site.write(".git/MERGE_HEAD", f"{site.head}\n")
    ours = journals(site)
    answer = site.person("feature", "recover", SLUG, "--take", "git", "--json")
    assert (answer.code, json.loads(answer.out)["error"]["code"]) == (3, "git_busy"), answer
    assert journals(site) == ours


def test_an_old_commit_revives_no_finalized_feature(site):
    middle = site.head
    complete(site)
    assert site.person("feature", "finalize", SLUG, "--yes").code == 0
    before = journals(site)
    site.git("checkout", "-q", middle)
    for words in (("status",), ("list",), ("adopt",), ("adopt", DOCUMENT), ("done", FIRST)):
        site.agent(*words)
        assert journals(site) == before, words
    (site.root / JOURNAL).unlink()
    site.agent("status")
    assert journals(site) == before


def test_a_journal_that_git_has_is_believed_and_the_document_is_not(site):
    """Whoever takes the journal out of a clone cannot say by the document alone that a review approved."""
    for number in range(1, 5):
        site.opinion(FIRST, number, f"finding {number}")
        site.workflow("agent").review(FIRST)
        if number < 4:
            site.workflow("agent").done(FIRST, unchanged="as it was")
    assert site.document()["phases"][FIRST]["status"] == "escalated"
    other = clone_of(site)
    document = other.document()
    document["phases"][FIRST].update(status="user_review", escalation_reason=None)
    document["escalations"] = []
    other.write(DOCUMENT, json.dumps(document))
    (other.root / JOURNAL).unlink()
    answer = other.agent("status")
    assert "review approved" not in answer.out
    state = other.workflow("agent").state
    assert (state.origin, state.step(FIRST).status) == ("started", "escalated")
    assert other.document()["phases"][FIRST]["status"] == "escalated"
    (journal,) = journals(other)
    assert journal.startswith(site.read(JOURNAL).encode())


@pytest.mark.parametrize("where", ["working tree", "git"])
def test_a_document_is_not_adopted_beside_a_damaged_journal(site, where):
    other = clone_of(site)
    other.write(JOURNAL, other.read(JOURNAL).replace('"submitted"', '"completed"') + "{\n")
    if where == "git":
        other.save("garbage")
        (other.root / JOURNAL).unlink()
    answer = other.agent("status", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (6, "copy_damaged"), answer
    assert f"holdfast feature recover {SLUG}" in answer.json["error"]["remedy"]
    assert other.person("feature", "recover", SLUG, "--yes").code == 0
    other.ok("status")


def test_a_document_without_a_journal_is_adopted_still(site, tmp_path):
    other = site.afresh(tmp_path / "afresh").forgotten()
    assert other.workflow("agent").state.origin == "adopted"


def test_a_linked_worktree_makes_no_second_journal(site):
    linked = Site(site.root.parent / "linked")
    linked.root.rmdir()
    site.git("switch", "-q", "main")
    site.git("worktree", "add", "-q", str(linked.root), f"feature/{SLUG}")
    (linked.root / DOCUMENT).unlink()
    project = linked.project()
    found = recovery.recover(project.wired, SLUG)
    assert isinstance(found, recovery.Recovery)
    before = journals(site)
    with pytest.raises(Conflict) as refused:
        recovery.confirm(project.wired, found)
    assert refused.value.code == "already_active"
    assert str(site.root) in refused.value.message
    assert journals(site) == before


def as_folder(path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def as_link(path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


@pytest.mark.parametrize("harm", [as_folder, as_link])
def test_one_broken_view_hides_no_other_workflow(site, harm):
    site.git("switch", "-q", "main")
    site.project("agent").start("feature", "Another one")
    site.git("switch", "-q", f"feature/{SLUG}")
    harm(site.root / HOME / FIRST / "status.json")
    answer = site.ok("list")
    assert "another-one" in answer.out
    site.ok("list", "--json")


def test_a_file_named_workflow_stops_nothing(site):
    site.git("switch", "-q", "main")
    site.write("workflow", "a file\n")
    assert "another-one" not in site.ok("list").out
    journal_copy.take_over(site.project().wired)
    with pytest.raises(HoldfastError):
        recovery.chosen(site.project().wired, "")
    assert SECOND not in site.agent("feature", "recover", SLUG).out
