"""A system of another package: installed, enabled, trusted, used, and gone again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
        environ = {
            **os.environ,
            "XDG_DATA_HOME": str(self.root.parent / "data"),
            "XDG_CONFIG_HOME": str(self.root.parent / "config"),
            "PYTHONPATH": str(self.package) if installed else "",
        }
        command = [sys.executable, "-m", "holdfast", *words]
        return subprocess.run(command, cwd=self.root, env=environ, capture_output=True, text=True)

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
            "trust(path, content(path).digest, data_dir=data, now='2026-01-01T00:00:00Z')"
        )
        words = [sys.executable, "-c", script, str(self.root / ".holdfast/config.toml"), str(self.root.parent / "data")]
        subprocess.run(words, check=True)


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
    assert error["remedies"] == [{"who": "person", "text": "", "command": "holdfast trust .holdfast/config.toml"}]
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


def test_a_system_of_another_version_of_the_seam_is_refused(site, package, tmp_path):
    copy = tmp_path / "other"
    shutil.copytree(package, copy)
    card = copy / "holdfast_checklist/__init__.py"
    card.write_text(card.read_text().replace("__name__,", "__name__,\n    api=99,"))
    site.package = copy
    site.trust()
    assert "version 99" in site.error("start", "checklist", "moving.txt")["message"]


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
