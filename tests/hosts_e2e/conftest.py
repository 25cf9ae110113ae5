"""What the scenes need once: the hosts from npm, and a Holdfast built from this tree and installed like any other."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.tiers import lack, need

pytest.register_assert_rewrite("tests.hosts_e2e.story")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOON = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000", "--fetch-timeout=20000")
"""A registry that does not answer is given up after less than a minute."""


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Test processes beside each other make a thing once."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def clients() -> Path:
    """The hosts as the lock file pins them, kept for the next time."""
    need("npm", "network namespaces")
    lock = HERE / "package-lock.json"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast-tests"
    place = cache / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    with _alone(cache / f"{place.name}.lock"):
        if not (place / ".installed").exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            for name in ("package.json", "package-lock.json"):
                shutil.copy(HERE / name, place)
            # `npm ci` refuses a lock that leaves out what other systems would need; this keeps to it as well.
            quiet = ("--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error")
            if subprocess.run(["npm", "install", "--engine-strict=false", *quiet, *SOON], cwd=place).returncode:
                lack("the agent hosts: npm could not install them, see above")
            (place / ".installed").touch()
    return place / "node_modules"


@pytest.fixture(scope="session")
def holdfast(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an installation with the extra for the MCP server."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    place = shared / "holdfast-installed"
    with _alone(shared / "holdfast-installed.lock"):
        if not (place / ".installed").exists():
            _install(place)
            (place / ".installed").touch()
    return place / "bin" / "holdfast"


def _install(place: Path) -> None:
    venv.create(place, with_pip=False)
    wheels = place / "wheels"
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels], cwd=ROOT, check=True)
    (wheel,) = wheels.iterdir()
    pip = (sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "--disable-pip-version-check")
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (own,) = metadata.distributions(name="holdfast", path=[str(packages)])
    for name in _needed(own, {"mcp"}):
        _copy(metadata.distribution(name), packages)


def _needed(of: metadata.Distribution, extras: set[str]) -> set[str]:
    """The names of all that a distribution is on; our environment has them as they are pinned."""
    found: set[str] = set()
    waiting = [(of, extras)]
    while waiting:
        one, wanted = waiting.pop()
        for line in one.requires or []:
            need = Requirement(line)
            applies = [{"extra": extra} for extra in wanted] or [{"extra": ""}]
            if need.name not in found and (not need.marker or any(map(need.marker.evaluate, applies))):
                found.add(need.name)
                waiting.append((metadata.distribution(need.name), need.extras))
    return found


def _copy(one: metadata.Distribution, packages: Path) -> None:
    for file in one.files or []:
        target = packages / file
        if ".." not in file.parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(one.locate_file(file)), target)
