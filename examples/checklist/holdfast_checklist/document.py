"""`checklists/<name>.json`: every item with its status. People may set the status of an item by hand."""

from __future__ import annotations

from holdfast.core import lifecycle, queries
from holdfast.core.definition import Definition
from holdfast.core.remedy import shell
from holdfast.documents.lens.fields import MOMENT, words
from holdfast.documents.lens.spec import Dialect, Document, Field, Items, Meaning
from holdfast.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Mapping
    from typing import Any

    from holdfast.core.facts import Facts
    from holdfast.core.state import State

STATUS = words({status: status for status in lifecycle.STATUSES})


def identify(definition: Definition, subject: str, context: Mapping[str, Any], now: str) -> str:
    name = subject.rpartition("/")[2].partition(".")[0]
    return f"checklist-{''.join(c if c.isascii() and c.isalnum() else '-' for c in name)}"


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """A document without a journal: the checklist is the source, so a person starts it again."""
    raise UsageError("not_a_workflow", "a checklist is started from its file", remedy=shell("ls", "checklists"))


DIALECT = Dialect(
    name="checklist",
    document=Document(
        path=lambda state: f"checklists/{state.id}.json",
        former=lambda _: (),
        stamp="updated_at",
        parts=(
            Field("id", lambda state, _: state.id, meaning=Meaning.FIXED, shape=str),
            Field("checklist", lambda state, _: state.subject, meaning=Meaning.FIXED, shape=str),
            Field("status", lambda state, _: queries.status(state), shape=str),
            Items(
                "items",
                each=lambda state: list(state.plan.children("")),
                name=lambda state, path: state.plan.step(path).name,
                key="item",
                fields=(Field("status", lambda state, path: state.step(path).status, STATUS, meaning=Meaning.STATUS),),
            ),
            Field("updated_at", lambda state, _: state.updated_at, MOMENT),
        ),
    ),
    id_of=lambda document: str(document.get("id") or ""),
    identify=identify,
    status_words={},
    missing="",
    adopt=adopt,
)
