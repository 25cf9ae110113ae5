"""A journal that came with git: taken over where it only continues, refused where it would reach out of the project."""

from __future__ import annotations

import json

import pytest

from holdfast.stores.lines import FIRST, head, seal
from tests.phases import write_all
from tests.workbench import Bench

COPY = "workflow/user-login/journal.jsonl"


@pytest.fixture
def clone(tmp_path) -> Bench:
    """A clone of a repository in which somebody began a feature; nothing of Holdfast's own came with it."""
    first = Bench(tmp_path / "first").begun()
    first.open().start("feature", "User login")
    write_all(first.write, "workflow/user-login")
    first.save("the documents")
    first.git("clone", "-q", str(first.root), str(tmp_path / "second"))
    return Bench(tmp_path / "second")


def forge(bench: Bench, **changes) -> None:
    """The copy with other words in its first event, sealed as if Holdfast had written it."""
    body = json.loads((bench.root / COPY).read_bytes().splitlines()[0])
    body["events"][0].update(changes)
    rest = {name: value for name, value in body.items() if name not in ("seq", "synced", "prev", "sum")}
    text = head(1, 0, FIRST) + json.dumps(rest, separators=(",", ":"), ensure_ascii=False).encode()[1:-1]
    (bench.root / COPY).write_bytes(text + seal(text))


def test_a_feature_goes_on_in_a_clone(clone):
    workflow = clone.open().workflow("user-login")
    assert workflow.state.origin == "started"
    assert workflow.done("01-requirements").state.step("01-requirements").status == "in_review"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"worktree": "/tmp"}, "linked worktree"),
        ({"id": "another-one"}, "journal of another-one"),
        ({"dialect": "skill"}, "journal of user-login"),
        ({"session": "darker"}, "files elsewhere"),
        ({"branch": "--upload-pack=evil"}, "branch"),
        (
            {
                "steps": [
                    {"id": "01-requirements", "checks": [{"name": "x", "run": ["touch", "owned"], "run_by": "engine"}]}
                ]
            },
            "commands of its own",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_journal_that_reaches_out_of_the_project_is_refused(clone, changes, reason):
    forge(clone, **changes)
    project = clone.open()
    project.heal()
    assert project.wired.store.entries() == []
    assert len(project.troubles) == 1
    assert reason in project.troubles[0]
