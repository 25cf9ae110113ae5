"""The doctor tries what is installed in agent hosts."""

from __future__ import annotations

import json
import os
import sys

import pytest

from holdfast.core import remedies
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
    assert levels["the installation is incomplete or out of date"].remedy == f"holdfast install {host}"
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
    assert finding.level == "broken"
    assert finding.message == "claude-code: .claude/settings.json:1: unclosed {"
    assert finding.remedy == "fix .claude/settings.json"


def test_a_broken_file_that_somebody_else_put_us_into_is_a_finding_too(place):
    (place.root / ".mcp.json").write_text('{"mcpServers": {"holdfast": {"command": "holdfast"')
    (place.root / ".codex").mkdir()
    (place.root / ".codex/hooks.json").write_text('{"hooks": {"Stop": [{"hooks": [{"command": "holdfast-hook"')
    assert {(one.level, one.path) for one in place.findings()} == {
        ("broken", ".mcp.json"),
        ("broken", ".codex/hooks.json"),
    }


def test_a_broken_file_does_not_hide_what_is_found_beside_it(place):
    """What is asked of the files of codex and of the plugin is about the same files."""
    folder = os.path.join(place.wired.settings.claude_dir, "plugins")
    os.makedirs(folder)
    with open(os.path.join(folder, "installed_plugins.json"), "w") as file:
        json.dump({"version": 2, "plugins": {"holdfast@holdfast": []}}, file)
    for host, name in (("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")):
        place.install(host)
        (place.root / name).write_text("{")
    place.install("qwen")
    found = place.findings()
    assert {one.level for one in found if one.message.startswith("qwen: ")} == {"ok"}
    assert [one.level for one in found if not one.message.startswith("qwen: ")] == ["broken", "broken"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (".codex/hooks.json", "{", "codex: .codex/hooks.json:1: unclosed {"),
        (".qwen/settings.json", '{"hooks": {"SessionStart": "x"}}', ".json:1: hooks.SessionStart must be a list"),
    ],
)
def test_broken_settings_of_a_host_that_is_used_here_are_found_before_holdfast_is_in_it(place, name, text, said):
    (place.root / name).parent.mkdir()
    (place.root / name).write_text(text)
    (finding,) = place.findings()
    assert (finding.level, finding.path, said in finding.message) == ("broken", name, True)
    assert finding.remedy == f"fix {name}"


def test_a_broken_file_of_a_host_that_nobody_uses_here_is_not_ours_to_speak_of(place):
    (place.root / "AGENTS.md").write_bytes(b"\xff")
    assert place.findings() == []


def test_the_server_is_greeted_and_has_to_answer(place, tmp_path):
    program = tmp_path / "server.py"
    program.write_text(SERVER)
    for name, wrong in (("holdfast", ""), ("other", "the MCP server does not answer")):
        words = (sys.executable, str(program), name)
        assert installed._tried(place.wired, "MCP server", " ".join(words), place.at(server=words)) == wrong
    silent = (sys.executable, "-c", "pass")
    assert installed._serves(place.wired, list(silent)) == "the MCP server does not answer"


def test_programs_that_are_not_on_the_path_are_one_finding_whichever_hosts_name_them(place, monkeypatch):
    for host in HOSTS:
        place.install(host)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = doctor.examine(place.project).findings
    assert [one for one in found if one.code == "host" and one.level != "ok"] == []
    (path,) = (one for one in found if one.code == "path")
    assert path.message.startswith("holdfast and holdfast-hook are not on PATH, and settings of claude-code, ")
    assert (path.level, path.remedy) == ("warning", f'export PATH="{os.path.dirname(sys.executable)}:$PATH"')


def test_one_cause_in_several_hosts_is_one_finding(place):
    program = place.root / "server.py"
    program.write_text("raise SystemExit('it broke\\n→ do this')")
    words = (sys.executable, str(program))
    looked = installed._Looked(place.wired)
    at = place.at(server=words)
    for host in ("codex", "qwen"):
        assert not looked._works(host, f".{host}", "MCP server", " ".join(words), at, remedies.named("install"))
    (finding,) = looked.failing()
    assert finding.message == "codex: .codex, qwen: .qwen: the MCP server does not answer: it broke"
    assert finding.remedy == "do this"


def test_a_missing_package_is_told_once_and_not_for_each_server(place, monkeypatch):
    for host in ("codex", "qwen"):
        place.install(host)
    monkeypatch.setattr(reach, "lacking", lambda: ("mcp",))
    found = doctor.examine(place.project).findings
    assert [one.message for one in found if "mcp" in one.message.lower()] == [
        "the Python package mcp is missing, which Holdfast needs"
    ]
    (package,) = (one for one in found if one.code == "package")
    assert (package.level, typed(package.remedies[0])) == ("broken", f"{sys.executable} -m pip install 'mcp>=2.3,<2.4'")


def test_another_server_with_our_name_is_found(place):
    (place.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"holdfast": {"command": "/x/pages"}}}))
    place.install("claude-code")
    (finding,) = (one for one in place.findings() if one.path == ".mcp.json")
    assert (finding.level, finding.message) == (
        "warning",
        'claude-code: .mcp.json defines another MCP server "holdfast": agents there have no tools of Holdfast',
    )
    assert finding.remedy == "give that one another name, then: holdfast install claude-code"


@pytest.mark.parametrize("server", [{"command": "uvx", "args": ["holdfast", "mcp"]}, {"url": "http://127.0.0.1:1/mcp"}])
def test_a_server_of_ours_that_somebody_wrote_is_not_another(place, server):
    (place.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"holdfast": server}}))
    place.install("claude-code")
    assert {one.level for one in place.findings()} == {"ok"}


def test_an_installation_in_both_scopes_is_noted(place):
    for scope in ("project", "user"):
        place.install("claude-code", scope)
        place.install("amp", scope)
    place.install("codex")
    finding, without_hooks = _of(place, "scopes")
    assert finding.message.startswith("claude-code: installed for this project and for you, so each hook runs twice;")
    assert without_hooks.message == "amp: installed for this project and for you; one scope is enough"
    assert [typed(one) for one in finding.remedies] == [
        "holdfast uninstall claude-code",
        "holdfast uninstall claude-code --scope user",
    ]


@pytest.mark.parametrize(("host", "name"), [("claude-code", ".claude/settings.json"), ("cursor", ".cursor/hooks.json")])
def test_hook_lines_that_somebody_edited_are_named(place, host, name):
    place.install(host)
    path = place.root / name
    path.write_text(path.read_text().replace("exec holdfast-hook;", "exec holdfast-hok;"))
    place.install(host)
    (finding,) = (one for one in place.findings() if one.level == "warning")
    assert finding.message.startswith(f"{host}: {name}: somebody edited hook lines of Holdfast, which may not work: ")
    assert "exec holdfast-hok;" in finding.message
    assert finding.remedy == f"remove them from {name}, then: holdfast install {host}"


def test_a_program_of_ours_that_somebody_edited_is_named(place):
    place.install("opencode")
    path = place.root / ".opencode/plugins/holdfast.js"
    path.write_text(path.read_text().replace("holdfast-hook", "holdfast-hok"))
    (finding,) = (one for one in place.findings() if one.level == "warning")
    assert "holdfast.js: somebody edited hook lines of Holdfast" in finding.message


@pytest.mark.parametrize(
    "line", ["timeout 5 holdfast-hook", "tidy --on holdfast/notes", "echo hold", "nice holdfast hook"]
)
def test_a_line_around_ours_and_a_line_of_others_are_not_edited_ones(place, line):
    place.install("claude-code")
    path = place.root / ".claude/settings.json"
    said = json.loads(path.read_text())
    said["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": line}]})
    path.write_text(json.dumps(said))
    assert {one.level for one in place.findings()} == {"ok"}


def test_another_holdfast_on_the_path_is_found(place, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for name in ("holdfast", "holdfast-hook"):
        (other / name).write_text("#!/bin/sh\n")
        (other / name).chmod(0o755)
    found = reach.on_path({"holdfast": ["codex"]}, str(other))
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


def _of(place, code):
    return [one for one in doctor.examine(place.project).findings if one.code == code]
