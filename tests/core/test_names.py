"""Names and texts from outside: an allow-list, matched whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.names import checked, checked_text, is_name, is_ulid
from holdfast.errors import UsageError


@pytest.mark.parametrize("text", ["a", "0", "A.b_c-9", "x" * 64])
def test_letters_digits_and_three_marks_make_a_name(text):
    assert is_name(text)
    assert checked(text, "step") == text


@pytest.mark.parametrize("text", ["", ".", "-a", "_a", "a b", "a/b", "a\n", "a\0", "ä", "١", "x" * 65, "..", None, 7])
def test_nothing_else_is_a_name(text):
    assert not is_name(text)


@given(st.text(max_size=80))
def test_a_name_never_leaves_a_folder_and_never_ends_a_line(text):
    if is_name(text):
        assert not set(text) & set("/\\\0\r\n ")
        assert text not in (".", "..")
    else:
        with pytest.raises(UsageError) as caught:
            checked(text, "step")
        assert caught.value.code == "bad_name"
        assert caught.value.remedy


def test_a_ulid_is_26_characters_that_fit_128_bits():
    assert is_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert not is_ulid("81ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert not is_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAI")
    assert not is_ulid("01arz3ndektsv4rrffq69g5fav")
    assert not is_ulid("01ARZ3NDEKTSV4RRFFQ69G5FA")
    assert not is_ulid(None)


@pytest.mark.parametrize("text", ["", "  \n", "x" * 11, "ä" * 6, "nul\0", "\ud800"])
def test_a_text_is_bounded_in_bytes_and_has_words_no_nul_and_only_unicode(text):
    with pytest.raises(UsageError) as caught:
        checked_text(text, "reason", 10)
    assert caught.value.code == "bad_text"
    assert caught.value.remedy


def test_a_text_within_its_bounds_is_taken_as_it_is():
    assert checked_text("größer", "reason", 10) == "größer"
