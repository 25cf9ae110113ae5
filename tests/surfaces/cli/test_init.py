"""`holdfast init`: what it finds, what it writes, and when it only says what to type."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.workbench import Bench


@pytest.fixture
def bench(tmp_path, monkeypatch):
    root = tmp_path / "project"
    (root / "features").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    (root / "pytest.ini").touch()
    (root / "features/one.md").write_text("# Feature: One\n## Tasks\n- [ ] Do it\n")
    (root / ".claude").mkdir()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return Bench(root)


def said(answer):
    assert answer.code == 0, answer
    return json.loads(answer.out)


def listed(root):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if ".git/" not in f"{path}/")


def test_without_a_terminal_it_writes_nothing_and_says_what_to_type(bench):
    before = listed(bench.root)
    found = said(bench.agent("init", "--json"))
    assert found["test"]["command"].endswith("pytest -v")
    assert found["hosts"] == [{"host": "claude-code", "installed": []}]
    assert found["starts"] == ["features/one.md"]
    assert found["wrote"] == []
    assert found["next"][0].endswith("holdfast init --yes")
    assert "holdfast install claude-code" in found["next"]
    assert listed(bench.root) == before


def test_with_yes_it_says_what_it_wrote_and_the_second_time_there_is_nothing_to_write(bench):
    first = said(bench.agent("init", "--yes", "--json"))
    assert {".holdfast", ".git/info/exclude", ".claude/settings.json", ".mcp.json"} <= set(first["wrote"])
    assert first["hosts"] == [{"host": "claude-code", "installed": ["project"]}]
    assert "/.holdfast/*\n" in (bench.root / ".git/info/exclude").read_text()
    before = listed(bench.root)
    assert said(bench.agent("init", "--yes", "--json"))["wrote"] == []
    assert listed(bench.root) == before


def test_a_person_is_asked_about_each_host(bench):
    answer = bench.person("init")
    assert answer.code == 0, answer
    assert "Install Holdfast in claude-code, for this project?" in answer.out
    assert (bench.root / ".mcp.json").exists()


def test_in_a_worktree_the_list_of_the_clone_is_used(bench, tmp_path):
    subprocess.run(["git", "-C", bench.root, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run(["git", "-C", bench.root, "worktree", "add", "-q", tmp_path / "other"], check=True)
    wrote = said(Bench(tmp_path / "other").agent("init", "--yes", "--json"))["wrote"]
    assert any(os.path.realpath(bench.root / name) == str(bench.root / ".git/info/exclude") for name in wrote)
    assert "/.holdfast/*\n" in (bench.root / ".git/info/exclude").read_text()


def test_the_trouble_of_one_host_does_not_stop_the_others(bench):
    (bench.root / ".codex").mkdir()
    (bench.root / ".codex/hooks.json").write_text("{")
    answer = bench.agent("init", "--yes", "--json")
    assert answer.code != 0
    rows = {row["host"]: row for row in json.loads(answer.out)["hosts"]}
    assert rows["claude-code"]["installed"] == ["project"]
    assert ".codex/hooks.json:1: " in rows["codex"]["error"]


def test_a_host_that_there_is_not_is_refused_and_nothing_is_written(bench):
    before = listed(bench.root)
    assert bench.agent("init", "nohost").code == 2
    assert listed(bench.root) == before


def test_a_document_that_no_workflow_has_is_named(bench):
    (bench.root / ".claude/agent-state.json").write_text("{}")
    found = said(bench.agent("init", "--json"))
    assert found["documents"] == [".claude/agent-state.json"]
    assert "holdfast adopt" in found["next"]
