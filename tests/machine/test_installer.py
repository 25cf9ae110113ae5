"""Remedies name the program that installed Holdfast, and never its name on a package index."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.core.remedy import typed
from holdfast.machine import installer

METADATA = """\
Metadata-Version: 2.4
Name: holdfast
Version: 9
Requires-Dist: markdown-it-py<5,>=3.0
Requires-Dist: mcp<2.4,>=2.3
Requires-Dist: pytest; extra == "dev"
Requires-Dist: resvg-py<1,>=0.5; extra == "png"
"""
PYTHON = sys.executable
BY_HAND = "from a checkout of its repository: it is on no package index"


@pytest.fixture
def record(tmp_path, monkeypatch):
    """Makes the record of an installation, as pip and uv leave one."""

    def made(direct_url=None, by="pip"):
        folder = tmp_path / "packages/holdfast-9.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(METADATA)
        (folder / "INSTALLER").write_text(f"{by}\n")
        if direct_url:
            (folder / "direct_url.json").write_text(json.dumps(direct_url))
        monkeypatch.syspath_prepend(str(folder.parent))

    return made


@pytest.mark.parametrize(
    ("receipt", "upgrade", "again", "add", "reach"),
    [
        (
            "pipx_metadata.json",
            "upgrade: pipx upgrade holdfast",
            "pipx reinstall holdfast",
            "pipx inject holdfast 'mcp>=2.3,<2.4'",
            "pipx ensurepath",
        ),
        (
            "uv-receipt.toml",
            "upgrade: uv tool upgrade holdfast",
            "uv tool upgrade --reinstall holdfast",
            f"uv pip install --python {PYTHON} 'mcp>=2.3,<2.4'",
            "uv tool update-shell",
        ),
        (
            "",
            f"install the newer version {BY_HAND}",
            f"install Holdfast again {BY_HAND}",
            f"{PYTHON} -m pip install 'mcp>=2.3,<2.4'",
            'export PATH="/x:$PATH"',
        ),
    ],
)
def test_each_installer_has_its_own_commands(tmp_path, record, receipt, upgrade, again, add, reach):
    record()
    if receipt:
        (tmp_path / receipt).touch()
    prefix = str(tmp_path)
    ways = installer.upgrade(prefix), installer.again(prefix), installer.add("mcp", prefix)
    assert tuple(map(typed, (*ways, installer.reach("/x", prefix)))) == (upgrade, again, add, reach)


@pytest.mark.parametrize(
    ("direct_url", "source"),
    [
        ({"url": "file:///src/hold%20fast", "dir_info": {}}, "'/src/hold fast'"),
        ({"url": "file:///src/holdfast", "dir_info": {"editable": True}}, "--editable /src/holdfast"),
        ({"url": "file:///dist/holdfast-9.whl", "archive_info": {}}, "/dist/holdfast-9.whl"),
        (
            {"url": "https://git.example/h", "vcs_info": {"vcs": "git", "requested_revision": "v9"}},
            "git+https://git.example/h@v9",
        ),
        (
            {"url": "ssh://git.example/h", "vcs_info": {"vcs": "git"}, "subdirectory": "py"},
            "'git+ssh://git.example/h#subdirectory=py'",
        ),
    ],
)
def test_pip_installs_again_from_where_it_came_from(tmp_path, record, direct_url, source):
    record(direct_url)
    assert typed(installer.again(str(tmp_path))) == f"{PYTHON} -m pip install --force-reinstall {source}"
    assert typed(installer.upgrade(str(tmp_path))).endswith(f": {PYTHON} -m pip install --upgrade {source}")


def test_an_environment_that_uv_made_may_have_no_pip(tmp_path, record):
    record(by="uv")
    assert typed(installer.add("markdown_it", str(tmp_path))) == (
        f"uv pip install --python {PYTHON} 'markdown-it-py>=3.0,<5'"
    )


def test_a_package_that_only_some_commands_need_is_named_with_the_versions_of_its_extra(tmp_path, record):
    record()
    assert typed(installer.absent("resvg_py").remedies[0]) == f"{PYTHON} -m pip install 'resvg-py>=0.5,<1'"
    assert "resvg_py" not in installer.NEEDED  # nobody is told that it is missing who does not use it


def test_without_a_record_the_package_is_named_alone(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    assert installer.requirement("mcp") == "mcp"


@pytest.fixture
def without(tmp_path):
    """Runs code in a process that cannot import some packages."""

    def run(package, *words):
        code = (
            "import sys\n"
            "class Gone:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            f"        if name.partition('.')[0] == {package!r}:\n"
            "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
            "sys.meta_path.insert(0, Gone())\n"
            "import importlib.util\n"
            "find = importlib.util.find_spec\n"
            f"importlib.util.find_spec = lambda name, *rest: None if name == {package!r} else find(name, *rest)\n"
            "from holdfast.surfaces.cli.main import main\n"
            "sys.exit(main(sys.argv[1:]))\n"
        )
        words = (sys.executable, "-c", code, *words)
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, input="")

    return run


@pytest.mark.parametrize(
    ("package", "said", "requirement"),
    [
        ("mcp", "the Python package mcp is missing, which Holdfast needs", "mcp"),
        ("anyio", "the Python package anyio is missing, which mcp needs", "mcp"),
    ],
)
def test_the_server_says_which_package_is_missing_and_what_installs_it(without, package, said, requirement):
    answer = without(package, "mcp")
    assert (answer.returncode, answer.stderr.splitlines()[0]) == (6, said)
    assert f" '{requirement}>=2.3,<2.4'\n" in answer.stderr
    assert "should not happen" not in answer.stderr


def test_every_command_that_reads_markdown_says_it_too(without, tmp_path):
    (tmp_path / "features").mkdir()
    (tmp_path / "features/one.md").write_text("# Feature: One\n\n## Tasks\n- [ ] Do it\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    answer = without("markdown_it", "start", "dev", "features/one.md")
    assert answer.returncode == 6, answer
    assert answer.stderr.startswith("the Python package markdown-it-py is missing, which Holdfast needs\n→ ")


def test_a_package_of_another_version_is_named_with_the_versions_that_work(monkeypatch):
    error = ImportError("cannot import name 'Server' from 'mcp'", name="mcp.server")
    said = installer.diagnosed(error)
    assert said is not None
    assert said.message.endswith("Holdfast needs mcp>=2.3,<2.4")


def test_a_module_of_holdfast_itself_is_installed_again():
    said = installer.diagnosed(ModuleNotFoundError("No module named 'holdfast.x'", name="holdfast.x"))
    assert said is not None
    assert said.remedies == (installer.again(),)


@pytest.mark.parametrize("error", [ValueError("x"), ImportError("x"), ImportError("x", name="theirs")])
def test_what_is_not_about_the_installation_is_left_to_others(error):
    assert installer.diagnosed(error) is None


@pytest.mark.parametrize("name", ["hosts/installing/lines.py", "hosts/installing/texts/holdfast.js", "holdfast-hook"])
def test_what_a_host_is_told_says_where_holdfast_is_installed_from(name):
    root = Path(installer.__file__).parents[1]
    path = root.parent / "launcher" / name if name == "holdfast-hook" else root / name
    assert "from a checkout: " in path.read_text()
