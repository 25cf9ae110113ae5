"""Which calls of tools go ahead while workflows are active, and what those that do not are told."""

from __future__ import annotations

import pytest

from holdfast.core import naming
from holdfast.machine import settings
from holdfast.surfaces.hooks import guard, patterns
from holdfast.surfaces.hooks.calls import Call
from tests.surfaces.hooks.scene import workflow

DOCUMENT = "workspace/workflow-state/x.json"


def nothing(root):
    return {}


# What is Holdfast's


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": ".holdfast/index"}),
        ("edit", {"filePath": ".holdfast/config.toml"}),
        ("MultiEdit", {"file_path": "./src/../.holdfast/index"}),
        ("NotebookEdit", {"notebook_path": ".holdfast/x.ipynb"}),
        ("create", {"path": ".holdfast"}),
        ("str_replace_editor", {"path": ".holdfast/workflows/release.toml"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: .holdfast/a\n+x\n*** End Patch"}),
        ("apply_patch", {"patch": "*** Update File: src/a\n*** Move to: .holdfast/a\n"}),
        ("apply_patch", {"command": ["apply_patch", "*** Delete File: .holdfast/a\r\n"]}),
        ("shell", {"command": ["bash", "-lc", "echo x > .holdfast/index"]}),
        ("shell", {"command": ["apply_patch", "*** Update File: .holdfast/index\n"]}),
        ("exec_command", {"cmd": "rm .holdfast/index"}),
        ("Bash", {"command": "apply_patch <<'EOF'\n*** Update File: .holdfast/index\nEOF"}),
        ("mcp__filesystem__write_file", {"path": ".holdfast/index", "content": ""}),
        ("mcp__filesystem__edit_file", {"path": ".holdfast/index", "edits": []}),
        ("mcp__filesystem__create_directory", {"path": ".holdfast/x"}),
        ("mcp__filesystem__move_file", {"source": ".holdfast", "destination": "x"}),
        ("mcp__filesystem__move_file", {"source": "x", "destination": ".holdfast/x"}),
        ("mcp__filesystem__move_file", {"source": "../project", "destination": "../x"}),
        ("mcp__ide__delete", {"filePath": "."}),
        ("mcp__ide__remove_file", {"file_path": ".holdfast/index"}),
        ("mcp__ide__apply_patch", {"patch": "*** Update File: .holdfast/index\n"}),
        ("str_replace_based_edit_tool", {"command": "create", "path": ".holdfast/index"}),
    ],
)
def test_no_tool_writes_below_the_home(scene, tool, given):
    reason = scene.call(tool, given)
    assert ".holdfast" in reason
    assert "holdfast next" in reason
    assert "a person's" in reason


@pytest.mark.parametrize(
    "path",
    [
        *("~/.config/holdfast/config.toml", "~/.config/holdfast", "~/.local/share/holdfast/trust/x"),
        *("~/.claude/settings.json", "~/.claude/settings.local.json", "~/.claude/plugins/holdfast/hooks.json"),
        *("~/.codex/hooks.json", "~/.codex/config.toml", "~/.config/opencode/plugins/holdfast.js"),
        *(".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json", ".opencode/plugins/holdfast.js"),
    ],
)
def test_what_a_person_set_is_written_by_no_agent(scene, path):
    calls = [("Write", {"file_path": path}), *(("Bash", {"command": line.format(path)}) for line in SETTING)]
    for tool, given in calls:
        assert "settings that are a person's" in scene.call(tool, given), given


SETTING = ("echo '{{}}' > {}", "rm -rf {}", "mv {} /tmp/x", "sed -i s/holdfast/true/ {}", "cp /dev/null {}")


def test_what_lies_beside_a_persons_settings_is_anybodys(scene):
    for path in ("~/.claude/notes.md", ".claude/commands/x.md", "~/.config/other/x", ".codex/prompts/x.md"):
        assert scene.call("Write", {"file_path": path}) == ""


@pytest.mark.parametrize(
    "line",
    [
        "echo x > .holdfast/index",
        "echo x >> src/../.holdfast/journal/a",
        "cd .holdfast && rm index",
        "cd src && cd .. && tee .holdfast/x < y",
        "bash -c 'cd .holdfast; touch x'",
        "rm -rf .",
        "rm -rf ../project",
        "rm -rf .hold*",
        "rm -f .holdfast/*",
        "rm -r .[h]oldfast",
        "rm -rf */../.holdfast",
        "mv .holdfast /elsewhere",
        "mv src/x .holdfast/",
        "cp x .holdfast/config.toml",
        "ln -sf x .holdfast/index",
        "sed -i s/a/b/ .holdfast/config.toml",
        "dd if=x of=.holdfast/index",
        "git rm -r .holdfast",
        "git -C src rm ../.holdfast/index",
        "git checkout HEAD -- .holdfast/config.toml",
        "git clean -fdx",
        "find .holdfast -type f -delete",
        "chmod 777 .holdfast",
        "true && (truncate -s 0 .holdfast/guard)",
        'rm -rf "$PWD/.holdfast"',
        "rm -rf ${PWD}/.holdfast/",
        "rm -rf $(pwd)/.holdfast",
        'cd src && rm -rf "`pwd`/../.holdfast"',
        "cp x ~+/.holdfast/config.toml",
        "echo x > $PWD/.holdfast/index",
        "cd $PWD/.holdfast && rm index",
        "git -C $PWD/src rm ../.holdfast/index",
        "dd if=x of=$(pwd -P)/.holdfast/index",
        "curl -o .holdfast/config.toml https://example.org/x",
        "curl -fsSLo.holdfast/config.toml https://example.org/x",
        "wget -P .holdfast https://example.org/config.toml",
        "wget -O .holdfast/config.toml https://example.org/x",
        "git checkout main .holdfast/config.toml",
        "git checkout -- .holdfast",
        "git restore .holdfast/config.toml",
        "git stash --all",
        "patch .holdfast/config.toml x.diff",
        "cat <<EOF | bash\nrm -rf .holdfast\nEOF",
        "function f { rm -rf .holdfast; }; f",
        "trap 'rm -rf .holdfast' EXIT",
        "sed -n 'w .holdfast/config.toml' x",
        "sed -n -e '1,$ w .holdfast/config.toml' x",
        "sed 's/a/b/gw .holdfast/config.toml' x",
    ],
)
def test_no_shell_line_changes_the_home(scene, line):
    assert ".holdfast" in scene.bash(line)


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf .git/holdfast-lines-1a2b3c4d",
        "rm -rf .git/holdfast-lines-*",
        "rm -rf .git",
        "rm -rf src .gi*",
        "mv .git /tmp/old",
        "cd .git && rm -r hold*",
        "truncate -s 0 .git/holdfast-lines-1a2b3c4d/01M7MW89E1YF05CF5KVE02XJD2",
    ],
)
def test_no_shell_line_changes_the_records_in_the_folder_of_git(scene, line):
    assert "would change .git/holdfast-lines-…" in scene.bash(line)


@pytest.mark.parametrize(
    "line",
    [
        "cat .holdfast/config.toml",
        "grep x < .holdfast/index > /tmp/out",
        "cp .holdfast/config.toml backup.toml",
        "rm -rf src build",
        "rm -rf *",
        "mv a.txt .",
        "cd src && rm -rf .",
        "cd /tmp && rm -rf .holdfastx",
        "echo '> .holdfast/index'",
        "git commit -m 'about .holdfast/index'",
        "git restore .",
        "git reset --hard",
        "git stash -u",
        "git clean -fd",
        "git apply x.diff",
        "git rm --cached .holdfast/x",
        "git restore --staged .holdfast/config.toml",
        "curl https://example.org/.holdfast/index",
        "rm -rf $PWDX/.holdfast",
        "rm -rf '$OTHER'/.holdfast",
        "touch .holdfast.txt",
        "holdfast done build",
    ],
)
def test_ordinary_lines_go_ahead(scene, line):
    assert scene.bash(line) == ""


def test_links_lead_nowhere_they_should_not(scene, tmp_path):
    (scene.root / "inner").symlink_to(".holdfast")
    (scene.root / "file").symlink_to(scene.root / ".holdfast" / "index")
    (tmp_path / "alias").symlink_to(scene.root)
    (scene.root / "loop").symlink_to("loop")
    assert scene.edit("inner/new/x")
    assert scene.edit("file")
    assert scene.edit(tmp_path / "alias/.holdfast/x")
    assert scene.bash("rm -rf alias", cwd=str(tmp_path)) == ""
    assert scene.bash("rm -rf alias/", cwd=str(tmp_path))
    assert scene.edit("loop/x") == ""


def test_reading_tools_and_tools_without_a_path_go_ahead(scene):
    assert scene.call("Read", {"file_path": ".holdfast/index"}) == ""
    assert scene.call("mcp__editor__read_file", {"path": ".holdfast/index"}) == ""
    assert scene.call("str_replace_based_edit_tool", {"command": "view", "path": ".holdfast/index"}) == ""
    assert scene.call("mcp__notebooks__create_cell", {"source": ".holdfast/index"}) == ""
    assert scene.call("Edit", {}) == ""
    assert scene.call("Bash", {"command": None}) == ""


def test_documents_are_not_edited_by_hand(scene, tmp_path):
    scene.given(paths=[DOCUMENT])
    for reason in (
        scene.edit(DOCUMENT),
        scene.edit(scene.root / DOCUMENT),
        scene.bash(f"echo > {DOCUMENT}"),
        scene.bash("rm workspace/workflow-state/*.json"),
        scene.bash("rm -r workspace"),
        scene.bash("cp x.json workspace/workflow-state"),
    ):
        assert "holdfast begin" in reason
        assert "release-1" in reason
    assert scene.edit("workspace/other.json") == ""
    assert scene.edit(tmp_path / DOCUMENT) == ""


def test_documents_lie_in_the_worktree_of_their_workflow(scene, tmp_path):
    linked = tmp_path / "linked"
    linked.mkdir()
    scene.given(worktree=str(linked), paths=[DOCUMENT])
    assert scene.edit(linked / DOCUMENT)
    assert scene.edit(scene.root / DOCUMENT) == ""


@pytest.mark.parametrize(
    "line",
    ["rsync -a other/ ./", "cp -r other/. .", "cp -a other/. $PWD", "cd other && rsync -a . ..", "rsync -a other/"],
)
def test_a_copy_of_a_folder_does_not_write_over_what_is_protected(scene, tmp_path, line):
    scene.given(paths=[DOCUMENT])
    for top in (scene.root, scene.root / "other"):
        path = top / DOCUMENT
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    is_copy = line != "rsync -a other/"
    assert bool(scene.bash(line)) == is_copy
    (scene.root / "other" / DOCUMENT).unlink()
    assert scene.bash(line) == ""


def test_a_copy_of_a_folder_brings_nothing_into_the_home(scene):
    (scene.root / "other/.holdfast").mkdir(parents=True)
    (scene.root / "other/.holdfast/config.toml").write_text("")
    assert ".holdfast" in scene.bash("rsync -a other/ ./")
    assert ".holdfast" in scene.bash("cp -r other/.holdfast .")


# What only a person does


@pytest.mark.parametrize(
    "command", [*naming.PEOPLES, "mcp", "run", "run dev x", "stop --now", "web", "web --link", "web --port 8415"]
)
def test_the_guard_knows_every_command_that_is_a_person_s(scene, command):
    scene.given(paths=[DOCUMENT])
    assert scene.bash(f"holdfast {command}")


@pytest.mark.parametrize(
    "line",
    [
        "holdfast approve sign-off",
        "holdfast approve 3 --yes",
        "holdfast -w release-1 approve sign-off",
        "holdfast -w rel approve sign-off",
        "holdfast -w $WORKFLOW approve sign-off",
        "holdfast approve -w release-1 sign-off",
        "/usr/bin/holdfast approve sign-off",
        "cd x && python -m holdfast approve sign-off",
        "bash -c 'holdfast approve sign-off'",
        "script -qc 'holdfast approve sign-off' /dev/null",
        "sudo -u me holdfast approve sign-off",
        "timeout 5 env A=b holdfast approve sign-off",
        "echo $(holdfast approve sign-off)",
        "echo sign-off | xargs holdfast approve",
        "holdfast approve $STEP",
        "h'old'fast approve sign-off",
        "bash <(echo holdfast approve sign-off)",
        "sh -x < <(printf 'holdfast approve sign-off')",
        ". <(echo holdfast approve sign-off)",
        "source <(cat <<< 'holdfast approve sign-off')",
        "holdfast extend --cost 5",
        "holdfast orchestrator retry 1.1",
        "holdfast -w a orchestrator skip 1.1 --reason x",
        "holdfast trust",
        "env -u CLAUDECODE holdfast status",
        "env -i holdfast status",
        "unset CLAUDECODE; holdfast status",
        "CLAUDE_CODE_ENTRYPOINT= holdfast status",
        "export CODEX_THREAD_ID= && bash -c 'holdfast next'",
        "env --unset OPENCODE_SESSION_ID holdfast next",
    ],
)
def test_an_agent_does_not_speak_for_a_person(scene, line):
    scene.given(human=[{"step": "sign-off", "names": ["sign-off", "3"]}])
    reason = scene.bash(line)
    assert "A person does this in a terminal of their own: holdfast" in reason


@pytest.mark.parametrize(
    "line",
    [
        "holdfast approve draft",
        "holdfast approve sign-off -w another",
        "holdfast approve --workflow=another 3",
        "holdfast reject sign-off",
        "holdfast status -w extend",
        "holdfast web --read-only",
        "holdfast web --port 0 --read-only --no-open",
        "holdfast web --export report",
        "holdfast web --export=report -w another",
        "echo holdfast approve sign-off",
        "unset FOO; holdfast status",
        "FOO= holdfast status",
        "env -u CLAUDECODE git status",
        "holdfast note 'trust'",
    ],
)
def test_an_agent_speaks_for_itself(scene, line):
    scene.given(human=[{"step": "sign-off", "names": ["sign-off", "3"]}])
    assert scene.bash(line) == ""


@pytest.mark.parametrize("name", settings.HOST_VARIABLES)
def test_no_variable_of_a_host_is_taken_away_from_holdfast(scene, name):
    assert "have to stay" in scene.bash(f"unset {name}; holdfast status")


def test_without_a_persons_step_any_approval_is_the_engines_business(scene):
    assert scene.bash("holdfast approve sign-off") == ""
    assert scene.bash("holdfast extend --time 1h")


def test_outside_of_a_project_only_a_persons_commands_are_held_back(scene):
    event = {"tool_name": "Bash", "tool_input": {"command": "holdfast trust"}, "cwd": "/"}
    assert "A person" in guard.judge(nothing, Call(event, "", ""))
    assert guard.judge(nothing, Call({**event, "tool_input": {"command": "rm -rf .holdfast"}}, "", "")) == ""


# What a step rules out


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("Bash", "ls"),
        ("bash(git push*)", "git push origin"),
        ("Bash(git push*)", "a && git  push"),
        ("Bash(git push*)", "git -C x push -f"),
        ("Bash(git push*)", "/usr/bin/git push"),
        ("Bash(git push*)", "X=1 sudo bash -c 'git push'"),
        ("Bash(git push:*)", "git push --tags"),
        ("Bash(*--force*)", "git push --force-with-lease"),
        ("Bash(./deploy.sh*)", "./deploy.sh now"),
        ("Bash(npm run ?uild)", "npm run build"),
        ("Bash(a | b)", "a | b"),
        ("*", "ls"),
    ],
)
def test_a_step_forbids_commands(scene, rule, line):
    scene.given(deny=[{"tool": rule, "step": "build"}])
    assert scene.bash(line) == f"step build of release-1 forbids {rule}. What to do instead: holdfast next -w release-1"
    assert scene.call("exec_command", {"cmd": line})


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("Bash(git push*)", "git pull"),
        ("Bash(git push*)", "echo 'git push'"),
        ("Bash(git push)", "git push origin"),
        ("Bash(git push*", "git push"),
        ("Write", "echo > x"),
        ("", "ls"),
    ],
)
def test_a_step_forbids_nothing_else(scene, rule, line):
    scene.given(deny=[{"tool": rule, "step": "build"}])
    assert scene.bash(line) == ""


def test_a_step_forbids_files_and_tools(scene):
    scene.given(
        deny=[{"tool": "Edit(src/*.py)", "step": "a"}, {"tool": "mcp__db__*", "step": "b"}, {"tool": "WEBFETCH"}]
    )
    assert "Edit(src/*.py)" in scene.edit("src/a.py")
    assert "Edit(src/*.py)" in scene.edit(scene.root / "src/deep/a.py")
    assert scene.edit("docs/a.py") == ""
    assert "step b" in scene.call("mcp__db__query", {"sql": "x"})
    assert scene.call("WebFetch", {})


@pytest.mark.parametrize("rule", ["Edit(secrets/*)", "Write(secrets/*)", "edit(*/secrets/*)"])
def test_a_rule_about_files_holds_for_whatever_writes_them(scene, rule):
    scene.given(deny=[{"tool": rule, "step": "a"}])
    for tool, given in (
        ("Edit", {"file_path": "secrets/key"}),
        ("Write", {"file_path": str(scene.root / "secrets/key")}),
        ("MultiEdit", {"file_path": "secrets/key"}),
        ("NotebookEdit", {"notebook_path": "secrets/key"}),
        ("apply_patch", {"input": "*** Update File: secrets/key\n"}),
        ("mcp__files__write_file", {"path": "secrets/key"}),
        ("Bash", {"command": "echo x > secrets/key"}),
    ):
        assert rule in scene.call(tool, given)
    assert scene.call("Write", {"file_path": "public/key"}) == ""
    assert scene.call("Read", {"file_path": "secrets/key"}) == ""
    assert scene.bash("cat secrets/key") == ""
    assert scene.call("TodoWrite", {"todos": []}) == ""


def test_a_rule_without_brackets_or_for_another_tool_holds_for_that_tool(scene):
    scene.given(
        deny=[{"tool": "Edit", "step": "a"}, {"tool": "NotebookEdit(a/*)"}, {"tool": "mcp__x__create_issue(y)"}]
    )
    assert scene.edit("b")
    assert scene.call("Write", {"file_path": "a/b"}) == ""
    assert scene.call("NotebookEdit", {"notebook_path": "a/b"})
    assert scene.call("NotebookEdit", {"notebook_path": "b/b"}) == ""
    assert scene.call("mcp__x__create_issue", {"title": "y"})


def test_rules_bind_those_who_work_on_the_workflow_and_those_who_work_on_none(scene):
    scene.given(id="mine", sessions=["S1"], deny=[{"tool": "Bash(a)", "step": "x"}])
    scene.given(id="other", sessions=["S2"], deny=[{"tool": "Bash(b)", "step": "x"}])
    assert "mine" in scene.bash("a")
    assert scene.bash("b") == ""
    assert "other" in scene.bash("b", session_id="S2")
    assert "mine" in scene.bash("a", session_id="S3")
    assert "other" in scene.bash("b", session_id="S3")


# Odd input


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], [5], ["x"], [[]], [{}], {"a": 1}, True, 1.5])
def test_an_odd_view_or_event_counts_as_absent(scene, odd):
    keys = ("id", "worktree", "sessions", "paths", "deny", "human", "locks")
    for view in ({"workflows": odd}, *({"workflows": [workflow(**{key: odd})]} for key in keys)):
        scene.view = view
        assert scene.edit("src/a.py") == ""
        assert scene.bash("ls") == ""
        assert scene.edit(".holdfast/x")
    scene.view = {}
    for key in ("session_id", "cwd", "tool_name", "tool_input", "agent_type"):
        guard.judge(
            nothing, Call({"tool_name": "Edit", "tool_input": {"file_path": "x"}, key: odd}, str(scene.root), "")
        )
    for key in ("command", "file_path"):
        assert scene.call("Bash", {key: odd}) == ""
        assert scene.call("Edit", {key: odd}) == ""


def test_paths_that_cannot_be_are_no_reason_to_fail(scene):
    for path in ("a\0b", "\ud800", "x" * 100_000, "/" * 1_000, "../" * 1_000, "\n"):
        assert scene.edit(path) == ""
    assert scene.edit(".holdfast/\ud800")


def test_a_reason_has_no_control_characters(scene):
    reason = scene.edit(".holdfast/\x1b[31m\nx")
    assert reason.isprintable()


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("*", "", True),
        ("a*c", "abbc", True),
        ("a*c", "ab", False),
        ("a*b*c", "axbxc", True),
        ("a*bc*c", "abc", False),
        ("*a?c*", "xxabcxx", True),
        ("*a?c*", "xxacxx", False),
        ("ab*ba", "aba", False),
        ("?", "", False),
        ("**", "x", True),
        ("a?", "ab", True),
    ],
)
def test_a_pattern_describes_a_text(pattern, text, expected):
    assert patterns.matches(pattern, text) is expected


def test_a_session_that_went_to_another_workflow_follows_the_rules_of_that_one(scene):
    scene.given(sessions=["S1"], deny=[{"tool": "Bash(git push*)", "step": "build"}])
    scene.workflows.append(workflow(id="other-1", ulid="02U", sessions=["S1"]))
    assert scene.bash("git push")
    scene.view["at"] = {"S1": ["02U", "2026-01-01T00:00:00Z"]}
    assert scene.bash("git push") == ""
    scene.view["at"] = {"S1": ["01U", "2026-01-01T00:00:00Z"]}
    assert "forbids" in scene.bash("git push")


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        ("git push --help", True),
        ("git push --dry-run", True),
        ("git push origin main --help", True),
        ("git push -n", True),
        ("git push", False),
        ("git push --help; git push", False),
        ("git push -o --help", False),
    ],
)
def test_a_rule_against_a_command_of_git_lets_pass_what_only_says_something(scene, line, passes):
    scene.given(sessions=["S1"], deny=[{"tool": "Bash(git push*)", "step": "build"}])
    assert (scene.call("Bash", {"command": line}) == "") == passes
