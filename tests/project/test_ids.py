"""The id of a workflow is part of the paths of its files: what could lead out of the project is refused."""

from __future__ import annotations

import pytest

from holdfast.errors import UsageError
from tests.workbench import Bench

DEFINITION = 'name = "own"\ndialect = "{}"\n[[step]]\nid = "01-requirements"\napproval = {{ by = "human" }}\n'
LEADING_OUT = ["../../out", "a/b", "..", ".hidden", "a\nb", "a\u202eb", "x" * 300]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "above" / "project").begun()


@pytest.mark.parametrize("word", LEADING_OUT)
@pytest.mark.parametrize("dialect", ["gated", "story", "compaction", "skill"])
def test_no_subject_and_no_value_makes_an_id_that_leads_elsewhere(bench, dialect, word):
    bench.write(".holdfast/workflows/own.toml", DEFINITION.format(dialect))
    project, code = bench.open(), ""
    try:
        project.start("own", word, context={"slug": word})
    except UsageError as refusal:
        code = refusal.code
    made = [entry.id for entry in project.wired.store.entries()]
    assert (code in ("bad_slug", "bad_name")) != bool(made)
    assert all(id.isprintable() and "/" not in id for id in made)
    assert [one.name for one in bench.root.parent.iterdir()] == ["project"]


@pytest.mark.parametrize("subject", ["", "…", "⸺"])
def test_a_feature_of_ones_own_definition_has_a_slug_too(bench, subject):
    bench.write(".holdfast/workflows/own.toml", DEFINITION.format("gated"))
    with pytest.raises(UsageError) as refusal:
        bench.open().start("own", subject)
    assert refusal.value.code == "bad_slug"
    assert bench.open().start("own", subject, context={"slug": "made-up"}).id == "made-up"
