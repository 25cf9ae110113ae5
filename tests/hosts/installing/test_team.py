"""The team of a feature: its texts, what each host is told of a role, and how it comes and goes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import holdfast
from holdfast.core.gates import DECISIONS
from holdfast.errors import UsageError
from holdfast.hosts.installing import claude_code, codex, installation, opencode, team
from holdfast.systems.gated import templates, words
from tests.hosts.installing.conftest import tree
from tests.hosts.installing.test_plugin import ANEW, PLUGIN, typed

PHASES = {phase.partition("-")[2]: phase for phase in words.PHASES}
REQUIRED = {
    "01-requirements": ("requirements",),
    "02-architecture": ("architecture",),
    "03-implementation": ("plan", "changes"),
    "04-testing": ("test-plan", "coverage-report"),
    "05-documentation": ("user-docs", "api-docs"),
}
PLACES = {
    *(f"workflow/SLUG/{phase}/{name}.md" for phase, names in REQUIRED.items() for name in (*names, "answers")),
    *(f"workflow/SLUG/{phase}/reviews/{name}" for phase in PHASES.values() for name in ("", "review-N.md")),
    *("workflow/SLUG/", "workflow/SLUG/02-architecture/diagrams/"),
    *(f"workflow/SLUG/{words.DESCRIPTION}", f"workflow/SLUG/{words.FEATURE_FOLDER}/features.md"),
}
FOLDERS = {"claude-code": ".claude/agents", "opencode": ".opencode/agents", "codex": ".codex/agents"}
SKILLS = {"claude-code": ".claude/skills", "opencode": ".opencode/skills", "codex": ".agents/skills"}
ROLES = {role.name: role for role in team.roles()}


def head(text: str) -> str:
    return text.split("---\n")[1]


def test_every_phase_has_a_creator_and_a_reviewer_and_one_agent_leads_them():
    pairs = {f"{short}-{kind}": (kind, phase) for short, phase in PHASES.items() for kind in ("creator", "reviewer")}
    assert {name: (role.kind, role.phase) for name, role in ROLES.items()} == {
        **pairs,
        "feature-orchestrator": ("orchestrator", ""),
    }
    for name in pairs:
        assert name in ROLES["feature-orchestrator"].text


@pytest.mark.parametrize("name", ROLES)
def test_every_command_and_path_that_a_role_names_exists(name):
    text = ROLES[name].text
    assert typed(text)
    assert "{{" not in text
    named = set(re.findall(r"`(workflow/[^`]*)`", text))
    assert named <= PLACES, named - PLACES
    for own in re.findall(r"`\.holdfast/team/([^`]*)`", text):
        assert own.removeprefix("templates/").removesuffix(".md") in templates.NAMES


@pytest.mark.parametrize("name", [name for name in ROLES if name.endswith("-creator")])
def test_a_creator_knows_what_it_writes_and_what_the_templates_are(name):
    role = ROLES[name]
    for document in REQUIRED[role.phase]:
        assert f"`workflow/SLUG/{role.phase}/{document}.md`" in role.text
        assert templates.template(document, "").strip() in role.text
    for said in ("quote it in a line", "Look for secrets", "You do not review, approve or hand in"):
        assert said in role.text


@pytest.mark.parametrize("name", [name for name in ROLES if name.endswith("-reviewer")])
def test_a_reviewer_knows_the_shape_of_its_file(name):
    text = ROLES[name].text
    for line in DECISIONS:
        assert line.strip("'") in text
    assert templates.template("review", "").strip() in text
    assert "Change no other file" in text


@pytest.mark.parametrize("name", ROLES)
def test_what_a_role_may_do_is_said_in_the_terms_of_each_host(name):
    role = ROLES[name]
    tools = head(team.claude_code(role))
    rules = head(team.opencode(role))
    assert f"name: {name}\n" in tools
    if role.kind == team.ORCHESTRATOR:
        assert "mode: primary\n" in rules
        return
    assert ("Edit" in tools) == (role.kind == team.CREATOR)
    assert not re.search("Agent|Task|mcp", tools)
    assert "mode: subagent\n" in rules
    for said in ('"holdfast approve*": deny\n', '"holdfast_*": deny\n', "task: deny\n"):
        assert said in rules
    allowed = re.findall(r'"([^"]*)": allow\n', rules)
    assert allowed == ([f"workflow/*/{role.phase}/reviews/*"] if role.kind == team.REVIEWER else [])
    assert ('"workflow/*/reviews/*": deny\n' in rules) == (role.kind == team.CREATOR)
    told = tomllib.loads(team.codex(role))
    assert (told["name"], told["developer_instructions"]) == (name, role.text)


@pytest.mark.parametrize("host", FOLDERS)
def test_it_is_installed_with_its_version_and_taken_out_again(room, host):
    before = tree(room.root)
    room.install(host)
    there = sorted((room.root / FOLDERS[host]).iterdir())
    led = {"feature-orchestrator"} if host == "codex" else set()
    assert {path.stem for path in there} == set(ROLES) - led
    for path in (*there, room.root / SKILLS[host] / "feature-orchestrator/SKILL.md"):
        assert f"holdfast: put here by holdfast install, team {holdfast.__version__}" in path.read_text()
    room.uninstall(host)
    assert tree(room.root) == before


@pytest.mark.parametrize("host", FOLDERS)
def test_without_the_team_it_does_not_come_and_one_that_is_there_goes(room, host):
    room.install(host, team=False)
    without = tree(room.root)
    assert not (room.root / FOLDERS[host]).exists()
    assert not installation.has_team(host, room.setting())
    room.install(host)
    assert installation.has_team(host, room.setting())
    room.install(host, team=False)
    assert {path: found for path, found in tree(room.root).items() if found[1] is not None} == {
        path: found for path, found in without.items() if found[1] is not None
    }


def test_the_option_of_the_command(room):
    room.holdfast("install", "opencode", "--no-team")
    assert not (room.root / ".opencode/agents").exists()
    assert "not all that this version installs" not in room.holdfast("doctor")
    assert ".opencode/agents/" in room.holdfast("install", "opencode")


def test_an_agent_of_somebody_s_own_stays(room):
    own = room.write(".claude/agents/testing-creator.md", "---\nname: testing-creator\n---\nMine.\n")
    plan = room.install("claude-code")
    assert own.read_text().endswith("Mine.\n")
    assert any("testing-creator.md is somebody's own and stays" in said for said in plan.said)
    room.uninstall("claude-code")
    assert own.exists()


def test_files_of_the_project_take_the_place_of_shipped_texts(room):
    room.write(
        ".holdfast/team/roles/testing-reviewer.md", "---\ndescription: 'Ours': yes\n---\nLook.\n\n{{part reviewing}}\n"
    )
    room.write(".holdfast/team/parts/reviewing.md", "Write review-N.md of {{phase}}.\n\n{{template review}}\n")
    room.write(".holdfast/team/templates/review.md", "# Our review\n")
    room.install("claude-code", root=str(room.root))
    text = (room.root / ".claude/agents/testing-reviewer.md").read_text()
    assert "description: \"'Ours': yes\"\n" in text
    assert "Look.\n\nWrite review-N.md of 04-testing.\n" in text
    assert "~~~markdown\n# Our review\n~~~" in text
    assert (
        "Write review-N.md of 01-requirements." in (room.root / ".claude/agents/requirements-reviewer.md").read_text()
    )


def test_what_a_role_may_do_is_not_the_projects_to_say(room):
    room.write(".holdfast/team/roles/testing-reviewer.md", "---\nkind: orchestrator\ntools: Edit\n---\nLook.\n")
    room.install("claude-code", root=str(room.root))
    rules = head((room.root / ".claude/agents/testing-reviewer.md").read_text())
    assert "tools: Read, Grep, Glob, Write, Bash\n" in rules
    assert "Edit" not in rules


def test_a_text_that_a_host_cannot_hold_is_refused_before_anything_is_written(room):
    room.write(".holdfast/team/roles/testing-creator.md", "Say '''this'''.\n")
    before = tree(room.root)
    with pytest.raises(UsageError) as wrong:
        room.install("codex", root=str(room.root))
    assert (wrong.value.code, tree(room.root)) == ("bad_team_file", before)


def test_the_plugin_has_the_same_agents():
    agents = {path.stem: path.read_text() for path in (PLUGIN / "agents").iterdir()}
    assert agents == {name: team.claude_code(role) for name, role in ROLES.items()}, ANEW
    lead = ROLES["feature-orchestrator"]
    assert (PLUGIN / "skills/feature-orchestrator/SKILL.md").read_text() == team.skill(lead), ANEW


def test_the_commands_of_a_feature_lead_to_the_team():
    for name in ("workflow-start", "workflow-continue"):
        assert "`feature-orchestrator`" in (Path(PLUGIN) / f"commands/{name}.md").read_text()


def test_each_host_says_how_its_agents_look():
    kinds = {role.kind for role in ROLES.values()}
    assert set(team.CLAUDE_CODE) == set(team.OPENCODE) == kinds
    assert set(FOLDERS) == {claude_code.NAME, opencode.NAME, codex.NAME}
