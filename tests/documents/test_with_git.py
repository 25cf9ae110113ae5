"""Documents that git tracks: they come with a checkout, belong to a branch, and differ between worktrees."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from holdfast.core.state import KEPT_RENDERINGS
from holdfast.errors import Refused
from tests.documents.desk import Desk

# What git brought


def from_colleague(desk, tmp_path, program):
    """A colleague's clone changes the document with jq, commits and pushes; here it is pulled."""
    origin, theirs = tmp_path / "origin.git", tmp_path / "theirs"
    desk.commit_document()
    desk.git("init", "-q", "--bare", "-b", "main", str(origin))
    desk.git("push", "-q", str(origin), "main")
    desk.git("clone", "-q", str(origin), str(theirs))
    path = theirs / desk.path.relative_to(desk.folder)
    mine = desk.path.read_bytes()
    desk.jq(program, of=path)
    shutil.move(desk.path, path)
    desk.path.write_bytes(mine)
    desk.git("commit", "-qam", "by a colleague", folder=theirs)
    desk.git("push", "-q", "origin", "main", folder=theirs)
    desk.git("pull", "-q", str(origin), "main")


def test_what_git_brought_is_taken_over_and_nobody_is_accused(desk, tmp_path):
    program = (
        '.state_machine.phases[0].status = "completed" | .state_machine.current_phase = "verify" | .remark = "theirs"'
    )
    from_colleague(desk, tmp_path, program)
    state = desk.look().state
    assert desk.statuses()["write"] == "done"
    assert (desk.document["remark"], state.alerts, desk.quarantined()) == ("theirs", (), {})
    (record,) = desk.look().history(1)
    assert (record.command, record.actor.kind, record.actor.name) == ("take over", "file", "git")
    assert [entry["event"] for entry in state.history][-2:] == ["edited", "synced"]
    assert desk.is_clean()


def test_what_git_brought_is_taken_over_once(desk, tmp_path):
    from_colleague(desk, tmp_path, '.state_machine.phases[0].status = "completed"')
    revision = desk.look().state.revision
    desk.look()
    desk.look().note("n")
    assert desk.commands() == ["start", "take over", "note"]
    assert desk.look().state.revision == revision + 1


def test_an_approval_that_git_brought_opens_nothing_until_a_person_confirms_it(desk, tmp_path):
    done = '.state_machine.phases[0:3][].status = "completed" | .state_machine.phases[2].approval.approved = true'
    from_colleague(desk, tmp_path, f'{done} | .checkpoints.tests = {{status: "completed", passed: true}}')
    assert desk.statuses()["sign-off"] == "done"
    with pytest.raises(Refused) as caught:
        desk.look().begin("publish")
    assert caught.value.code == "step_blocked"
    desk.person.approve("sign-off")
    desk.look().begin("publish")
    assert desk.statuses()["publish"] == "active"


def test_an_approval_given_here_is_only_claimed_after_git_brought_another_document(desk, tmp_path):
    desk.look().begin("write").done("write").begin("verify").check("tests", passed=True)
    desk.look().done("verify").begin("sign-off")
    desk.person.approve("sign-off")
    from_colleague(desk, tmp_path, '.remark = "theirs"')
    grant = desk.look().state.step("sign-off").grant
    assert grant is not None
    assert grant.claimed
    assert desk.document["state_machine"]["phases"][2]["approval"]["claimed"] is True
    with pytest.raises(Refused):
        desk.look().begin("publish")


def test_an_edit_that_is_not_committed_is_judged_as_an_edit(desk):
    desk.commit_document()
    desk.jq('.state_machine.phases[2].status = "completed"')
    desk.look()
    assert desk.alerts() == ["edit_refused"]


def test_a_document_git_does_not_track_is_an_edit_even_if_a_commit_once_had_it(desk):
    before = desk.path.read_bytes()
    desk.jq('.state_machine.phases[2].status = "completed"')
    forged = desk.path.read_bytes()
    desk.commit_document()
    desk.git("rm", "-q", "--cached", str(desk.path))
    desk.look()
    assert desk.alerts() == ["edit_refused"]
    assert forged in desk.quarantined()
    assert json.loads(desk.path.read_bytes())["state_machine"] == json.loads(before)["state_machine"]


def test_a_tracked_document_that_is_no_workflow_is_set_aside(desk):
    desk.commit_document()
    desk.path.write_text('{"mine": true}')
    desk.commit_document()
    state = desk.look().state
    assert [alert.code for alert in state.alerts] == ["edit_refused"]
    assert list(desk.quarantined()) == [b'{"mine": true}']
    assert desk.document["workflow"]["id"] == desk.id
    desk.look().begin("write")


def test_a_conflict_left_in_the_document_is_damage_and_not_an_edit(desk):
    conflict = b"<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> other\n"
    desk.path.write_bytes(conflict)
    desk.age()
    desk.look()
    assert list(desk.quarantined()) == [conflict]


# What git brought back


def many_notes(desk):
    """More revisions than the renderings that a state remembers."""
    for _ in range(KEPT_RENDERINGS + 1):
        desk.look().note("n")


def restored(desk):
    state = desk.look().state
    assert [alert.code for alert in state.alerts] == ["document_restored"]
    assert "git" in state.alerts[0].message
    assert desk.is_clean()


def test_an_old_rendering_that_git_brings_back_never_rewinds_the_workflow(desk):
    desk.commit_document()
    desk.look().begin("write").done("write")
    many_notes(desk)
    desk.git("reset", "-q", "--hard")
    assert desk.statuses()["write"] == "done"
    assert desk.phases()["write"] == "completed"
    restored(desk)


def test_an_old_rendering_that_git_brings_back_is_found_by_a_command_too(desk):
    desk.commit_document()
    desk.look().begin("write").done("write")
    many_notes(desk)
    desk.git("reset", "-q", "--hard")
    desk.look().begin("verify")
    assert desk.statuses()["write"] == "done"
    restored(desk)


def test_what_git_brought_once_and_was_taken_over_is_old_when_it_comes_back(desk, tmp_path):
    from_colleague(desk, tmp_path, '.state_machine.phases[0].status = "completed"')
    desk.look().begin("verify").check("tests", passed=True)
    desk.look().done("verify")
    desk.jq('.remark = "mine"')
    many_notes(desk)
    desk.git("reset", "-q", "--hard")
    assert desk.statuses()["verify"] == "done"
    restored(desk)


# Another branch, or the middle of a merge


def test_on_another_branch_a_tracked_document_is_left_alone(desk):
    desk.commit_document()
    desk.git("checkout", "-q", "-b", "other")
    desk.jq('.state_machine.current_phase = "publish" | .remark = "of the other branch"')
    theirs = desk.path.read_bytes()
    desk.look().begin("write").note("n")
    assert desk.path.read_bytes() == theirs
    assert (desk.alerts(), desk.quarantined()) == ([], {})
    assert desk.commands() == ["start", "begin", "note"]
    desk.git("checkout", "-qf", "main")
    desk.look()
    assert desk.phases()["write"] == "in_progress"
    assert desk.alerts() == []


def test_on_another_branch_a_tracked_document_that_is_not_there_means_nothing(desk):
    desk.git("checkout", "-q", "-b", "topic")
    topic = desk.open().start({"name": "topic", "step": [{"id": "a"}]}, "t")
    path = desk.path.with_name(f"{topic.id}.json")
    desk.commit(str(path), message="the topic's document")
    desk.git("checkout", "-q", "main")
    assert not path.exists()
    assert desk.open().workflow(topic.id).state.cancelled is None
    desk.git("checkout", "-q", "topic")
    assert desk.open().workflow(topic.id).begin("a").state.step("a").status == "active"
    assert json.loads(path.read_bytes())["state_machine"]["phases"][0]["status"] == "in_progress"


def test_on_another_branch_a_document_git_does_not_track_is_written_as_ever(desk):
    desk.git("checkout", "-q", "-b", "other")
    desk.look().begin("write")
    assert desk.phases()["write"] == "in_progress"


def test_ending_a_workflow_on_another_branch_removes_nothing_that_git_tracks_there(desk):
    desk.commit_document()
    tracked = desk.path.read_bytes()
    desk.git("checkout", "-q", "-b", "other")
    desk.look().cancel("enough")
    assert desk.path.read_bytes() == tracked


def merging(desk):
    """A merge that stopped at a conflict in another file."""
    desk.commit_document()
    desk.git("checkout", "-q", "-b", "other")
    (desk.folder / "README.md").write_text("theirs\n")
    desk.git("commit", "-qam", "theirs")
    desk.git("checkout", "-q", "main")
    (desk.folder / "README.md").write_text("ours\n")
    desk.git("commit", "-qam", "ours")
    with pytest.raises(AssertionError):
        desk.git("merge", "-q", "other")
    assert (desk.folder / ".git/MERGE_HEAD").exists()


def test_during_a_merge_a_tracked_document_is_left_alone(desk):
    merging(desk)
    desk.jq('.state_machine.current_phase = "publish"')
    half_merged = desk.path.read_bytes()
    desk.look().begin("write")
    assert desk.path.read_bytes() == half_merged
    assert (desk.alerts(), desk.quarantined()) == ([], {})
    desk.git("merge", "--abort")
    desk.git("checkout", "-q", "--", ".")
    desk.look()
    assert desk.phases()["write"] == "in_progress"
    assert desk.alerts() == []


def test_a_process_that_lives_through_a_switch_of_branches_sees_it(desk):
    desk.commit_document()
    work = desk.look().begin("write")
    desk.commit_document()
    desk.git("checkout", "-q", "-b", "other")
    tracked = desk.path.read_bytes()
    work.note("on the other branch")
    assert desk.path.read_bytes() == tracked
    desk.git("checkout", "-q", "main")
    work.note("back")
    assert [entry["note"] for entry in desk.document["history"] if entry["event"] == "note"] == [
        "on the other branch",
        "back",
    ]


# Worktrees


@pytest.fixture
def linked(desk, tmp_path) -> Path:
    folder = tmp_path / "linked"
    desk.git("worktree", "add", "-q", "-b", "side", str(folder))
    return folder


def test_worktrees_share_one_holdfast_and_each_has_its_own_documents(desk, linked):
    side = desk.open(folder=linked).start({"name": "side", "step": [{"id": "a"}]}, "s")
    assert not (linked / ".holdfast").exists()
    documents = {
        folder: sorted(path.name for path in (folder / ".claude/workflow-state/active").iterdir())
        for folder in (desk.folder, linked)
    }
    assert documents == {desk.folder: [f"{desk.id}.json"], linked: [f"{side.id}.json"]}
    for folder in (desk.folder, linked):
        assert {workflow.id for workflow in desk.open(folder=folder).list()} == {desk.id, side.id}


def test_the_same_id_may_be_active_once_in_each_worktree(desk, linked):
    from tests.documents.desk import RELEASE

    other = desk.open(folder=linked).start(RELEASE, "1.0")
    assert other.id == desk.id
    other.begin("write")
    assert desk.phases()["write"] == "pending"
    assert desk.open(folder=linked).workflow(desk.id).ulid == other.ulid
    assert desk.look().ulid != other.ulid
    with pytest.raises(Refused):
        desk.open(folder=linked).start(RELEASE, "1.0")


def test_a_workflow_moved_from_another_worktree_has_its_document_where_it_runs(desk, linked):
    desk.open(folder=linked).workflow(desk.id).begin("write")
    assert desk.phases()["write"] == "in_progress"
    assert not (linked / ".claude").exists()


def test_an_edit_in_a_worktree_is_taken_from_there(desk, linked):
    side = desk.open(folder=linked).start({"name": "side", "step": [{"id": "a"}]}, "s")
    path = linked / ".claude/workflow-state/active" / f"{side.id}.json"
    document = json.loads(path.read_bytes())
    document["state_machine"]["phases"][0]["status"] = "in_progress"
    path.write_text(json.dumps(document))
    assert desk.open().workflow(side.id).state.step("a").status == "active"


def test_the_branch_of_a_worktree_is_the_one_that_counts_there(desk, linked):
    side = desk.open(folder=linked).start({"name": "side", "step": [{"id": "a"}]}, "s")
    path = linked / ".claude/workflow-state/active" / f"{side.id}.json"
    desk.git("add", "-f", str(path), folder=linked)
    desk.git("commit", "-qm", "side", folder=linked)
    side.begin("a")
    assert json.loads(path.read_bytes())["state_machine"]["phases"][0]["status"] == "in_progress"
    desk.git("checkout", "-q", "-f", "-b", "third", folder=linked)
    tracked = path.read_bytes()
    desk.open().workflow(side.id).done("a")
    assert path.read_bytes() == tracked


def test_a_worktree_that_was_removed_stops_nothing_else(desk, linked):
    side = desk.open(folder=linked).start({"name": "side", "step": [{"id": "a"}]}, "s")
    desk.git("worktree", "remove", "--force", str(linked))
    assert {workflow.id for workflow in desk.open().list()} >= {desk.id}
    desk.look().begin("write")
    work = desk.open().workflow(side.ulid).note("n")
    assert work.state.cancelled is None
    work.cancel("its worktree is gone")
    assert not linked.exists()


def test_without_git_documents_are_judged_all_the_same(tmp_path):
    class Bare(Desk):
        def git(self, *words, folder=None):
            return ""

    bare = Bare(tmp_path / "bare")
    assert not (bare.folder / ".git").exists()
    bare.jq('.state_machine.phases[0].status = "completed"')
    assert bare.statuses()["write"] == "done"
    bare.jq('.state_machine.phases[2].status = "completed"')
    bare.look()
    assert bare.alerts() == ["edit_refused"]
