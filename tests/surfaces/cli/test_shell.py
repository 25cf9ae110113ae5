"""How the command line behaves as a program: help, completion, pipes, signals, encodings, start-up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from holdfast import __version__
from holdfast.surfaces.cli import arguments, lookup
from holdfast.surfaces.cli.readers import _READERS
from holdfast.surfaces.cli.table import COMMANDS, GROUPS

HEAVY = {
    *("argparse", "click", "dataclasses", "datetime", "gettext", "hashlib", "inspect", "logging", "pathlib", "random"),
    *("shutil", "subprocess", "tempfile", "threading", "tomllib", "typing", "urllib"),
}


def imported(project, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "holdfast", *words],
        cwd=project.root,
        env=project.env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    bare = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import runpy"], env=project.env, capture_output=True, text=True
    )
    return set(rows) - {line.rpartition("|")[2].strip() for line in bare.stderr.splitlines()}


@pytest.mark.parametrize("words", [("status",), ("status", "--json"), ("next",), ("note", "x"), ("list",)])
def test_everyday_commands_import_nothing_heavy(project, words):
    assert not imported(project, *words) & HEAVY


def test_the_version_and_the_overview_load_no_engine(project):
    for words in (("--version",), ("--help",)):
        found = imported(project, *words)
        assert not {name for name in found if name.startswith("holdfast.core")} - {"holdfast.core"} - _NAMES
        assert "holdfast.project.project" not in found
    assert project.ok("--version").out == f"holdfast {__version__}\n"


_NAMES = {"holdfast.core.names", "holdfast.core.naming", "holdfast.core.value"}


def test_help_has_what_people_need_first_and_fits_a_terminal(project):
    for words in (("--help",), ("-h",), ("help",)):
        lines = project.ok(*words).out.splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        assert {"start", "status", "next", "done", "approve", "reject"} <= {line.split()[0] for line in lines if line}


def test_the_whole_help_names_every_command_in_its_group(project):
    for words in (("help", "--all"), ("--help", "--all")):
        text = project.ok(*words).out
        assert all(f"\n  {name}" in text for name in COMMANDS)
        assert all(title in text for title in GROUPS.values())
        assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", sorted({name.split()[0] for name in COMMANDS if " " in name}))
def test_commands_with_a_common_first_word_have_help_together(project, name):
    for words in ((name, "--help"), (name, "-h"), ("help", name)):
        text = project.ok(*words).out
        assert all(f"  {one}" in text for one in COMMANDS if one.startswith(f"{name} "))


def test_holdfast_alone_says_where_things_stand(project):
    assert "draft" in project.ok().out
    other = project.ok("start", "release", "another", "--json").json["workflow_id"]
    first, second = project.ok().out.splitlines()
    assert f"-w {other}" in first + second
    listed = project.ok("status", "--json").json["workflows"]
    assert len(listed) == 2
    for line in project.ok("status").out.splitlines():
        typed = line.rpartition("(")[2].rstrip(")").split()
        assert typed[0] == "holdfast"
        assert project.agent(*typed[1:]).code in (0, 3), line
    for one in listed:
        project.ok("cancel", "--reason", "enough", "-w", one["ulid"])
    assert "no workflow is active here" in project.ok().out


def test_where_nothing_was_started_holdfast_alone_is_help(tmp_path, project):
    (tmp_path / "empty").mkdir()
    assert project.agent(cwd=tmp_path / "empty").out == project.ok("--help").out


def test_every_command_has_help_a_group_and_a_handler():
    for command in COMMANDS.values():
        assert command.group in GROUPS
        assert callable(lookup.load(command.handler))
        for option in arguments.options_of(command):
            assert not option.type or option.type.split(":")[0] in _READERS
            assert not option.type or option.shown


def test_a_text_may_begin_with_a_hyphen(project):
    assert project.ok("note", "- first of all", "--json").json["note"]["text"] == "- first of all"
    assert project.ok("note", "--json", "--", "-x").json["note"]["text"] == "-x"
    assert project.ok("cancel", "--reason", "-x").code == 0


def test_help_of_one_command(project):
    assert project.ok("begin", "--help").out == project.ok("help", "begin").out
    assert "--reason TEXT" in project.ok("fail", "-h").out
    assert project.agent("help", "nope").code == 2


def test_completion_knows_commands_options_workflows_and_steps(project):
    name = project.ok("status", "--json").json["workflow_id"]
    cases = {
        ("sta",): ["start", "status", "statusline"],
        ("begin", "publish/"): ["publish/wheel", "publish/docs"],
        ("begin", "-w", name, "dr"): ["draft"],
        ("status", "-w", "rel"): [name],
        ("fail", "draft", "--re"): ["--reason", "--revision"],
        ("agent", "s"): ["start", "spend"],
        ("review", "look", "--verdict", ""): ["approved", "needs_revision"],
        ("start", "rel"): ["release"],
        ("completion", "z"): ["zsh"],
        ("nope", ""): [],
    }
    for words, expected in cases.items():
        assert project.ok("__complete", *words).out.splitlines() == expected, words


def test_completing_outside_of_a_project_is_silent(tmp_path, empty):
    answer = empty.agent("__complete", "begin", "", cwd=tmp_path)
    assert (answer.code, answer.out, answer.err) == (0, "", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_ask_holdfast(project, shell):
    assert "holdfast __complete" in project.ok("completion", shell).out


def test_the_bash_script_completes(project, tmp_path):
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "holdfast").write_text(f'#!/bin/sh\nexec {sys.executable} -m holdfast "$@"\n')
    (commands / "holdfast").chmod(0o755)
    script = (
        'eval "$(holdfast completion bash)"; COMP_WORDS=(holdfast begin publish/); COMP_CWORD=2; _holdfast; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    env = {**project.env, "PATH": f"{commands}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], cwd=project.root, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["publish/wheel", "publish/docs"]


def test_a_reader_that_goes_away_is_no_error(project):
    words = f"{sys.executable} -m holdfast"
    for _ in range(3):
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {words} status --json | true; {words} --help | head -1"],
            cwd=project.root,
            env=project.env,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_traceback_and_no_file_takes_its_place(project, closed):
    line = f"{sys.executable} -m holdfast note 'Said to nobody' {closed}; echo $?"
    done = subprocess.run(["bash", "-c", line], cwd=project.root, env=project.env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")
    assert project.agent("doctor").code == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_under_the_answer_is_said_in_one_line(project, unbuffered):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", "status"],
            cwd=project.root,
            env={**project.env, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "the answer could not be written: No space left on device\n"


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_with_130_and_nothing_is_recorded(project):
    project.until("verify")
    project.people_ok("trust", "release", "--yes")
    project.ok("begin", "verify")
    program = "print('running', flush=True); open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    project.write("check.py", f"import os, time; {program}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "check", "tests"],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (project.root / "pid").exists() or not (project.root / "pid").read_text():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.startswith("\ninterrupted: the check tests was ended, with all that it had started, and nothing is")
    with pytest.raises(ProcessLookupError):
        os.kill(int((project.root / "pid").read_text()), 0)
    assert project.ok("log", "--check", "tests").out == "running\n"
    assert project.ok("status", "--json").json["steps"][1]["checks"]["tests"] == "missing"


def test_a_terminal_that_knows_only_ascii_gets_ascii(project):
    answer = project.agent("status", env={"PYTHONIOENCODING": "ascii"})
    assert answer.code == 0
    assert answer.out.isascii()
    assert project.agent("begin", "nöpe", env={"PYTHONIOENCODING": "ascii"}).err.isascii()


def test_a_failure_of_the_system_is_one_line_and_debug_shows_where(project):
    index = project.root / ".holdfast" / "workflows"
    index.rename(project.root / "kept")
    index.write_text("not a folder")
    for words, env in ((("--debug",), {}), ((), {"HOLDFAST_DEBUG": "1"})):
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", "workflows", "new", "mine", *words],
            cwd=project.root,
            env={**project.env, **env},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, "Traceback" in done.stderr) == (1, True)
    answer = project.agent("workflows", "new", "mine", "--json")
    assert (answer.code, answer.error["code"]) == (1, "system_error")
    assert len(project.agent("workflows", "new", "mine").err.splitlines()) == 2


def test_doctor_finds_nothing_in_a_sound_project(project):
    answer = project.ok("doctor", "--json").json
    assert answer["ok"] is True
    assert project.ok("doctor").code == 0


def test_doctor_ends_with_6_when_something_is_broken(project):
    for _ in range(3):
        project.ok("note", "x")
    journal = next((project.root / ".holdfast/journal").rglob("*.jsonl"))
    data = bytearray(journal.read_bytes())
    data[60] ^= 1
    journal.write_bytes(data)
    answer = project.agent("doctor", "--json")
    assert (answer.code, answer.json["ok"]) == (6, False)
    assert "→ " in project.agent("doctor").out


def test_clean_says_what_it_would_do_and_then_does_it(project):
    project.ok("cancel")
    before = project.fingerprint()
    assert project.ok("clean", "--dry-run", "--all", "--json").json["dry_run"] is True
    assert project.fingerprint() == before
    assert project.ok("clean", "--all", "--json").json["dry_run"] is False


def test_adopt_has_nothing_to_do_where_every_document_has_a_journal(project):
    assert project.ok("adopt", "--json").json == {"workflows": [], "total": 0}
    assert project.ok("adopt").out == "nothing to adopt\n"


def test_adopt_takes_over_a_document_without_a_journal(project):
    name = project.ok("status", "--json").json["workflow_id"]
    for part in ("journal", "state", "index"):
        subprocess.run(["rm", "-rf", project.root / ".holdfast" / part], check=True)
    document = f".claude/workflow-state/active/{name}.json"
    adopted = project.ok("adopt", document, "--json").json
    assert [row["workflow_id"] for row in adopted["workflows"]] == [name]


def test_schemas_are_listed_and_printed(project):
    names = project.ok("schema", "--json").json["dialects"]
    assert "skill" in names
    assert project.ok("schema", "skill").json["$schema"].startswith("http://json-schema.org/draft-07")
    assert project.agent("schema", "nope").code == 4
