"""Patterns over paths: what they fit, and which of two claims can mean the same file."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.patterns import is_pattern, matches, overlap


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*", ""),
        ("*", "src/a.py"),
        ("src/*.py", "src/a.py"),
        ("src/*.py", "src/deep/a.py"),
        ("src/?.py", "src/a.py"),
        ("**/a.py", "src/deep/a.py"),
        ("a*b*c", "aXXbYYbZc"),
        ("plain", "plain"),
        ("a?", "a*"),
    ],
)
def test_a_pattern_fits(pattern, text):
    assert matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("src/*.py", "src/a.pyc"),
        ("src/*.py", "lib/src/a.py"),
        ("src/?.py", "src/ab.py"),
        ("?", ""),
        ("a*b", "acbd"),
        ("plain", "Plain"),
        ("[ab].py", "a.py"),
        ("a.py", "aXpy"),
    ],
)
def test_a_pattern_does_not_fit(pattern, text):
    """Only `*` and `?` mean something; the whole text has to fit."""
    assert not matches(pattern, text)


@given(st.text("ab*?/", max_size=8), st.text("ab/", max_size=8))
def test_a_pattern_fits_what_a_shell_would_say(pattern, text):
    assert matches(pattern, text) == fnmatch.fnmatchcase(text, pattern)


def test_no_pattern_keeps_anybody_waiting():
    """A way that tries every split would not be done before the sun is cold."""
    assert not matches("*a" * 200 + "b", "a" * 1000)


def test_only_a_star_or_a_question_mark_makes_a_pattern():
    assert [is_pattern(text) for text in ("*", "a?", "a.py", "[a]", "{a,b}")] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/a.py", "src/a.py"),
        ("src", "src/a.py"),
        ("src", "src/deep/a.py"),
        ("src/*.py", "src/a.py"),
        ("src", "src/*.py"),
        ("*", "anything/at/all"),
        ("src/*", "src/deep"),
        ("src/*.py", "src/*.py"),
        ("src/*", "src/*.py"),
    ],
)
def test_two_claims_can_mean_the_same_file(one, other):
    assert overlap(one, other)
    assert overlap(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/a.py", "src/b.py"),
        ("src", "src2/a.py"),
        ("src/a", "src/a.py"),
        ("src/*.py", "src/a.md"),
        ("src/*.py", "docs"),
        ("src/*.py", "docs/*.py"),
    ],
)
def test_two_claims_never_mean_the_same_file(one, other):
    assert not overlap(one, other)
    assert not overlap(other, one)
