"""Hosts with events and answers of their own: what each sends, as its documentation has it, and what it gets back."""

from __future__ import annotations

import json
import os

import pytest

from tests import forked

SNAPSHOT = "<state_snapshot>a release</state_snapshot>"
STATE = "workspace/workflow-state/release-1.json"


@pytest.fixture
def guarded(project):
    project.guard(id="release-1", ulid="01U", worktree="", paths=[STATE])
    return project


def said(project, event, **environment):
    answer = project.raw(json.dumps(event).encode(), **environment)
    return json.loads(answer) if answer else {}


def test_gemini_is_refused_by_a_decision(guarded):
    call = {"tool_name": "write_file", "tool_input": {"file_path": f"{guarded.root}/{STATE}", "content": "{}"}}
    answer = said(guarded, guarded.event("BeforeTool", **call))
    assert set(answer) == {"decision", "reason"}
    assert answer["decision"] == "deny"
    assert "is written by Holdfast for release-1" in answer["reason"]
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    assert said(guarded, guarded.event("BeforeTool", **call)) == {}


def test_a_shell_line_is_judged_in_the_folder_that_its_call_names(guarded):
    line = {"command": "echo '{}' > release-1.json", "dir_path": "workspace/workflow-state"}
    answer = said(guarded, guarded.event("BeforeTool", tool_name="run_shell_command", tool_input=line))
    assert answer["decision"] == "deny"


def test_cursor_is_refused_by_a_permission_and_names_its_folder_in_a_list(guarded):
    call = {"tool_name": "Write", "tool_input": {"path": f"{guarded.root}/{STATE}"}}
    event = {"hook_event_name": "preToolUse", "conversation_id": "c", "workspace_roots": [str(guarded.root)], **call}
    answer = said(guarded, event)
    assert (answer["permission"], answer["user_message"]) == ("deny", answer["agent_message"])
    assert "is written by Holdfast for release-1" in answer["agent_message"]


@pytest.mark.parametrize("given", [{"commands": ["ls", f"echo > {STATE}"]}, {"command": f"echo > {STATE}"}])
def test_cline_is_refused_by_a_cancellation(guarded, given):
    call = {"id": "1", "name": "run_commands", "input": given}
    event = {"hookName": "tool_call", "taskId": "t", "workspaceRoots": [str(guarded.root)], "tool_call": call}
    answer = said(guarded, event)
    assert answer["cancel"] is True
    assert "is written by Holdfast for release-1" in answer["errorMessage"]
    assert said(guarded, {"hookName": "agent_start", "taskId": "t"}) == {}


def test_copilot_is_known_by_its_variable_and_refused_at_the_top(guarded):
    call = {"tool_name": "Write", "tool_input": {"path": f"{guarded.root}/{STATE}", "file_text": ""}}
    answer = said(guarded, guarded.event("PreToolUse", **call), COPILOT_PROJECT_DIR=str(guarded.root))
    assert answer["permissionDecision"] == "deny"
    assert "is written by Holdfast for release-1" in answer["permissionDecisionReason"]


@pytest.mark.parametrize("event", [{}, {"hook_event_name": 1}, {"hookName": ["x"]}, []])
def test_what_names_no_event_is_logged_and_answered_with_nothing(project, event):
    assert project.raw(json.dumps(event).encode()) == b""
    assert "the event was not understood" in project.logged()


def test_an_event_that_nobody_asked_for_is_answered_with_nothing(project):
    for name in ("PreCompress", "Notification", "beforeShellExecution"):
        assert project.hook(name) == b""
    assert project.logged() == ""


@pytest.fixture
def started(project):
    """The id of a workflow that continues."""
    code, out, err = forked.run(
        "start", "custom", "Notes", "--phases", "draft,edit", "--json", cwd=project.root, env=dict(os.environ)
    )
    assert code == 0, err
    return json.loads(out)["workflow_id"]


def _model(project, text=SNAPSHOT):
    messages = [{"role": "user", "content": f"context{text}"}, {"role": "model", "content": "Got it."}]
    return project.event("BeforeModel", llm_request={"model": "m", "messages": messages})


def test_gemini_s_summary_is_followed_by_the_packet_in_each_request(project, started):
    assert said(project, _model(project, "")) == {}
    for _ in range(2):
        inner = said(project, _model(project))["hookSpecificOutput"]
        (message,) = inner["llm_request"]["messages"]
        assert message["role"] == "user"
        assert message["content"].startswith(f"context{SNAPSHOT}\n\n=====")
        assert "workflow id: " in message["content"]


def test_what_a_hook_said_is_no_prompt_of_a_person(project, started):
    prompt = f"<hook_context>Holdfast holds unfinished work here: {started}</hook_context>\n\nGo on."
    said(project, project.event("BeforeAgent", prompt=prompt))
    assert project.notes() == []
    said(project, project.event("BeforeAgent", prompt=f"Continue with {started}."))
    assert [note["event"] for note in project.notes()] == ["UserPromptSubmit"]


def test_who_is_not_told_of_the_end_of_a_compaction_is_told_after_the_next_tool(project, started):
    """GitHub Copilot CLI and Cursor."""
    copilot = {"COPILOT_PROJECT_DIR": str(project.root)}
    after = project.event("PostToolUse", tool_name="Bash", tool_input={"command": "ls"})
    assert said(project, after, **copilot) == {}
    assert said(project, project.event("PreCompact", trigger="auto"), **copilot) == {}
    assert "WORKFLOW RESTORED AFTER COMPACTION" in said(project, after, **copilot)["additionalContext"]
    assert said(project, after, **copilot) == {}
    cursor = {"hook_event_name": "preCompact", "conversation_id": "c", "workspace_roots": [str(project.root)]}
    said(project, cursor)
    told = said(project, {**cursor, "hook_event_name": "postToolUse", "tool_name": "Read", "tool_input": {}})
    assert "WORKFLOW RESTORED AFTER COMPACTION" in told["additional_context"]


def test_a_new_session_of_copilot_is_a_fresh_one(project, started):
    told = said(project, project.event("SessionStart", source="new"), COPILOT_PROJECT_DIR=str(project.root))
    assert told["additionalContext"].startswith("Holdfast holds unfinished work here")
