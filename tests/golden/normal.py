"""Replaces what differs from run to run by placeholders: paths, times, random ids, commits, spans of time."""

from __future__ import annotations

import os
import re
import sys

SUBSTITUTIONS: tuple[tuple[str, str], ...] = (
    (r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d| UTC)?", "<time>"),
    (r"\b20\d\d-\d\d-\d\d\b", "<day>"),
    (r"20\d{6}T\d{9}Z-[0-9a-f]{8}", "<stamp>-<hash>"),
    (r"20\d\d-?\d\d-?\d\d[-T_]?\d\d-?\d\d(?:-?\d\d)?Z?(?![0-9a-z])", "<stamp>"),
    (r"(?<!<)\b(?:\d+d )?(?:\d+h )?(?:\d+m )?\d+(?:\.\d+)?s\b", "<span>"),
    (r"(?<=since )\d+[mhd](?= ago)", "<span>"),
    (r"(\"[a-z_]*(?:seconds|duration|elapsed)[a-z_]*\": )[\d.]+", r"\1<number>"),
    (r"(?<=-)20\d{0,6}(?:[-_T]\d{0,5})?…", "<stamp>…"),
    (r"\bjust now\b|\b\d+ (?:second|minute)s? ago\b", "<ago>"),
    (r"^( *\d+  )\d\d:\d\d:\d\d", r"\1<clock>"),
    (r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b", "<ulid>"),
    (r"(Packet: |ack |\"packet_id\": \"|\\?\"ack\\?\": \\?\")[0-9a-f]{8,}", r"\1<packet>"),
    (r"^(.{60}).*…(?=  .*<span>$)", r"\1…"),
    (r"(\"seeded\": \{).*…$", r"\1…"),
    (r"(attempt \d+ failed: ).*…$", r"\1…"),
    (r"\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{12}\b", "<hash>"),
)
_PARAGRAPH = re.compile(r"(?m)^[A-Z][a-z]+ {2,}\S.*(?:\n {8}.*)+")
_WIDE = re.compile(r"(?<=\S) {2,}")


class Normaliser:
    """Knows the folders of a scenario, and hears of the commits that it makes."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = {**places, sys.executable: "<python>", os.path.dirname(sys.executable): "<bin>"}
        self._rules = [(re.compile(pattern), put) for pattern, put in SUBSTITUTIONS]

    def __call__(self, text: str, commits: list[str]) -> str:
        for place, name in sorted(self._places.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(place, name)
        if commits:
            short = "|".join(f"{one[:7]}(?:{one[7:12]}(?:{one[12:]})?)?" for one in commits)
            text = re.sub(rf"\b(?:{short})\b", "<commit>", text)
        return _unwrapped("\n".join(self._line(line) for line in text.split("\n")))

    def _line(self, line: str) -> str:
        made = line
        for pattern, put in self._rules:
            made = pattern.sub(put, made)
        return made if made == line else _WIDE.sub("  ", made)


def _unwrapped(text: str) -> str:
    """Where a paragraph is wrapped depends on how long a span of time is written."""
    return _PARAGRAPH.sub(lambda found: re.sub(r"\n +", " ", found[0]) if "<span>" in found[0] else found[0], text)
