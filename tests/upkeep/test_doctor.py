"""The doctor: every kind of damage is found, nothing is changed by looking, and repairs lose nothing."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest

from holdfast.core.commands import Brief
from holdfast.core.remedy import typed
from holdfast.errors import Refused
from holdfast.machine import installer
from holdfast.upkeep.doctor import Finding, Report, examine, repair
from tests.stores.contract import forget_last, spoiled
from tests.trusted import trust_file

SMALL = {"name": "small", "step": [{"id": "one"}, {"id": "two"}]}


def codes(report: Report, *levels: str) -> list[str]:
    return [finding.code for finding in report.findings if finding.level in (levels or ("warning", "broken"))]


def found(report: Report, code: str) -> Finding:
    (finding,) = [finding for finding in report.findings if finding.code == code and finding.level != "ok"]
    assert finding.remedy
    return finding


def started(site, subject: str = "x"):
    return site.open("human").start(SMALL, subject)


def journal_of(site, workflow):
    (path,) = site.home.glob(f"journal/*/{workflow.ulid}.jsonl")
    return path


def document_of(site, workflow):
    return site.root / ".claude/workflow-state/active" / f"{workflow.id}.json"


def picture(site) -> dict[str, str]:
    """Every file with its content and mode."""
    said = {}
    for path in sorted(site.root.rglob("*")):
        if ".git" in path.relative_to(site.root).parts:
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        said[str(path)] = f"{path.lstat().st_mode:o} {content}"
    return said


def grown(site, lines: int):
    """A workflow with a snapshot of its fold."""
    workflow = started(site)
    for number in range(lines):
        workflow.note(f"note {number}")
    return workflow


def test_a_project_in_order_has_nothing_but_good_news(repository):
    started(repository)
    report = examine(repository.open())
    assert report.worst == "ok"
    assert codes(report) == []
    assert {"file_system", "permissions", "journals", "index", "documents", "git"} <= set(codes(report, "ok"))


def test_a_folder_without_holdfast_is_in_order_and_stays_untouched(site):
    assert examine(site.open()).worst == "ok"
    assert repair(site.open()).worst == "ok"
    assert not site.home.exists()


def test_the_worst_finding_gives_its_level_to_the_report():
    ok, warning, broken = (Finding(level, "code", "message") for level in ("ok", "warning", "broken"))
    assert Report(()).worst == "ok"
    assert Report((warning, ok)).worst == "warning"
    assert Report((ok, broken, warning)).worst == "broken"


def test_what_others_can_read_is_found_and_closed_again(site):
    workflow = started(site)
    site.definition("mine", 'name = "mine"\n[[step]]\nid = "a"\n')
    journal = journal_of(site, workflow)
    site.home.chmod(0o755)
    journal.chmod(0o664)
    journal.parent.chmod(0o775)
    (site.home / "workflows").chmod(0o755)
    assert found(examine(site.open()), "permissions").message == "others can read .holdfast and 2 more"
    report = repair(site.open())
    assert "permissions" not in codes(report)
    assert [oct(p.stat().st_mode & 0o777) for p in (site.home, journal.parent, journal)] == ["0o700", "0o700", "0o600"]
    assert (site.home / "workflows").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("kind", ["agent", "human"])
def test_a_damaged_journal_is_cut_only_when_a_person_asks(site, kind):
    workflow = started(site)
    workflow.begin("one").done("one").begin("two")
    journal = journal_of(site, workflow)
    data = journal.read_bytes()
    lines = data.splitlines(keepends=True)
    offset = sum(map(len, lines[:2]))
    journal.write_bytes(data[: offset + 5] + b"#" + data[offset + 6 :])
    damaged = journal.read_bytes()

    finding = found(examine(site.open()), "journal_damaged")
    assert finding.level == "broken"
    assert f"at byte {offset}" in finding.message
    assert "2 lines before it are whole" in finding.message
    if kind == "agent":
        with pytest.raises(Refused) as refused:
            repair(site.open("agent"))
        assert refused.value.code == "person_needed"
        assert journal.read_bytes() == damaged
        return
    report = repair(site.open("human"))
    assert report.worst != "broken"
    assert journal.read_bytes() == data[:offset]
    (said,) = [
        finding.message for finding in report.findings if finding.code == "repaired" and "cut" in finding.message
    ]
    kept = site.root / said.rpartition(" is in ")[2]
    assert kept.read_bytes() == damaged
    assert site.open().wired.store.load(workflow.ulid).revision == 2


def test_a_journal_of_which_nothing_is_left_goes_to_quarantine_and_its_document_can_be_adopted(site):
    workflow = started(site)
    journal = journal_of(site, workflow)
    journal.write_bytes(journal.read_bytes()[10:])
    assert "nothing before that can be read" in found(examine(site.open()), "journal_damaged").message
    report = repair(site.open("human"))
    assert not journal.exists()
    assert {"orphan", "quarantine"} == set(codes(report))
    again = site.open().workflow(workflow.id)
    assert again.ulid != workflow.ulid
    assert again.state.plan.paths == ("one", "two")


def test_half_a_line_at_the_end_is_no_damage_and_a_journal_without_a_line_is_named(site):
    workflow = started(site)
    with open(journal_of(site, workflow), "ab") as file:
        file.write(b'{"seq":2,"syn')
    empty = site.home / "journal" / "00" / "01ARZ3NDEKTSV4RRFFQ69G5F00.jsonl"
    empty.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    empty.touch(mode=0o600)
    report = examine(site.open())
    assert report.worst == "warning"
    assert sorted(codes(report)) == ["journal_empty", "torn_tail"]
    workflow.note("the next change")
    assert codes(examine(site.open())) == ["journal_empty"]


def test_a_journal_of_a_newer_holdfast_is_left_whole(site):
    from holdfast.stores.journal import Journal

    path = site.home / "journal" / "00" / "01ARZ3NDEKTSV4RRFFQ69G5F00.jsonl"
    path.parent.mkdir(parents=True)
    Journal.create(str(path), b'{"v":999,"at":"x"}').close()
    before = path.read_bytes()
    assert found(examine(site.open()), "newer_version").level == "broken"
    repair(site.open("human"))
    assert path.read_bytes() == before


def test_nobody_is_advised_to_cut_an_event_that_only_a_newer_holdfast_knows(site):
    workflow = grown(site, 3)
    path = journal_of(site, workflow)
    with open(path, "rb") as file:
        data = file.read()
    data = spoiled(data, b'"event":"noted","text":"note 2"', b'"event":"danced","text":"note 2"', resealed=True)
    with open(path, "wb") as file:
        file.write(data)
    forget_last(path)
    finding = found(examine(site.open()), "newer_version")
    assert (finding.level, finding.remedy) == ("broken", typed(installer.upgrade()))
    repair(site.open("human"))
    with open(path, "rb") as file:
        assert file.read() == data


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda data: b"", lambda data: data.replace(b"note 1", b"note 9")]
)
def test_a_snapshot_that_cannot_be_read_is_dropped(site, spoil):
    workflow = grown(site, 70)
    (snapshot,) = site.home.glob(f"state/*/{workflow.ulid}.json")
    assert codes(examine(site.open())) == []
    snapshot.write_bytes(spoil(snapshot.read_bytes()))
    assert found(examine(site.open()), "snapshot").level == "warning"
    assert "snapshot" not in codes(repair(site.open()))
    assert not snapshot.exists()
    assert site.open().workflow(workflow.id).state == workflow.refresh().state


def test_a_snapshot_that_says_something_else_is_found_by_replaying_the_journal(site):
    from holdfast.plain.digest import digest

    workflow = grown(site, 70)
    (snapshot,) = site.home.glob(f"state/*/{workflow.ulid}.json")
    body = snapshot.read_bytes().partition(b"\n")[2].replace(b'"subject":"x"', b'"subject":"y"')
    snapshot.write_bytes(digest(body).encode() + b"\n" + body)
    assert site.open().wired.store.load(workflow.ulid).subject == "y"
    assert "differs" in found(examine(site.open()), "snapshot").message
    repair(site.open())
    assert site.open().wired.store.load(workflow.ulid).subject == "x"


def test_what_is_left_of_a_workflow_whose_journal_is_gone_is_swept_up_when_a_person_gives_it_up(site):
    workflow = grown(site, 70)
    os.unlink(journal_of(site, workflow))
    os.unlink(document_of(site, workflow))
    report = examine(site.open())
    assert {"lines_missing", "snapshot", "slots"} <= set(codes(report))
    with pytest.raises(Refused):
        repair(site.open("agent"))
    assert codes(repair(site.open())) == []
    assert list(site.home.glob("state/*/*.json")) == []
    assert list(site.home.glob(f"slots/{workflow.ulid}*")) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"{",
        lambda data: b'{"active": [], "finished": [], "finished_count": 0}',
        lambda data: data.replace(b'"finished_count":0', b'"finished_count":7'),
        lambda data: data.replace(b'"status":"in_progress"', b'"status":"completed"'),
        None,
    ],
)
def test_an_index_that_differs_from_the_journals_is_rebuilt(site, spoil):
    workflow = started(site)
    index = site.home / "index"
    good = index.read_bytes()
    if spoil is None:
        index.unlink()
    else:
        index.write_bytes(spoil(good))
    assert found(examine(site.open()), "index").level == "warning"
    if spoil is not None:
        assert index.read_bytes() != good
        assert codes(repair(site.open())) == []
    assert [w.id for w in site.open().list()] == [workflow.id]


def test_what_a_dead_process_left_unsettled_is_finished(site):
    program = (
        "import os, sys, holdfast\n"
        "from holdfast.stores import files\n"
        "files.FilesStore.settle = lambda *a: os._exit(9)\n"
        f"holdfast.open(sys.argv[1]).start({SMALL!r}, 'x')\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(site.root)]).returncode == 9
    report = examine(site.open())
    assert codes(report) == ["unsettled", "view_missing"]
    assert codes(repair(site.open())) == []
    assert len(site.open().list()) == 1


def test_documents_are_classified_and_only_what_is_safe_is_rendered_again(site):
    stale, torn, edited, gone = (started(site, name) for name in ("stale", "torn", "edited", "gone"))
    old = document_of(site, stale).read_bytes()
    stale.begin("one")
    document_of(site, stale).write_bytes(old)
    document_of(site, torn).write_bytes(b'{"workflow"')
    os.utime(document_of(site, torn), (1_700_000_000, 1_700_000_000))
    changed = json.loads(document_of(site, edited).read_text())
    changed["mine"] = 1
    document_of(site, edited).write_text(json.dumps(changed))
    document_of(site, gone).unlink()

    before = picture(site)
    report = examine(site.open())
    assert picture(site) == before
    assert sorted(codes(report)) == ["document_damaged", "document_edited", "document_missing", "document_stale"]

    after = repair(site.open())
    assert sorted(set(codes(after))) == ["alert", "document_edited", "document_missing", "quarantine"]
    assert json.loads(document_of(site, stale).read_text())["state_machine"]["phases"][0]["status"] == "in_progress"
    assert json.loads(document_of(site, torn).read_text())["workflow"]["id"] == torn.id
    assert json.loads(document_of(site, edited).read_text())["mine"] == 1
    assert "empty, torn or no JSON" in found(after, "quarantine").message


def test_a_workflow_whose_worktree_is_gone_is_named(repository, tmp_path):
    second = tmp_path / "second"
    repository.git("worktree", "add", "-q", "-b", "other", str(second))
    repository.open("human", at=str(second)).start(SMALL, "x")
    repository.git("worktree", "remove", "--force", str(second))
    finding = found(examine(repository.open()), "worktree_gone")
    assert f"git worktree add {second} other" in finding.remedy
    repository.git("worktree", "prune")
    repository.git("worktree", "add", "-q", str(second), "other")
    assert not [one for one in examine(repository.open()).findings if one.code == "worktree_gone"]


def test_documents_without_a_journal_are_offered_for_adoption(site):
    path = site.example("dev")
    (path.parent / "broken.json").write_text("{")
    for report in (examine(site.open()), repair(site.open())):
        assert [f.remedy for f in report.findings if f.code == "orphan"] == [
            "holdfast adopt .claude/workflow-state/active/broken.json",
            "holdfast adopt .claude/workflow-state/active/dev-evt-infra-a1b2.json",
        ]


def test_definitions_that_cannot_be_used_or_bring_commands_are_named(site):
    started(site)
    site.definition("bad", "name = [")
    site.definition("plain", 'name = "plain"\n[[step]]\nid = "a"\n')
    path = site.definition("runs", 'name = "runs"\n[[step]]\nid = "a"\nchecks = [ { name = "t", run = ["true"] } ]\n')
    report = examine(site.open())
    assert sorted(codes(report)) == ["definition", "untrusted"]
    assert found(report, "definition").path == ".holdfast/workflows/bad.toml"
    assert [(one.who, str(one)) for one in found(report, "untrusted").remedies] == [
        ("person", "read it, then: holdfast trust .holdfast/workflows/runs.toml")
    ]
    trust_file(site.open(), str(path))
    assert codes(examine(site.open())) == ["definition"]


def test_a_missing_git_matters_where_there_is_a_repository(repository, site, monkeypatch, tmp_path):
    workflow = started(repository)
    assert workflow.id
    project = repository.open()
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert found(examine(project), "git").level == "broken"


def test_looking_changes_nothing(repository):
    grown(repository, 70)
    started(repository, "second").cancel("enough")
    repository.example("dev")
    (repository.home / "slots" / "01ARZ3NDEKTSV4RRFFQ69G5F00-12345678").write_bytes(b"left")
    before = picture(repository)
    assert examine(repository.open()).worst == "warning"
    assert picture(repository) == before


def test_a_repaired_project_has_nothing_more_to_repair(site):
    grown(site, 70)
    site.home.chmod(0o755)
    (site.home / "index").unlink()
    (site.home / "slots" / "01ARZ3NDEKTSV4RRFFQ69G5F00-12345678").write_bytes(b"left")
    first = repair(site.open())
    assert codes(first, "ok").count("repaired") >= 3
    second = repair(site.open())
    assert "repaired" not in codes(second, "ok")
    assert second.worst == "ok"


# Hooks


def test_a_view_of_hooks_that_is_gone_is_found_and_made_anew(site):
    workflow = site.open().start({**SMALL, "keep_going": True}, "x")
    view = site.home / "guard"
    before = json.loads(view.read_text())
    view.unlink()
    assert found(examine(site.open()), "guard").remedy == "holdfast doctor --repair"
    assert not view.exists()
    assert "guard" not in codes(repair(site.open()))
    assert json.loads(view.read_text()) == before
    assert before["workflows"][0]["id"] == workflow.id


def test_what_a_hook_had_to_log_today_is_told_and_what_is_long_ago_is_not(site):
    started(site)
    log = site.home / "hook.log"
    log.write_text("2020-01-01T00:00:00Z Stop too old to matter\n")
    assert "hook" not in codes(examine(site.open()))
    now = site.open().wired.world.now()
    log.write_text(f"{now} PreCompact the journal is locked\nnot a line of ours\n")
    assert "the journal is locked" in found(examine(site.open()), "hook").message


def test_reading_that_is_missing_or_outside_is_told_and_the_outside_not_named(site):
    (site.root / "here.md").write_text("x")
    workflow = site.open().start({**SMALL, "reading": ["here.md", "gone.md"]}, "x")
    assert "gone.md" in found(examine(site.open()), "reading").message
    (site.root / "out.md").symlink_to("/etc/hostname")
    workflow.execute(Brief("reading", exactly=("@out.md",)))
    message = found(examine(site.open()), "reading").message
    assert "outside" in message
    assert "out.md" not in message


@pytest.mark.parametrize("text", ["[commands\n", "[commands.lint]\nfoo = 1\n", "[resume]\npacket_limit = 'long'\n"])
def test_a_mistake_in_the_configuration_is_told(site, text):
    started(site)
    (site.home / "config.toml").write_text(text)
    assert ".holdfast/config.toml" in found(examine(site.open()), "bad_config").message
