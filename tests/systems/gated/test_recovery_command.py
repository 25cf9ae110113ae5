"""`holdfast feature recover` as it is typed: what it shows, whom it asks, and what it does where a journal is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.errors import Broken, HoldfastError, Refused, UsageError
from holdfast.stores.lines import head, seal
from tests.phases import FIRST, SECOND
from tests.systems.gated.lost import DOCUMENT, HOME, JOURNAL, SLUG, TORN, Site


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Site:
    """A feature whose first phase is approved and whose second is under way."""
    site = Site(tmp_path_factory.mktemp("begun") / "app")
    site.begun()
    site.started()
    site.reviewed(FIRST, 1)
    site.workflow().approve(FIRST)
    site.workflow("agent").begin(SECOND)
    return site


@pytest.fixture
def site(begun, tmp_path) -> Site:
    return begun.copy(tmp_path / "app")


def without_time(document):
    return {name: value for name, value in document.items() if name != "updated_at"}


def test_a_person_sees_the_table_and_says_yes(site, begun):
    site.lost("both")
    answer = site.person("feature", "recover", SLUG, says="y")
    assert answer.code == 0, answer
    assert f"workflow-state.json in commit {begun.head[:7]}" in answer.out
    assert f"{SLUG} is recovered" in answer.out
    assert without_time(site.document()) == without_time(begun.document())
    assert site.statuses() == begun.statuses()
    assert site.ok("done", SECOND).code == 0


def test_nothing_changes_when_the_person_says_no(site):
    site.lost("both")
    before = site.everything()
    answer = site.person("feature", "recover", says="n")
    assert answer.code == 1
    assert "nothing was changed" in answer.out
    assert site.everything() == before


def test_an_agent_sees_the_table_and_needs_a_person(site):
    site.lost("document deleted")
    before = site.everything()
    answer = site.agent("feature", "recover", "--yes")
    assert answer.code == 3
    assert f"phases.{SECOND}.status" in answer.out
    assert f"holdfast feature recover {SLUG}" in answer.err
    assert site.everything() == before


def test_a_damaged_copy_of_the_journal_is_spoken_of(site):
    site.lost("document deleted")
    site.write(JOURNAL, "<<<<<<< HEAD\n")
    answer = site.agent("feature", "recover")
    assert (answer.code, f"{JOURNAL} is damaged" in answer.out) == (3, True), answer


def test_json_carries_the_reconstruction(site, begun):
    site.lost("document deleted")
    answer = site.agent("feature", "recover", "--json")
    facts = answer.json["error"]["facts"]
    assert (answer.code, answer.json["error"]["code"]) == (3, "person_needed")
    assert without_time(facts["document"]) == without_time(begun.document())
    assert facts["evidence"][0] == {"field": "feature", "value": SLUG, "source": facts["evidence"][1]["source"]}


def shown(answer) -> dict:
    """The JSON after the question that the terminal shows."""
    return json.loads(answer.out[answer.out.index("\n{") :])


def test_a_person_may_say_yes_beforehand(site):
    site.lost("document damaged")
    answer = site.person("feature", "recover", "--yes", "--json")
    assert answer.code == 0, answer
    assert shown(answer)["slug"] == SLUG


def test_what_a_terminal_would_obey_is_escaped(site):
    site.lost("document deleted")
    status = site.status(SECOND)
    site.write(f"{HOME}/{SECOND}/status.json", json.dumps({**status, "current_feedback": "\x1b[2Jgone\u202e"}))
    answer = site.agent("feature", "recover")
    assert "\x1b" not in answer.out + answer.err
    assert "\u202e" not in answer.out


@pytest.mark.parametrize("damage", ["deleted", "torn"])
@pytest.mark.parametrize("phase", [FIRST, SECOND])
def test_a_journal_that_is_known_needs_nobody(site, begun, phase, damage):
    files = [site.root / DOCUMENT, site.root / HOME / phase / "status.json", site.root / JOURNAL]
    for file in files:
        if damage == "deleted":
            file.unlink()
        else:
            file.write_bytes(TORN)
    answer = site.ok("feature", "recover")
    assert all(str(file.relative_to(site.root)) in answer.out for file in files), answer
    assert without_time(site.document()) == without_time(begun.document())
    assert site.statuses() == begun.statuses()
    journal = next((site.root / ".holdfast/journal").rglob("*.jsonl")).read_bytes()
    assert (site.root / JOURNAL).read_bytes() == journal
    assert "as its journal says" in site.ok("feature", "recover").out


def test_a_completed_feature_is_rebuilt_from_its_journal(site):
    assert site.person("approve", "--claimed", "--yes").code == 0
    for phase in (SECOND, "03-implementation", "04-testing", "05-documentation"):
        if phase != SECOND:
            site.workflow("agent").begin(phase)
        site.reviewed(phase, 1)
        site.workflow().approve(phase)
    document, statuses = site.document(), site.statuses()
    (site.root / DOCUMENT).write_bytes(TORN)
    (site.root / HOME / FIRST / "status.json").unlink()
    site.ok("feature", "recover", SLUG)
    assert (site.document(), site.statuses()) == (document, statuses)


def test_a_good_copy_of_the_journal_is_all_it_takes(site, begun):
    """As in a fresh clone: nothing is put together, and nobody is asked."""
    other = Site(site.root.parent / "clone")
    site.git("clone", "-q", str(site.root), str(other.root))
    (other.root / DOCUMENT).unlink()
    (other.root / HOME / SECOND / "status.json").write_bytes(TORN)
    other.ok("feature", "recover", SLUG)
    assert without_time(other.document()) == without_time(begun.document())
    assert other.workflow("agent").state.origin == "started"


@pytest.fixture
def forked(site, tmp_path) -> Site:
    """Another clone handed the phase in; here somebody blocked it, and then git brought the other way."""
    other = site.copy(tmp_path / "other")
    other.workflow().approve(FIRST)
    other.workflow("agent").done(SECOND)
    site.workflow("agent").block(SECOND, "no key")
    for name in (JOURNAL, DOCUMENT, f"{HOME}/{SECOND}/status.json"):
        site.write(name, other.read(name))
    site.save("what the other clone did")
    return site


def test_a_fork_is_shown_from_both_sides(forked):
    before = forked.everything()
    answer = forked.agent("feature", "recover", "--json")
    error = answer.json["error"]
    assert (answer.code, error["code"]) == (5, "journal_forked")
    assert error["remedy"] == f"holdfast feature recover {SLUG} --take GIT_OR_HERE"
    assert (error["facts"]["here"]["what"], error["facts"]["git"]["what"]) == ("block", "done")
    assert error["facts"]["git"]["lines"] == 2
    assert "agent ada" in error["message"]
    assert {name: forked.everything()[name] for name in before} == before


def test_only_a_person_decides_a_fork(forked):
    answer = forked.agent("feature", "recover", SLUG, "--take", "git", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (3, "person_needed")


def test_what_came_with_git_holds_where_a_person_takes_it(forked, tmp_path):
    ours = next((forked.root / ".holdfast/journal").rglob("*.jsonl")).read_bytes()
    answer = forked.person("feature", "recover", SLUG, "--take", "git")
    assert answer.code == 0, answer
    assert forked.document() == Site(tmp_path / "other").document()
    assert forked.status(SECOND)["status"] == "in_review"
    assert [path.read_bytes() for path in (forked.root / ".holdfast/archive").iterdir()] == [ours]
    assert forked.ok("status", "--json").json["status"] == "in_progress"


def test_what_is_here_holds_where_a_person_takes_it(forked, tmp_path):
    theirs = (Path(tmp_path) / "other" / JOURNAL).read_bytes()
    answer = forked.person("feature", "recover", SLUG, "--take", "here")
    assert answer.code == 0, answer
    assert forked.document()["phases"][SECOND]["status_detail"] == "blocked"
    assert forked.status(SECOND)["status"] == "escalated"
    ours = next((forked.root / ".holdfast/journal").rglob("*.jsonl")).read_bytes()
    assert forked.git("show", f"HEAD:{JOURNAL}").encode() == ours.strip()
    assert theirs in {path.read_bytes() for path in (forked.root / ".holdfast/quarantine").iterdir()}
    assert not forked.git("status", "--porcelain", "--", HOME)


def test_a_fork_that_brings_commands_of_its_own_is_not_taken(forked):
    """Whoever takes what came with git takes the work, and not what somebody would have run here."""
    lines = (forked.root / JOURNAL).read_bytes().splitlines(keepends=True)
    body = json.loads(lines[-1])
    step = {"id": SECOND, "checks": [{"name": "x", "run": ["touch", "owned"], "run_by": "engine"}]}
    first = json.loads(lines[0])["events"][0]["steps"][0]
    body["events"] = [{"event": "amended", "op": "change", "path": SECOND, "step": {**first, **step}}]
    rest = {name: value for name, value in body.items() if name not in ("seq", "synced", "prev", "sum")}
    text = head(body["seq"], body["synced"], body["prev"])
    text += json.dumps(rest, separators=(",", ":"), ensure_ascii=False).encode()[1:-1]
    (forked.root / JOURNAL).write_bytes(b"".join((*lines[:-1], text + seal(text))))
    answer = forked.person("feature", "recover", SLUG, "--take", "git", "--json")
    assert (answer.code, shown(answer)["error"]["code"]) == (5, "copy_refused"), answer


@pytest.fixture
def begun_anew(site, tmp_path) -> Site:
    """Another clone lost its journal and recovered, which git brings to one that still has the first."""
    other = site.copy(tmp_path / "other")
    other.lost("document deleted")
    other.recovered()
    other.workflow().approve(FIRST)
    other.workflow("agent").done(SECOND)
    site.git("pull", "-q", str(other.root), site.branch)
    return site


def test_a_journal_that_was_begun_anew_elsewhere_is_a_fork_too(begun_anew, tmp_path):
    theirs = begun_anew.read(JOURNAL)
    answer = begun_anew.agent("feature", "recover", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (5, "journal_forked"), answer
    assert (answer.json["error"]["facts"]["common"], begun_anew.read(JOURNAL)) == (0, theirs)
    assert begun_anew.person("feature", "recover", "--take", "git").code == 0
    assert begun_anew.document() == Site(tmp_path / "other").document()
    begun_anew.workflow().approve(FIRST)
    begun_anew.opinion(SECOND, 1)
    begun_anew.ok("review", SECOND)
    assert begun_anew.status(SECOND)["status"] == "user_review"


def test_a_journal_that_was_begun_anew_elsewhere_gives_way_to_the_one_here(begun_anew, begun):
    assert begun_anew.person("feature", "recover", "--take", "here").code == 0
    assert without_time(begun_anew.document()) == without_time(begun.document())
    journal = next((begun_anew.root / ".holdfast/journal").rglob("*.jsonl")).read_bytes()
    assert (begun_anew.root / JOURNAL).read_bytes() == journal
    begun_anew.workflow().approve(FIRST)
    begun_anew.ok("done", SECOND)


def test_a_damaged_journal_cannot_be_taken(forked):
    forked.write(JOURNAL, forked.read(JOURNAL)[:-20])
    answer = forked.person("feature", "recover", SLUG, "--take", "git", "--json")
    assert (answer.code, json.loads(answer.out)["error"]["code"]) == (6, "copy_damaged"), answer


def test_a_journal_waits_until_git_is_done(site, tmp_path):
    """In the middle of a merge nobody knows what the journal will be."""
    other = site.copy(tmp_path / "other")
    other.workflow().approve(FIRST)
    other.workflow("agent").done(SECOND)
    site.write(JOURNAL, other.read(JOURNAL))
    site.write(".git/MERGE_HEAD", f"{site.head}\n")
    before = site.read(JOURNAL)
    answer = site.agent("feature", "recover", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (3, "git_busy")
    assert site.read(JOURNAL) == before


def test_a_journal_that_somebody_took_away_is_none(site, begun):
    """The list of workflows still names it."""
    for path in (site.root / ".holdfast/journal").rglob("*.jsonl"):
        path.unlink()
    (site.root / JOURNAL).unlink()
    (site.root / DOCUMENT).unlink()
    assert site.person("feature", "recover", SLUG, "--yes").code == 6
    assert site.person("doctor", "--repair", says="y").code == 0
    answer = site.person("feature", "recover", SLUG, "--yes")
    assert answer.code == 0, answer
    assert without_time(site.document()) == without_time(begun.document())
    assert site.ok("done", SECOND, "-w", SLUG).code == 0


def test_there_is_nothing_to_take_without_a_journal(site):
    site.lost("document deleted")
    answer = site.person("feature", "recover", "--take", "git", "--json")
    assert (answer.code, json.loads(answer.out)["error"]["code"]) == (2, "nothing_to_take")


@pytest.mark.parametrize("loss", ["document deleted", "document damaged"])
def test_lost_work_is_neither_put_away_nor_begun_anew(site, loss):
    site.lost(loss)
    before = site.everything()
    for words in (("adopt",), ("adopt", DOCUMENT), ("status",), ("status", "-w", SLUG)):
        answer = site.agent(*words, "--json")
        assert (answer.code, answer.json["error"]["code"]) == (6, "document_broken"), words
        assert answer.json["error"]["remedy"] == f"holdfast feature recover {SLUG}"
    with pytest.raises(HoldfastError) as refused:
        site.project().start("feature", "User login")
    assert isinstance(refused.value, Broken | Refused)
    assert f"holdfast feature recover {SLUG}" in refused.value.remedy
    after = site.everything()
    assert {name: after[name] for name in before if name != "(git)"} == {
        name: before[name] for name in before if name != "(git)"
    }


def test_a_document_that_is_no_state_names_the_recovery(begun, tmp_path):
    site = begun.afresh(tmp_path / "app").forgotten()
    site.write(DOCUMENT, '{"feature": "user-login"}')
    with pytest.raises(UsageError) as refused:
        site.project().workflow(SLUG)
    assert (refused.value.code, refused.value.remedy) == ("not_a_workflow", f"holdfast feature recover {SLUG}")
    site.recovered()


def test_a_whole_document_is_adopted_and_its_approvals_are_claims(begun, tmp_path):
    site = begun.afresh(tmp_path / "app").forgotten()
    state = site.workflow().state
    grant = state.step(FIRST).grant
    assert grant is not None
    assert grant.claimed


def test_of_several_features_one_has_to_be_named(site):
    site.lost("document deleted")
    site.write("workflow/another/00-feature/description.md", "# Another\n")
    assert site.agent("feature", "recover", "--json").json["error"]["facts"]["slug"] == SLUG
    site.git("switch", "-q", "-c", "elsewhere")
    answer = site.agent("feature", "recover", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "ambiguous_feature")


@pytest.mark.parametrize("word", ["../../etc", "Workflow", "a--b", "x" * 65, "all"])
def test_only_a_slug_names_a_feature(site, word):
    answer = site.agent("feature", "recover", word, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "bad_slug")
