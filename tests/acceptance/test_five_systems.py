"""What holds in every system: who can read its files, who learns the token of a lease, and what an approval is."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from tests.workbench import Bench

SYSTEMS = ("skill", "story", "orchestrator", "compaction", "gated")
OWN = """name = "own"
dialect = "{dialect}"
[[step]]
id = "code"
approval = {{ by = "human" }}
[[step]]
id = "rest"
"""
TRAVELS = ("workflow/", "docs/")
"""What belongs in git, which gives it to everybody who clones."""


@pytest.fixture(params=SYSTEMS)
def bench(request, tmp_path):
    made = Bench(tmp_path / "harbour").begun()
    made.write(".holdfast/workflows/own.toml", OWN.format(dialect=request.param))
    made.save("the definition")
    return made


def worked(bench: Bench) -> str:
    """With a umask that hides nothing; the token of a lease that is given on the way."""
    for line in ("start own thing", "begin code", "note 'one more'", "done code"):
        answer = bench.typed(f"umask 0; holdfast {line}")
        assert answer.code in (0, 3), answer
    answer = bench.typed("umask 0; holdfast agent start builder --step code --json")
    assert answer.code == 0, answer
    return answer.json["token"]


def asked(bench: Bench) -> dict[str, str]:
    """What an agent is told by each command that looks."""
    lines = ("status", "status --json", "next", "next --json", "log", "log --json", "show", "resume-packet",
             "agent list", "agent list --json", "list --json", "doctor --json")  # fmt: skip
    return {line: bench.agent(*line.split()).out for line in lines}


def test_new_files_are_their_owners_alone(bench):
    before = set(bench.root.rglob("*"))
    worked(bench)
    bench.person("approve", "code", "--yes")
    wrong = {}
    for path in sorted({*bench.root.rglob("*")} - before):
        name, mode = str(path.relative_to(bench.root)), stat.S_IMODE(path.lstat().st_mode)
        if name.startswith(".git/") or (path.is_dir() and not name.startswith(".holdfast/")):
            continue
        allowed = 0o600
        if name.startswith(TRAVELS) or (name.startswith(".holdfast/slots/") and (bench.root / "workflow").exists()):
            allowed = 0o644  # a slot has held the document, and nobody else comes into its folder
        if name == ".holdfast/.gitignore":
            continue  # as the user's other files
        if mode != (0o700 if path.is_dir() else allowed):
            wrong[name] = oct(mode)
    assert wrong == {}


def test_the_token_of_a_lease_stands_nowhere(bench, tmp_path):
    token = worked(bench)
    assert len(token) > 20
    places = [Path(os.environ[name]) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME") if name in os.environ]
    files = [path for place in (tmp_path, *places) for path in place.rglob("*") if path.is_file()]
    assert [str(path) for path in files if token.encode() in path.read_bytes()] == []
    assert [line for line, said in asked(bench).items() if token in said] == []


def test_every_surface_says_the_same_of_an_approval(bench, tmp_path):
    worked(bench)
    assert bench.person("approve", "code", "--yes").code == 0
    said = asked(bench)
    given = next(one for one in json.loads(said["status --json"])["steps"] if one["path"] == "code")["approved"]
    logged = [event["grant"] for record in json.loads(said["log --json"])["records"] for event in record["events"]
              if event["event"] == "granted"]  # fmt: skip
    assert [{name: one[name] for name in given} for one in logged] == [given]
    assert given["how"] == "terminal"
    assert given["where"].endswith(":harbour")
    other = Bench(shutil.copytree(bench.root, tmp_path / "copy"))
    claimed = f"only claimed: {given['by']} is said to have given it at a terminal on {given['where']}"
    told = asked(other)
    assert [name for name in ("status", "status --json", "next", "next --json", "resume-packet")
            if claimed not in " ".join(told[name].split())] == []  # fmt: skip
