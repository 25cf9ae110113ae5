"""What the repository promises about itself: imports, size, wording, locks, dependencies and builds."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "holdfast"
MODULES = sorted(PACKAGE.rglob("*.py"))

SLOW_TO_IMPORT = {
    "ctypes",
    "dataclasses",
    "datetime",
    "functools",
    "hashlib",
    "logging",
    "pathlib",
    "shutil",
    "subprocess",
    "tempfile",
    "threading",
    "tomllib",
    "typing",
}
FALLBACKS = {("plain/digest.py", "hashlib")}  # only where the interpreter was built without its own BLAKE2

# Each pattern has a bracket, so that this file does not contain what it looks for.
EVERYWHERE = {
    "a path of one machine": r"(?<![\w.~])/(?:wor[k]/|roo[t]/|opt/(?:wheel[s]|pyp[i])|tmp/h[v]\b)|\.pyen[v]\b",
    "a host of a registry": r"pyp[i]\.org|pythonhoste[d]|artifactor[y]|(?:--|_)(?:extra[-_])?index[-_]ur[l]\b",
    "unfinished work": r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K]|TB[D]|WI[P])\b|(?i:not yet implemente[d]|coming soo[n])",
    "a planning document": r"\b(?:DESIG[N]|STYL[E]|DIALECT[S]|HOST[S])\.md\b",
}
IN_OUR_WORDS = {"a numbered reference": r"(?i:\b(?:issue|ticket|pull request|PR)s?\s*[#]\d)"}
PUBLISHED = {"the inputs of the project": r"(?i:\bseed[s]?\b)"}
RIDDLES = {
    "a word that CONTRIBUTING replaces": r"(?i:\b(?:whoever|heed(?:s|ed)?|keepsake|births|afresh|anew|mend(?:s|ed|ing)?"
    r"|what is in the way|puts? (?:\w+ ){0,6}away|go(?:es|ing)? on|(?:lies|stands) (?:in|on|below|there))\b)"
}


def tracked() -> list[str]:
    """Files that git has or would take with the next `git add`."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted({name for name in listing.split("\0") if name and (ROOT / name).is_file()})


def patterns_for(name: str) -> dict[str, str]:
    patterns = dict(EVERYWHERE)
    if name.startswith(("src/", "docs/", "tests/")):
        patterns |= IN_OUR_WORDS
    if name.startswith(("src/", "docs/")):
        patterns |= PUBLISHED | RIDDLES
    return patterns


def objections(name: str, text: str) -> list[str]:
    return [
        f"{name}:{number}: {what}: {line.strip()}"
        for what, pattern in patterns_for(name).items()
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line)
    ]


def imported_at_start(body: list[ast.stmt]) -> set[str]:
    """Top-level names of what a module imports while it is itself imported."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            found |= imported_at_start(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "finalbody"):
                found |= imported_at_start(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                found |= imported_at_start(handler.body)
    return found


def requirement_name(line: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", line)
    assert match, line
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text()
    return dict(re.findall(r"^([a-z0-9-]+)(?:\[[^]]*\])?==([^\s;]+)", text, flags=re.MULTILINE))


def justified(heading: str) -> set[str]:
    """Names with a reason under a heading of the page on dependencies."""
    page = (ROOT / "docs" / "dependencies.md").read_text()
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^- `([^`]+)`: \S.*$", section, flags=re.MULTILINE))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_nothing_slow_at_its_top(module):
    slow = imported_at_start(ast.parse(module.read_bytes()).body) & SLOW_TO_IMPORT
    name = str(module.relative_to(PACKAGE))
    assert {(name, what) for what in slow} <= FALLBACKS


def test_slow_imports_are_seen_in_branches_and_classes_but_not_in_functions_or_for_types():
    source = """
TYPE_CHECKING = False
if TYPE_CHECKING:
    import typing
else:
    import logging.handlers
try:
    from pathlib import Path
except ImportError:
    import shutil
class Room:
    import tempfile
def door():
    import subprocess
"""
    assert imported_at_start(ast.parse(source).body) == {"logging", "pathlib", "shutil", "tempfile"}


def test_no_module_has_more_than_500_lines():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > 500} == {}


def test_no_file_speaks_of_this_machine_or_of_unfinished_work():
    found: list[str] = []
    for name in tracked():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # an image has no words
        found += objections(name, text)
    assert found == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("README.md", "see /roo" + "t/notes"),
        ("requirements/dev.txt", "--index-ur" + "l https://mirror.example/simple"),
        ("src/holdfast/x.py", "# TOD" + "O: later"),
        ("tests/test_x.py", "as in issue #" + "12"),
        ("docs/x.md", "as the seed" + "s say"),
        ("docs/x.md", "`clean` puts finished workflows away"),
        ("src/holdfast/x.py", '"""What whoever comes next has to heed."""'),
    ],
)
def test_wording_that_does_not_belong_is_found(name, line):
    assert objections(name, line)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("tests/test_x.py", "@seed" + "(1)"),
        ("docs/x.md", "cd ~/work/project"),
        ("docs/x.md", "a colour is #" + "333"),
        ("src/holdfast/x.py", 'mktemp("XXXXXX")'),
    ],
)
def test_wording_that_only_looks_alike_is_left_alone(name, line):
    assert objections(name, line) == []


def test_every_python_dependency_has_its_reason_and_no_other_is_listed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    named = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in project["project"].get("optional-dependencies", {}).values():
        named += extra
    for path in (ROOT / "requirements").glob("*.in"):
        named += [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "-"))]
    assert justified("Python packages") == {requirement_name(line) for line in named}


def test_every_node_package_has_its_reason_and_is_pinned_with_its_hash():
    folder = ROOT / "tests" / "node"
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    assert justified("Node packages") == wanted.keys()
    locked = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert locked.pop("")["dependencies"] == wanted
    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert [name for name, one in locked.items() if not one.get("integrity", "").startswith("sha512-")] == []


def test_every_system_package_has_its_reason_and_no_other_is_listed():
    listed = subprocess.run([ROOT / "tools" / "system-packages", "--list"], check=True, capture_output=True, text=True)
    assert justified("System packages") == set(listed.stdout.split())


def test_every_agent_host_has_its_reason_and_is_pinned_with_its_hash():
    folder = ROOT / "tests" / "hosts_e2e"
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    assert justified("Agent hosts") == set(wanted)
    locked = json.loads((folder / "package-lock.json").read_text())["packages"]
    versions = {name: version.rpartition("@")[2] for name, version in wanted.items()}
    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == versions
    assert all(one.get("integrity") for name, one in locked.items() if name)


@pytest.mark.parametrize("name", ["bench.txt", "build.txt", "dev.txt"])
def test_every_line_of_a_lock_is_a_pin_a_hash_or_a_comment(name):
    text = (ROOT / "requirements" / name).read_text()
    pinned = r"[a-z0-9-]+(?:\[[a-z0-9,-]+\])?==\S+(?: ; [^\\]+)? \\"
    hashed = r"    --hash=sha256:[0-9a-f]{64}(?: \\)?"
    odd = [line for line in text.splitlines() if not re.fullmatch(rf"{pinned}|{hashed}|\s*#.*", line)]
    assert odd == []
    assert pins(name)


def test_the_locks_agree_with_each_other_and_with_the_build_system():
    build = pins("build.txt")
    for larger in (pins("dev.txt"), pins("bench.txt")):
        assert {name: larger.get(name) for name in build} == build
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert requires == [f"hatchling=={build['hatchling']}"]
    for path in (ROOT / "requirements").glob("*.in"):
        names = {requirement_name(line) for line in path.read_text().splitlines() if line and line[0] not in "#-"}
        assert names <= pins(f"{path.stem}.txt").keys()


def built(tree: Path, umask: int) -> dict[str, bytes]:
    """Every distribution built from a fresh copy of what git tracks."""
    for name in tracked():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", "dist"],
        cwd=tree,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1767225600"},
        umask=umask,
        check=True,
        capture_output=True,
    )
    return {path.name: path.read_bytes() for path in (tree / "dist").iterdir()}


def test_two_builds_of_the_same_files_are_the_same_bytes_and_leave_nothing_out(tmp_path):
    first = built(tmp_path / "one", umask=0o022)
    second = built(tmp_path / "elsewhere", umask=0o077)
    assert len(first) == 2
    assert {name: hashlib.sha256(data).hexdigest() for name, data in first.items()} == {
        name: hashlib.sha256(data).hexdigest() for name, data in second.items()
    }
    (wheel,) = (tmp_path / "one" / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("holdfast/")}
    assert packed == {name.removeprefix("src/") for name in tracked() if name.startswith("src/holdfast/")}
