"""Moments, spans and money as text, held against the standard library."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import moment
from holdfast.errors import UsageError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLIS = st.integers(-62_135_596_800_000, 253_402_300_799_999)  # the years 1 to 9999
INNER = st.integers(-62_135_000_000_000, 253_402_000_000_000)  # a week less, so that no zone leaves them
ZONES = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(MILLIS)
def test_a_moment_is_written_as_the_standard_library_writes_it(millis):
    there = EPOCH + timedelta(milliseconds=millis)
    assert moment.from_epoch(millis / 1000) == there.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@given(MILLIS)
def test_a_moment_that_was_written_is_read_back_to_the_millisecond(millis):
    assert round(moment.to_epoch(moment.from_epoch(millis / 1000)) * 1000) == millis


@given(st.builds(lambda millis, zone: (EPOCH + timedelta(milliseconds=millis)).astimezone(zone), INNER, ZONES))
def test_offsets_and_fractions_are_read_as_the_standard_library_reads_them(there):
    assert abs(moment.to_epoch(there.isoformat()) - (there - EPOCH).total_seconds()) < 0.001


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-15T21:19:51Z",
        "2025-11-15T21:19:51z",
        "2025-11-15T21:19:51",
        "2025-11-15 21:19:51",
        "2025-11-15T21:19:51.000Z",
        "2025-11-15T22:19:51+01:00",
        "2025-11-15T15:49:51-05:30",
    ],
)
def test_the_same_moment_may_be_written_in_several_ways(text):
    assert moment.to_epoch(text) == 1763241591


def test_seconds_may_be_left_out():
    assert moment.to_epoch("2026-01-01T00:01Z") == moment.to_epoch("2026-01-01T00:01:00Z")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026",
        "2026-01-01",
        "2026/01/01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-01T25:00:00Z",
        "2026-01-01T-1:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:-1Z",
        "2026-01-01T00:00:nan",
        "2026-01-01T00:00:inf",
        "2026-01-01T00:00:1e9Z",
        "2026-01-01T00:00:00+xx:00",
        "١٠٢٦-01-01T00:00:00Z",
    ],
)
def test_what_is_not_a_moment_is_refused(text):
    with pytest.raises(UsageError) as caught:
        moment.to_epoch(text)
    assert caught.value.code == "bad_time"
    assert caught.value.remedy


@given(st.text(max_size=30))
def test_any_text_is_a_finite_moment_or_refused(text):
    try:
        seconds = moment.to_epoch(text)
    except UsageError:
        return
    assert abs(seconds) < 1e13


def test_the_time_between_two_moments_is_never_negative():
    assert moment.between("2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z") == 90
    assert moment.between("2026-01-01T00:01:30Z", "2026-01-01T00:00:00Z") == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (59.9, "59s"),
        (60, "1m 0s"),
        (303, "5m 3s"),
        (3600, "1h 0m"),
        (7500, "2h 5m"),
        (86_400, "1d 0h"),
        (273_600, "3d 4h"),
    ],
)
def test_a_span_is_written_as_people_write_it(seconds, text):
    assert moment.span(seconds) == text


@given(st.integers(1, 3599))
def test_a_span_below_an_hour_is_read_back_whole(seconds):
    assert moment.read_span(moment.span(seconds)) == seconds


@given(st.integers(0, 999_999_999_999_999))
def test_money_is_read_back_to_the_last_micro_dollar(micros):
    assert moment.read_money(moment.money(micros)) == micros


@pytest.mark.parametrize(
    ("micros", "text"),
    [(0, "$0.00"), (750_000, "$0.75"), (10_000_000, "$10.00"), (1_234_500, "$1.2345"), (1, "$0.000001")],
)
def test_money_has_cents_and_more_only_where_it_must(micros, text):
    assert moment.money(micros) == text


@given(st.one_of(st.text(max_size=12), st.floats(), st.integers(), st.booleans(), st.none(), st.lists(st.integers())))
def test_anything_is_an_amount_or_not_and_never_an_exception(value):
    assert (moment.read_money(value) or 0) >= 0
    assert (moment.read_span(value) or 1) >= 1


@pytest.mark.parametrize(
    ("seconds", "written"), [(1e15, "9999-12-31T23:59:59.999Z"), (-1e15, "0001-01-01T00:00:00.000Z")]
)
def test_what_four_digits_cannot_say_is_the_nearest_that_they_can(seconds, written):
    assert moment.from_epoch(seconds) == written
    assert moment.to_epoch(written)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30T10:00:00.000Z",
        "2026-01-01T24:00:00.000Z",
        "2026-01-01T10:60:00.000Z",
        "2026-01-01T10:00:60.000Z",
        "2026-01-01T10:00:00.0\u00b20Z",
        "2026-01-01T10:00:00,000Z",
        "2026-01-01T10-00:00.000Z",
        "2026-01-01T+1:00:00.000Z",
    ],
)
def test_a_moment_that_only_looks_like_one_that_holdfast_wrote_is_refused(text):
    with pytest.raises(UsageError):
        moment.to_epoch(text)
