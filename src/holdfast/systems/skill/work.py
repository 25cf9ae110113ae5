"""What is done as features and cycles go on."""

from __future__ import annotations

from holdfast.systems.seam.parts import Work, late

WORK = Work(perform={"commit": late(f"{__package__}.commits", "commit")})
