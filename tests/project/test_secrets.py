"""A secret that somebody says, prints or writes into a document is in no file of Holdfast's, and that is told."""

from __future__ import annotations

import json
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
    heard: list[bytes] = []
    evidence = workflow.check("prints", echo=heard.append)
    assert evidence.passed
    assert evidence.redacted == {"GitHub token": 1}
    assert TOKEN.encode() not in b"".join(heard)
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
