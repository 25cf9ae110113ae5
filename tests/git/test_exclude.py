"""The list of files that git passes by, and what Holdfast adds to it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.losing import RELEASE, SCENES
from tests.workbench import Bench

SHARED = ("config.toml", "allowed_signers", "approvers", "team.toml", "workflows/release.toml", "team/templates/a.md")


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path / "project").begun()


def listed(bench: Bench) -> Path:
    return bench.root / ".git/info/exclude"


def excludes(bench: Bench) -> list[dict[str, str]]:
    import json

    found = json.loads(bench.agent("doctor", "--json").out)["findings"]
    return [one for one in found if one["code"] == "exclude"]


@pytest.mark.parametrize("system", SCENES)
def test_what_a_system_keeps_for_itself_is_no_news_to_git(bench, system):
    SCENES[system](bench)
    assert bench.git("status", "--porcelain", "-uall") in ("", "?? docs/task.md") or system == "gated"
    (finding,) = excludes(bench)
    assert finding["level"] == "ok"


def test_what_belongs_to_the_user_is_never_kept_out(bench):
    bench.open().start(RELEASE, "1.0")
    for name in SHARED:
        bench.write(f".holdfast/{name}", "x")
    news = bench.git("status", "--porcelain", "-uall").split()
    assert sorted(news[1::2]) == sorted(f".holdfast/{name}" for name in SHARED)
    os.unlink(bench.root / ".holdfast/.gitignore")
    news = bench.git("status", "--porcelain", "-uall").split()
    assert sorted(news[1::2]) == sorted(f".holdfast/{name}" for name in SHARED)


def test_the_lines_of_the_user_stay_and_nothing_is_added_twice(bench):
    listed(bench).write_bytes(b"*.log\n\xff no newline")
    os.chmod(listed(bench), 0o640)
    bench.open().start(RELEASE, "1.0")
    once = listed(bench).read_bytes()
    assert once.startswith(b"*.log\n\xff no newline\n# Files of Holdfast")
    assert stat.S_IMODE(listed(bench).stat().st_mode) == 0o640
    bench.open().start(RELEASE, "2.0")
    assert listed(bench).read_bytes() == once


def test_a_list_that_is_not_there_is_made(bench):
    os.unlink(listed(bench))
    os.rmdir(listed(bench).parent)
    bench.open().start(RELEASE, "1.0")
    assert b"/.claude/workflow-state\n" in listed(bench).read_bytes()


def test_lines_that_somebody_took_out_come_back_only_when_asked_for(bench):
    bench.open().start(RELEASE, "1.0")
    listed(bench).write_text("# mine\n")
    bench.open().start(RELEASE, "2.0")
    assert listed(bench).read_text() == "# mine\n"
    (finding,) = excludes(bench)
    assert (finding["level"], finding["remedy"]) == ("warning", "holdfast doctor --repair")
    bench.ok("doctor", "--repair")
    assert "/.claude/workflow-state\n" in listed(bench).read_text()
    assert excludes(bench)[0]["level"] == "ok"


@pytest.mark.parametrize("part", ["exclude", "info"])
def test_a_link_is_not_written_through_and_the_workflow_starts_all_the_same(bench, tmp_path, part):
    outside = tmp_path / "outside"
    target = listed(bench) if part == "exclude" else listed(bench).parent
    target.rename(outside)
    target.symlink_to(outside)
    before = (outside / "exclude" if part == "info" else outside).read_bytes()
    bench.open().start(RELEASE, "1.0")
    assert (outside / "exclude" if part == "info" else outside).read_bytes() == before
    (finding,) = excludes(bench)
    assert finding["level"] == "warning"
    assert "symbolic link" in finding["message"]


def test_files_that_the_team_keeps_in_git_stay_there(bench):
    bench.write(".claude/workflow-state/README.md", "ours\n")
    bench.save("kept in git")
    bench.open().start(RELEASE, "1.0")
    assert ".claude" not in listed(bench).read_text()
    assert "?? .claude/workflow-state/active/" in bench.git("status", "--porcelain")


def test_a_linked_worktree_is_told_by_the_list_that_all_share(bench, tmp_path):
    linked = tmp_path / "linked"
    bench.git("worktree", "add", "-q", "-b", "side", str(linked))
    bench.open(at=linked).start(RELEASE, "1.0")
    assert (linked / ".claude/workflow-state/index.json").exists()
    assert bench.git("status", "--porcelain", "-uall", cwd=linked) == ""
    assert "/.claude/workflow-state\n" in listed(bench).read_text()


def test_a_project_below_the_top_is_named_with_its_folder(bench):
    inner = bench.write("apps/[a] b/.holdfast/config.toml", "").parent.parent
    bench.save("inner")
    bench.open(at=inner).start(RELEASE, "1.0")
    assert bench.git("status", "--porcelain", "-uall") == ""
    assert "/apps/\\[a] b/.claude/workflow-state\n" in listed(bench).read_text()


def test_nothing_of_the_users_git_is_configured(bench):
    before = (bench.root / ".git/config").read_bytes()
    bench.open().start(RELEASE, "1.0")
    assert (bench.root / ".git/config").read_bytes() == before
