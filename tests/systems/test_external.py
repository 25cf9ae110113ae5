"""A system of another package: installed, enabled, trusted, used, and gone again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.machine.settings import HOST_VARIABLES
from tests import forked

EXAMPLE = Path(__file__).parents[2] / "examples" / "checklist"
ENABLED = '[systems]\nenable = ["checklist"]\n'


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The example, installed by pip as a user installs it, in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    source = tmp_path_factory.mktemp("source") / "checklist"
    shutil.copytree(EXAMPLE, source)
    words = [*("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation")]
    subprocess.run([sys.executable, *words, "--target", str(folder), str(source)], check=True)
    return folder


class Site:
    def __init__(self, root: Path, package: Path) -> None:
        self.root = root
        self.package = package
        (root / ".holdfast").mkdir(parents=True)
        (root / ".holdfast/config.toml").write_text(ENABLED)
        (root / "moving.txt").write_text("Pack the books\n\nCarry the boxes\n")

    def run(self, *words: str, installed: bool = True) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "holdfast", *words]
        return subprocess.run(command, cwd=self.root, env=self.environ(installed), capture_output=True, text=True)

    def environ(self, installed: bool = True) -> dict[str, str]:
        return {
            **os.environ,
            "XDG_DATA_HOME": str(self.root.parent / "data"),
            "XDG_CONFIG_HOME": str(self.root.parent / "config"),
            "PYTHONPATH": str(self.package) if installed else "",
        }

    def findings(self) -> list[dict]:
        return json.loads(self.run("doctor", "--json").stdout)["findings"]

    def seen(self) -> str:
        """What a person at a terminal is shown before they trust the settings."""
        shown, inner = forked.terminal()
        words, ends = ("trust", ".holdfast/config.toml"), (inner, inner, inner)
        environ = {name: value for name, value in self.environ().items() if name not in HOST_VARIABLES}
        asked = forked.start(words, ends, cwd=self.root, env={**environ, "TERM": "dumb"}, session=True)
        os.close(inner)
        out = b""
        while b"Trust it?" not in out:
            out += os.read(shown, 4096)
        os.write(shown, b"n\n")
        asked.wait()
        os.close(shown)
        return out.decode()

    def json(self, *words: str, installed: bool = True) -> dict:
        done = self.run(*words, "--json", installed=installed)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def error(self, *words: str, installed: bool = True) -> dict:
        done = self.run(*words, "--json", installed=installed)
        assert done.returncode, done.stdout
        return json.loads(done.stdout)["error"]

    def trust(self) -> None:
        """As a person does it who read the file: this is what `holdfast trust` keeps."""
        script = (
            "import sys; from holdfast.checks.trust import trust; from holdfast.systems.seam.trusted import content;"
            "path, data = sys.argv[1:];"
            "seen = content(path);"
            "[trust(path, one, data_dir=data, now='2026-01-01T00:00:00Z') for one in (*seen.seals, seen.digest)]"
        )
        words = [sys.executable, "-c", script, str(self.root / ".holdfast/config.toml"), str(self.root.parent / "data")]
        subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": str(self.package)})


@pytest.fixture
def site(tmp_path, package):
    return Site(tmp_path / "project", package)


def test_a_trusted_system_starts_moves_and_shows_its_document(site):
    site.trust()
    assert site.json("start", "checklist", "moving.txt")["workflow_id"] == "checklist-moving"
    site.json("begin", "item-1")
    site.json("done", "item-1")
    document = json.loads((site.root / "checklists/checklist-moving.json").read_text())
    assert document["items"] == [
        {"item": "Pack the books", "status": "done"},
        {"item": "Carry the boxes", "status": "pending"},
    ]


def test_its_schema_is_made_from_its_fields(site):
    site.trust()
    assert "checklist" in site.json("schema")["dialects"]
    site.json("start", "checklist", "moving.txt")
    document = json.loads((site.root / "checklists/checklist-moving.json").read_text())
    schema = json.loads(site.run("schema", "checklist").stdout)
    Draft7Validator(schema).validate(document)
    assert schema["properties"].keys() == document.keys()
    document["items"][0]["status"] = "nearly"
    assert not Draft7Validator(schema).is_valid(document)


def test_an_edit_of_its_document_is_decided_like_any_other(site):
    site.trust()
    site.json("start", "checklist", "moving.txt")
    path = site.root / "checklists/checklist-moving.json"
    document = json.loads(path.read_text())
    document["items"][0]["status"] = "active"
    path.write_text(json.dumps(document))
    assert site.json("status")["steps"][0]["status"] == "active"


def test_a_system_that_nobody_trusted_is_refused_and_hinders_nothing_else(site):
    error = site.error("start", "checklist", "moving.txt")
    assert "nobody has trusted" in error["message"]
    assert error["remedy"] == "show this to a person and stop"
    assert error["remedies"][1:] == [{"who": "person", "command": "holdfast trust .holdfast/config.toml"}]
    assert site.run("list").returncode == 0


def test_without_its_package_workflows_are_listed_read_and_cancelled_and_nothing_else(site):
    site.trust()
    site.json("start", "checklist", "moving.txt")
    gone = {"installed": False}
    (row,) = site.json("list", **gone)["workflows"]
    assert row["workflow_id"] == "checklist-moving"
    assert site.json("status", **gone)["current_step_name"] == "Pack the books"
    error = site.error("begin", "item-1", **gone)
    assert (error["code"], error["facts"]["system"]) == ("no_system", "checklist")
    assert site.json("cancel", "--reason", "its package is gone", **gone)["status"] == "cancelled"


def test_a_mistyped_name_is_not_answered_with_an_adoption_that_would_be_refused(site):
    site.trust()
    site.json("start", "checklist", "moving.txt")
    document = site.root / "checklists/checklist-moving.json"
    (site.root / "checklists/checklist-other.json").write_text(document.read_text().replace("moving", "other"))
    assert site.error("next", "-w", "moving")["remedy"] == "holdfast list --all"


@pytest.fixture
def copied(site, package, tmp_path):
    """The installed package, to be changed."""
    site.package = tmp_path / "other"
    shutil.copytree(package, site.package)
    return site.package


FAULTS = [
    ("__init__.py", "__name__,", "__name__,\n    api=99,", "version 99"),
    ("__init__.py", '"checklist",', '"skill",', "is not the system checklist"),
    ("__init__.py", "SYSTEM =", "SYSTEM = nobody or", "cannot be imported: NameError"),
    ("__init__.py", "SYSTEM =", "raise RuntimeError('no')\nSYSTEM =", "cannot be imported: RuntimeError: no"),
    ("__init__.py", "SYSTEM =", "import sys\nsys.exit(0)\nSYSTEM =", "cannot be imported: SystemExit: 0"),
    ("__init__.py", "SYSTEM =", "OTHER =", "has no attribute 'SYSTEM'"),
    ("__init__.py", '("subject",)', '("subject", "colour")', "the part 'colour'"),
    ("document.py", "DIALECT =", "OTHER =", "has no attribute 'DIALECT'"),
    ("subject.py", "SUBJECT =", "raise SystemExit\nSUBJECT =", "holdfast_checklist.subject cannot be imported"),
]


@pytest.mark.parametrize(("file", "old", "new", "why"), FAULTS)
def test_a_package_with_a_fault_is_one_refusal_that_names_it_and_everything_else_goes_on(
    site, copied, file, old, new, why
):
    code = copied / "holdfast_checklist" / file
    code.write_text(code.read_text().replace(old, new))
    site.trust()
    error = site.error("start", "checklist", "moving.txt")
    assert "the system checklist of the package holdfast" in error["message"]
    assert why in error["message"]
    assert [one["who"] for one in error["remedies"]] == ["agent", "person"]
    assert site.json("list")["workflows"] == []


def test_a_package_that_changed_since_is_trusted_again_before_its_code_runs(site, copied):
    site.trust()
    site.json("start", "checklist", "moving.txt")
    card = copied / "holdfast_checklist/__init__.py"
    card.write_text(card.read_text() + "\nopen('ran', 'w').close()\n")
    error = site.error("begin", "item-1")
    assert (error["code"], error["facts"]) == ("untrusted", {"system": "checklist"})
    assert "checklist of holdfast-checklist 1" in error["message"]
    assert not (site.root / "ran").exists()
    told = "show this to a person and stop"
    assert site.error("next")["remedy"] == told
    assert f"Next command: {told}\n" in site.run("resume-packet").stdout + "\n"
    assert [one["remedy"] for one in site.json("status")["blockers"]] == [told]
    assert not (site.root / "ran").exists()
    site.trust()
    site.json("begin", "item-1")
    assert (site.root / "ran").exists()


def test_a_package_that_is_installed_anew_is_looked_up_again(site, copied):
    site.trust()
    site.json("start", "checklist", "moving.txt")
    (points,), (record,) = copied.glob("*.dist-info/entry_points.txt"), copied.glob("*.dist-info/RECORD")
    points.write_text(points.read_text().replace(":SYSTEM", ":GONE"))
    site.json("begin", "item-1")
    os.utime(record, (1, 1))
    assert site.error("done", "item-1")["code"] == "untrusted"
    site.trust()
    assert site.error("done", "item-1")["code"] == "bad_system"


def test_a_workflow_whose_system_is_not_enabled_says_what_a_person_does_about_it(site):
    site.trust()
    site.json("start", "checklist", "moving.txt")
    (site.root / ".holdfast/config.toml").write_text("")
    for words in (("next",), ("begin", "item-1")):
        error = site.error(*words)
        assert (error["code"], error["facts"]["system"]) == ("no_system", "checklist")
        assert error["remedy"] == "show this to a person and stop"
        assert "enable = ['checklist'] below [systems]" in error["remedies"][1]["text"]
    (finding,) = [one for one in site.findings() if one["code"] == "no_system"]
    assert "checklist-moving cannot continue: there is no system 'checklist'" in finding["message"]
    assert "cannot be read" not in site.run("doctor").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[systems]\n\nenable = [\n  "fine",\n  "not a name",\n]\n', ":5: 'not a name' is not the name of a system"),
        ("[systems]\nenable = 3\n", ":2: enable is a list of names"),
        ("[systems]\nenabled = []\n", ":2: unknown key"),
    ],
)
def test_what_is_wrong_with_enable_is_told_with_its_line(site, text, said):
    (site.root / ".holdfast/config.toml").write_text(text)
    assert said in site.error("list")["message"]


TWO = """
import os, sys
from holdfast import open as project
from holdfast.errors import HoldfastError
from holdfast.checks.trust import untrust

def started(where):
    try:
        return where.start("checklist", "moving.txt", fresh=True).id
    except HoldfastError as error:
        return error.code

a, b = project(sys.argv[1]), project(sys.argv[2])
print(started(a), started(b), started(a))
config = os.path.join(sys.argv[1], ".holdfast", "config.toml")
text = open(config).read()
open(config, "w").close()
print(started(a))
with open(config, "w") as file:
    file.write(text)
print(started(a))
untrust(config, data_dir=os.environ["XDG_DATA_HOME"])
print(started(a))
"""


def test_a_system_belongs_to_the_project_that_enables_it_for_as_long_as_it_does(site, package, tmp_path):
    site.trust()
    other = tmp_path / "other-project"
    (other / ".holdfast").mkdir(parents=True)
    (other / "moving.txt").write_text("Pack\n")
    done = subprocess.run(
        [sys.executable, "-c", TWO, str(site.root), str(other)],
        env=site.environ(),
        cwd=site.root,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [
        *("checklist-moving", "no_definition", "checklist-moving"),
        *("no_definition", "checklist-moving", "no_definition"),
    ], done.stderr


def test_a_person_who_is_asked_for_trust_sees_which_code_may_run(site):
    seen = site.seen()
    assert "system checklist: all code of holdfast-checklist 1, in " in seen
    assert str(site.package / "holdfast_checklist") in seen
    assert "runs no commands" not in seen


def test_the_example_keeps_to_the_contract_and_a_card_that_does_not_is_told_why(package):
    script = (
        "from holdfast.testing import contract; from holdfast_checklist import SYSTEM; contract(SYSTEM);"
        "contract(SYSTEM.replace(own=('/etc',)))"
    )
    environ = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True)
    assert "'/etc' leaves the worktree" in done.stderr


@pytest.mark.parametrize("name", ["skill", "story", "compaction", "orchestrator", "gated"])
def test_every_built_in_system_keeps_to_the_contract(name):
    from holdfast.systems.seam.registry import system
    from holdfast.testing import contract

    contract(system(name))
