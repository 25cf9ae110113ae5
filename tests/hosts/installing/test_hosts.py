"""Installing in each host, again, over an older version, and out again without a trace."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from holdfast.errors import Broken, Conflict, UsageError
from holdfast.hosts.installing import changes, claude_code, codex, installation, lines, record, texts
from holdfast.surfaces.hooks import quick
from tests.hosts.installing.conftest import SERVER, tree

HOSTS = tuple(installation.HOSTS)
SCOPE_OF_SERVER = {"cline": "user"}
"""Hosts that know MCP servers of a person only."""
OTHERS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/check.sh"}]}
SETTINGS = (
    '{\n    "permissions": {"allow": ["Bash(ls:*)"]},\n    "hooks": {\n        "PreToolUse": [\n'
    f"            {json.dumps(OTHERS)}\n"
    '        ]\n    },\n    "model": "opus"\n}'
)
JSONC = """\
{
  // my model
  "model": "x/y",
  "mcp": {
    "other": {"type": "remote", "url": "http://x"}, // mine
  },
}
"""
TOML = '# mine\nmodel = "gpt-5" # good\n\n[mcp_servers.other]\ncommand = "x"\n'
PROJECT = {
    ".claude/settings.json": SETTINGS,
    ".mcp.json": '{"mcpServers": {"other": {"command": "x"}}}',
    "opencode.jsonc": JSONC,
    ".codex/config.toml": TOML,
    ".gemini/settings.json": JSONC,
    "GEMINI.md": "Be brief.",
    ".qwen/settings.json": SETTINGS,
    ".github/mcp.json": '{"mcpServers": {"other": {"command": "x"}}}',
    ".github/hooks/other.json": '{"version": 1, "hooks": {"PreToolUse": [{"type": "command", "bash": "./x"}]}}',
    ".cursor/hooks.json": '{\n  "version": 1,\n  "hooks": {"stop": [{"command": "./x"}]}\n}\n',
    ".clinerules/style.md": "Be brief.\n",
    ".amp/settings.json": '{\n  // mine\n  "amp.showCosts": false\n}\n',
    ".continue/settings.json": SETTINGS,
    "AGENTS.md": "# Agents\r\n\r\nBe kind.",
    "README.md": "hello\n",
}


@pytest.fixture
def lived_in(room):
    """A project in which all hosts are used."""
    for name, text in PROJECT.items():
        room.write(name, text, mode=0o640)
    return room


def test_every_event_that_a_hook_answers_is_asked_for():
    assert set(claude_code.EVENTS) == set(quick.REACTIONS)


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("host", HOSTS)
def test_installing_into_nothing_and_out_again_leaves_nothing(room, host, scope):
    before = tree(room.root, room.home)
    plan = room.install(host, scope)
    assert {change.kind for change in plan.changes} == {"created"}
    assert tree(room.root, room.home) != before
    room.uninstall(host, scope)
    assert tree(room.root, room.home) == before


@pytest.mark.parametrize("scope", ["project", "user"])
def test_a_scope_keeps_to_its_own_folder(room, scope):
    other = {"project": room.home, "user": room.root}[scope]
    records = Path(room.data)
    before = {path: what for path, what in tree(other).items() if not path.startswith(str(records))}
    for host in HOSTS:
        room.install(host, scope)
    assert {path: what for path, what in tree(other).items() if not path.startswith(str(records))} == before


def test_what_is_there_stays_byte_for_byte_when_all_is_taken_out(lived_in):
    before = tree(lived_in.root)
    for host in HOSTS:
        lived_in.install(host)
        lived_in.install(host)
    for host in HOSTS:
        lived_in.uninstall(host)
    assert tree(lived_in.root) == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_second_time_changes_nothing(lived_in, host):
    lived_in.install(host)
    before = tree(lived_in.root, lived_in.home)
    assert not lived_in.install(host).is_needed
    assert tree(lived_in.root, lived_in.home) == before


def test_claude_code_gets_hooks_beside_those_of_others_a_status_line_and_a_server(lived_in):
    lived_in.install("claude-code")
    at = lived_in.setting()
    settings = lived_in.json(".claude/settings.json")
    assert settings["hooks"]["PreToolUse"][0] == OTHERS
    for event, matcher in claude_code.EVENTS.items():
        ours = settings["hooks"][event][-1]
        assert ours.get("matcher", "") == matcher
        assert [hook["command"] for hook in ours["hooks"]] == [at.hook_line]
    assert settings["statusLine"] == {"type": "command", "command": "holdfast-hook statusline"}
    assert list(settings)[:3] == ["permissions", "hooks", "model"]
    servers = lived_in.json(".mcp.json")["mcpServers"]
    assert servers["other"] == {"command": "x"}
    assert [servers["holdfast"]["command"], *servers["holdfast"]["args"]] == list(SERVER)
    assert servers["holdfast"]["alwaysLoad"] is True
    assert {path.stem for path in (lived_in.root / ".claude/commands").iterdir()} == set(texts.commands())


def test_opencode_gets_a_plugin_that_runs_this_hook_and_keeps_its_comments(lived_in):
    lived_in.install("opencode")
    config = (lived_in.root / "opencode.jsonc").read_text()
    assert [line for line in config.splitlines() if line in JSONC.splitlines()] == JSONC.splitlines()
    assert json.dumps(SERVER[0]) in config
    assert not (lived_in.root / "opencode.json").exists()
    plugin = (lived_in.root / ".opencode/plugins/holdfast.js").read_text()
    assert f"const HOOK = {json.dumps([lines.LAUNCHER])}\n" in plugin
    command = (lived_in.root / ".opencode/commands/dev.md").read_text()
    assert command.startswith("---\ndescription: ")
    assert "allowed-tools" not in command


def test_codex_gets_hooks_a_server_and_a_paragraph(lived_in):
    lived_in.install("codex")
    assert set(lived_in.json(".codex/hooks.json")["hooks"]) == set(codex.EVENTS)
    config = (lived_in.root / ".codex/config.toml").read_text()
    assert config.startswith(TOML)
    assert tomllib.loads(config)["mcp_servers"]["holdfast"]["args"] == list(SERVER[1:])
    agents = (lived_in.root / "AGENTS.md").read_bytes().decode()
    assert agents.startswith(PROJECT["AGENTS.md"] + "\r\n\r\n<!-- holdfast: begin -->\r\n")
    assert "\n" not in agents.replace("\r\n", "")


def test_at_the_end_of_a_session_a_hook_asks_for_no_more_time_than_codex_gives(room):
    room.install("codex")
    hooks = room.json(".codex/hooks.json")["hooks"]
    assert {event: groups[0]["hooks"][0]["timeout"] for event, groups in hooks.items()} == {
        event: 3 if event == "SessionEnd" else 10 for event in codex.EVENTS
    }


def test_who_installs_in_codex_is_told_that_hooks_have_to_be_trusted(room):
    assert codex.ASKS in room.install("codex").said
    assert codex.ASKS not in room.install("codex").said


def test_a_person_s_own_folders_are_where_the_hosts_say(room, monkeypatch, tmp_path):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    for host in HOSTS:
        room.install(host, "user")
    assert (tmp_path / "claude/settings.json").exists()
    assert "holdfast" in json.loads((tmp_path / "claude/.claude.json").read_text())["mcpServers"]
    assert (tmp_path / "codex/AGENTS.md").exists()
    assert (Path(os.environ["XDG_CONFIG_HOME"]) / "opencode/plugins/holdfast.js").exists()


def test_without_variables_a_person_s_servers_are_beside_the_folder(room):
    room.install("claude-code", "user")
    assert json.loads((room.home / ".claude.json").read_text())["mcpServers"]["holdfast"]


def test_an_upgrade_rewrites_our_lines_and_nothing_else(lived_in):
    before = tree(lived_in.root)
    old = ("/old/bin/python", "-I", "-S", "/old/lib/holdfast/surfaces/hooks/run.py")
    for host in HOSTS:
        lived_in.install(host, hook=old, status=(*old, "statusline"))
    assert "/old/" in (lived_in.root / ".claude/settings.json").read_text()
    for host in HOSTS:
        lived_in.install(host)
    written = b"".join(data or b"" for _, data in tree(lived_in.root).values())
    assert b"/old/" not in written
    assert len(lived_in.json(".claude/settings.json")["hooks"]["PreToolUse"]) == 2
    for host in HOSTS:
        lived_in.uninstall(host)
    assert tree(lived_in.root) == before


def test_lines_that_were_put_in_by_hand_are_taken_over_once(room):
    hook = {"type": "command", "command": "/x/python -I -S /x/holdfast/surfaces/hooks/run.py"}
    room.write(".claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": [hook, hook]}]}}))
    room.install("claude-code")
    (group,) = room.json(".claude/settings.json")["hooks"]["Stop"]
    assert [one["command"] for one in group["hooks"]] == [room.setting().hook_line]


def test_a_line_that_many_machines_share_stays(room):
    hook = {"type": "command", "command": "holdfast hook"}
    room.write(".claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    room.install("claude-code")
    assert room.json(".claude/settings.json")["hooks"]["Stop"] == [{"hooks": [hook]}]


@pytest.mark.parametrize(
    "command",
    [
        "evil; python -I -S /x/holdfast/surfaces/hooks/run.py",
        "wrapper python -I -S /x/holdfast/surfaces/hooks/run.py",
        "holdfast hook --line",
        "command -v holdfast-hook >/dev/null && exec holdfast-hook; echo 'x'; evil 'y'",
        "echo holdfast hook",
        "'unfinished",
        "/x/holdfast/surfaces/hooks/run.py",
    ],
)
def test_a_line_of_somebody_else_is_not_taken_for_ours(room, command):
    hook = {"type": "command", "command": command}
    room.write(".claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    room.install("claude-code")
    assert room.json(".claude/settings.json")["hooks"]["Stop"][0] == {"hooks": [hook]}


def test_a_status_line_of_one_s_own_stays(room):
    own = {"type": "command", "command": "~/line.sh"}
    room.write(".claude/settings.json", json.dumps({"statusLine": own}))
    plan = room.install("claude-code")
    assert room.json(".claude/settings.json")["statusLine"] == own
    assert any("already defines a status line; left unchanged" in said for said in plan.said)
    room.uninstall("claude-code")
    assert room.json(".claude/settings.json") == {"statusLine": own}


def test_a_command_of_one_s_own_with_the_same_name_stays(room):
    own = room.write(".claude/commands/dev.md", "my own dev\n")
    plan = room.install("claude-code")
    assert own.read_text() == "my own dev\n"
    assert any("dev.md is somebody's own" in said for said in plan.said)
    room.uninstall("claude-code")
    assert own.read_text() == "my own dev\n"


def test_what_others_changed_meanwhile_stays_and_only_ours_goes(lived_in):
    for host in HOSTS:
        lived_in.install(host)
    settings = lived_in.root / ".claude/settings.json"
    settings.write_text(settings.read_text().replace('"opus"', '"sonnet"'))
    config = lived_in.root / "opencode.jsonc"
    config.write_text(config.read_text().replace("my model", "my new model"))
    toml = lived_in.root / ".codex/config.toml"
    toml.write_text(toml.read_text() + '\n[projects."/x"]\ntrust_level = "trusted"\n')
    agents = lived_in.root / "AGENTS.md"
    agents.write_bytes(agents.read_bytes() + b"\r\nMore.\r\n")
    for host in HOSTS:
        lived_in.uninstall(host)
    assert settings.read_text() == SETTINGS.replace('"opus"', '"sonnet"')
    assert config.read_text() == JSONC.replace("my model", "my new model")
    assert toml.read_text() == TOML + '\n[projects."/x"]\ntrust_level = "trusted"\n'
    assert agents.read_bytes() == b"# Agents\r\n\r\nBe kind.\r\n\r\nMore.\r\n"


def test_a_file_that_was_made_for_us_and_has_something_else_in_it_now_stays(room):
    room.install("claude-code")
    settings = room.json(".claude/settings.json")
    room.write(".claude/settings.json", json.dumps({"model": "opus", **settings}))
    room.uninstall("claude-code")
    assert room.json(".claude/settings.json") == {"model": "opus"}
    assert not (room.root / ".mcp.json").exists()


def test_a_file_that_was_made_for_us_and_only_formatted_goes(room):
    room.install("claude-code")
    room.write(".claude/settings.json", json.dumps(room.json(".claude/settings.json")))
    room.uninstall("claude-code")
    assert not (room.root / ".claude").exists()


def test_a_command_of_ours_that_somebody_edited_stays_and_is_spoken_of(room):
    room.install("claude-code")
    command = room.root / ".claude/commands/dev.md"
    command.write_text("Mine now.\n" + command.read_text())
    for _ in range(2):
        assert any("dev.md: you edited this file" in said for said in room.install("claude-code").said)
    for _ in range(2):
        assert any("dev.md: you edited this file" in said for said in room.uninstall("claude-code").said)
    assert command.read_text().startswith("Mine now.\n")


def test_an_upgrade_after_others_changed_a_file_still_takes_only_ours_out(lived_in):
    lived_in.install("claude-code")
    settings = lived_in.root / ".claude/settings.json"
    settings.write_text(settings.read_text().replace('"opus"', '"sonnet"'))
    lived_in.install("claude-code", hook=("/n/python", "-I", "-S", "/n/holdfast/surfaces/hooks/run.py"))
    lived_in.uninstall("claude-code")
    assert settings.read_text() == SETTINGS.replace('"opus"', '"sonnet"')


def test_a_clone_without_a_record_gets_rid_of_it_all_the_same(lived_in):
    for host in HOSTS:
        lived_in.install(host)
    for kept in Path(lived_in.data).rglob("*.json"):
        kept.unlink()
    for host in HOSTS:
        lived_in.uninstall(host)
    assert lived_in.json(".claude/settings.json") == json.loads(SETTINGS)
    assert lived_in.json(".mcp.json") == json.loads(PROJECT[".mcp.json"])
    assert (lived_in.root / "opencode.jsonc").read_text() == JSONC
    assert (lived_in.root / ".codex/config.toml").read_text() == TOML
    assert not list(lived_in.root.rglob("*holdfast*"))
    assert not list((lived_in.root / ".claude/commands").iterdir())


def test_modes_stay_and_new_files_are_as_this_person_s_are(lived_in):
    lived_in.install("claude-code")
    assert (lived_in.root / ".claude/settings.json").stat().st_mode & 0o777 == 0o640
    mask = os.umask(0)
    os.umask(mask)
    assert (lived_in.root / ".claude/commands/dev.md").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_mark_at_the_beginning_of_a_file_and_an_empty_file_are_as_good(room):
    room.write(".claude/settings.json", b"\xef\xbb\xbf{}")
    room.write(".mcp.json", b"")
    before = tree(room.root)
    room.install("claude-code")
    assert (room.root / ".claude/settings.json").read_bytes().startswith(b"\xef\xbb\xbf{\n")
    assert "holdfast" in room.json(".mcp.json")["mcpServers"]
    room.uninstall("claude-code")
    assert tree(room.root) == before


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        ("claude-code", ".claude/settings.json", b'{"a": 1,}'),
        ("claude-code", ".claude/settings.json", b'{"hooks": []}'),
        ("claude-code", ".claude/settings.json", b'{"hooks": {"Stop": {}}}'),
        ("claude-code", ".claude/settings.json", b'{"a": "\xff"}'),
        ("claude-code", ".claude/settings.json", b"[]"),
        ("claude-code", ".mcp.json", b"{"),
        ("opencode", "opencode.json", b"{'mcp': 1}"),
        ("codex", ".codex/hooks.json", b"nope"),
        ("codex", ".codex/config.toml", b"a = "),
    ],
)
def test_a_broken_file_keeps_every_file_as_it_is(room, host, name, text):
    room.write(name, text)
    before = tree(room.root, room.home)
    with pytest.raises(UsageError) as refusal:
        room.install(host)
    assert refusal.value.message.startswith(f"{name}:1: ")
    assert tree(room.root, room.home) == before


@pytest.mark.parametrize("host", HOSTS)
def test_links_are_refused(room, host, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = {"claude-code": ".claude", "copilot": ".github", "cline": ".clinerules"}.get(host, f".{host}")
    (room.root / folder).symlink_to(elsewhere)
    with pytest.raises(UsageError) as refusal:
        room.install(host)
    assert refusal.value.code == "symlink"
    assert not list(elsewhere.iterdir())


def test_a_link_stays_and_what_it_leads_to_is_changed(room, tmp_path):
    """As people have them who keep their settings in a repository of their own."""
    kept = tmp_path / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_text('{"model": "opus"}')
    link = room.home / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(kept)
    before = tree(room.root, room.home, kept.parent)
    plan = room.install("claude-code", "user")
    assert "~/.claude/settings.json" in plan.shown.values()
    assert link.is_symlink()
    assert room.setting("user").hook_line in kept.read_text()
    assert not room.install("claude-code", "user").is_needed
    room.uninstall("claude-code", "user")
    assert link.is_symlink()
    assert tree(room.root, room.home, kept.parent) == before


def test_a_link_within_a_project_is_followed_and_one_out_of_it_refused(room, tmp_path):
    room.write("shared/agents.md", "Be kind.\n")
    (room.root / "AGENTS.md").symlink_to("shared/agents.md")
    room.install("codex")
    assert (room.root / "AGENTS.md").is_symlink()
    assert "This project uses Holdfast" in (room.root / "shared/agents.md").read_text()
    room.uninstall("codex")
    assert (room.root / "shared/agents.md").read_text() == "Be kind.\n"
    (tmp_path / "real.json").write_text("{}")
    (room.root / ".mcp.json").symlink_to(tmp_path / "real.json")
    with pytest.raises(UsageError, match="symbolic link that leads out of the project"):
        room.install("claude-code")
    assert (tmp_path / "real.json").read_text() == "{}"


def test_what_is_no_file_is_refused(room):
    (room.root / "AGENTS.md").mkdir()
    with pytest.raises(UsageError, match="not a regular file"):
        room.install("codex")
    assert tree(room.root).keys() == {str(room.root / "AGENTS.md")}


def test_a_file_that_changes_between_looking_and_writing_is_left_alone(room):
    room.write(".claude/settings.json", "{}")
    plan = installation.planned("claude-code", room.setting(), room.data)
    room.write(".claude/settings.json", '{"model": "opus"}')
    with pytest.raises(Conflict) as conflict:
        installation.carry_out(plan)
    assert conflict.value.code == "changed_meanwhile"
    assert room.json(".claude/settings.json") == {"model": "opus"}


def test_a_broken_record_needs_a_person(room):
    room.install("codex")
    (record,) = Path(room.data).rglob("*.json")
    record.write_text("{")
    with pytest.raises(Broken) as broken:
        room.uninstall("codex")
    assert broken.value.code == "broken_record"


def test_records_are_nobody_else_s_to_read(room):
    room.write(".claude/settings.json", '{"env": {"KEY": "secret"}}')
    room.install("claude-code")
    (record,) = Path(room.data).rglob("*.json")
    assert record.stat().st_mode & 0o777 == 0o600


def test_a_server_that_somebody_switched_off_stays_off(room):
    room.install("opencode")
    config = room.json("opencode.json")
    config["mcp"]["holdfast"]["enabled"] = False
    room.write("opencode.json", json.dumps(config))
    room.install("opencode")
    assert room.json("opencode.json")["mcp"]["holdfast"]["enabled"] is False


OWN_SERVERS = [
    {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "mine"}},
    {"command": "/usr/bin/python3", "args": ["-m", "holdfast", "mcp", "--root", "/x"]},
    {"command": "wrapper", "args": list(SERVER)},
    {"url": "https://x/mcp", "command": SERVER[0], "args": list(SERVER[1:])},
    {"enabled": False},
]


@pytest.mark.parametrize("own", OWN_SERVERS)
@pytest.mark.parametrize(
    ("host", "name", "key"), [("claude-code", ".mcp.json", "mcpServers"), ("opencode", "opencode.json", "mcp")]
)
def test_a_server_of_one_s_own_with_our_name_stays(room, host, name, key, own):
    path = room.write(name, json.dumps({key: {"holdfast": own}}))
    before = path.read_bytes()
    for _ in range(2):
        plan = room.install(host)
        assert path.read_bytes() == before
        assert any(f'{name} already defines a server "holdfast"; left unchanged' in said for said in plan.said)
    room.uninstall(host)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "rows",
    [
        'url = "https://x/mcp"\n',
        'command = "/usr/bin/python3"\nargs = ["-m", "holdfast", "mcp", "--root", "/x"]\n',
        "enabled = false\n",
    ],
)
def test_a_server_of_one_s_own_in_codex_stays(room, rows):
    text = f"[mcp_servers.holdfast]\n{rows}"
    path = room.write(".codex/config.toml", text)
    plan = room.install("codex")
    assert path.read_text() == text
    assert any('config.toml already defines a server "holdfast"; left unchanged' in said for said in plan.said)
    room.uninstall("codex")
    assert path.read_text() == text


def test_a_server_that_somebody_made_their_own_after_us_stays(room):
    room.install("claude-code")
    own = json.dumps({"mcpServers": {"holdfast": OWN_SERVERS[0]}})
    room.write(".mcp.json", own)
    room.uninstall("claude-code")
    assert (room.root / ".mcp.json").read_text() == own


@pytest.mark.parametrize("old", [("/old/python", "-m", "holdfast", "mcp"), ("/old/python", "-P", *SERVER[1:])])
@pytest.mark.parametrize("host", HOSTS)
def test_a_server_of_another_installation_is_upgraded(room, host, old):
    scope = SCOPE_OF_SERVER.get(host, "project")
    at = room.setting(scope).replace(server=old)
    installation.carry_out(installation.planned(host, at, room.data))
    room.install(host, scope)
    written = _written(room)
    assert b"/old/" not in written
    assert SERVER[0].encode() in written


@pytest.mark.parametrize("chosen", [["--toolset", "story,gated"], ["--toolset=all"]], ids=["two words", "one word"])
@pytest.mark.parametrize("host", HOSTS)
def test_toolsets_that_somebody_added_to_our_server_stay_and_go_with_it(room, host, chosen):
    before = tree(room.root, room.home)
    scope = SCOPE_OF_SERVER.get(host, "project")
    at = room.setting(scope).replace(server=("/old/python", *SERVER[1:], *chosen))
    installation.carry_out(installation.planned(host, at, room.data))
    room.install(host, scope)
    written = _written(room)
    assert b"/old/" not in written
    assert written.count(chosen[-1].encode()) == 1
    room.uninstall(host, scope)
    assert tree(room.root, room.home) == before


def _written(room):
    """All that is installed; what is known of it is another matter."""
    found = tree(room.root, room.home).items()
    return b"".join(data or b"" for path, (_, data) in found if not path.startswith(room.data))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Mine\n<!-- holdfast: begin -->\nours\n\nBe kind.\n", 2),
        ("# Mine\n\nours\n<!-- holdfast: end -->\nBe kind.\n", 4),
        ("<!-- holdfast: end -->\nBe kind.\n<!-- holdfast: begin -->\n", 1),
        (
            "<!-- holdfast: begin -->\nours\nBe kind.\n<!-- holdfast: begin -->\nours\n<!-- holdfast: end -->\n",
            1,
        ),
    ],
)
def test_a_paragraph_that_lost_a_mark_is_mended_by_hand(room, text, line):
    room.write("AGENTS.md", text)
    before = tree(room.root, room.home)
    for change in (room.install, room.uninstall):
        with pytest.raises(UsageError, match="by hand") as refusal:
            change("codex")
        assert (refusal.value.code, refusal.value.facts["line"]) == ("broken_file", line)
    assert tree(room.root, room.home) == before


def test_a_difference_speaks_of_files_without_a_last_line_end(room):
    before = changes.Change("x", b"a", b"b\n", 0)
    assert changes.difference([before], {"x": "x"}) == (
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
    )


def test_what_only_an_older_version_put_there_goes_with_the_upgrade(room, monkeypatch):
    before = tree(room.root)
    commands = texts.commands()
    with monkeypatch.context() as older:
        older.setattr(texts, "commands", lambda: {**commands, "old": commands["dev"], "edited": commands["dev"]})
        room.install("claude-code")
    edited = room.root / ".claude/commands/edited.md"
    edited.write_text("mine")
    plan = room.install("claude-code")
    assert not (room.root / ".claude/commands/old.md").exists()
    assert edited.read_text() == "mine"
    assert any("edited.md has something of Holdfast" in said for said in plan.said)
    room.uninstall("claude-code")
    assert edited.read_text() == "mine"
    edited.unlink()
    room.uninstall("claude-code")
    assert tree(room.root) == before


def test_a_configuration_that_moved_takes_the_server_with_it(room):
    room.install("opencode")
    room.write("opencode.jsonc", "{} // mine\n")
    room.install("opencode")
    assert not (room.root / "opencode.json").exists()
    assert "holdfast" in (room.root / "opencode.jsonc").read_text()
    room.uninstall("opencode")
    assert [path.name for path in room.root.iterdir()] == ["opencode.jsonc"]
    assert (room.root / "opencode.jsonc").read_text() == "{} // mine\n"


def test_what_was_put_in_before_a_failure_can_be_taken_out_and_installed_again(lived_in):
    before = tree(lived_in.root)
    plan = installation.planned("claude-code", lived_in.setting(), lived_in.data)
    server = lived_in.root / ".mcp.json"
    server.unlink()
    server.mkdir()
    with pytest.raises(UsageError):
        installation.carry_out(plan)
    assert json.dumps(lived_in.setting().hook_line) in (lived_in.root / ".claude/settings.json").read_text()
    server.rmdir()
    lived_in.write(".mcp.json", PROJECT[".mcp.json"], mode=0o640)
    lived_in.install("claude-code")
    assert not lived_in.install("claude-code").is_needed
    lived_in.uninstall("claude-code")
    assert tree(lived_in.root) == before


def test_a_crash_before_the_first_file_is_written_leaves_nothing_to_take_out(lived_in):
    before = tree(lived_in.root)
    plan = installation.planned("claude-code", lived_in.setting(), lived_in.data)
    record.write(plan.place, plan.keeps)
    assert not lived_in.uninstall("claude-code").is_needed
    assert tree(lived_in.root) == before


def test_a_crash_in_an_upgrade_leaves_old_files_that_are_still_ours(lived_in, monkeypatch):
    before = tree(lived_in.root)
    commands = texts.commands()
    with monkeypatch.context() as older:
        older.setattr(
            texts, "commands", lambda: {name: f"{text}\n" for name, text in commands.items()} | {"old": commands["dev"]}
        )
        lived_in.install("claude-code")
    plan = installation.planned("claude-code", lived_in.setting(), lived_in.data)
    lived_in.write(".claude/commands/dev.md", "meanwhile")
    with pytest.raises(Conflict):
        installation.carry_out(plan)
    (lived_in.root / ".claude/commands/dev.md").write_text(f"{commands['dev']}\n")
    assert not any("you edited" in said for said in lived_in.install("claude-code").said)
    assert (lived_in.root / ".claude/commands/tdd.md").read_text() == commands["tdd"]
    lived_in.uninstall("claude-code")
    assert tree(lived_in.root) == before


def test_two_folders_of_a_person_are_two_installations(room, monkeypatch, tmp_path):
    for name in ("a", "b"):
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / name))
        room.install("claude-code", "user")
    first = tree(tmp_path / "a")
    assert first
    room.uninstall("claude-code", "user")
    assert not (tmp_path / "b").exists()
    assert tree(tmp_path / "a") == first
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "a"))
    room.uninstall("claude-code", "user")
    assert not (tmp_path / "a").exists()


def test_an_edited_hook_line_stays_and_is_told(room):
    room.install("claude-code")
    path = room.root / ".claude/settings.json"
    path.write_text(path.read_text().replace("exec holdfast-hook;", "exec holdfast-hok;"))
    (said,) = room.install("claude-code").said
    assert said.startswith(".claude/settings.json: edited hook lines of Holdfast stay as they are: command -v ")
    assert path.read_text().count("exec holdfast-hok;") == path.read_text().count("exec holdfast-hook;") > 0
