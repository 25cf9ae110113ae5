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
    for name in ("a-long-name-of-a-feature", "another-long-name-of-a-feature", "one-more-name"):
        (bench.root / f"features/{name}.md").write_text("# Feature: One\n## Tasks\n- [ ] Do it\n")
    answer = bench.person("init")
    assert answer.code == 0, answer
    assert "Install Holdfast in claude-code, for this project?" in answer.out
    assert answer.out.index("this writes:   .holdfast, .git/info/exclude") < answer.out.index("[Y/n]")
    assert answer.out.count("agent hosts:") == 1
    assert [line for line in answer.out.splitlines() if len(line) > 80 and " " in line.strip(" ,")] == []
    assert (bench.root / ".mcp.json").exists()


def test_a_no_to_every_host_leaves_what_was_announced(bench):
    answer = bench.person("init", says="n")
    assert answer.code == 0, answer
    assert not (bench.root / ".mcp.json").exists()
    assert (bench.root / ".holdfast").is_dir()
    assert "→ holdfast install claude-code" in answer.out


def test_a_broken_settings_file_is_named_and_not_asked_about(bench):
    (bench.root / ".claude/settings.json").write_text("{")
    assert said(bench.agent("init", "--json"))["hosts"] == [
        {"host": "claude-code", "installed": [], "error": ".claude/settings.json:1: unclosed {"}
    ]
    answer = bench.agent("init")
    assert "claude-code (.claude/settings.json:1: unclosed {)" in answer.out
    assert "→ fix .claude/settings.json\n" in answer.out
    answer = bench.person("init")
    assert "[Y/n]" not in answer.out
    assert "✗ claude-code: .claude/settings.json:1: unclosed {" in answer.out
    assert answer.code == 2


def test_a_broken_file_of_another_host_does_not_fail_the_one_that_was_named(bench):
    (bench.root / ".claude/settings.json").write_text("{")
    assert "codex" in {row["host"] for row in said(bench.agent("init", "codex", "--json"))["hosts"]}


def test_a_host_that_is_installed_for_the_person_counts(bench):
    (bench.root / ".claude").rmdir()
    bench.ok("install", "codex", "--scope", "user")
    found = said(bench.agent("init", "--json"))
    assert found["hosts"] == [{"host": "codex", "installed": ["user"]}]
    assert "codex (installed for you)" in bench.agent("init").out


def test_task_documents_are_something_to_start_from(bench):
    (bench.root / "features/one.md").unlink()
    (bench.root / "README.md").write_text("# A project\n\n## Tasks\n- [ ] Write this\n")
    bench.ok("workflows", "new", "big", "--task-document")
    found = said(bench.agent("init", "--json"))
    assert found["starts"] == ["big.md"]
    assert "holdfast start orchestrate big.md" in found["next"]


def test_in_an_empty_folder_only_what_it_makes_is_offered(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = said(Bench(tmp_path / "empty").agent("init", "--json"))
    assert found["next"][0] == "to make .holdfast: holdfast init --yes"


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
