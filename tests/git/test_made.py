"""Notes of commits that are made and not yet recorded."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from holdfast import git
from holdfast.git import made
from tests.workbench import Bench


def test_a_note_is_kept_while_others_take_theirs_away(tmp_path):
    """The folder goes with the last note in it, also while somebody else is about to write one there."""
    bench = Bench(tmp_path / "project").begun()
    repository = git.find(str(bench.root))
    assert repository is not None

    def work(step: str) -> None:
        for _ in range(150):
            made.keep(repository, made.Purpose("01", "run", step, "1"), bench_head, 0)
            made.forget(repository, "01", step)

    bench_head = bench.head
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, ("1.1", "1.2", "1.3")))
