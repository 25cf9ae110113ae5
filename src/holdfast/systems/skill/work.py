"""What is done as features and cycles continue."""

from __future__ import annotations

from holdfast.systems.seam.parts import Work, late

_COMMITS = f"{__package__}.commits"
WORK = Work(
    perform={"commit": late(_COMMITS, "commit")},
    marked=late(_COMMITS, "marked"),
    unmade=late(_COMMITS, "take_back"),
    about=late(f"{__package__}.about", "about"),
    edited=late(f"{__package__}.ticks", "tick"),
)
