"""Commit and cancel are killed before each of their system calls: the next command finds all of it, or nothing.

Only calls that change something are met: being killed before a call that looks leaves what being killed before the next
one that changes leaves.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile

import pytest

from tests.faults.commands import Commands
from tests.faults.kills import agreed, by_name
from tests.faults.project import copy
from tests.faults.tracing import Call, Tracer
from tests.systems.story.sessions.scene import below, files, timeless
from tests.tiers import is_full, rows

DEFINITION = 'name = "draft"\ndialect = "story"\n[[step]]\nid = "plan"\n[[step]]\nid = "write"\n'
CHANGING = frozenset(("mkdirat", "rmdir", "unlinkat", "write", "exit_group"))
WAITING = frozenset(("flock", "fsync", "fdatasync"))
TRIES = 5


@pytest.fixture(scope="module")
def commands(_clean_environment):
    made = Commands()
    yield made
    made.close()


@pytest.fixture
def memory():
    """A folder in memory: a process that is killed leaves the same files on every file system, and here sooner."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield folder


@pytest.fixture
def base(memory, commands):
    """A session with a changed, a new and a deleted file, and a workflow with an artifact."""
    root = os.path.join(memory, "base")
    for path, text in {
        ".holdfast/workflows/draft.toml": DEFINITION,
        "acts/one.md": "one\n",
        "acts/two.md": "two\n",
        "new.md": "new\n",
    }.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
    for line in (
        "session create s",
        "session use s",
        "session write acts/one.md --from new.md",
        "session write acts/four.md --from new.md",
        "session delete acts/two.md",
        "start draft scene --session s",
        "begin plan",
    ):
        answer = commands(root, *line.split())
        assert answer.code == 0, answer
    (run,) = os.listdir(os.path.join(root, "workspace/sessions/s/generation-runs"))
    with open(os.path.join(root, f"workspace/sessions/s/generation-runs/{run}/plan.md"), "w") as file:
        file.write("plan\n")
    answer = commands(root, "done", "plan", "--artifact", f"plan=workspace/sessions/s/generation-runs/{run}/plan.md")
    assert answer.code == 0, answer
    return root


class Stage:
    """A project before a command and after it, and what may be found when the command was killed."""

    def __init__(self, base: str, commands: Commands, words: tuple[str, ...]) -> None:
        self.commands = commands
        self.words = words
        self._base = base
        self._count = 0
        self.before = seen(base)
        after = self.fresh()
        answer = commands(after, *words)
        assert answer.code == 0, answer
        self.after = seen(after)
        self.tracer = Tracer(commands, words, os.path.join(os.path.dirname(base), "log"))

    def fresh(self) -> str:
        self._count += 1
        return copy(self._base, f"{self._base}-{self._count}")

    def calls(self) -> list[Call]:
        found = agreed(lambda: self.tracer.calls(self.fresh()))
        return [call for call in found if (call.changes or call.name in CHANGING) and call.name not in WAITING]

    def killed(self, call: Call):
        for _ in range(TRIES):
            root = self.fresh()
            answer = self.tracer.killed_before(call, root)
            if answer:
                return root, answer
        raise RuntimeError("the calls of the command are not those that were recorded")


def seen(root: str):
    """What people see of a project, and what Holdfast keeps of its workflows."""
    journals = [os.path.basename(path) for path in below(root, "journal")]
    with open(os.path.join(root, ".holdfast/index"), "rb") as file:
        listed = json.loads(file.read())["active"]
    return timeless(files(root)), journals, [(one["ulid"], one.get("session", "")) for one in listed], below_names(root)


def below_names(root: str) -> list[str]:
    """What is left of writes under way."""
    return [os.path.basename(path) for folder in ("sessions", "unsettled") for path in below(root, folder)]


def every_call(stage: Stage, next_command: tuple[str, ...], is_over) -> dict[bool, int]:
    """Kills the command before every call, runs the next one, and judges what is there; how often it had happened."""
    failures, outcomes = [], {True: 0, False: 0}
    for call in rows(stage.calls(), by_name):
        root, answer = stage.killed(call)
        try:
            following = stage.commands(root, *next_command)
            assert following.code == 0, following
            found = seen(root)
            happened = is_over(found)
            outcomes[happened] += 1
            assert found == (stage.after if happened else stage.before)
            assert happened or not answer.out, "acknowledged, and gone"
            again = stage.commands(root, *stage.words)
            assert again.code == 0, again
            assert seen(root) == stage.after
        except AssertionError as failure:
            failures.append(f"killed before {call}: {failure}")
        shutil.rmtree(root)
    assert not failures, "\n".join([f"{len(failures)} of {sum(outcomes.values())}", *failures])
    return outcomes


def is_gone(found) -> bool:
    return "workspace/sessions/s/session.json" not in found[0]


COMMIT, CANCEL = ("session", "commit", "s", "--force"), ("session", "cancel", "s", "--yes")
LOOK = ("session", "list")


@pytest.mark.parametrize("words", [COMMIT, CANCEL])
def test_a_killed_end_of_a_session_is_all_or_nothing_after_the_next_command(base, commands, words):
    stage = Stage(base, commands, words)
    assert stage.after[0].keys() != stage.before[0].keys()
    outcomes = every_call(stage, LOOK, is_gone)
    assert outcomes[False] >= 2
    assert outcomes[True] >= (15 if is_full() else 5)


def killed_with_its_plan(stage: Stage) -> str:
    """A project whose session was being ended by a process that died as soon as its plan was there."""
    plan = f"/.holdfast/sessions/s.{stage.words[1]}.json"
    calls = stage.calls()
    first = next(n for n, call in enumerate(calls) if call.name == "rename" and call.about[-1] == plan)
    root, _ = stage.killed(calls[first + 1])
    assert below_names(root) == [os.path.basename(plan)]
    return root


@pytest.mark.parametrize("words", [COMMIT, CANCEL])
def test_whoever_finishes_the_end_of_a_session_may_be_killed_too(base, commands, words):
    stage = Stage(base, commands, words)
    finishing = Stage(killed_with_its_plan(stage), commands, LOOK)
    assert finishing.after == stage.after
    outcomes = every_call(finishing, LOOK, is_gone)
    assert outcomes[True] >= (15 if is_full() else 5)
    assert outcomes[False] == 0


def test_a_start_finishes_a_commit_that_was_killed(base, commands):
    stage = Stage(base, commands, COMMIT)
    root = killed_with_its_plan(stage)
    answer = commands(root, "start", "draft", "another", "--json")
    assert answer.code == 0, answer
    assert is_gone(seen(root))
    assert stage.after[0].items() - seen(root)[0].items() <= {
        ("workspace/workflow-state/index.json", stage.after[0]["workspace/workflow-state/index.json"])
    }
    assert not os.path.exists(os.path.join(root, "workspace/sessions/s"))


def test_a_session_of_the_same_name_can_be_made_at_once(base, commands):
    root = killed_with_its_plan(Stage(base, commands, COMMIT))
    answer = commands(root, "session", "create", "s", "--json")
    assert answer.code == 0, answer
    assert answer.json["cow_files"] == answer.json["workflows"] == []
    assert files(root)["acts/one.md"] == b"new\n"


def test_what_was_written_after_a_commit_was_killed_is_kept(base, commands):
    """In the project the session's file wins, as was decided; what it displaces, and what came too late, is kept."""
    root = killed_with_its_plan(Stage(base, commands, COMMIT))
    written = {"acts/one.md": b"late in the project", "workspace/sessions/s/acts/late.md": b"late in the session"}
    for path, data in written.items():
        with open(os.path.join(root, path), "wb") as file:
            file.write(data)
    assert commands(root, *LOOK).code == 0
    assert files(root)["acts/one.md"] == b"new\n"
    kept = []
    for path in below(root, "quarantine"):
        with open(path, "rb") as file:
            kept.append(file.read())
    assert set(written.values()) <= set(kept)
    assert is_gone(seen(root))


@pytest.mark.parametrize("words", [COMMIT, CANCEL])
def test_a_command_whose_session_another_one_ended_answers_as_it_would_have(base, commands, words):
    stage = Stage(base, commands, words)
    root = killed_with_its_plan(stage)
    assert commands(root, *LOOK).code == 0
    again = commands(root, *words)
    assert again.code == 0, again
    if words == COMMIT:
        assert "session s is committed already" in again.out
        assert "acts/four.md" in again.out
    assert commands(root, "session", "create", "s").code == 0
    assert "already" not in commands(root, *words).out
