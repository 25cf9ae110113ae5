"""The doctor tries what is installed in agent hosts."""

from __future__ import annotations

import json
import os
import sys

import pytest

from holdfast.core.remedy import typed
from holdfast.hosts.installing import installation, setting
from holdfast.project.project import open_project
from holdfast.upkeep import doctor, installed, reach
from tests.actors import acting

HOSTS = tuple(installation.HOSTS)
SERVER = """\
import json, sys
request = json.loads(sys.stdin.readline())
assert request["method"] == "initialize"
server = {"name": sys.argv[1], "version": "1"}
answer = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": server}
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer}), flush=True)
sys.stdin.read()
"""
OLD = ("/old/bin/python", "-I", "-S", "/old/lib/holdfast/surfaces/hooks/run.py")


class Place:
    """A project with a workflow, as the doctor sees it."""

    def __init__(self, root) -> None:
        self.root = root
        self.project = open_project(str(root), settings=acting(os.environ, person=True))
        self.wired = self.project.wired

    def at(self, scope="project", **changes):
        at = setting.setting(self.wired.settings, scope, self.wired.place.worktree)
        return at.replace(**changes)

    def install(self, host, scope="project", **changes):
        at = self.at(scope, **changes)
        installation.carry_out(installation.planned(host, at, self.wired.settings.data_dir))

    def findings(self):
        return [one for one in doctor.examine(self.project).findings if one.code == "host"]


@pytest.fixture(autouse=True)
def _on_path(monkeypatch):
    """The programs of this installation are found by their names."""
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    found = Place(root)
    found.project.start({"name": "chore", "step": [{"id": "do"}]}, "one")
    return found


def test_nothing_is_said_of_hosts_without_us(place):
    assert place.findings() == []


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("host", HOSTS)
def test_hooks_are_seen_to_fire(place, host, scope):
    place.install(host, scope)
    found = place.findings()
    assert {one.level for one in found} == {"ok"}
    assert all(one.message.startswith(f"{host}: ") for one in found)
    assert host == "amp" or any(one.message.endswith(": hooks fire") for one in found)  # amp has no hooks


def test_they_fire_where_nothing_was_started_yet(tmp_path):
    (tmp_path / "new").mkdir()
    place = Place(tmp_path / "new")
    place.install("codex")
    assert {one.level for one in place.findings()} == {"ok"}


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_line_of_another_installation_is_spoken_of_and_not_run(place, host):
    place.install(host, hook=OLD, status=(*OLD, "statusline"))
    levels = {one.message.rpartition(": ")[2]: one for one in place.findings()}
    assert levels["what is installed is not all that this version installs"].remedy == f"holdfast install {host}"
    assert levels["the line belongs to another installation of Holdfast"].level == "warning"


def test_a_plugin_of_another_version_is_spoken_of(place):
    place.install("opencode", hook=OLD)
    plugin, server = place.findings()
    assert (plugin.level, server.level) == ("warning", "ok")


def test_a_line_from_a_clone_is_never_run(place, tmp_path):
    touched = tmp_path / "touched"
    command = f"{tmp_path}/evil -I -S {tmp_path}/holdfast/surfaces/hooks/run.py"
    (tmp_path / "evil").write_text(f"#!/bin/sh\ntouch {touched}\n")
    (tmp_path / "evil").chmod(0o755)
    (place.root / ".claude").mkdir(exist_ok=True)
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    (place.root / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    server = {"mcpServers": {"holdfast": {"command": str(tmp_path / "evil"), "args": []}}}
    (place.root / ".mcp.json").write_text(json.dumps(server))
    assert {one.level for one in place.findings()} == {"warning"}
    assert not touched.exists()


def test_a_hook_that_does_not_judge_is_found(place):
    words = [sys.executable, "-c", "pass"]
    assert "does not judge" in installed._fires(place.wired, words)
    assert "/nowhere/x: not found" in installed._tried(
        place.wired, "hooks", "/nowhere/x", place.at(hook=("/nowhere/x",))
    )


def test_a_broken_file_is_a_finding_and_not_the_end(place):
    place.install("claude-code")
    (place.root / ".claude/settings.json").write_text("{")
    (finding,) = place.findings()
    assert finding.level == "warning"
    assert ".claude/settings.json:1: " in finding.message


def test_a_broken_file_of_a_host_without_us_is_not_ours_to_speak_of(place):
    (place.root / ".codex").mkdir()
    (place.root / ".codex/config.toml").write_text("a = ")
    assert place.findings() == []


def test_the_server_is_greeted_and_has_to_answer(place, tmp_path):
    program = tmp_path / "server.py"
    program.write_text(SERVER)
    for name, wrong in (("holdfast", ""), ("other", "the MCP server does not answer")):
        words = (sys.executable, str(program), name)
        assert installed._tried(place.wired, "MCP server", " ".join(words), place.at(server=words)) == wrong
    silent = (sys.executable, "-c", "pass")
    assert installed._serves(place.wired, list(silent)) == "the MCP server does not answer"


def test_a_launcher_that_is_not_on_the_path_is_found(place, monkeypatch):
    place.install("claude-code")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = doctor.examine(place.project).findings
    (hook,) = (one for one in found if ".claude/settings.json" in one.message)
    assert "holdfast-hook is not on PATH" in hook.message
    (path,) = (one for one in found if one.code == "path")
    assert (path.level, path.remedy) == ("warning", f'export PATH="{os.path.dirname(sys.executable)}:$PATH"')


def test_another_holdfast_on_the_path_is_found(place, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for name in ("holdfast", "holdfast-hook"):
        (other / name).write_text("#!/bin/sh\n")
        (other / name).chmod(0o755)
    found = reach.on_path(str(other))
    assert (found.level, str(other / "holdfast") in found.message) == ("warning", True)


def test_hooks_that_codex_was_not_told_to_trust_are_found(place):
    place.install("codex")
    hooks = place.root / ".codex/hooks.json"
    assert [one.path for one in _of(place, "codex_trust")] == [".codex/hooks.json"]
    config = os.path.join(place.wired.settings.codex_dir, "config.toml")
    os.makedirs(os.path.dirname(config), exist_ok=True)
    with open(config, "w") as file:
        file.write(f'[hooks.state."{hooks}:stop:0:0"]\ntrusted_hash = "sha256:0"\n')
    assert _of(place, "codex_trust") == []


def test_the_plugin_beside_an_installation_is_found(place):
    folder = os.path.join(place.wired.settings.claude_dir, "plugins")
    os.makedirs(folder)
    with open(os.path.join(folder, "installed_plugins.json"), "w") as file:
        json.dump({"version": 2, "plugins": {"holdfast@holdfast": []}}, file)
    place.install("claude-code")
    (finding,) = _of(place, "plugin")
    (way,) = finding.remedies
    assert (finding.level, typed(way)) == ("warning", "holdfast uninstall claude-code")


def test_a_missing_package_is_found(monkeypatch):
    monkeypatch.setattr(reach, "PACKAGES", ("no_such_package",))
    (finding,) = reach.packages()
    assert finding.remedy == "pip install --force-reinstall holdfast"


def _of(place, code):
    return [one for one in doctor.examine(place.project).findings if one.code == code]
