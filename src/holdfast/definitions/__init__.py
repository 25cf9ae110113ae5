"""Definitions as TOML files: reading, finding and beginning one, and what changed in it since a workflow started."""

from __future__ import annotations

from holdfast.definitions.catalogue import Catalogue, Entry
from holdfast.definitions.differences import Change, changes
from holdfast.definitions.file import LARGEST, load
from holdfast.definitions.starter import template

__all__ = ["LARGEST", "Catalogue", "Change", "Entry", "changes", "load", "template"]
