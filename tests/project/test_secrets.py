"""A secret that somebody says, prints or writes into a document is in no file of Holdfast's, and that is told."""

from __future__ import annotations

import json
import shlex
import stat

import pytest

from holdfast.core.secrets import DEFAULT, Secrets
from holdfast.errors import UsageError
from holdfast.machine import configuration
from holdfast.surfaces import tools
from holdfast.upkeep import doctor
from tests.workbench import Bench

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PLAIN = {"name": "plain", "step": [{"id": "one", "checks": [{"name": "prints", "run": ["sh", "prints.sh"]}]}]}


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


def leaks(bench):
    """The files outside of git's own that have the secret."""
    files = (path for path in bench.root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return [str(path.relative_to(bench.root)) for path in files if TOKEN.encode() in path.read_bytes()]


def test_every_text_of_a_command_is_redacted_told_and_counted(bench):
    project = bench.open()
    workflow = project.start(PLAIN, f"with {TOKEN}")
    assert project.wired.engine.take_redacted()["GitHub token"] >= 1
    for act in (
        lambda: workflow.note(f"use {TOKEN}"),
        lambda: workflow.begin("one"),
        lambda: workflow.learn(f"never {TOKEN}"),
        lambda: workflow.block("one", f"without {TOKEN}"),
    ):
        act()
    assert project.wired.engine.take_redacted() == {"GitHub token": 3}
    assert project.wired.engine.take_redacted() == {}
    assert leaks(bench) == []
    assert workflow.state.notes[-1]["text"] == "use [redacted: GitHub token]"
    found = next(one for one in doctor.examine(bench.open()).findings if one.code == "secrets")
    assert (found.level, "GitHub token" in found.message) == ("ok", True)
    assert bench.open().workflow(workflow.id).state == workflow.state


@pytest.mark.parametrize("printed", ["first", "last"])
def test_the_output_of_a_check_is_redacted_before_it_is_cut(bench, printed):
    many = "seq 1 3000\n"
    halves = f"printf 'use gh'\nprintf 'p_{TOKEN[4:]}\\n'\n"
    path = bench.write("prints.sh", "")
    path.write_text(f"{halves}{many}" if printed == "first" else f"{many}{halves}")
    path.write_text(path.read_text().replace(TOKEN[4:], f"{TOKEN[4:20]}''{TOKEN[20:]}"))
    workflow = bench.open().start(PLAIN, "x").begin("one")
    evidence = workflow.check("prints")
    assert evidence.passed
    assert evidence.redacted == {"GitHub token": 1}
    assert ("[redacted: GitHub token]" in evidence.tail) == (printed == "last")
    assert leaks(bench) == []


def test_an_edited_document_is_redacted_once_and_the_edit_is_taken(bench):
    project = bench.open()
    workflow = project.start(PLAIN, "x")
    document = next((bench.root / ".claude/workflow-state/active").glob("*.json"))
    said = json.loads(document.read_text())
    said["remark"] = f"use {TOKEN}"
    document.write_text(json.dumps(said))
    again = bench.open()
    after = again.workflow(workflow.id)
    assert json.loads(document.read_text())["remark"] == "use [redacted: GitHub token]"
    assert again.wired.engine.take_redacted() == {"GitHub token": 1}
    assert leaks(bench) == []
    assert bench.open().workflow(workflow.id).state.revision == after.state.revision


def test_tools_say_what_was_redacted(bench):
    workflow = bench.open().start(PLAIN, "x")
    answer = tools.call(bench.open(), "record_work", {"workflow_id": workflow.id, "note": f"use {TOKEN}"})
    assert answer["redacted"] == {"GitHub token": 1}
    assert "redacted" not in tools.call(bench.open(), "record_work", {"workflow_id": workflow.id, "note": "plain"})


def test_documents_are_their_owners_alone(bench):
    bench.open().start(PLAIN, "x").note("one")
    files = [path for path in (bench.root / ".claude").rglob("*") if path.is_file()]
    assert files
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in files} == {"0o600"}


CONFIG = '[secrets]\nredact = false\nprefixes = { "Acme token" = "acme_" }\nallow = ["fixtures/*"]\n'


def test_what_the_project_says_of_secrets_counts_once_a_person_trusts_it(bench):
    bench.open().start(PLAIN, "x").note(f"use {TOKEN}")
    bench.write(".holdfast/config.toml", CONFIG)
    assert bench.open().wired.engine.secrets == DEFAULT
    assert any(one.code == "untrusted" for one in doctor.examine(bench.open()).findings)
    trusted = configuration.secrets(str(bench.root), lambda *_: True)
    assert trusted == Secrets(False, {"Acme token": "acme_"}, ("fixtures/*",))
    assert bench.agent("trust", ".holdfast/config.toml").code == 3
    shown = bench.person("trust", ".holdfast/config.toml", says="y\n").out
    assert all(word in shown for word in ("redact: nothing", "prefixes: acme_", "may be committed: fixtures/*"))
    assert bench.open().wired.engine.secrets == trusted


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[secrets]\nredact = "no"\n', 2),
        ("[secrets]\n\nredacted = true\n", 3),
        ('[secrets]\nprefixes = ["acme_"]\n', 2),
        ('[secrets]\nprefixes = { "Acme" = "a" }\n', 2),
        ('[secrets]\nallow = "all"\n', 2),
        ('[secrets]\nallow = ["*"]\n', 2),
        ("secrets = 1\n", 1),
    ],
)
def test_mistakes_are_told_with_their_line(bench, text, line):
    bench.write(".holdfast/config.toml", text)
    with pytest.raises(UsageError) as caught:
        configuration.secrets(str(bench.root), lambda *_: True)
    assert caught.value.code == "bad_config"
    assert f".holdfast/config.toml:{line}: " in caught.value.message


def files_with(bench, text):
    """What has the text in its path or in its content, outside of git's own, in whatever case."""
    found = [path for path in bench.root.rglob("*") if ".git" not in path.parts]
    content = ((path, path.read_bytes().lower() if path.is_file() else b"") for path in found)
    return [str(path) for path, data in content if text.lower() in str(path).lower() or text.lower().encode() in data]


def test_what_is_said_of_a_session_is_redacted_and_its_name_has_no_secret(bench):
    created = bench.ok("session", "create", "s1", "--description", f"d {TOKEN}")
    assert "GitHub token" in created.out + created.err
    bench.ok("session", "use", "s1")
    bench.write("README.md", "Another.\n")
    bench.ok("session", "write", "README.md", "--from", "README.md")
    bench.ok("session", "retry", "README.md", "--reason", f"r {TOKEN}")
    assert bench.agent("session", "create", TOKEN).code == 2
    assert files_with(bench, TOKEN) == []


def test_an_id_a_folder_and_a_branch_are_named_without_the_secret_of_the_subject(bench):
    started = bench.ok("start", "feature", f"Alpha {TOKEN}")
    assert "GitHub token" in started.out + started.err
    bench.ok("start", "custom", f"Beta {TOKEN}", "--phases", "one,two")
    assert files_with(bench, TOKEN) == []
    assert TOKEN.lower() not in bench.git("branch", "--list").lower()
    found = next(one for one in doctor.examine(bench.open()).findings if one.code == "secrets")
    assert "GitHub token" in found.message


def test_a_role_or_a_key_with_a_secret_is_refused_and_nothing_is_taken(bench):
    workflow = bench.open().start(PLAIN, "x")
    for words in (("agent", "start", f"r-{TOKEN}"), ("note", "n", "--key", TOKEN), ("begin", "one", "--key", TOKEN)):
        answer = bench.agent(*words)
        assert (answer.code, "GitHub token" in answer.err) == (2, True), answer
    assert bench.agent("start", "plain", "--key", TOKEN).code
    state = bench.open().workflow(workflow.id).state
    assert (state.revision, dict(state.leases)) == (workflow.state.revision, {})
    assert files_with(bench, TOKEN) == []


@pytest.mark.parametrize(
    "words",
    [
        ("note", "n", "--as", TOKEN),
        ("lock", f"{TOKEN}.txt"),
        ("lock", "plain.txt", f"of/{TOKEN}"),
        ("set", f"{TOKEN}=1"),
        ("start", "custom", "x", "--phases", "one", "--as", TOKEN),
    ],
)
def test_a_name_with_a_secret_is_refused_in_one_sentence(bench, words):
    bench.ok("start", "custom", "first", "--phases", "one,two")
    answer = bench.agent(*words)
    assert answer.code == 2
    assert "has a likely secret in it (GitHub token), and nothing was changed" in answer.err
    assert files_with(bench, TOKEN) == []


def test_a_key_within_a_value_or_a_document_is_redacted(bench):
    workflow = bench.open().start(PLAIN, "x")
    other = TOKEN[:-1] + "9"
    bench.ok("set", f"map={json.dumps({TOKEN: 1, other: 2, 'plain': 3})}")
    document = next((bench.root / ".claude/workflow-state/active").glob("*.json"))
    said = json.loads(document.read_text())
    document.write_text(json.dumps({**said, TOKEN: "remark"}))
    values = bench.open().workflow(workflow.id).state.context["map"]
    assert sorted(values.values()) == [1, 2, 3]
    assert json.loads(document.read_text())["[redacted: GitHub token]"] == "remark"
    assert files_with(bench, TOKEN) + files_with(bench, other) == []


def test_what_the_environment_and_hooks_say_of_a_session_is_left_out(bench):
    """A host is not stopped for it."""
    bench.ok("start", "custom", "first", "--phases", "one,two")
    bench.ok("note", "n", env={"CLAUDE_CODE_SESSION_ID": TOKEN})
    for name in ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"):
        event = {"hook_event_name": name, "session_id": TOKEN, "cwd": str(bench.root), "prompt": "custom-first"}
        assert bench.typed(f"echo {shlex.quote(json.dumps(event))} | holdfast hook").code == 0
        assert files_with(bench, TOKEN) == []
    assert "the id of the session has a likely secret" in bench.read(".holdfast/hook.log")


def test_a_role_of_the_environment_is_refused_where_it_would_be_kept(bench):
    bench.ok("start", "custom", "first", "--phases", "one,two")
    answer = bench.agent("note", "n", env={"HOLDFAST_ACTOR": TOKEN})
    assert "the role has a likely secret in it" in answer.err
    assert files_with(bench, TOKEN) == []
