"""A system whose package is not there: its workflows can be listed, read, exported and cancelled, without documents."""

from __future__ import annotations

from holdfast.core.value import Any
from holdfast.documents.lens.spec import Dialect, Document
from holdfast.systems.seam.registry import system


def absent(name: str) -> Dialect:
    def refuse(*_: object) -> Any:
        system(name)  # which says why it cannot be had

    nowhere = Document(path=lambda _: "", former=lambda _: (), parts=())
    return Dialect(
        name=name, document=nowhere, id_of=lambda _: "", identify=refuse, status_words={}, missing="", adopt=refuse
    )
