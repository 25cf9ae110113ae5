"""What reaches a terminal: nothing it would obey, colours only where wanted, widths as a person sees them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plain.terminal import Style, clip, columns, escape, fold, pad, to_ascii, wants_colour, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcödé 日本 👩‍💻", "plain ünïcödé 日本 👩‍💻"),
        ("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x00\x7f\x80\x9b31m", "\\x00\\x7f\\x80\\x9b31m"),
        ("user\u202egpj.exe\u2066x\u2069", "user\\u202egpj.exe\\u2066x\\u2069"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("\udcff", "\\udcff"),
        ("hid\U000e0041den", "hid\\U000e0041den"),
        ("ad\u200bmin", "ad\\u200bmin"),
        ("ad\u200dmin\ufe0f", "ad\\u200dmin\\ufe0f"),
        ("❤\ufe0f\u200d🔥 می\u200cخواهم", "❤\ufe0f\u200d🔥 می\u200cخواهم"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_made_visible(text, shown):
    assert escape(text) == shown


def test_line_ends_and_tabs_pass_where_lines_are_allowed_and_nothing_else_does():
    assert escape("a\n\tb\r\x1b", lines=True) == "a\n\tb\\r\\x1b"


def test_every_character_that_shows_nothing_is_made_visible():
    ignorable = [0xAD, 0x34F, 0x115F, 0x3164, 0xFE00, 0xFEFF, 0xFFA0, 0xE0001, 0xE0100]
    formats = (code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf")
    with_a_shape = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in {*ignorable, *formats} - with_a_shape:
        assert escape(f"a{chr(code)}b").startswith("a\\"), hex(code)
        assert escape(f"a\n{chr(code)}b", lines=True).startswith("a\n\\"), hex(code)


@given(st.text(st.characters()))
def test_no_control_direction_override_or_surrogate_survives(text):
    for char in escape(text):
        assert unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(char) not in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    escape(text).encode()


@pytest.mark.parametrize(
    ("tty", "environ", "wanted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "0"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True),
        (False, {"FORCE_COLOR": "0", "CLICOLOR_FORCE": ""}, False),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_wanted_on_a_terminal_unless_the_environment_says_otherwise(tty, environ, wanted):
    assert wants_colour(tty, environ) is wanted


def test_colours_nest_and_a_disabled_style_leaves_text_alone():
    colourful, plain = Style(True), Style(False)
    assert colourful.bold(colourful.red("x")) == "\x1b[1m\x1b[31mx\x1b[39m\x1b[22m"
    for name in ("bold", "dim", "green", "yellow", "red", "cyan"):
        assert getattr(plain, name)("x") == "x"
        assert getattr(colourful, name)("x").endswith("m")
        assert getattr(colourful, name)("") == ""


def test_columns_count_wide_characters_twice_and_combining_ones_not_at_all():
    assert columns("abc") == 3
    assert columns("日本") == 4
    assert columns("e\u0301") == 1
    assert columns("한") == columns("\u1112\u1161\u11ab") == 2
    assert columns("a\u200db") == 2


def test_clipping_never_takes_more_columns_than_there_are_and_never_half_a_character():
    assert clip("short", 10) == "short"
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefg", 6) == "abcde…"
    assert clip("日本語", 4) == "日…"
    assert clip("two words", 5) == "two…"
    assert clip("x", 0) == ""


@given(st.text(), st.integers(-3, 30))
def test_clipped_text_fits(text, width):
    assert columns(clip(escape(text), width)) <= max(0, width)


def test_padding_counts_columns():
    assert pad("日", 4) + "|" == "日  |"
    assert pad("too long", 3) == "too long"


def test_wrapping_breaks_between_words_keeps_paragraphs_and_says_when_it_left_something_out():
    assert wrap("one two three", 8, 5) == ["one two", "three"]
    assert wrap("one\n\ntwo", 8, 5) == ["one", "two"]
    assert wrap("one two three four", 8, 1) == ["one two…"]
    assert wrap("one\ntwo", 8, 1) == ["one …"]
    assert wrap("", 8, 3) == []


@given(st.text(), st.integers(2, 30), st.integers(1, 4))
def test_wrapped_text_fits(text, width, most):
    lines = wrap(escape(text, lines=True), width, most)
    assert len(lines) <= most
    assert all(columns(line) <= width for line in lines)


def test_marks_become_ascii_one_for_one():
    marks = "✓▶◎◐✗■▲○↷▰▱·…→↳⚠—↻"
    assert to_ascii(marks).isascii()
    assert len(to_ascii(marks)) == len(marks)
    assert to_ascii("日本 é") == "日本 é"


def test_lines_that_are_wider_than_a_terminal_break_between_words_and_commands_stay_whole():
    sentence = "▶ verify is active · nobody on this machine has trusted its command yet  (holdfast next -w release-1)"
    assert fold(sentence, 40) == (
        "▶ verify is active · nobody on this\n  machine has trusted its command yet\n  (holdfast next -w release-1)"
    )
    ways = "several are active\n→ holdfast log -w the-first-one · or holdfast log -w the-second-one"
    assert fold(ways, 40) == "several are active\n→ holdfast log -w the-first-one\n  or holdfast log -w the-second-one"
    assert fold("→ holdfast log -w one that is longer than the terminal", 20).count("\n") == 0


def test_a_command_in_colour_gets_a_line_of_its_own_too():
    line = "\x1b[32m✓\x1b[39m started it · next: backup  \x1b[2m(holdfast done backup -w it-20261118)\x1b[22m"
    *_, last = fold(line, 50).split("\n")
    assert last == "  \x1b[2m(holdfast done backup -w it-20261118)\x1b[22m"


def test_a_row_folds_below_its_second_cell():
    row = "custom    1 step · any process, with phases of your own"
    assert fold(row, 30) == "custom    1 step · any\n          process, with phases\n          of your own"
    assert fold("a-name-longer-than-half  one two three", 30) == "a-name-longer-than-half  one\n  two three"


def test_folding_counts_what_is_seen_and_leaves_what_fits_or_goes_to_a_file():
    painted = Style(enabled=True).red("one two three")
    assert fold(painted, 13) == painted
    assert fold(painted, 8) == "\x1b[31mone two\n  three\x1b[39m"
    assert fold("one two three", 0) == "one two three"
