"""Which tests run, what becomes of one whose machine lacks something, and what each folder costs.

`--quick` leaves out the folders that take long and every test that calls `need`, tests a property by fewer examples,
and writes to memory where it can; `--full` adds the rows of tables that are marked `full`. Without either, a table is
tested by the first and the last row of each kind. Chance repeats in every tier.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings

HERE = Path(__file__).resolve().parent
SLOW = (
    "acceptance",
    "checks/results/test_asking.py",
    "checks/results/test_readers.py",
    "checks/test_equipping.py",
    "checks/test_evidence.py",
    "checks/test_packages.py",
    "checks/test_running.py",
    "checks/test_tools.py",
    "concurrency",
    "docs/test_examples.py",
    "documents/test_checkpoints.py",
    "documents/test_edits.py",
    "documents/test_found.py",
    "documents/test_lost.py",
    "documents/test_lost_and_forged.py",
    "faults",
    "forges",
    "git",
    "golden",
    "hosts_e2e",
    "project/test_inbox.py",
    "stores/test_copies.py",
    "stores/test_files.py",
    "stores/test_losses.py",
    "surfaces/cli",
    "surfaces/mcp",
    "surfaces/test_following_advice.py",
    "surfaces/test_statusline.py",
    "surfaces/test_told_at_once.py",
    "systems/compaction/test_detection.py",
    "systems/gated",
    "systems/orchestrator/test_edits.py",
    "systems/seam/test_adoption.py",
    "systems/story/sessions/test_command_line.py",
    "systems/story/sessions/test_kills.py",
    "systems/test_actions.py",
    "systems/test_external.py",
    "upkeep",
)
"""Folders and modules that `--quick` leaves out: they start processes by the hundred."""
IN_CI = "HOLDFAST_CI"
MEMORY = "/dev/shm"
ENOUGH = 1 << 30
"""Bytes that must be free in memory for the files of the quick tests."""
LACK = "this machine lacks "
OVERHEAD = "(collection, workers)"
AT_LEAST = 1.0
"""Seconds; folders that cost less share a line."""

Row = TypeVar("Row")

_chosen = ""
_strict = False
_simulated = False
_spent: dict[str, float] = defaultdict(float)
_elsewhere: list[Callable[[], float]] = []


def is_full() -> bool:
    """Whether tables are tested row by row."""
    return _chosen == "full"


def examples(number: int) -> int:
    """How many examples a property is tested by: with `--quick`, a fifth of the number."""
    return max(10, number // 5) if _chosen == "quick" else number


def rows(table: Sequence[Row], kind: Callable[[Row], object]) -> list[Row]:
    """Every row of a table; without `--full`, the first and the last of each kind."""
    if is_full():
        return list(table)
    first = {kind(row): place for place, row in reversed(list(enumerate(table)))}
    last = {kind(row): place for place, row in enumerate(table)}
    return [table[place] for place in sorted({*first.values(), *last.values()})]


def need(*names: str) -> None:
    """Skips the test where the machine lacks something: a program by its name, or one of `_PROBES`."""
    if _chosen == "quick":
        pytest.skip(f"the quick tests do without {' and '.join(names)}")
    for name in names:
        found = _PROBES[name]() if name in _PROBES else _has(name)
        if not found:
            lack(name)


def need_own_system() -> None:
    """Skips a test whose other processes see this machine, where this one sees a simulated macOS."""
    if _simulated:
        pytest.skip("another process does not see the simulated macOS")


def lack(what: str) -> None:
    """The test cannot run here: in continuous integration, where everything is to be run, this is a failure."""
    (pytest.fail if _strict else pytest.skip)(LACK + what)


@functools.cache
def _has(program: str) -> bool:
    path = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"
    return shutil.which(program, path=path) is not None


def _succeeds(*words: str) -> bool:
    try:
        return subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


@functools.cache
def _traces() -> bool:
    return _succeeds("strace", "-f", "-o", os.devnull, "true")


@functools.cache
def _has_own_mounts() -> bool:
    """From here on, what this process mounts is gone when it ends, even if it is killed: no later run meets it.

    Processes that it started before would not see what it mounts.
    """
    new_mounts = 0x00020000
    return (
        sys.platform == "linux"
        and ctypes.CDLL(None).unshare(new_mounts) == 0
        and _succeeds("mount", "--make-rprivate", "/")
    )


@functools.cache
def _mounts() -> bool:
    if not _has_own_mounts():
        return False
    with tempfile.TemporaryDirectory() as folder:
        return _succeeds("mount", "-t", "tmpfs", "holdfast-probe", folder) and _succeeds("umount", folder)


@functools.cache
def _mounts_images() -> bool:
    if not _has_own_mounts():
        return False
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "image")
        with open(image, "wb") as file:
            file.truncate(8 << 20)
        if not _succeeds("mkfs.ext4", "-q", "-F", image):
            return False
        return _succeeds("mount", "-o", "loop", image, folder) and _succeeds("umount", folder)


@functools.cache
def _isolates() -> bool:
    own = ("--net",) if os.geteuid() == 0 else ("--map-root-user", "--net")
    return _succeeds("unshare", *own, sys.executable, "-S", "-c", "")


@functools.cache
def _lets_others_run() -> bool:
    nobody = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups")
    return _succeeds(*nobody, sys.executable, str(Path(sys.executable).parent / "holdfast"), "--version")


def _pushes_keys() -> bool:
    try:
        return Path("/proc/sys/dev/tty/legacy_tiocsti").read_text().strip() != "0"
    except OSError:  # an older kernel, which always allows it
        return sys.platform == "linux"


_PROBES: dict[str, Callable[[], bool]] = {
    "root": lambda: os.geteuid() == 0,
    "strace": _traces,
    "mounts": _mounts,
    "loop devices": _mounts_images,
    "TIOCSTI": _pushes_keys,
    "network namespaces": _isolates,
    "a folder that other users may read": _lets_others_run,
    "resvg-py": lambda: importlib.util.find_spec("resvg_py") is not None,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--quick", action="store_true", help="leave out slow folders, and what needs other programs")
    group.addoption("--macos", action="store_true", help="run what needs no other process as on a simulated macOS")
    group.addoption("--full", action="store_true", help="test every row of the tables")


def pytest_configure(config: pytest.Config) -> None:
    global _chosen, _simulated, _strict
    _chosen = "quick" if config.option.quick else "full" if config.option.full else ""
    _strict = bool(os.environ.get(IN_CI))
    gc.disable()  # until all tests are collected: none of them is garbage
    _has_own_mounts()
    if _chosen == "quick" and _takes_files(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
    _simulated = config.option.macos
    if _simulated:
        from holdfast.files import system
        from tests.files import mac

        system.here = mac.mac()
    chance = {"derandomize": True, "deadline": None, "database": None}
    settings.register_profile("holdfast", max_examples=examples(100), **chance)
    settings.load_profile("holdfast")
    config.addinivalue_line("markers", "full: a row of a table that only `--full` tests")


def _takes_files(folder: str) -> bool:
    """Whether the tests can write there, run what they wrote and have enough space."""
    if not os.access(folder, os.W_OK):
        return False
    there = os.statvfs(folder)
    return not there.f_flag & os.ST_NOEXEC and there.f_bavail * there.f_frsize >= ENOUGH


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    slow = any(collection_path.is_relative_to(HERE / name) for name in SLOW)
    return True if _chosen == "quick" and slow else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not is_full():
        left = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


def _cpu() -> float:
    """Seconds of this process, of the children that it waited for, and of others that work for it."""
    return sum(os.times()[:4]) + sum(ask() for ask in _elsewhere)


def elsewhere(ask: Callable[[], float]) -> None:
    """Counts the seconds of processes that are children of another one."""
    _elsewhere.append(ask)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    before = _cpu()
    try:
        return (yield)
    finally:
        _spent[str(item.path.relative_to(HERE))] += _cpu() - before


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["cpu"] = {**_spent, OVERHEAD: _cpu() - sum(_spent.values())}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for name, seconds in getattr(node, "workeroutput", {}).get("cpu", {}).items():
        _spent[name] += seconds


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = Counter(str(report.longrepr[2]) for report in terminalreporter.getreports("skipped"))
    lacking = {reason: count for reason, count in reasons.items() if LACK in reason}
    if lacking:
        terminalreporter.section("not run")
        for reason, count in sorted(lacking.items()):
            terminalreporter.line(f"{count:6} tests: {reason.partition(': ')[2]}")
    own = os.times()
    _spent[OVERHEAD] += own.user + own.system if OVERHEAD in _spent else _cpu() - sum(_spent.values())
    terminalreporter.section("CPU seconds by folder")
    spent = _spent if terminalreporter.verbosity > 0 else _by_folder()
    for name, seconds in sorted(spent.items(), key=lambda one: -one[1]):
        terminalreporter.line(f"{seconds:8.1f}  {name}")
    terminalreporter.line(f"{sum(_spent.values()):8.1f}  all, or {sum(_spent.values()) / 60:.1f} minutes")


def _by_folder() -> dict[str, float]:
    folders: dict[str, float] = defaultdict(float)
    for name, seconds in _spent.items():
        folders[os.path.dirname(name) or name] += seconds
    small = [name for name, seconds in folders.items() if seconds < AT_LEAST]
    others = sum(folders.pop(name) for name in small)
    return {**folders, "(others)": others}
