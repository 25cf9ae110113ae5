"""A feature whose journal is lost: its state is rebuilt, from git or from what its phases say, once a person agrees."""

from __future__ import annotations

import pytest

from holdfast.core import commands as cmd
from holdfast.errors import Conflict, NotFound, Refused
from holdfast.systems.gated import adoption
from holdfast.systems.gated.delivery import recovery
from tests.phases import FIRST, SECOND
from tests.systems.gated.lost import DOCUMENT, HOME, LOSSES, REQUEST, SLUG, STAGES, Site, lived


@pytest.fixture(scope="module")
def life(tmp_path_factory) -> dict[str, Site]:
    """A copy of the repository as it was at every stage."""
    top = tmp_path_factory.mktemp("life")
    site, kept = Site(top / "app"), {}
    lived(site, lambda stage: kept.update({stage: site.copy(top / "kept" / stage)}))
    return kept


def without(document, *names):
    return {name: value for name, value in document.items() if name not in names}


@pytest.mark.parametrize("loss", [*LOSSES, "both, committed", "document damaged, committed"])
@pytest.mark.parametrize("stage", STAGES)
def test_what_git_has_is_rebuilt_as_it_was(life, tmp_path, stage, loss):
    site = life[stage].copy(tmp_path / "app")
    document, statuses = site.document(), site.statuses()
    what, _, committed = loss.partition(", ")
    site.lost(what)
    if committed:
        site.save("[workflow] lost")
    workflow = site.recovered()
    assert without(site.document(), "updated_at") == without(document, "updated_at")
    assert site.statuses() == statuses
    assert workflow.said == ()
    assert site.git("log", "-1", "--format=%s").endswith(": Recover the state")
    assert not site.git("status", "--porcelain", "--", HOME)


@pytest.mark.parametrize("loss", LOSSES[:2])
@pytest.mark.parametrize("stage", STAGES)
def test_without_git_the_phases_tell_the_whole(life, tmp_path, stage, loss):
    """All but the pull request, which no file of a phase speaks of."""
    site = life[stage].afresh(tmp_path / "app")
    document, statuses = site.document(), site.statuses()
    site.lost(loss)
    site.recovered()
    aside = ("updated_at", "created_at", *REQUEST)
    assert without(site.document(), *aside) == without(document, *aside)
    assert site.statuses() == statuses
    assert {site.document()[name] for name in REQUEST} == {None}


@pytest.mark.parametrize("loss", LOSSES[2:4])
@pytest.mark.parametrize("stage", STAGES)
def test_without_git_the_document_and_the_reviews_tell_of_a_phase(life, tmp_path, stage, loss):
    site = life[stage].afresh(tmp_path / "app")
    document, statuses = site.document(), site.statuses()
    phase = site.lost(loss)
    site.recovered()
    assert site.document() == document
    now = site.statuses()
    assert without(now, phase) == without(statuses, phase)
    aside = ("history", "current_feedback") if stage == "regression" else ("history",)
    assert without(now[phase], *aside) == without(statuses[phase], *aside)


BOTH = {
    "started": (FIRST, "in_progress", 0),
    "in_review": (FIRST, "in_progress", 0),
    "revised": (FIRST, "in_progress", 2),
    "user_review": (FIRST, "user_review", 2),
    "pull_request": (FIRST, "user_review", 2),
    "approved": (FIRST, "user_review", 2),
    "second": (SECOND, "pending", 0),
    "escalated": (SECOND, "escalated", 4),
    "overridden": (SECOND, "escalated", 4),
    "regression": (FIRST, "in_progress", 0),
    "completed": ("05-documentation", "user_review", 1),
}


@pytest.mark.parametrize("stage", STAGES)
def test_without_git_and_without_both_files_the_reviews_say_how_far_a_phase_is(life, tmp_path, stage):
    site = life[stage].afresh(tmp_path / "app")
    site.lost("both")
    site.recovered()
    phase, status, iterations = BOTH[stage]
    document = site.document()
    assert document["current_phase"] == phase
    assert (document["phases"][phase]["status"], document["phases"][phase]["iterations"]) == (status, iterations)


@pytest.mark.parametrize("stage", STAGES)
def test_a_reconstruction_is_valid_and_says_what_every_field_rests_on(life, tmp_path, stage):
    site = life[stage].afresh(tmp_path / "app")
    site.lost("both")
    found = recovery.reconstruct(site.project().wired, SLUG)
    assert adoption.mistakes(found.document) == []
    assert all(adoption.status_mistakes(one, phase) == [] for phase, one in found.statuses.items())
    clues = {clue.field: clue.value for clue in found.evidence}
    assert all(clue.source for clue in found.evidence)
    for name, value in found.document.items():
        if name != "phases":
            assert clues[name] == value
    for phase, entry in found.document["phases"].items():
        assert {name: clues[f"phases.{phase}.{name}"] for name in entry} == entry
    for phase, status in found.statuses.items():
        assert {name: clues[f"{phase}/status.json: {name}"] for name in status} == status


def test_the_sources_are_named(life, tmp_path):
    site = life["revised"].afresh(tmp_path / "app")
    site.lost("both")
    sources = {clue.field: clue.source for clue in recovery.reconstruct(site.project().wired, SLUG).evidence}
    assert sources[f"phases.{FIRST}.iterations"] == f"{FIRST}/reviews/review-1.md"
    assert sources["feature_title"] == "00-feature/description.md"
    assert sources[f"phases.{SECOND}.status"] == "nothing said otherwise"
    other = life["revised"].copy(tmp_path / "other")
    other.lost("document deleted")
    found = {clue.field: clue.source for clue in recovery.reconstruct(other.project().wired, SLUG).evidence}
    assert found["created_at"] == f"workflow-state.json in commit {other.head[:7]}"


@pytest.mark.parametrize("stage", ["approved", "overridden", "completed"])
def test_approvals_that_were_confirmed_let_the_work_go_on(life, tmp_path, stage):
    site = life[stage].copy(tmp_path / "app")
    site.lost("document deleted")
    state = site.recovered().state
    grants = [one.grant for one in state.progress.values() if one.grant]
    assert grants
    assert all((one.how, one.by, one.claimed) == ("terminal", "human ada", False) for one in grants)
    assert (state.loads, bool(state.read_only), bool(state.digest)) == ("description", True, True)
    if stage != "completed":
        following = site.document()["current_phase"]
        assert site.workflow("agent").begin(following).state.step(following).status == "active"


@pytest.mark.parametrize("stage", ["in_review", "revised", "user_review", "escalated", "regression"])
def test_a_recovered_feature_goes_its_way(life, tmp_path, stage):
    """From where it was to the approval of the phase, with the counts of before."""
    site = life[stage].copy(tmp_path / "app")
    site.lost("both")
    site.recovered()
    phase = site.document()["current_phase"]
    workflow = site.workflow()
    if stage == "escalated":
        workflow.execute(cmd.Unblock(phase, guidance="do it so"))
    if stage not in ("in_review", "user_review"):
        workflow.done(phase)
    if stage != "user_review":
        number = site.document()["phases"][phase]["iterations"]
        assert number == (2 if stage == "revised" else 1)
        site.opinion(phase, number)
        workflow.review(phase)
    assert workflow.approve(phase).state.step(phase).status == "done"


def test_a_document_in_git_that_is_older_than_the_phases_is_not_believed(life, tmp_path):
    """Moves that could not be committed are in the files of the phases alone."""
    site = life["revised"].copy(tmp_path / "app")
    newer = life["second"].copy(tmp_path / "newer")
    for name in newer.statuses():
        site.write(f"{HOME}/{name}/status.json", newer.read(f"{HOME}/{name}/status.json"))
    site.lost("document deleted")
    site.recovered()
    aside = ("updated_at", *REQUEST)
    assert without(site.document(), *aside) == without(newer.document(), *aside)


def test_commits_say_what_the_files_cannot(life, tmp_path):
    """Where no version of the files is in git, the trailers still tell of the pull request and of approvals."""
    site = life["approved"].afresh(tmp_path / "app")
    site.git("add", f"{HOME}/00-feature")
    kept = f"Workflow: {SLUG}\nPhase-Status: approved\nPull-Request: {REQUEST['pr_url']}\n"
    site.git("commit", "-q", "-m", f"[workflow] {FIRST}: Approved\n\n{kept}Last-Reviewed-At: 2026-03-01T10:00:00Z\n")
    site.lost("both")
    document = recovery.reconstruct(site.project().wired, SLUG).document
    assert {name: document[name] for name in REQUEST} == REQUEST
    assert document["phases"][FIRST]["status"] == "approved"
    assert document["phases"][FIRST]["completed_at"] == "2026-01-01T00:00:00Z"
    assert document["current_phase"] == SECOND


def test_a_phase_is_never_further_than_the_one_before_it(life, tmp_path):
    site = life["second"].afresh(tmp_path / "app")
    site.write(f"{HOME}/{FIRST}/status.json", life["revised"].read(f"{HOME}/{FIRST}/status.json"))
    site.lost("document deleted")
    found = recovery.reconstruct(site.project().wired, SLUG)
    assert [one["status"] for one in found.document["phases"].values()] == ["in_progress", *["pending"] * 4]
    source = next(clue.source for clue in found.evidence if clue.field == f"phases.{SECOND}.status")
    assert source == f"{FIRST} comes before it and is not approved"


def test_a_lost_phase_was_approved_when_a_later_one_has_begun(life, tmp_path):
    site = life["second"].afresh(tmp_path / "app").forgotten()
    (site.root / DOCUMENT).unlink()
    (site.root / HOME / FIRST / "status.json").unlink()
    site.recovered()
    phases = site.document()["phases"]
    assert (phases[FIRST]["status"], phases[FIRST]["iterations"]) == ("approved", 2)
    assert phases[SECOND]["status"] == "in_progress"


def test_an_earlier_feature_of_the_same_name_says_nothing(life, tmp_path):
    """What was finalized under a name is over, although git still has its files."""
    site = life["completed"].copy(tmp_path / "app")
    last = "[workflow] 05-documentation: Finalize"
    site.git("rm", "-r", "-q", HOME)
    site.git("commit", "-q", "-m", f"{last}\n\nWorkflow: {SLUG}\nWorkflow-Status: finalized\n")
    site.forgotten()
    site.write(f"{HOME}/00-feature/description.md", "# Another login\n")
    document = recovery.reconstruct(site.project().wired, SLUG).document
    assert (document["feature_title"], document["status"]) == ("Another login", "in_progress")
    assert document["phases"][FIRST]["status"] == "in_progress"


def test_a_feature_that_was_given_up_stays_given_up(life, tmp_path):
    site = life["second"].copy(tmp_path / "app")
    site.workflow().cancel("nobody wants it")
    other = site.afresh(tmp_path / "other")
    other.lost("document deleted")
    workflow = other.recovered()
    assert workflow.state.cancelled is not None
    assert (other.document()["status"], other.document()["cancelled_reason"]) == ("cancelled", "nobody wants it")


def test_what_changed_since_it_was_shown_is_shown_again(life, tmp_path):
    site = life["revised"].copy(tmp_path / "app")
    site.lost("document deleted")
    project = site.project()
    found = recovery.reconstruct(project.wired, SLUG)
    site.write(f"{HOME}/{FIRST}/status.json", life["user_review"].read(f"{HOME}/{FIRST}/status.json"))
    before = site.everything()
    with pytest.raises(Conflict, match="has changed since it was shown"):
        recovery.confirm(project.wired, found)
    after = site.everything()
    assert {name: after[name] for name in before if name != "(git)"} == without(before, "(git)")
    assert recovery.recover(site.project().wired, SLUG) == recovery.reconstruct(site.project().wired, SLUG)


def test_what_was_broken_is_kept_in_quarantine(life, tmp_path):
    site = life["revised"].copy(tmp_path / "app")
    site.lost("document damaged")
    site.write(f"{HOME}/journal.jsonl", "<<<<<<< HEAD\n")
    site.recovered()
    kept = {path.read_bytes() for path in (site.root / ".holdfast/quarantine").iterdir()}
    assert {b'{"feature": "user-lo', b"<<<<<<< HEAD\n"} <= kept


def test_links_lead_nowhere(life, tmp_path):
    """A file of somebody else's is not read for what it says of a feature."""
    site = life["user_review"].afresh(tmp_path / "app").forgotten()
    (site.root / DOCUMENT).rename(tmp_path / "elsewhere.json")
    (site.root / DOCUMENT).symlink_to(tmp_path / "elsewhere.json")
    (site.root / HOME / FIRST / "reviews").rename(tmp_path / "reviews")
    (site.root / HOME / FIRST / "reviews").symlink_to(tmp_path / "reviews")
    (site.root / HOME / FIRST / "status.json").unlink()
    found = recovery.reconstruct(site.project().wired, SLUG)
    assert found.document["phases"][FIRST]["status"] == "in_progress"
    assert "workflow-state.json" not in {clue.source for clue in found.evidence}


def test_without_a_description_nothing_proves_that_it_was_a_feature(life, tmp_path):
    site = life["revised"].copy(tmp_path / "app")
    site.lost("document deleted")
    (site.root / HOME / "00-feature/description.md").unlink()
    with pytest.raises(NotFound) as refused:
        recovery.recover(site.project().wired, SLUG)
    assert refused.value.code == "no_feature"


def test_an_agent_cannot_confirm(life, tmp_path):
    site = life["revised"].copy(tmp_path / "app")
    site.lost("document deleted")
    project = site.project("agent")
    found = recovery.reconstruct(project.wired, SLUG)
    with pytest.raises(Refused) as refused:
        recovery.confirm(project.wired, found)
    assert refused.value.code == "person_needed"
    assert not (site.root / DOCUMENT).exists()
