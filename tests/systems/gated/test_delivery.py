"""The end of a feature, whatever happens in the middle of it: published once, deleted once, and nothing lost."""

from __future__ import annotations

import pytest

from tests.acceptance.feature import DOCS, FIRST, HOME, SECOND, SLUG, TITLE, House
from tests.acceptance.kills import Kills

PUBLISHED = {
    "docs/requirements.md": f"# requirements.md\n\nWhat {FIRST} says.\n",
    "docs/architecture.md": f"# architecture.md\n\nWhat {SECOND} says.\n",
    "docs/diagrams/key.svg": f"# diagrams/key.svg\n\nWhat {SECOND} says.\n",
    "docs/diagrams/door.svg": "<svg/>\n",
    "docs/user-guide.md": f"# user-docs.md\n\nWhat {DOCS} says.\n",
    "docs/api-reference.md": f"# api-docs.md\n\nWhat {DOCS} says.\n",
}


@pytest.fixture
def house(tmp_path):
    return House(tmp_path / "house").publish().completed()


def files(house: House, folder: str) -> list[str]:
    found = (path for path in (house.root / folder).rglob("*") if not path.is_dir())
    return sorted(str(path.relative_to(house.root)) for path in found)


def committed(house: House, folder: str) -> list[str]:
    return house.git("ls-tree", "-r", "--name-only", "HEAD", "--", folder).split()


def is_finalized(house: House, before: str) -> None:
    assert {name: house.read(name) for name in PUBLISHED} == PUBLISHED
    assert house.read("docs/features.md").count(f"`{SLUG}`") == 1
    assert (files(house, HOME), committed(house, HOME)) == ([], [])
    assert files(house, "docs") == committed(house, "docs")
    assert house.status() == []
    subjects = house.subjects(before)
    assert subjects.count(f"[workflow] {DOCS}: Publish the docs") == 1
    assert subjects.count(f"[workflow] {DOCS}: Finalize {TITLE}") == 1
    assert subjects[-1] == f"[workflow] {DOCS}: Finalize {TITLE}"
    assert house.trailers()["Workflow-Status"] == "finalized"
    assert house.workflow().state.finalized


def test_a_finalize_that_was_killed_before_any_of_its_changes_is_ended_by_the_next(house):
    before = house.git("rev-parse", "HEAD").strip()
    kills = Kills(house)
    changes = kills.chosen("feature", "finalize")
    assert {"git commit", f"os.remove /{HOME}/workflow-state.json"} <= {change for _, change in changes}
    failures = []
    for number, change in changes:
        killed = kills.before(number, "feature", "finalize")
        try:
            kills.again(killed, "feature", "finalize")
            is_finalized(killed, before)
        except AssertionError as failure:
            failures.append(f"killed before {number}, {change}: {str(failure)[:1500]}")
    assert not failures, "\n\n".join([f"{len(failures)} of {len(changes)}", *failures])


def test_a_central_doc_that_others_changed_stops_everything_until_it_is_merged(house):
    house.on_main("docs/requirements.md", "# Requirements\n\nDoors open, and close.\n")
    before = house.git("rev-parse", "HEAD").strip()
    docs = {name: house.read(name) for name in files(house, "docs")}
    answer = house.agent("feature", "finalize", "--json")
    assert (answer.code, answer.error["code"]) == (5, "docs_changed"), answer
    assert answer.error["facts"]["paths"] == ["docs/requirements.md"]
    assert "finalize --merged docs/requirements.md" in answer.error["remedy"]
    assert house.git("rev-parse", "HEAD").strip() == before
    assert {name: house.read(name) for name in files(house, "docs")} == docs
    assert house.state()["status"] == "completed"
    merged = f"{house.read(f'{HOME}/{FIRST}/requirements.md')}\nDoors close.\n"
    house.write(f"{HOME}/{FIRST}/requirements.md", merged)
    refused = house.agent("feature", "finalize", "--merged", "docs/requirements.md", "--json")
    assert (refused.code, refused.error["code"]) == (3, "gate_unmet"), "nobody has approved what was merged"
    assert house.person("approve", FIRST, "--yes", "-w", SLUG).code == 0
    house.ok("feature", "finalize", "--merged", "docs/requirements.md")
    assert house.read("docs/requirements.md") == merged
    assert house.status() == []


def test_a_doc_that_others_wrote_where_there_was_none_is_a_conflict(house):
    house.write("docs/user-guide.md", "# Another guide\n")
    answer = house.agent("feature", "finalize", "--json")
    assert (answer.code, answer.error["facts"]["paths"]) == (5, ["docs/user-guide.md"]), answer
    assert house.read("docs/user-guide.md") == "# Another guide\n"


def test_merged_takes_central_docs_only(house):
    assert house.refused("feature", "finalize", "--merged", "notes.txt", code=2)["code"] == "no_central_doc"
    assert (
        house.refused("feature", "finalize", "--merged", "docs/diagrams/../../notes.txt", code=2)["code"]
        == "no_central_doc"
    )
    assert house.state()["status"] == "completed"


def test_files_of_the_workspace_that_git_ignores_stay_and_are_named(house):
    house.write(".git/info/exclude", "*.local\n")
    house.write(f"{HOME}/{SECOND}/secret.local", "key\n")
    answer = house.ok("feature", "finalize")
    assert f"{HOME}/{SECOND}/secret.local stays" in answer.out
    assert house.read(f"{HOME}/{SECOND}/secret.local") == "key\n"
    assert (files(house, HOME), committed(house, HOME)) == ([f"{HOME}/{SECOND}/secret.local"], [])
    assert house.status() == []


def test_a_file_that_was_never_committed_is_in_the_history_before_it_is_deleted(house):
    house.write(f"{HOME}/draft.md", "A thought\n")
    house.ok("feature", "finalize")
    assert not (house.root / HOME / "draft.md").exists()
    assert house.git("show", f"HEAD~1:{HOME}/draft.md") == "A thought\n"


def test_what_somebody_staged_stays_through_finalize(house):
    house.write("notes.txt", "A note, staged.\n")
    house.git("add", "notes.txt")
    house.write("notes.txt", "A note, staged, and edited.\n")
    house.write("docs/mine.md", "Mine.\n")
    house.ok("feature", "finalize")
    assert house.status() == ["?? docs/mine.md", "MM notes.txt"]
    assert house.git("show", ":notes.txt") == "A note, staged.\n"


def test_a_feature_is_finalized_on_its_own_branch(house):
    house.git("switch", "-q", "main")
    answer = house.agent("feature", "finalize", SLUG, "--json")
    assert (answer.code, answer.error["code"]) == (3, "not_merged"), answer
    assert house.read("docs/requirements.md") == "# Requirements\n\nDoors open.\n"
    house.git("switch", "-q", f"feature/{SLUG}")
    house.ok("feature", "finalize", SLUG)


def test_a_commit_that_a_hook_refuses_leaves_the_workspace_for_the_next_time(house):
    hook = house.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today\nexit 1\n")
    hook.chmod(0o755)
    before = house.git("rev-parse", "HEAD").strip()
    answer = house.agent("feature", "finalize", "--json")
    assert answer.code != 0, answer
    assert (house.root / HOME / FIRST / "requirements.md").exists()
    hook.unlink()
    house.ok("feature", "finalize", SLUG)
    is_finalized(house, before)


@pytest.mark.parametrize("path", [f"{HOME}/{FIRST}/requirements.md", "docs/requirements.md", "docs"])
def test_a_link_in_the_way_of_publishing_is_not_followed(house, tmp_path, path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "requirements.md").write_text("Outside.\n")
    full = house.root / path
    if full.is_dir():
        full.rename(house.root / "elsewhere")
        full.symlink_to(outside)
    else:
        full.unlink()
        full.symlink_to(outside / "requirements.md")
    answer = house.agent("feature", "finalize", "--json")
    assert answer.code != 0, answer
    assert answer.error["code"] in ("symlink", "gate_unmet")  # what a phase handed in is no longer what was approved
    assert (outside / "requirements.md").read_text() == "Outside.\n"
    assert [one.name for one in outside.iterdir()] == ["requirements.md"]


def test_finalizing_twice_at_once_publishes_once(house):
    before = house.git("rev-parse", "HEAD").strip()
    both = [house.begin_agent("feature", "finalize", SLUG) for _ in range(2)]
    for process in both:
        process.wait(60)
    house.ok("feature", "finalize", SLUG)
    is_finalized(house, before)
