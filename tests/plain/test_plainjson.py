"""Our JSON is everybody's JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plain import plainjson

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20)


@given(VALUES)
def test_what_is_written_reads_back_the_same_here_and_elsewhere(value):
    for text in (plainjson.compact(value), plainjson.spaced(value)):
        assert plainjson.parse(text) == json.loads(text) == plainjson.parse(text.encode()) == value


@given(VALUES)
def test_a_spaced_line_is_what_the_standard_package_writes(value):
    assert plainjson.spaced(value) == json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    ["", " ", "{", "[1,]", "nul", "NaN", "-Infinity", "1 2", '{"a":}', '"\x01"', "'a'", "-", b"\xff", "[" * 100_000],
    ids=lambda text: repr(text[:10]),
)
def test_what_is_not_json_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        plainjson.parse(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", object()])
def test_what_json_cannot_say_is_not_written(value):
    with pytest.raises((ValueError, TypeError)):
        plainjson.compact([value])


def test_what_is_wrong_is_said_also_when_the_json_package_was_not_imported():
    code = """
from holdfast.plain.plainjson import parse
for text in ('{"a":1', '[1 2]', '{"abc', '', '[', 'tru', '"x', '{1:2}', '[1,]'):
    try:
        print('read', parse(text))
    except ValueError as wrong:
        assert str(wrong), text
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_neither_the_json_package_nor_re_is_imported():
    code = "import sys, holdfast.plain.plainjson; print(sorted({'json', 're'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
