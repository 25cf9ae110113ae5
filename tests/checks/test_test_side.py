"""Which files are tests, or what tests are run with."""

from __future__ import annotations

import pytest

from holdfast.checks.test_side import is_test_side, of_tests

TESTS = """tests/helper.py test_a.py a_test.go src/x.test.ts x.spec.ts conftest.py a/conftest.py jest.setup.js
jest.config.cjs vitest.config.ts src/setupTests.ts __mocks__/fs.js src/__tests__/a.js spec_helper.rb MyApp.Tests/Foo.cs
src/test/java/FooTest.java FooTests.swift testdata/a.json test-utils/index.ts fixtures.py .mocharc.json
__snapshots__/a.snap tests.py test1.py integration-tests/a.ts pytest.ini tests/common/mod.rs cypress/support/e2e.js
user.mock.ts src/testing/render.tsx test_utils.py"""
WORK = """src/latest.py spec.py src/attest.go packages/spec-parser/src/a.ts inspector.py contest/a.py
packages/test-runner/src/a.ts src/main/java/spec/Foo.java src/snapshot.py src/testimonials/a.tsx openapi_spec.py
src/lib.rs Makefile"""


@pytest.mark.parametrize("name", TESTS.split())
def test_a_test_a_helper_and_the_set_up_of_a_test_tool_are_the_tests_side(name):
    assert is_test_side(name)


@pytest.mark.parametrize("name", WORK.split())
def test_a_name_that_only_has_such_letters_in_it_is_work(name):
    assert not is_test_side(name)


def test_of_a_manifest_only_what_it_says_of_tests_counts():
    plain = b'{"dependencies": {"a": "1"}, "scripts": {"build": "x"}}'
    assert of_tests("package.json", plain) == of_tests("package.json", None) == ""
    assert of_tests("a/package.json", b'{"jest": {"setupFiles": ["x"]}}') != ""
    assert of_tests("package.json", b'{"scripts": {"test": "jest"}}') != of_tests("package.json", b'{"jest": 1}')
    assert of_tests("pyproject.toml", b"[project]\nname = 'a'\n") == of_tests("pyproject.toml", b"[[") == ""
    assert of_tests("pyproject.toml", b"[tool.pytest.ini_options]\naddopts = '-x'\n") != ""
