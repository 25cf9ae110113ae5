"""Ids that never recur and sort by time."""

from __future__ import annotations

import os

from holdfast.plain import clock

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new() -> str:
    """48 bits of milliseconds and 80 random ones, in Crockford's base 32."""
    number = (int(clock.seconds() * 1000) & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
