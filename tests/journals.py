"""Journals that somebody wrote who knows the format: every sum fits, and what they say is not what happened."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.stores.lines import FIRST, head, seal, sum_before


def rewritten(path: Path, change: Callable[[list[dict[str, Any]]], object] = lambda bodies: None) -> None:
    """Writes a journal again with the changes of its records, and of its text if there were some."""
    bodies = [json.loads(text) for text in path.read_text().splitlines()]
    change(bodies)
    out, last = b"", FIRST
    for number, body in enumerate(bodies, 1):
        said = {name: value for name, value in body.items() if name not in ("seq", "synced", "prev", "sum")}
        text = head(number, body["synced"], last) + json.dumps(said, separators=(",", ":")).encode()[1:-1]
        raw = text + seal(text)
        last = sum_before(raw, len(raw))
        out += raw
    path.write_bytes(out)
