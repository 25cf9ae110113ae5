"""Whoever edits a document is told at once what became of it: by the hook after the write, else by the next answer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from holdfast.surfaces import tools
from tests.documents.test_edit_table import Desk, compaction, skill
from tests.tiers import need
from tests.workbench import Bench

FORGED = '(.state_machine.phases[] | select(.name == "sign-off")).approval.approved = true | .context.k = 1'
SAID = "was taken in part. A GATE WAS FORGED, and reverted: state_machine.phases[sign-off].approval"


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


@pytest.fixture
def desk(bench):
    return skill(bench)


def line(desk: Desk, program: str) -> str:
    """What an agent types into its shell."""
    path = desk.path.relative_to(desk.bench.root)
    return f"jq '{program}' {path} > {path}.tmp && mv {path}.tmp {path}"


def jq(desk: Desk, program: str) -> str:
    need("jq")
    typed = line(desk, program)
    subprocess.run(["bash", "-c", typed], cwd=desk.bench.root, check=True)
    return typed


SLOW = "from holdfast.documents import files; files.SETTLED_AFTER = 3600; "
"""A write that may still continue, however long a busy machine takes to look."""


def hooked(desk: Desk, tool: str, given: dict[str, Any], *, before: str = "", **more: Any) -> str:
    """What the hook gives the model after the call of a tool; empty when it says nothing."""
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "s-1",
        "cwd": str(desk.bench.root),
        "tool_name": tool,
        "tool_input": given,
        **more,
    }
    # As `run.py` does, but without the time after which a hook gives up: a machine may be busy.
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{before}import sys; from holdfast.surfaces.hooks import quick; quick.main(sys.stdin.buffer.read())",
        ],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        cwd=desk.bench.root,
    )
    assert (done.returncode, done.stderr) == (0, "")
    if not done.stdout:
        return ""
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["hookEventName"] == "PostToolUse"
    return said["additionalContext"]


class TestTheNextCommand:
    def test_its_first_line_says_it_and_then_nobody_does(self, desk):
        jq(desk, FORGED)
        first, second = desk.bench.ok("note", "one"), desk.bench.ok("note", "two")
        assert first.out.splitlines()[0].startswith("⚠ the edit of .claude/workflow-state/active/")
        assert SAID in first.out.splitlines()[0]
        assert "taken: context.k" in first.out.splitlines()[0]
        assert "⚠" not in second.out + second.err

    def test_its_first_key_says_it_in_json(self, desk):
        jq(desk, FORGED)
        said = desk.bench.ok("note", "one", "--json").json
        assert next(iter(said)) == "notice"
        (told,) = said["notice"]
        assert SAID in told
        assert "notice" not in desk.bench.ok("note", "two", "--json").json

    def test_it_is_said_until_the_work_goes_on_to_whoever_asks(self, desk):
        """The one who asked first need not have been the author."""
        jq(desk, FORGED)
        for _ in range(2):
            assert SAID in desk.bench.ok("next").out.splitlines()[0]

    def test_a_refusal_begins_with_it_too(self, desk):
        jq(desk, FORGED)
        refused = desk.bench.agent("begin", "publish")
        assert SAID in refused.err.splitlines()[0]
        jq(desk, FORGED)
        assert next(iter(desk.bench.agent("begin", "publish", "--json").json)) == "notice"

    def test_a_document_that_is_printed_is_the_document_and_nothing_else(self, desk):
        jq(desk, FORGED)
        shown = desk.bench.ok("show")
        assert shown.json == desk.document
        assert SAID in shown.err

    def test_an_edit_that_is_taken_as_it_was_written_is_no_news(self, desk):
        jq(desk, ".context.k = 1")
        assert "⚠" not in desk.bench.ok("note", "one").out

    def test_a_normalised_value_is_told(self, bench):
        desk = compaction(bench)
        jq(desk, '.key_reminders = "Ask Ada"')
        assert 'read as: key_reminders = ["Ask Ada"]' in desk.bench.ok("note", "one").out.splitlines()[0]

    def test_what_did_not_become_as_it_was_written_says_what_it_is(self, desk):
        jq(desk, '.workflow.status = "completed" | (.state_machine.phases[].status) = "completed"')
        told = desk.bench.ok("next").out.splitlines()[0]
        assert desk.document["workflow"]["status"] != "completed"
        for field in re.findall(r"taken: ([^⚠]*)", told)[0].split(", "):
            assert "workflow.status" not in field or " is " in field, told

    def test_of_two_the_newest_comes_first(self, desk):
        jq(desk, FORGED)
        desk.bench.ok("next")
        jq(desk, '.context.k = 2 | .state_machine.current_phase = "WRITE"')
        newer, older = desk.bench.ok("next").out.splitlines()[:2]
        assert "current_phase" in newer
        assert SAID in older


class TestThePythonApi:
    @pytest.mark.parametrize("ask", ["status", "next"])
    def test_its_answer_begins_with_it(self, desk, ask):
        jq(desk, FORGED)
        workflow = desk.bench.open().workflow(desk.id)
        said = getattr(workflow, ask)()
        assert next(iter(said)) == "notice"
        assert SAID in said["notice"][0]

    def test_a_step_that_is_worked_on_does_not_use_it_up(self, desk):
        jq(desk, FORGED)
        workflow = desk.bench.open().workflow(desk.id)
        with workflow.step("write"):
            pass
        assert SAID in workflow.next()["notice"][0]


class TestATool:
    def test_its_answer_begins_with_it(self, desk):
        jq(desk, FORGED)
        project = desk.bench.open()
        said = tools.call(project, "get_workflow_status", {"workflow_id": desk.id})
        assert next(iter(said)) == "notice"
        assert SAID in said["notice"][0]


WRITERS = [
    ("Write", lambda desk, text: {"file_path": str(desk.path), "content": text}),
    ("Edit", lambda desk, text: {"file_path": str(desk.path), "old_string": "false", "new_string": "true"}),
    ("MultiEdit", lambda desk, text: {"file_path": str(desk.path), "edits": []}),
    ("edit", lambda desk, text: {"filePath": str(desk.path), "oldString": "a", "newString": "b"}),
    ("apply_patch", lambda desk, text: {"input": f"*** Begin Patch\n*** Update File: {desk.path}\n*** End Patch"}),
]


class TestTheHookAfterAWrite:
    @pytest.mark.parametrize(("tool", "given"), WRITERS, ids=[tool for tool, _ in WRITERS])
    def test_a_tool_that_wrote_the_document_is_answered_with_what_became_of_it(self, desk, tool, given):
        jq(desk, FORGED)
        told = hooked(desk, tool, given(desk, desk.path.read_text()))
        assert told.startswith("Holdfast: the edit of ")
        assert SAID in told
        assert desk.document["state_machine"]["phases"][2]["approval"]["approved"] is False
        assert SAID in desk.bench.ok("next").out.splitlines()[0]

    @pytest.mark.parametrize(
        ("tool", "key", "more"),
        [("Bash", "command", {}), ("shell", "command", {"turn_id": "t"}), ("bash", "command", {})],
        ids=["Claude Code", "Codex", "opencode"],
    )
    def test_a_shell_line_that_wrote_it_is_answered_too(self, desk, tool, key, more):
        typed = jq(desk, FORGED)
        said: Any = ["bash", "-lc", typed] if tool == "shell" else typed
        assert SAID in hooked(desk, tool, {key: said}, **more)

    def test_a_shell_line_that_names_only_the_file_is_answered_too(self, desk):
        jq(desk, FORGED)
        assert SAID in hooked(desk, "Bash", {"command": f"sed -i s/a/b/ {desk.path.name}"})

    def test_a_legal_write_and_a_line_about_something_else_are_answered_with_nothing(self, desk):
        typed = jq(desk, ".context.k = 1")
        assert hooked(desk, "Bash", {"command": typed}) == ""
        assert hooked(desk, "Bash", {"command": "ls"}) == ""
        assert desk.look().state.context == {"k": 1}

    @pytest.mark.parametrize("fault", ["twice", "NaN"])
    @pytest.mark.parametrize("tool", ["Write", "Bash"])
    def test_a_text_that_is_no_json_is_set_aside_and_told_without_waiting(self, desk, tool, fault):
        whole = desk.path.read_text()
        text = f"{whole}{whole}" if fault == "twice" else whole.replace("{", '{ "mine": NaN,', 1)
        desk.path.write_text(text)
        path = str(desk.path)
        given = {"command": f"python3 -m made > {path}"} if tool == "Bash" else {"file_path": path, "content": "Q & A"}
        told = hooked(desk, tool, given)
        assert "no JSON, and is restored (kept in .holdfast/quarantine/" in told
        assert desk.path.read_text().startswith(whole[:40])

    @pytest.mark.parametrize("how", [{"command": "slow > PATH &"}, {"command": "w > PATH", "run_in_background": True}])
    def test_what_a_process_in_the_background_may_still_write_is_left_alone(self, desk, how):
        desk.path.write_text("{")
        command = how["command"].replace("PATH", str(desk.path))
        assert hooked(desk, "Bash", {**how, "command": command}, before=SLOW) == ""
        assert desk.path.read_text() == "{"

    def test_of_two_workflows_the_one_whose_document_was_written_is_looked_at(self, desk):
        desk.bench.start("release", "2.0")
        typed = jq(desk, FORGED)
        assert SAID in hooked(desk, "Bash", {"command": typed})


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SECRET = f'.context.deploy_token = "{TOKEN}"'


class TestASecretThatWasRedacted:
    def test_the_next_answer_names_the_field(self, desk):
        jq(desk, SECRET)
        (told,) = desk.bench.ok("status", "--json").json["notice"]
        assert "redacted" in told
        assert told.endswith("context.deploy_token")
        assert TOKEN not in told

    def test_the_hook_names_the_field(self, desk):
        assert "context.deploy_token" in hooked(desk, "Bash", {"command": jq(desk, SECRET)})

    @pytest.mark.parametrize("written", ['.["NAME"] = 1', '.context.list = ["a", "NAME"]'])
    def test_a_name_or_an_entry_of_a_list_is_told_too(self, desk, written):
        jq(desk, written.replace("NAME", TOKEN))
        (told,) = desk.bench.ok("status", "--json").json["notice"]
        assert told.endswith(("[redacted: GitHub token]", "context.list[2]"))

    def test_it_is_in_no_copy_of_an_edit_that_was_taken_in_part(self, desk):
        jq(desk, f"{FORGED} | {SECRET}")
        told = desk.bench.ok("status", "--json").json["notice"]
        assert len([one for one in told if "context.deploy_token" in one and "redacted" in one]) == 1
        files = (path for path in desk.bench.root.rglob("*") if path.is_file())
        assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []


PROGRAM = "import holdfast; work = holdfast.open('.').workflow(); work.status(); work.note('a program continued')"


def test_what_only_a_program_was_told_is_told_by_the_next_command_once(desk):
    jq(desk, FORGED)
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=desk.bench.root, check=True)
    first = desk.bench.ok("next", "--json").json
    assert len([one for one in first["notice"] if SAID in one]) == 1
    assert "notice" not in desk.bench.ok("next", "--json").json


def test_what_only_a_program_was_told_is_told_by_the_next_tool(desk):
    jq(desk, FORGED)
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=desk.bench.root, check=True)
    said = tools.call(desk.bench.open(), "get_workflow_status", {"workflow_id": desk.id})
    assert len([one for one in said["notice"] if SAID in one]) == 1


def test_a_write_that_completes_a_workflow_is_told_with_what_became_of_the_file(bench):
    desk = compaction(bench)
    document = json.loads(desk.path.read_text())
    total = document["phase"]["total"]
    document["phase"].update(current=total, status="completed")
    desk.path.write_text(json.dumps(document))
    said = hooked(desk, "Write", {"file_path": str(desk.path), "content": "…"})
    name = str(desk.path.relative_to(bench.root))
    assert f"is completed by this write, and {name} is deleted" in said
    assert not desk.path.exists()
    again = re.search(r"holdfast resume -w [\w-]+", said)
    assert again is not None
    assert bench.typed(again[0]).code == 0
    assert desk.path.exists()
