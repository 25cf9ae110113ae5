"""Clients that others wrote: the Inspector's command line, and the conformance suite of the protocol."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.surfaces.mcp import programs
from tests.surfaces.mcp.house import EXAMPLES, House

VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
FIXTURE = "it calls a tool, prompt or resource that only a test server of the suite has"
NOT_APPLICABLE = {
    "logging-set-level": "the server has no logging, which the newest revision deprecates",
    "tools-call-with-logging": "the server has no logging, which the newest revision deprecates",
    "tools-call-sampling": "the server never asks for sampling, which the newest revision deprecates",
    "input-required-result-basic-sampling": "the server never asks for sampling, which the newest revision deprecates",
    "input-required-result-basic-list-roots": "the server never asks for roots, which the newest revision deprecates",
    "http-custom-header-server-validation": "no tool of the server has parameters that travel as headers",
    **dict.fromkeys(
        (
            *("tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource"),
            *("tools-call-mixed-content", "tools-call-error", "tools-call-with-progress", "tools-call-elicitation"),
            *("json-schema-2020-12", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"),
            *("resources-read-text", "resources-read-binary", "resources-templates-read"),
            *("prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"),
            *("input-required-result-basic-elicitation", "input-required-result-request-state"),
            *("input-required-result-multiple-input-requests", "input-required-result-multi-round"),
            *("input-required-result-non-tool-request", "input-required-result-result-type"),
            *("input-required-result-tampered-state", "input-required-result-capability-check"),
        ),
        FIXTURE,
    ),
}
"""Scenarios that cannot pass here, and why. What they show is shown by our own tests, with our own tools."""
PARTLY = {"server-stateless": 4}
"""Scenarios that apply, save for so many checks that need a diagnostic tool of the suite."""
MISSING = re.compile(
    r"Unknown tool: test_|Unknown prompt: test_|Resource not found|Method not found|Not testable: server|"
    r"Tool 'json_schema_2020_12_tool' not found|could not get initial InputRequiredResult|"
    r"Expected InputRequiredResult with inputRequests and requestState"
)
"""How a check says that what it wants to test is not there."""


@pytest.fixture
def house(house) -> House:
    """With one workflow."""
    house.at("draft")
    return house


@pytest.mark.parametrize("version", VERSIONS)
def test_the_scenarios_of_the_conformance_suite_that_apply_pass(house, tmp_path, version):
    out = tmp_path / "results"
    with house.listening("--no-token") as served:
        words = ("server", "--url", served.url, "--suite", "all", "--spec-version", version, "-o", str(out))
        done = programs.run("conformance", *words, cwd=tmp_path)
    failures = {name: failed for name, failed in results(out).items() if failed}
    assert results(out), done.stdout + done.stderr
    assert failures.keys() <= {*NOT_APPLICABLE, *PARTLY}
    assert [said for failed in failures.values() for said in failed if not MISSING.search(said)] == []
    assert {name: len(failures[name]) for name in PARTLY if name in failures} == (
        PARTLY if version == VERSIONS[-1] else {}
    )
    passed = results(out).keys() - failures.keys()
    assert {"tools-list", "resources-list", "prompts-list", "completion-complete"} <= passed


def results(out: Path) -> dict[str, list[str]]:
    """What failed of each scenario; nothing where all of it passed."""
    found: dict[str, list[str]] = {}
    for file in sorted(out.glob("*/checks.json")):
        name = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
        checks = json.loads(file.read_text())
        found[name] = [f"{one['id']}: {one.get('errorMessage')}" for one in checks if one["status"] == "FAILURE"]
    return found


def inspected(house: House, *words: str) -> dict:
    done = programs.run("mcp-inspector", "--cli", *house.command, *words, cwd=house.root)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_calls_reads_and_prompts(house):
    id = house.bench.open().list()[0].id
    listed = inspected(house, "--method", "tools/list")["tools"]
    assert {tool["name"] for tool in listed} >= EXAMPLES.keys()
    called = ("--method", "tools/call", "--tool-name", "get_workflow_status", "--tool-arg", f"workflow_id={id}")
    said = inspected(house, *called)
    assert said["structuredContent"]["workflow_id"] == id
    assert json.loads(said["content"][0]["text"]) == said["structuredContent"]
    resources = inspected(house, "--method", "resources/list")["resources"]
    assert f"holdfast://workflow/{id}/plan" in {one["uri"] for one in resources}
    plan = inspected(house, "--method", "resources/read", "--uri", f"holdfast://workflow/{id}/plan")
    assert "Write the draft" in plan["contents"][0]["text"]
    templates = inspected(house, "--method", "resources/templates/list")["resourceTemplates"]
    assert len(templates) == 4
    prompt = inspected(
        house, "--method", "prompts/get", "--prompt-name", "status", "--prompt-args", f"workflow_id={id}"
    )
    assert id in prompt["messages"][0]["content"]["text"]


def test_the_inspector_finds_no_error_in_the_schemas(house):
    words = ("--cli", *house.command, "--method", "tools/list", "--strict")
    done = programs.run("mcp-inspector", *words, cwd=house.root)
    assert done.returncode == 0, done.stderr
    assert "inputSchema" not in done.stderr
    assert "0 errors" in done.stderr


def test_the_inspector_reaches_the_server_over_http_with_the_token(house):
    with house.listening() as served:
        header = f"Authorization: Bearer {served.token}"
        words = ("--cli", served.url, "--transport", "http", "--header", header, "--method", "tools/list")
        done = programs.run("mcp-inspector", *words, cwd=house.root)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["tools"]) > len(EXAMPLES)
