"""A feature from its first word to its published docs, where people decide at their own terminals."""

from __future__ import annotations

import pytest

from tests.acceptance.feature import (
    BRANCH,
    CODE,
    DOCS,
    FIRST,
    HOME,
    PHASES,
    SECOND,
    SLUG,
    TESTING,
    TITLE,
    House,
    act,
    row,
    timeless,
)

FINDING = "[MAJOR] no numbers"


@pytest.fixture
def house(tmp_path):
    return House(tmp_path / "house").publish()


@pytest.fixture
def busy(house):
    """Somebody has staged something, edited it further, and edited and added something else."""
    house.git("switch", "-q", "-c", "own")
    house.write("notes.txt", "A note, staged.\n")
    house.write("other.txt", "Staged.\n")
    house.git("add", "notes.txt", "other.txt")
    house.write("notes.txt", "A note, staged, and edited.\n")
    house.write("auth/__init__.py", "edited = True\n")
    house.write("loose.txt", "Not known to git.\n")
    return house


OWN = [" M auth/__init__.py", "?? loose.txt", "A  other.txt", "MM notes.txt"]


def document(status: str, current: str, rows: list, **more):
    every = rows + [row()] * (len(PHASES) - len(rows))
    return {
        "feature": SLUG,
        "feature_title": TITLE,
        "branch": BRANCH,
        "created_at": "T",
        "updated_at": "T",
        "current_phase": current,
        "status": status,
        "phases": dict(zip(PHASES, every, strict=True)),
        "escalations": [],
        "pr_url": None,
        "pr_number": None,
        "last_reviewed_at": None,
        **more,
    }


def detail(phase: str, status: str, iterations: int, history: list, feedback: str | None = None, **more):
    return {
        "phase": phase,
        "status": status,
        "iterations": iterations,
        "max_iterations": 4,
        "current_feedback": feedback,
        "history": history,
        "started_at": "T",
        "completed_at": "T" if status == "approved" else None,
        "escalation_reason": None,
        **more,
    }


def reviews(house: House, phase: str) -> list[str]:
    """The review files of a phase, archived ones as `archived/…`."""
    folder = house.root / HOME / phase / "reviews"
    found = [path.relative_to(folder) for path in folder.rglob("*.md")]
    return sorted(f"archived/{path.name}" if len(path.parts) == 2 else str(path) for path in found)


def escalated(house: House, phase: str) -> None:
    """Four reviews ask for a revision."""
    for number in range(1, 5):
        house.reviewed(phase, number, f"wrong {number}")
    assert (house.phase(phase)["status"], house.state()["status"]) == ("escalated", "escalated")


def only_workspace(house: House, since: str) -> None:
    """Every commit that Holdfast made has files of the workspace, and no others."""
    for sha in house.git("rev-list", f"{since}..HEAD").split():
        assert all(name.startswith(f"{HOME}/") for name in house.files_of(sha)), sha


def test_init_makes_what_is_missing_once_and_leaves_what_is_there(house):
    made = house.ok("feature", "init", "--json").json["made"]
    assert sorted(made) == [
        *("docs/api-reference.md", "docs/diagrams/.gitkeep", "docs/features.md", "docs/user-guide.md"),
        "workflow/.gitkeep",
    ]
    assert house.read("docs/requirements.md") == "# Requirements\n\nDoors open.\n"
    assert house.ok("feature", "init", "--json").json["made"] == []


def test_a_start_seeds_the_workspace_describes_the_feature_and_commits_that_alone(busy):
    answer = busy.ok("start", "feature", TITLE)
    assert SLUG in answer.out
    assert busy.git("branch", "--show-current").strip() == BRANCH
    assert busy.status() == OWN
    assert busy.subjects() == [f"[workflow] {FIRST}: Start {TITLE}"]
    only_workspace(busy, "main")
    assert busy.trailers() == {"Workflow": SLUG, "Workflow-Status": "in_progress", "Phase-Status": "in_progress"}
    seeded = {
        "docs/requirements.md": f"{HOME}/{FIRST}/requirements.md",
        "docs/architecture.md": f"{HOME}/{SECOND}/architecture.md",
        "docs/diagrams/door.svg": f"{HOME}/{SECOND}/diagrams/door.svg",
    }
    assert {central: busy.read(own) for central, own in seeded.items()} == {one: busy.read(one) for one in seeded}
    assert busy.read(f"{HOME}/00-feature/description.md") == f"# {TITLE}\n"
    listed = busy.read(f"{HOME}/00-feature/features.md")
    assert listed.startswith("# Features\n")
    assert all(word in listed for word in (TITLE, SLUG, BRANCH))
    assert timeless(busy.state()) == document("in_progress", FIRST, [row("in_progress")])
    assert timeless(busy.status_of(FIRST)) == detail(FIRST, "in_progress", 0, [])
    assert not (busy.root / HOME / SECOND / "status.json").exists()


def test_a_phase_is_made_reviewed_revised_and_approved_by_a_person_alone(busy):
    busy.ok("start", "feature", TITLE)
    busy.make(FIRST)
    assert f"{HOME}/{FIRST}/reviews/review-1.md" in busy.ok("done", "1", "-m", "Define the key").out
    assert timeless(busy.phase(FIRST)) == row("in_review", 1)
    assert timeless(busy.status_of(FIRST)) == detail(FIRST, "in_review", 1, [act(1, "created", None)])
    busy.opinion(FIRST, 1, "no numbers")
    busy.ok("review", "1")
    assert timeless(busy.phase(FIRST)) == row("in_progress", 2)
    first = act(1, "created", "NEEDS_REVISION")
    assert timeless(busy.status_of(FIRST)) == detail(FIRST, "in_progress", 2, [first], FINDING)
    busy.reviewed(FIRST, 2)
    history = [first, act(2, "revised", "APPROVED")]
    assert timeless(busy.status_of(FIRST)) == detail(FIRST, "user_review", 2, history)
    assert timeless(busy.state()) == document("in_progress", FIRST, [row("user_review", 2)])
    assert busy.refused("approve", "1")["code"] == "person_needed"
    assert timeless(busy.phase(FIRST)) == row("user_review", 2)
    busy.approve("1")
    history.append(act(2, "user_review", "APPROVED"))
    assert timeless(busy.status_of(FIRST)) == detail(FIRST, "approved", 2, history)
    busy.ok("feature", "continue")
    assert timeless(busy.state()) == document("in_progress", SECOND, [row("approved", 2), row("in_progress")])
    assert timeless(busy.status_of(SECOND)) == detail(SECOND, "in_progress", 0, [])
    assert reviews(busy, FIRST) == ["review-1.md", "review-2.md"]
    assert busy.subjects() == [
        f"[workflow] {FIRST}: Start {TITLE}",
        f"[workflow] {FIRST}: Define the key",
        f"[workflow] {FIRST}: Review 1 asks for a revision",
        f"[workflow] {FIRST}: Hand in for review",
        f"[workflow] {FIRST}: Review 2 approves, a person decides",
        f"[workflow] {FIRST}: Approved by a person",
        f"[workflow] {SECOND}: Begin",
    ]
    only_workspace(busy, "main")
    assert busy.status() == OWN


def test_four_refusals_escalate_and_guidance_begins_the_rounds_anew(house):
    house.up_to(SECOND, "in_progress")
    escalated(house, SECOND)
    assert timeless(house.state()["escalations"]) == [
        {
            "phase": SECOND,
            "reason": house.phase(SECOND)["escalation_reason"],
            "iteration": 4,
            "at": "T",
            "resolved_at": None,
            "resolution": None,
        }
    ]
    assert (house.phase(SECOND)["iterations"], house.trailers()["Workflow-Status"]) == (4, "escalated")
    assert house.subjects()[-1].startswith(f"[workflow] {SECOND}: Escalate: ")
    assert house.agent("done", SECOND).code == 3
    assert house.phase(SECOND)["status"] == "escalated"
    answer = house.person("unblock", SECOND, "--guidance", "One door is enough")
    assert answer.code == 0, answer
    assert timeless(house.phase(SECOND)) == row("in_progress")
    assert house.status_of(SECOND)["current_feedback"] == "One door is enough"
    assert reviews(house, SECOND) == [f"archived/review-{number}.md" for number in range(1, 5)]
    (one,) = timeless(house.state()["escalations"])
    assert (one["resolved_at"], one["resolution"]) == ("T", "guidance: One door is enough")
    assert house.state()["status"] == "in_progress"
    house.reviewed(SECOND, 1)
    assert [one["action"] for one in house.status_of(SECOND)["history"]] == [
        *("created", "revised", "revised", "revised", "escalated", "guided", "revised"),
    ]


def test_an_escalated_phase_can_be_overridden_by_a_person_only(house):
    house.up_to(CODE, "in_progress")
    escalated(house, CODE)
    assert house.refused("approve", CODE)["code"] == "person_needed"
    house.approve(CODE)
    assert house.phase(CODE)["status"] == "approved"
    (one,) = timeless(house.state()["escalations"])
    assert (one["phase"], one["resolved_at"], one["resolution"]) == (CODE, "T", "override")
    assert house.status_of(CODE)["history"][-1]["action"] == "overridden"
    assert house.subjects()[-1] == f"[workflow] {CODE}: A person overrides the escalation"
    house.ok("feature", "continue")
    assert house.phase(TESTING)["status"] == "in_progress"


def test_code_that_was_not_committed_is_named_and_can_be_committed_by_itself(house):
    house.up_to(CODE, "in_progress")
    house.write("src/key.py", "key = 1\n")
    house.write("notes.txt", "Mine.\n")
    assert "notes.txt, src/key.py: in no commit yet" in house.refused("done", CODE)["message"]
    house.ok("commit", CODE, "-m", "Add the key", "--path", "src/key.py")
    assert "done: notes.txt: in no commit yet" in house.refused("done", CODE)["message"]
    assert house.subjects()[-1] == f"[workflow] {CODE}: Add the key"
    assert house.files_of("HEAD") == ["src/key.py"]
    assert [one for one in house.status() if HOME not in one] == [" M notes.txt"]


def test_a_person_sends_the_work_back_from_the_fourth_phase_to_the_second(house):
    house.up_to(TESTING)
    answer = house.person("reject", TESTING, "--feedback", "Test the lock too")
    assert answer.code == 0, answer
    assert timeless(house.phase(TESTING)) == row("in_progress")
    assert house.status_of(TESTING)["current_feedback"] == "Test the lock too"
    assert reviews(house, TESTING) == ["archived/review-1.md"]
    house.make(TESTING, "The lock is tested.")
    house.reviewed(TESTING, 1)
    answer = house.person("reopen", SECOND, "--feedback", "Two doors")
    assert answer.code == 0, answer
    approved = row("approved", 1)
    assert timeless(house.state()) == document("in_progress", SECOND, [approved, row("in_progress")])
    history = [act(1, "created", "APPROVED"), act(1, "user_review", "APPROVED"), act(0, "regression", "NEEDS_REVISION")]
    assert timeless(house.status_of(SECOND)) == detail(SECOND, "in_progress", 0, history, "Two doors")
    for phase in (CODE, TESTING):
        shown = house.status_of(phase)
        assert (shown["status"], shown["iterations"], shown["started_at"]) == ("pending", 0, None)
        assert all(name.startswith("archived/") for name in reviews(house, phase))
    assert reviews(house, SECOND) == ["archived/review-1.md"]
    assert reviews(house, FIRST) == ["review-1.md"]
    assert house.subjects()[-1].startswith(f"[workflow] {SECOND}: ")
    for phase in PHASES[1:]:
        house.ok("feature", "continue")
        assert house.phase(phase)["status"] == "in_progress"
        house.make(phase, "Two doors")
        house.reviewed(phase, 1)
        house.approve(phase)
    assert timeless(house.state()) == document("completed", DOCS, [approved] * 5)


def test_a_completed_feature_is_published_and_its_workspace_deleted(house):
    house.completed()
    before = house.git("rev-parse", "HEAD").strip()
    answer = house.ok("feature", "finalize", "--json")
    assert answer.json["status"] == "finalized"
    assert house.read("docs/requirements.md") == f"# requirements.md\n\nWhat {FIRST} says.\n"
    assert house.read("docs/architecture.md") == f"# architecture.md\n\nWhat {SECOND} says.\n"
    assert house.read("docs/user-guide.md") == f"# user-docs.md\n\nWhat {DOCS} says.\n"
    assert house.read("docs/api-reference.md") == f"# api-docs.md\n\nWhat {DOCS} says.\n"
    assert "key.svg" in house.read("docs/diagrams/key.svg")
    assert house.read("docs/diagrams/door.svg") == "<svg/>\n"
    assert SLUG in house.read("docs/features.md")
    assert [path for path in (house.root / HOME).rglob("*") if not path.is_dir()] == []
    assert house.status() == []
    assert house.subjects(before)[-2:] == [
        f"[workflow] {DOCS}: Publish the docs",
        f"[workflow] {DOCS}: Finalize {TITLE}",
    ]
    assert house.trailers()["Workflow-Status"] == "finalized"
    assert all(name.startswith("docs/") for name in house.files_of("HEAD~1"))
    assert house.ok("status", "-w", SLUG, "--json").json["status"] == "finalized"
    assert "is finalized" in house.ok("feature", "finalize").out
    assert house.git("rev-list", "--count", f"{before}..HEAD").strip() == str(len(house.subjects(before)))


def test_nothing_is_left_of_the_folder_of_a_finalized_feature(house):
    house.completed()
    house.ok("feature", "finalize")
    assert not (house.root / HOME).exists()


def test_only_a_completed_feature_is_finalized(house):
    house.up_to(DOCS)
    before = house.git("rev-parse", "HEAD")
    assert house.refused("feature", "finalize", SLUG)["code"] == "not_completed"
    assert house.git("rev-parse", "HEAD") == before
    assert (house.root / HOME).exists()
