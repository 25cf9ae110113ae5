"""Files that git commits with other content than they have on disk are found, wherever the filter is said."""

from __future__ import annotations

import pytest

from holdfast import git
from holdfast.git import filters
from tests.workbench import LOGIN, Bench


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path / "project").begun()
    made.write("a.py", "def f():\n    return 1\n")
    made.save()
    return made


def filtered(bench: Bench, command: str, where: str = ".git/info/attributes") -> None:
    bench.git("config", "filter.own.clean", command)
    bench.write(where, "*.py filter=own\n")


def found(bench: Bench, *more: str) -> list[str]:
    repository = git.find(str(bench.root))
    assert repository
    return filters.differing(repository, more)


@pytest.mark.parametrize("where", [".git/info/attributes", ".gitattributes"])
def test_a_filter_that_changes_what_is_committed_is_found(bench, where):
    assert found(bench) == []
    filtered(bench, "sed s/1/2/", where)
    bench.write("new one.py", "1\n")
    assert found(bench, "new one.py") == ["a.py", "new one.py"]


def test_a_filter_that_hides_an_edit_is_found(bench):
    bench.git("config", "filter.own.clean", "git show HEAD:%f")
    bench.write(".git/info/attributes", "*.py filter=own\n")
    assert found(bench) == []
    bench.write("a.py", "def f():\n    return 7\n")
    assert bench.git("diff", "--stat") == ""
    assert found(bench) == ["a.py"]


def test_line_endings_and_files_that_lfs_keeps_are_no_difference(bench):
    bench.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    bench.git("config", "filter.lfs.process", "git-lfs filter-process")
    bench.write(".git/info/attributes", "*.py filter=lfs\n")
    assert found(bench) == []
    bench.write("b.py", "1\r\n")
    filtered(bench, "tr -d '\\r'")
    assert found(bench, "b.py") == []


def test_a_filter_that_only_calls_itself_lfs_is_found_and_one_that_fails_too(bench):
    bench.git("config", "filter.lfs.clean", "sed s/1/2/")
    bench.write(".git/info/attributes", "*.py filter=lfs\n")
    assert found(bench) == ["a.py"]
    bench.git("config", "filter.lfs.clean", "false")
    bench.git("config", "filter.lfs.required", "true")
    assert found(bench) == ["a.py"]


def test_the_answer_to_a_commit_and_the_status_name_it(bench):
    bench.saved_feature(LOGIN, "One (no tests)", "Two (no tests)")
    bench.ok("start", "dev", LOGIN)
    filtered(bench, "sed s/7/1/")
    bench.write("a.py", "def f():\n    return 7\n\n\nMORE = 1\n")
    said = "in the commit with other content than was tested: a.py"
    assert said in bench.ok("done").out
    assert said in " ".join(bench.ok("status").out.split())
