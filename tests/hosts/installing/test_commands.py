"""`holdfast install` and `holdfast uninstall` as people type them."""

from __future__ import annotations

import json
import stat
import subprocess
import tomllib

import pytest

from tests.hosts.installing.conftest import tree
from tests.workbench import Bench


@pytest.fixture(autouse=True)
def _only_what_is_put_there(with_package, tmp_path, monkeypatch):
    """No host of this machine is found."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")


def test_a_dry_run_shows_a_patch_and_changes_nothing(room, tmp_path):
    room.write(".claude/settings.json", '{\n  "model": "opus"\n}')
    before = tree(room.root, room.home)
    said = room.holdfast("install", "claude-code", "--dry-run")
    assert tree(room.root, room.home) == before
    assert "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n" in said
    assert "--- /dev/null\n+++ b/.mcp.json\n" in said
    (tmp_path / "patch").write_text(said)
    subprocess.run(["git", "apply", str(tmp_path / "patch")], cwd=room.root, check=True)
    patched = tree(room.root)
    room.person("uninstall", "claude-code")
    room.write(".claude/settings.json", '{\n  "model": "opus"\n}')
    room.holdfast("install", "claude-code")
    assert tree(room.root) == patched


def test_without_a_name_the_hosts_that_are_there_are_found(room, tmp_path):
    answer = room.holdfast("install", "--json", code=4)
    assert answer["error"]["code"] == "no_host"
    room.write("opencode.json", "{}")
    program = tmp_path / "bin" / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    answer = room.holdfast("install", "--json")
    assert [host["host"] for host in answer["hosts"]] == ["opencode", "codex"]
    assert not (room.root / ".claude").exists()


def test_without_a_name_all_of_it_is_taken_out(room):
    before = tree(room.root)
    for host in ("claude-code", "opencode", "codex"):
        room.holdfast("install", host)
    said = room.person("uninstall", says="y")
    assert said.count("removed") == 3
    assert tree(room.root) == before
    said = room.person("uninstall")
    assert "Holdfast is not installed in any agent host for this project" in said
    assert "Remove" not in said


def test_before_all_of_it_is_taken_out_it_is_shown_and_enter_is_a_no(room):
    for host in ("codex", "cursor"):
        room.holdfast("install", host)
    before = tree(room.root)
    answer = Bench(room.root).person("uninstall")
    assert answer.code == 1
    assert "codex: .codex/hooks.json, .codex/config.toml, AGENTS.md" in answer.out
    assert "cursor: .cursor/" in answer.out
    assert "claude-code" not in answer.out
    assert "Remove Holdfast from all of these? [y/N]" in answer.out
    assert tree(room.root) == before


def test_a_host_that_is_named_is_named_in_the_question(room):
    room.holdfast("install", "codex")
    assert "Remove Holdfast from codex? [Y/n]" in room.person("uninstall", "codex")


def test_what_cannot_be_read_and_is_not_ours_is_not_asked_about(room):
    room.write(".codex/config.toml", "a = ")
    assert "Holdfast is not installed in any agent host" in room.person("uninstall")


@pytest.mark.parametrize(
    ("typed", "close"),
    [("claude", "claude-code"), ("Codex", "codex"), ("copilto", "copilot"), ("claude_code", "claude-code")],
)
@pytest.mark.parametrize("command", ["install", "init"])
def test_a_name_that_is_nearly_a_host_s_is_told_the_right_one(room, command, typed, close):
    error = room.holdfast(command, typed, "--json", code=2)["error"]
    assert error["message"] == f"there is no agent host '{typed}', did you mean {close}?"
    assert error["remedy"] == f"holdfast {command} {close}"


def test_a_name_that_is_like_no_host_s_is_told_all_of_them(room):
    error = room.holdfast("install", "vim", "--json", code=2)["error"]
    assert error["message"].startswith("there is no agent host 'vim'; known are claude-code, opencode, codex, ")
    assert error["remedy"] == "holdfast install HOST"
    none = room.holdfast("install", "--json", code=4)["error"]
    assert none["message"].startswith("no agent host was found here; known are claude-code, ")
    assert none["remedy"] == "name one: holdfast install HOST"


def test_the_answer_says_what_became_of_each_file(room):
    room.write(".claude/settings.json", "{}")
    answer = room.holdfast("install", "claude-code", "--json")
    (host,) = answer["hosts"]
    kinds = {file["path"]: file["change"] for file in host["files"]}
    assert kinds[".claude/settings.json"] == "changed"
    assert kinds[".mcp.json"] == "created"
    assert answer["dry_run"] is False
    assert "already installed" in room.holdfast("install", "claude-code")


def test_for_a_person_it_goes_into_their_own_folder(room):
    room.holdfast("install", "codex", "--scope", "user")
    assert (room.home / ".codex/hooks.json").exists()
    assert not list(room.root.iterdir())
    room.person("uninstall", "codex", "--scope", "user")
    assert not (room.home / ".codex").exists()


def test_from_a_folder_below_it_is_the_project_that_is_set_up(room):
    subprocess.run(["git", "init", "-q"], cwd=room.root, check=True)
    (room.root / "src").mkdir()
    room.root = room.root / "src"
    room.holdfast("install", "codex")
    assert (room.root.parent / ".codex/hooks.json").exists()


@pytest.mark.parametrize("words", [("install", "claude"), ("uninstall", "vim"), ("install", "codex", "--scope", "all")])
def test_a_host_or_scope_that_there_is_not_is_wrong_usage(room, words):
    assert room.holdfast(*words, "--json", code=2)["error"]["code"] in ("bad_host", "bad_usage")


def test_what_is_wrong_with_one_host_is_told_and_does_not_stop_the_others(room):
    room.write(".claude/settings.json", "{")
    room.write(".codex/config.toml", "")
    broken, fine = room.holdfast("install", "--json", code=2)["hosts"]
    assert (broken["host"], broken["files"], broken["error"]["code"]) == ("claude-code", [], "broken_file")
    assert broken["error"]["message"].startswith(".claude/settings.json:1: ")
    assert (fine["host"], bool(fine["files"])) == ("codex", True)
    assert (room.root / ".codex/hooks.json").exists()
    assert not (room.root / ".mcp.json").exists()
    said = room.holdfast("install", code=2)
    assert "✗ claude-code: .claude/settings.json:1: " in said
    assert "✓ codex: already installed" in said
    assert room.holdfast("install", "claude-code", "--json", code=2)["error"]["code"] == "broken_file"


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_an_empty_name_is_no_host(room, command):
    room.write(".codex/config.toml", "")
    before = tree(room.root)
    words = (command, "", "--dry-run", "--json")
    assert room.holdfast(*words, code=2)["error"]["code"] == "bad_usage"
    assert tree(room.root) == before


def test_two_hosts_with_a_file_in_common_are_shown_and_removed_as_one(room):
    room.write("AGENTS.md", "Be kind.")
    before = tree(room.root)
    for host in ("codex", "amp"):
        room.holdfast("install", host)
    assert (room.root / "AGENTS.md").read_text().count("This project uses Holdfast") == 1
    shown = room.holdfast("uninstall", "--dry-run")
    assert shown.count("--- a/AGENTS.md") == 1
    room.person("uninstall", "codex")
    assert "This project uses Holdfast" in (room.root / "AGENTS.md").read_text()
    room.person("uninstall", says="y")
    assert tree(room.root) == before


@pytest.mark.parametrize(
    "variable", ["CLAUDECODE", "CODEX_THREAD_ID", "OPENCODE", "GEMINI_CLI", "QWEN_CODE", "COPILOT_CLI", "CLINE_ACTIVE"]
)
def test_an_agent_cannot_take_it_out(room, variable):
    room.holdfast("install", "claude-code")
    before = tree(room.root)
    error = room.holdfast("uninstall", "--json", code=3, **{variable: "1"})["error"]
    assert error["code"] == "person_needed"
    assert tree(room.root) == before


def test_a_folder_of_the_project_is_not_taken_for_the_package(room):
    """A host starts the server in the project, whoever wrote what is there."""
    room.write("holdfast/__init__.py", "raise SystemExit('the wrong one')")
    room.holdfast("install", "codex", "--scope", "user", PYTHONSAFEPATH="1")
    config = tomllib.loads((room.home / ".codex/config.toml").read_text())["mcp_servers"]["holdfast"]
    done = subprocess.run(
        [config["command"], *config["args"][:-1], "--version"], cwd=room.root, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.startswith("holdfast ")) == (0, True), done


def test_the_line_that_is_put_in_is_the_one_that_hook_prints(room):
    room.holdfast("install", "claude-code", "--scope", "user")
    line = room.holdfast("hook", "--line", "--json")["command"]
    settings = json.loads((room.home / ".claude/settings.json").read_text())
    assert settings["hooks"]["Stop"][0]["hooks"][0]["command"] == line
    status = room.holdfast("statusline", "--line", "--json")["command"]
    assert settings["statusLine"]["command"] == status
    event = {"hook_event_name": "Stop", "session_id": "x", "cwd": str(room.root)}
    done = subprocess.run(["sh", "-c", line], input=json.dumps(event), capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_file_that_somebody_edited_is_theirs_once_the_host_is_taken_out(room):
    room.write(".opencode/opencode.json", "{}")
    room.holdfast("install", "opencode")
    path = room.root / ".opencode/commands/dev.md"
    path.write_text(path.read_text() + "More.\n")
    said = room.person("uninstall", "opencode")
    assert "the other files in .opencode/commands/" in said
    assert path.exists()
    assert "the installation is incomplete" not in room.holdfast("doctor")
    assert "opencode (Holdfast is not installed)" in room.holdfast("init")
    assert "Remove" not in room.person("uninstall")


def test_a_file_that_hosts_have_in_common_is_removed_with_the_one_that_is_installed(room):
    for host in ("copilot", "amp"):
        room.holdfast("install", host)
    room.person("uninstall", "amp")
    answer = Bench(room.root).person("uninstall")
    assert "copilot: " in answer.out
    assert "amp: " not in answer.out
    assert "holdfast uninstall --dry-run" in answer.out
    assert room.person("uninstall", says="y").count("removed") == 1
    assert not (room.root / "AGENTS.md").exists()


def test_who_installs_without_the_path_is_told_so_at_once(room):
    said = room.holdfast("install", "gemini")
    assert "not on PATH, and settings of gemini name" in said
    assert "export PATH=" in said
    assert "not on PATH" in room.holdfast("init", "qwen", "--json")["warnings"][0]
