"""`python -m holdfast` is the command line."""

from __future__ import annotations

from holdfast.surfaces.cli.main import entry

entry()
