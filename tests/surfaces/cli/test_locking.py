"""Files that one agent works on, as agents and people type it."""

from __future__ import annotations

import subprocess

import pytest

S1, S2 = {"CLAUDE_CODE_SESSION_ID": "S1"}, {"CLAUDE_CODE_SESSION_ID": "S2"}


def everything(project):
    return {path: path.read_bytes() for path in sorted(project.root.rglob("*")) if path.is_file()}


@pytest.fixture
def held(project):
    """A project in which a session works on some files."""
    answer = project.agent("lock", "src/*.py", "docs", "--as", "coder", env=S1)
    assert answer.code == 0, answer
    return project


def test_files_are_locked_and_listed_in_words_and_in_json(project):
    answer = project.agent("lock", "src/*.py", "docs", "--as", "coder", env=S1)
    assert answer.out.startswith("✓ locked src/*.py, docs (token 1) · next: draft")
    first, second = project.ok("locks").out.splitlines()
    assert first.startswith("src/*.py  coder, since 20")
    assert second.startswith("docs  coder, since 20")
    rows = project.ok("locks", "--json").json["locks"]
    assert [{**row, "since": ""} for row in rows] == [
        {"path": "src/*.py", "agent": "coder", "since": "", "token": 1, "stale": False},
        {"path": "docs", "agent": "coder", "since": "", "token": 1, "stale": False},
    ]


def test_a_lock_answers_in_json_with_its_token_and_paths(project):
    said = project.agent("lock", "a.py", "--agent", "writer", "--ttl", "1h", "--json", env=S1).json
    assert (said["token"], said["paths"], said["workflow_type"]) == (1, ["a.py"], "release")
    assert project.ok("locks", "--json").json["locks"][0]["agent"] == "writer"


def test_nothing_is_locked_at_first(project):
    assert project.ok("locks").out == "nothing is locked\n"
    assert project.ok("locks", "--json").json["locks"] == []


@pytest.mark.parametrize("path", ["src/a.py", "src", "docs/deep/x.md", "docs", "src/*.py"])
def test_another_session_is_told_who_holds_a_file(held, path):
    before = everything(held)
    answer = held.agent("lock", path, "--as", "coder", "--json", env=S2)
    assert (answer.code, answer.error["code"]) == (5, "locked")
    assert (answer.error["facts"]["path"], answer.error["facts"]["agent"]) == (path, "coder")
    assert "holdfast locks" in answer.error["remedy"]
    assert everything(held) == before


def test_a_path_is_named_from_where_one_stands(project):
    (project.root / "src/deep").mkdir(parents=True)
    answer = project.agent("lock", "*.py", "../b.py", str(project.root / "c.py"), "--json", cwd=project.root / "src")
    assert answer.json["paths"] == ["src/*.py", "b.py", "c.py"]


def test_the_same_agent_renews_its_hold(held):
    assert held.agent("lock", "docs", "--as", "coder", "--json", env=S1).json["token"] == 2
    rows = held.ok("locks", "--json").json["locks"]
    assert {row["path"]: row["token"] for row in rows} == {"src/*.py": 1, "docs": 2}


def test_files_are_given_back(held):
    answer = held.agent("unlock", "docs", "other", "--as", "coder", env=S1)
    assert answer.out.startswith("✓ unlocked docs · next: draft")
    assert held.agent("unlock", "src/*.py", "--json", env=S1).json["paths"] == ["src/*.py"]
    assert held.ok("locks").out == "nothing is locked\n"


def test_giving_back_what_nobody_holds_is_said_and_changes_nothing(held):
    before = everything(held)
    assert held.agent("unlock", "other", env=S2).out.startswith("nothing of this was locked")
    assert held.agent("unlock", "other", "--json", env=S2).json["paths"] == []
    assert everything(held) == before


def test_only_the_holder_or_a_person_gives_a_live_hold_back(held):
    answer = held.agent("unlock", "docs", "--json", env=S2)
    assert (answer.code, answer.error["code"]) == (5, "locked")
    assert held.person("unlock", "docs").code == 0
    assert [row["path"] for row in held.ok("locks", "--json").json["locks"]] == ["src/*.py"]


def test_other_workflows_of_the_project_see_the_locks(held):
    other = held.opened().start("release", "1.5.0")
    answer = held.agent("lock", "src/a.py", "-w", other.id, "--json", env=S2)
    assert (answer.code, answer.error["code"]) == (5, "locked")
    assert held.agent("lock", "tests", "-w", other.id, env=S2).code == 0
    assert held.ok("locks", "-w", other.id).out.startswith("tests  agent, since ")


def test_a_workflow_that_is_over_holds_nothing_for_anybody(held):
    other = held.opened().start("release", "1.5.0")
    first = held.opened().workflow(next(one["workflow_id"] for one in held.ok("list", "--json").json["workflows"]
                                        if one["workflow_id"] != other.id))  # fmt: skip
    first.cancel("enough")
    assert held.agent("lock", "src/a.py", "-w", other.id, env=S2).code == 0


def test_the_same_path_in_another_worktree_is_another_file(empty, tmp_path):
    def git(*words):
        subprocess.run(["git", *words], cwd=empty.root, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", "-f", ".")
    git("commit", "-qm", "first")
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert empty.agent("start", "release", "1", env=S1).code == 0
    assert empty.agent("lock", "src", env=S1).code == 0
    side = tmp_path / "side"
    assert empty.agent("start", "release", "2", env=S2, cwd=side).code == 0
    assert empty.agent("lock", "src", env=S2, cwd=side).code == 0
    assert len(empty.agent("locks", "--json", cwd=side).json["locks"]) == 1


HUGE = "x" * 100_000
BAD = [
    (("lock",), 2, "bad_usage"),
    (("lock", ""), 2, "bad_text"),
    (("lock", "."), 2, "outside_root"),
    (("lock", "../x"), 2, "outside_root"),
    (("lock", "/etc/*"), 2, "outside_root"),
    (("lock", "*/../../x"), 2, "outside_root"),
    (("lock", "link/*"), 2, "outside_root"),
    (("lock", "a\nb"), 2, "outside_root"),
    (("lock", HUGE), 2, "bad_text"),
    (("lock", "fine.py", "../x"), 2, "outside_root"),
    (("lock", "a", "--agent", "two words"), 2, "bad_name"),
    (("lock", "a", "--ttl", "soon"), 2, "bad_number"),
    (("lock", "a", "--ttl", "0s"), 2, "bad_number"),
    (("lock", "a", "--ttl", "25h"), 2, "bad_number"),
    (("lock", "a", "-w", "nope"), 4, "no_workflow"),
    (("lock", "a", "--token", "9-00000000000000000000000000000000"), 5, "fenced"),
    (("unlock",), 2, "bad_usage"),
    (("unlock", "../x"), 2, "outside_root"),
    (("unlock", "a", "-w", "nope"), 4, "no_workflow"),
    (("locks", "extra"), 2, "bad_usage"),
    (("locks", "-w", "nope"), 4, "no_workflow"),
]


@pytest.mark.parametrize(
    ("words", "code", "error"), BAD, ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else str(value)
)
def test_bad_input_is_refused_with_a_remedy_and_changes_nothing(project, words, code, error):
    (project.root / "link").symlink_to("/etc")
    before = everything(project)
    answer = project.agent(*words, "--json")
    assert (answer.code, answer.error["code"]) == (code, error)
    assert answer.error["remedy"]
    assert {path: data for path, data in everything(project).items() if path in before} == before


def test_the_same_key_again_is_the_same_lock(project):
    first = project.agent("lock", "a", "--key", "k1", "--json", env=S1).json
    again = project.agent("lock", "a", "--key", "k1", "--json", env=S1).json
    assert (again["token"], again["revision"]) == (first["token"], first["revision"])
