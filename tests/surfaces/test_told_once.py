"""Each reason that somebody gave, and each failure that was seen, is told once in one answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.core.packet import compaction_summary
from holdfast.project.workflow import Workflow
from tests.trusted import trust_file
from tests.workbench import Bench

NAME = ".holdfast/workflows/once.toml"
DEFINITION = """\
name = "once"

[[step]]
id = "build"
checks = [{ name = "tests", run = ["sh", "check.sh"], run_by = "engine" }, { name = "read" }]
retry = { max = 2, exhausted = "escalated" }

[[step]]
id = "look"
requires = ["build"]
review = { max = 2 }

[[step]]
id = "sign-off"
requires = ["build"]
approval = { by = "human" }
"""
CHECK = "cat result.txt; test -e good\n"


def failed_twice(bench: Bench) -> set[str]:
    bench.open().workflow().fail("build", "first reason").fail("build", "second reason")
    return {"first reason", "second reason"}


def failed_alike(bench: Bench) -> set[str]:
    bench.open().workflow().fail("build", "same reason").fail("build", "same reason")
    return {"same reason"}


def failed_once(bench: Bench) -> set[str]:
    bench.open().workflow().fail("build", "first reason")
    return {"first reason"}


def blocked(bench: Bench) -> set[str]:
    bench.open().workflow().block("build", "no network")
    return {"no network"}


def check_failed(bench: Bench) -> set[str]:
    bench.open().workflow().check("tests")
    return {"error: the wheel is round"}


def report_failed(bench: Bench) -> set[str]:
    bench.open().workflow().fail("build", "first reason").check("read", passed=False)
    return {"first reason"}


def rejected(bench: Bench) -> set[str]:
    bench.write("good", "")
    workflow = bench.open().workflow()
    workflow.check("tests")
    workflow.check("read", passed=True)
    workflow.done("build").begin("sign-off").done("sign-off")
    bench.open("human").workflow().reject("sign-off", "say it shorter")
    return {"say it shorter"}


def reviewed(bench: Bench) -> set[str]:
    bench.write("good", "")
    workflow = bench.open().workflow()
    workflow.check("tests")
    workflow.check("read", passed=True)
    workflow.done("build").begin("look").submit("look").review("look", "needs_revision", "say it louder")
    return {"say it louder"}


def sent_back(bench: Bench) -> set[str]:
    """By a person who looked again at what was finished."""
    said = rejected(bench)
    bench.open("human").workflow().reopen("build", "mind the wheel")
    return said | {"mind the wheel"}


def paused(bench: Bench) -> set[str]:
    bench.open("human").workflow().pause("over the weekend")
    return {"over the weekend"}


MOMENTS: tuple[Callable[[Bench], set[str]], ...] = (
    *(
        failed_twice,
        failed_alike,
        failed_once,
        blocked,
        check_failed,
        report_failed,
        rejected,
        paused,
        reviewed,
        sent_back,
    ),
)


@pytest.fixture
def begun(tmp_path) -> Bench:
    bench = Bench(tmp_path / "project").begun()
    bench.write(NAME, DEFINITION)
    bench.write("check.sh", CHECK)
    bench.write("result.txt", "one line\nerror: the wheel is round\n")
    bench.save()
    trust_file(bench.open(), str(bench.root / NAME))
    bench.start("once", "it").begin("build")
    return bench


def surfaces(bench: Bench) -> dict[str, str]:
    workflow: Workflow = bench.open().workflow()
    return {
        "status": bench.ok("status").out,
        "next": bench.ok("next").out,
        "packet": workflow.packet(),
        "compaction_summary": compaction_summary(workflow.briefing()),
    }


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.__name__)
def test_every_surface_tells_it_once(begun, moment):
    told = moment(begun)
    wrong = {
        (name, text): shown
        for name, shown in surfaces(begun).items()
        for text in told
        if shown.count(text) != 1 and (name != "compaction_summary" or shown.count(text) > 1)
    }
    assert wrong == {}, "\n".join(f"{one}\n{text}" for one, text in wrong.items())
