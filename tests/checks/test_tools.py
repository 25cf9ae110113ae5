"""Red and green with the real tools: what each of them reports is what Holdfast takes for proved, and nothing else."""

from __future__ import annotations

import json
import os

import pytest

from holdfast.core.provenance import how
from holdfast.errors import Refused
from holdfast.project.workflow import Workflow
from tests.checks.kits import KITS, Kit
from tests.workbench import Bench

TOOLS = pytest.mark.parametrize("tool", KITS)
"""The rows of the table. Every test below is a column."""


class Project:
    """A tool's project with a cycle that has begun."""

    def __init__(self, kit: Kit, bench: Bench) -> None:
        self.kit = kit
        self.bench = bench
        self.cycle: Workflow = bench.start("tdd", "Say the size", context={"test_command": kit.command})

    def fails(self, test: str = ""):
        return self.cycle.check("test_fails", data={"test": test} if test else {})

    def passes(self, **how):
        return self.cycle.check("test_passes", **how)

    def red(self) -> Project:
        """The new test was seen to fail."""
        self.kit.write_test(self.bench)
        seen = self.fails()
        assert seen.passed, (seen.detail, seen.tail)
        self.cycle.done("red")
        return self


@pytest.fixture
def project(tool: str, tmp_path, monkeypatch) -> Project:
    bench = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(bench.root)
    KITS[tool].begin(bench, monkeypatch)
    return Project(KITS[tool], bench)


@TOOLS
def test_a_new_test_is_red_then_green_and_gone_is_never_green(project):
    """The one path of each tool that every run of the tests takes."""
    kit = project.kit
    kit.write_test(project.bench)
    seen = project.fails()
    assert (seen.passed, seen.data["test"], seen.data["test_file"]) == (True, kit.id, kit.test_file), seen.detail
    assert (how(seen), seen.data["failing"]) == ("", [kit.id])
    project.cycle.done("red")
    red = json.loads(project.bench.ok("show").out)["state_machine"]["phases"][0]
    own = kit.id.removeprefix(f"{kit.test_file}::").removeprefix(f"{kit.test_file} > ")
    assert (red["test_file"], red["test_name"]) == (kit.test_file, own)
    kit.write_work(project.bench)
    seen = project.passes()
    assert (seen.passed, seen.data["test"], how(seen)) == (True, kit.id, ""), (seen.detail, seen.tail)
    assert kit.id in seen.data["passing"]
    project.cycle.done("green")
    os.unlink(project.bench.root / kit.test_file)
    gone = project.passes(step="refactor")
    assert not gone.passed
    assert "was deleted" in gone.detail or kit.test_file in gone.detail


@pytest.mark.full
@TOOLS
def test_a_test_that_passes_at_once_is_not_red(project):
    project.kit.write_test(project.bench, expects=project.kit.already)
    for name in ("", project.kit.name):
        seen = project.fails(name)
        assert not seen.passed
        assert "passes at once shows nothing" in seen.detail


@pytest.mark.full
@TOOLS
def test_a_word_of_the_output_is_no_test(project):
    project.kit.write_test(project.bench)
    for word in ("Snapshots", "Tests", "size", project.kit.source):
        seen = project.fails(word)
        assert not seen.passed, word


@pytest.mark.full
@TOOLS
def test_a_mistake_elsewhere_is_not_red(project):
    kit, bench = project.kit, project.bench
    bench.write(kit.source, bench.read(kit.source) + "\noops(((\n")
    for name in ("", kit.name, "old", "test_old", "TestOld"):
        seen = project.fails(name)
        assert not seen.passed, (name, seen.detail)


@pytest.mark.full
@TOOLS
def test_an_old_test_that_fails_now_is_not_red(project):
    kit, bench = project.kit, project.bench
    bench.write(kit.source, kit.files[kit.source].replace(kit.already, kit.already.replace("1", "0")))
    for name in ("", "old", "test_old", "TestOld"):
        seen = project.fails(name)
        assert (seen.passed, "test" in seen.data and seen.data["test"] == kit.id) == (False, False), name


@pytest.mark.full
@TOOLS
def test_a_test_file_that_cannot_be_loaded_is_red_only_for_the_test_that_is_named_in_it(project):
    kit, bench = project.kit, project.bench
    kit.write_test(bench, head=kit.unloaded)
    if not kit.unloaded:
        bench.write(kit.test_file, bench.read(kit.test_file).replace("Size()", "Sizes()"))
    assert not project.fails().passed
    assert not project.fails(kit.test_file).passed
    assert not project.fails("something_else").passed
    seen = project.fails(kit.name)
    assert (seen.passed, seen.data["test"], seen.data["test_file"]) == (True, kit.name, kit.test_file), seen.detail


@pytest.mark.full
@TOOLS
def test_a_skipped_test_is_neither_red_nor_green(project):
    kit = project.kit
    kit.write_test(project.bench, skipped=True)
    seen = project.fails(kit.name)
    assert (seen.passed, "is skipped" in seen.detail) == (False, True), seen.detail
    project.red()
    kit.write_work(project.bench)
    kit.write_test(project.bench, skipped=True)
    seen = project.passes()
    assert (seen.passed, "is skipped" in seen.detail) == (False, True), seen.detail


@pytest.mark.full
@TOOLS
def test_a_test_that_was_rewritten_after_red_has_to_fail_without_the_work(project):
    kit, bench = project.kit, project.bench
    project.red()
    kit.write_test(bench, expects=kit.already)
    seen = project.passes()
    assert (seen.passed, "passes without the work of this task" in seen.detail) == (False, True), seen.detail
    kit.write_work(bench)
    kit.write_test(bench)
    bench.write(kit.test_file, bench.read(kit.test_file).replace(f'"{kit.now}"', f'"also {kit.now}"', 1)
                .replace(f"'{kit.now}'", f"'also {kit.now}'", 1))  # fmt: skip
    seen = project.passes()
    assert (seen.passed, seen.data["test"]) == (True, kit.id), seen.detail


@pytest.mark.full
@TOOLS
def test_another_test_that_breaks_is_not_green(project):
    kit, bench = project.kit, project.bench
    project.red()
    kit.write_work(bench)
    file, before, after = kit.breaks
    bench.write(file, bench.read(file).replace(before, after))
    seen = project.passes()
    assert (seen.passed, "old" in seen.detail.lower()) == (False, True), seen.detail


@pytest.mark.full
@TOOLS
def test_evidence_of_a_tree_that_changed_since_does_not_count_and_the_check_runs_again(project):
    kit, bench = project.kit, project.bench
    project.red()
    kit.write_work(bench)
    assert project.passes().passed
    bench.write(kit.source, kit.files[kit.source])
    with pytest.raises(Refused) as caught:
        project.cycle.done("green")
    assert "the check 'test_passes' failed" in caught.value.message
    assert not project.passes().passed
