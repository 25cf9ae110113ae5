"""Moments and spans as text: UTC with `Z`, and "2h 5m". Arithmetic only: no clock is read here."""

from __future__ import annotations

from holdfast.errors import UsageError

_FIRST, _LAST = -62_135_596_800, 253_402_300_799.999
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def from_epoch(seconds: float) -> str:
    """`1763241591.25` → `2025-11-15T21:19:51.250Z`; outside of the years 1 to 9999, the nearest of them."""
    global _second
    whole_seconds, millis = divmod(round(min(max(seconds, _FIRST), _LAST) * 1000), 1000)
    known = _second  # taken once: another thread may put its own answer there meanwhile
    if known[0] != whole_seconds:
        days, rest = divmod(whole_seconds, 86_400)
        year, month, day = _civil(days)
        text = f"{year:04}-{month:02}-{day:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
        _second = known = (whole_seconds, text)
    return f"{known[1]}.{millis:03}Z"


_second = (0, "1970-01-01T00:00:00")
"""The last answer, to the second."""


def whole(text: str) -> str:
    """The moment to the second: what documents show."""
    return text[:19] + "Z" if text[19:20] == "." and text.endswith("Z") else text


def compact(text: str, between: str = "-") -> str:
    """A moment as it is in names: `20251209-143052`."""
    return text[:19].replace("-", "").replace(":", "").replace("T", between)


def to_epoch(text: str) -> float:
    """Seconds since 1970 of an ISO 8601 moment; offsets and fractions are accepted, no offset means UTC."""
    written = _as_written_here(text) if len(text) == 24 else None
    return _any_epoch(text) if written is None else written


def _as_written_here(text: str) -> float | None:
    """The same of a moment as `from_epoch` writes it; None where it is written otherwise. Most are ours."""
    hours, minutes, seconds, millis = text[11:13], text[14:16], text[17:19], text[20:23]
    digits, days = hours + minutes + seconds + millis, _day(text[:10])
    if days is None or text[13] + text[16] + text[19] + text[23] != "::.Z" or not _digits(digits):
        return None
    if hours > "23" or minutes > "59" or seconds > "59":
        return None
    return days * 86400.0 + int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(millis) / 1000


def _any_epoch(text: str) -> float:
    clock, offset = text[11:], 0
    if clock[-1:] in ("Z", "z"):
        clock = clock[:-1]
    elif len(clock) > 6 and clock[-6] in "+-" and clock[-3] == ":":
        away = _number(clock[-5:-3], 23) * 3600 + _number(clock[-2:], 59) * 60
        clock, offset = clock[:-6], -away if clock[-6] == "-" else away
    seconds, _, fraction = clock[6:].partition(".")
    days = _day(text[:10])
    hours, minutes, whole_seconds = _number(clock[:2], 23), _number(clock[3:5], 59), _number(seconds or "00", 59)
    wrong = min(hours, minutes, whole_seconds, offset + 86_400) < 0
    if days is None or wrong or clock[2:3] + clock[5:6] not in (":", "::") or not _digits(fraction or "0"):
        said = f"{text[:60]!r} is not a moment"
        raise UsageError("bad_time", said, remedy="write it as 2026-01-31T12:00:00Z", facts={"value": text})
    return days * 86400.0 + hours * 3600 + minutes * 60 + whole_seconds + float(f"0.{fraction or 0}") - offset


def _day(text: str) -> int | None:
    """The day of a date, counted from 1970; None where it is no date. What happens together is of the same few days."""
    known = _dates.get(text)
    if known is not None:
        return known
    year, month, day = _number(text[:4], 9999), _number(text[5:7], 12), _number(text[8:10], 31)
    days = _days(year, month, day) if min(year, month, day) > 0 else 0
    right = min(year, month, day) > 0 and text[4:5] + text[7:8] == "--" and _civil(days) == (year, month, day)
    if right:
        if len(_dates) >= _MOST_DATES:
            _dates.clear()
        _dates[text] = days
    return days if right else None


_MOST_DATES = 1000
_dates: dict[str, int] = {}


def _number(text: str, most: int) -> int:
    """The number that two or four digits say; below every number when they do not say one up to `most`."""
    return int(text) if len(text) in (2, 4) and _digits(text) and int(text) <= most else -100_000


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def between(start: str, end: str) -> float:
    """Seconds from start to end, never negative (clocks do jump back)."""
    return max(0.0, to_epoch(end) - to_epoch(start))


def span(seconds: float) -> str:
    """A span as people write it: `42s`, `5m 3s`, `2h 5m`, `3d 4h`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole // 60 % 60}m"
    return f"{whole // 86400}d {whole // 3600 % 24}h"


def read_span(text: object) -> int | None:
    """Seconds of `90`, `"90s"`, `"2h"`, `"1h 30m"`; None when it is not a positive span."""
    if isinstance(text, bool):
        return None
    if isinstance(text, int):
        return text if text > 0 else None
    if not isinstance(text, str) or not text.strip() or not text.isascii():
        return None
    total = 0
    for word in text.split():
        number, unit = (word, "s") if word.isdigit() else (word[:-1], word[-1])
        if not number.isdigit() or unit not in _UNITS or len(number) > 9:
            return None
        total += int(number) * _UNITS[unit]
    return total or None


def read_money(value: object) -> int | None:
    """Micro-dollars of `10`, `0.75`, `"$0.75"`; None when it is not an amount."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = repr(value) if isinstance(value, float) else str(value).strip().removeprefix("$")
    whole, _, fraction = text.partition(".")
    if not whole.isdigit() or not (fraction.isdigit() or fraction == "") or len(whole) > 9 or not text.isascii():
        return None
    return int(whole) * 1_000_000 + int((fraction + "000000")[:6])


def money(micros: int) -> str:
    """`750000` → `$0.75`."""
    cents, rest = divmod(micros, 10_000)
    text = f"${cents // 100}.{cents % 100:02}"
    return text if not rest else f"${micros // 1_000_000}.{micros % 1_000_000:06}".rstrip("0")


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; years are counted from March so that the leap day comes last."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _civil(days: int) -> tuple[int, int, int]:
    era, of_era = divmod(days + 719_468, 146_097)
    years = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + years + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def age(then: str, now: str) -> float | None:
    """Seconds since a moment; None when a document or a caller gave none that can be read."""
    try:
        return between(then, now)
    except UsageError:
        return None


def ago(then: str, now: str) -> str:
    """`4m ago`."""
    seconds = age(then, now)
    return "some time ago" if seconds is None else span(seconds).split()[0] + " ago"


def relative(seconds: float) -> str:
    """`just now`, `4 minutes ago`, `3 weeks ago`."""
    for unit, size in _AGES if seconds >= 5 else ():
        many = int(seconds // size)
        if many >= 1:
            return f"{many} {unit}{'s' if many > 1 else ''} ago"
    return "just now"


_AGES = (
    *(("year", 31_536_000), ("month", 2_592_000), ("week", 604_800)),
    *(("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)),
)
