"""Commands that commit, each in a prepared project, and ended while they work: at one of their gits, or within one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests import forked
from tests.acceptance.feature import FIRST, HOME, SECOND, SLUG, House
from tests.orchestrated import Run
from tests.workbench import LOGIN, Bench, conversation

GIT = shutil.which("git")
_TRACED = "openat,write,pwrite64,rename,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate"
_KILLED = f'strace -o "$GIT_CALLS.log" -e trace=$CALL -e inject=$CALL:signal=KILL:when=$WHEN {GIT} "$@"'
WRAPPER = f"""#!/bin/sh
echo "$*" >> "$GIT_CALLS"
number=$(wc -l < "$GIT_CALLS")
test "$END_BY" = traced && exec strace -y -s 0 -o "$GIT_CALLS.$number" -e trace={_TRACED} {GIT} "$@"
if test $number = "$END_AT"; then
    exec 9> "$STILL_RUNNING"
    case $END_BY in
    within) exec {_KILLED};;
    within-both) {_KILLED}; kill -9 $PPID; exit 1;;
    *before) kill -${{END_BY%-*}} -$PPID; test $END_BY = 9-before && exit 1; sleep 0.1; exec {GIT} "$@";;
    *after) {GIT} "$@"; code=$?; kill -${{END_BY%-*}} -$PPID; sleep 0.1; exit $code;;
    *outlived) kill -9 $PPID; exec {GIT} "$@";;
    esac
fi
exec {GIT} "$@"
"""
OWN = """name = "own"
dialect = "{dialect}"
[[step]]
id = "code"
action = "commit"
[[step]]
id = "rest"
"""
_CALL = re.compile(r"^(\w+)\((.*)$")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"|<(/[^>]*)>')
_OWN_INTERRUPT = """import signal, sys, runpy
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.argv[0] = "holdfast"
runpy.run_module("holdfast", run_name="__main__")
"""


class Prepared(NamedTuple):
    """A command in its project; `later` bring it to its end where it was interrupted, and `proof` is in HEAD then."""

    bench: Bench | House
    words: tuple[str, ...]
    proof: Callable[[Path], bool]
    later: tuple[tuple[str, ...], ...] = ()
    is_persons: bool = False


def _stage(bench: Bench | House) -> None:
    """What the user staged is none of the work, where it was there before."""
    bench.write("staged.txt", "staged\n")
    bench.git("add", "staged.txt")


def _has(path: str) -> Callable[[Path], bool]:
    return lambda root: not git(root, "cat-file", "-e", f"HEAD:{path}", check=False).returncode


def _task(root: Path) -> Prepared:
    bench = Bench(root).begun()
    bench.saved_feature(LOGIN, "Add a form (no tests)")
    _stage(bench)
    bench.start()
    bench.write("work.txt", "work\n")
    return Prepared(bench, ("done", "task_execution/1"), _has("work.txt"))


def _commit_step(dialect: str) -> Callable[[Path], Prepared]:
    def prepare(root: Path) -> Prepared:
        bench = Bench(root).begun()
        bench.write(".holdfast/workflows/own.toml", OWN.format(dialect=dialect))
        bench.save("the definition")
        _stage(bench)
        bench.ok("start", "own", "something")
        bench.agent("begin", "code")
        bench.write("work.txt", "work\n")
        return Prepared(bench, ("done", "code"), _has("work.txt"))

    return prepare


def _orchestrated(root: Path) -> Prepared:
    bench = Bench(root).begun()
    Run(bench)
    _stage(bench)
    bench.write("work.txt", "work\n")
    return Prepared(bench, ("commit", "1.1", "-m", "the work", "--path", "work.txt"), _has("work.txt"))


def _feature(root: Path) -> Prepared:
    house = House(root)
    house.started()
    house.git("switch", "-q", "main")
    _stage(house)
    proof = _has("workflow/another-thing/journal.jsonl")
    return Prepared(
        house, ("start", "feature", "Another thing"), proof, (("feature", "continue", "-w", "another-thing"),)
    )


def _phase(command: str) -> Callable[[Path], Prepared]:
    def prepare(root: Path) -> Prepared:
        house = House(root)
        at = {"approve": FIRST, "done": SECOND, "commit": SECOND}[command]
        house.up_to(at, "user_review" if command == "approve" else "in_progress")
        if command != "approve":
            house.make(SECOND)
            house.write("draft.py", "# outside the workspace, which is committed as the phase moves\n")
        _stage(house)
        words = {
            "done": ("done", SECOND),
            "commit": ("commit", SECOND, "-m", "A first draft", "--path", "draft.py"),
            "approve": ("approve", FIRST, "--yes"),
        }
        made = "draft.py" if command == "commit" else f"{HOME}/{SECOND}/architecture.md"
        proof = _has(made) if command != "approve" else lambda root: _approved(root)
        return Prepared(house, words[command], proof, (("feature", "continue", SLUG),), is_persons=command == "approve")

    return prepare


def _approved(root: Path) -> bool:
    return '"approved"' in shown(root, "show", f"HEAD:{HOME}/{FIRST}/status.json")


def _finalized(root: Path) -> Prepared:
    house = House(root).publish().completed()
    _stage(house)
    gone = _has(f"{HOME}/workflow-state.json")
    return Prepared(house, ("feature", "finalize", SLUG), lambda root: not gone(root), ())


def _recovered(root: Path) -> Prepared:
    house = House(root).up_to(SECOND)
    shutil.rmtree(root / ".holdfast")
    (root / HOME / "journal.jsonl").unlink()
    (root / HOME / SECOND / "status.json").write_text("torn")
    _stage(house)
    proof = lambda root: "Recover" in shown(root, "log", "--format=%s", "-3")  # noqa: E731
    return Prepared(
        house, ("feature", "recover", SLUG, "--yes"), proof, (("feature", "continue", SLUG),), is_persons=True
    )


PATHS = {
    "task": _task,
    "own-skill": _commit_step("skill"),
    "own-compaction": _commit_step("compaction"),
    "own-story": _commit_step("story"),
    "orchestrator": _orchestrated,
    "feature": _feature,
    "phase-done": _phase("done"),
    "phase-commit": _phase("commit"),
    "phase-approve": _phase("approve"),
    "finalize": _finalized,
    "recover": _recovered,
}


class Within(NamedTuple):
    """A system call of a git that changes something: the `when`-th of its name there."""

    git: int
    call: str
    when: int
    path: str


class Ended:
    """A prepared project that is reverted each time, and in which the command is ended at another place.

    It is always at the same path: in a copy elsewhere, approvals would only be claimed.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self.prepared = PATHS[name](folder / "base")
        self._root = self.prepared.bench.root
        self._kept = [
            (made, shutil.copytree(made, folder / f"kept-{made.name}", symlinks=True))
            for made in (self._root, self._root.with_name("remote.git"))
            if made.exists()
        ]
        os.mkfifo(folder / "running")
        (folder / "bin").mkdir()
        (folder / "bin/git").write_text(WRAPPER)
        (folder / "bin/git").chmod(0o755)
        done = self.run(self.fresh(), 0, "")
        assert done.returncode == 0, done
        assert self.prepared.proof(self._root), done
        self.calls = (folder / "calls").read_text().splitlines()

    def fresh(self) -> Path:
        """The project as it was prepared, and its remote, to which the command may have pushed."""
        for made, kept in self._kept:
            shutil.rmtree(made)
            shutil.copytree(kept, made, symlinks=True)
        return self._root

    def run(self, root: Path, at: int, by: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Comes back when the command has ended, and so has a git that outlived it."""
        calls, running = self._folder / "calls", self._folder / "running"
        calls.write_text("")
        told = {"GIT_CALLS": str(calls), "STILL_RUNNING": str(running), "END_AT": str(at), "END_BY": by, **more}
        environment = {**os.environ, **told, "PATH": f"{self._folder}/bin:{os.environ['PATH']}"}
        reading = os.open(running, os.O_RDONLY | os.O_NONBLOCK)
        try:
            done = self._command(root, environment)
            os.set_blocking(reading, True)
            assert os.read(reading, 1) == b""  # once nobody has it open any more
        finally:
            os.close(reading)
        return done

    def again(self, root: Path) -> list[subprocess.CompletedProcess[str]]:
        """The same command once more, and what the advice of an interrupted one names."""
        return [self._command(root, None), *(holdfast(root, *words) for words in self.prepared.later)]

    def _command(self, root: Path, env: dict[str, str] | None) -> subprocess.CompletedProcess[str]:
        words = self.prepared.words
        return person(root, *words, env=env) if self.prepared.is_persons else holdfast(root, *words, env=env)

    def gits(self) -> list[tuple[int, str]]:
        """The gits that the command starts, each with its number."""
        kinds = (next(word for word in call.split() if _is_command(word)) for call in self.calls)
        return list(enumerate(kinds, 1))

    def changes(self) -> list[Within]:
        """What the gits change in the repository or in an index of their own, call by call."""
        done = self.run(self.fresh(), 0, "traced")
        assert done.returncode == 0, done
        found = []
        for number in range(1, len(self.calls) + 1):
            seen: Counter[str] = Counter()
            for line in (self._folder / f"calls.{number}").read_text(errors="replace").splitlines():
                called = _CALL.match(line)
                if called:
                    seen[called[1]] += 1
                    path = _changed(called[1], called[2])
                    if path:
                        found.append(Within(number, called[1], seen[called[1]], path))
        return found

    def was_hit(self) -> bool:
        """Whether the last git that was to be killed within was."""
        return "killed by SIGKILL" in (self._folder / "calls.log").read_text()


def _is_command(word: str) -> bool:
    return word.islower() and "=" not in word and word != "-c"


def _changed(name: str, arguments: str) -> str:
    """The path that a call changes; nothing where it only looks, or says something."""
    if name == "openat" and "O_CREAT" not in arguments:
        return ""
    paths = [quoted or opened for quoted, opened in _PATH.findall(re.sub(r"AT_FDCWD<[^>]*>", "", arguments))]
    return next((path for path in paths if path.startswith("/") and not path.startswith(("/dev", "/proc"))), "") or (
        paths[0] if paths and name != "write" else ""
    )


def holdfast(root: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", _OWN_INTERRUPT, *words], cwd=root, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, start_new_session=True)  # fmt: skip


def person(root: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """At a terminal, where every question is answered with Enter."""
    primary, secondary = forked.terminal()
    environment = {**(env or os.environ), "TERM": "dumb"}
    process = forked.start(words, (secondary, secondary, secondary), cwd=root, env=environment, session=True)
    os.close(secondary)
    said = conversation(primary, None)
    os.close(primary)
    return subprocess.CompletedProcess(words, process.wait(), said, said)


def git(root: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0 or not check, done.stderr
    return done


def shown(root: Path, *words: str) -> str:
    return git(root, *words).stdout.strip()


def left_over(root: Path) -> list[str]:
    """Locks and files of Holdfast's in the git folder."""
    names = [str(path.relative_to(root / ".git")) for path in (root / ".git").rglob("*")]
    names = [name for name in names if not name.startswith("holdfast-lines-")]  # records that stay
    return [name for name in names if name.startswith("holdfast") or name.endswith(".lock")]


def reverted(root: Path, *words: str) -> str:
    """What a plain commit of the user takes away that is in the working tree, or changes that is not theirs."""
    before = shown(root, "rev-parse", "HEAD")
    done = git(root, "commit", "-q", *words, "plain", check=False)
    if done.returncode:
        return "" if ".lock': File exists" in done.stderr else done.stderr
    rows = [row.split("\t") for row in shown(root, "diff", "--no-renames", "--name-status", before, "HEAD").split("\n")]
    if words == ("-m",):
        return "" if rows == [["A", "staged.txt"]] else repr(rows)
    return repr([row for row in rows if row[0] == "D" and (root / row[1]).exists()] or "")[1:-1].strip("'")
