"""`holdfast-hook`, which settings that many machines share name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.hosts.installing import lines

ROOT = Path(__file__).resolve().parents[3]
LAUNCHER = ROOT / "src/launcher/holdfast-hook"


@pytest.fixture
def bin_(tmp_path):
    """The programs of an installation whose package is a link to this one."""
    folder = tmp_path / "tools/holdfast/bin"
    folder.mkdir(parents=True)
    shutil.copy(LAUNCHER, folder / "holdfast-hook")
    (folder / "holdfast").write_text(f"#!{sys.executable}\nimport sys\nprint('slow', *sys.argv[1:])\n")
    (folder / "holdfast").chmod(0o755)
    packages = tmp_path / "tools/holdfast/lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    (packages / "holdfast").symlink_to(Path(holdfast.__file__).parent)
    return folder


def guarded(tmp_path):
    """A project, and an event that every hook denies."""
    root = tmp_path / "project"
    (root / ".holdfast").mkdir(parents=True)
    call = {"tool_name": "Write", "tool_input": {"file_path": str(root / ".holdfast/guard")}}
    return json.dumps({"hook_event_name": "PreToolUse", "session_id": "x", "cwd": str(root), **call})


def answer(words, event="", **environment):
    done = subprocess.run(words, input=event, capture_output=True, text=True, env={**os.environ, **environment})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_it_starts_the_hook_with_the_interpreter_of_its_installation(bin_, tmp_path):
    assert '"deny"' in answer([bin_ / "holdfast-hook"], guarded(tmp_path))


@pytest.mark.parametrize("known", [True, False], ids=["the folder of uv", "any other"])
def test_a_link_leads_to_its_installation(bin_, tmp_path, known):
    link = tmp_path / "link"
    link.symlink_to(bin_ / "holdfast-hook")
    tools = tmp_path / "tools" if known else tmp_path
    assert '"deny"' in answer([link], guarded(tmp_path), UV_TOOL_DIR=str(tools))


def test_where_the_package_lies_elsewhere_the_command_answers(bin_, tmp_path):
    shutil.rmtree(tmp_path / "tools/holdfast/lib")
    assert answer([bin_ / "holdfast-hook"]) == "slow hook\n"
    assert answer([bin_ / "holdfast-hook", "statusline"]) == "slow statusline\n"


def test_where_the_installation_is_gone_the_host_is_told(bin_):
    (bin_ / "holdfast").unlink()
    assert "does not guard this session" in json.loads(answer([bin_ / "holdfast-hook"]))["systemMessage"]


def test_a_line_in_shared_settings_tells_the_host_where_there_is_no_launcher(bin_, tmp_path):
    line = lines.line_of([lines.LAUNCHER])
    assert lines.is_hook(line)
    said = json.loads(answer(["/bin/sh", "-c", line], PATH="/usr/bin:/bin"))["systemMessage"]
    assert "holdfast-hook is not on PATH" in said
    assert '"deny"' in answer(["/bin/sh", "-c", line], guarded(tmp_path), PATH=f"{bin_}:/usr/bin:/bin")


def test_a_hook_whose_modules_cannot_be_loaded_says_so_in_its_answer(tmp_path):
    hooks = tmp_path / "holdfast/surfaces/hooks"
    hooks.mkdir(parents=True)
    shutil.copy(Path(holdfast.__file__).parent / "surfaces/hooks/run.py", hooks)
    said = json.loads(answer([sys.executable, "-I", "-S", hooks / "run.py"]))["systemMessage"]
    assert said.startswith("Holdfast does not guard this session: ModuleNotFoundError: ")


def test_a_guard_that_fails_says_so_in_its_answer(tmp_path):
    """What is let through because of it is not let through in silence."""
    package = tmp_path / "package/holdfast"
    shutil.copytree(Path(holdfast.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "systems"))
    (package / "surfaces/hooks/guard.py").write_text("raise ImportError('half of it')")
    said = json.loads(answer([sys.executable, "-I", "-S", package / "surfaces/hooks/run.py"], guarded(tmp_path)))
    assert said["systemMessage"].startswith("Holdfast could not judge this call, and it was allowed: ImportError")
