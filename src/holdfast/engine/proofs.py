"""The proofs that journals keep, read from their lines without the rest of the state."""

from __future__ import annotations

from _collections_abc import Iterator

from holdfast.core import events as ev
from holdfast.core.state import Grant, Proof
from holdfast.core.statement import Statement, parse
from holdfast.core.value import Value
from holdfast.engine.codec import decode_event
from holdfast.errors import HoldfastError
from holdfast.plain.plainjson import object_in

_SAID = (b'"granted"', b'"proof"')


class Given(Value):
    """An answer of a person as a line of a journal has it: an approval, or a rejection with a proof."""

    line: int
    event: ev.Granted | ev.Moved

    @property
    def grant(self) -> Grant | None:
        return self.event.grant if isinstance(self.event, ev.Granted) else None

    @property
    def proof(self) -> Proof | None:
        return self.event.grant.proof if isinstance(self.event, ev.Granted) else self.event.proof

    @property
    def decision(self) -> str:
        return "approve" if isinstance(self.event, ev.Granted) else "reject"


def given_in(journal: bytes) -> Iterator[Given]:
    """The answers in the lines of a journal; lines that cannot be read are passed over."""
    for number, raw in enumerate(journal.split(b"\n"), 1):
        if not any(word in raw for word in _SAID):
            continue
        said = (object_in(raw) or {}).get("events")
        for data in said if isinstance(said, list) else ():
            try:
                event = decode_event(data)
            except (HoldfastError, TypeError, ValueError, KeyError, AttributeError):
                continue
            if isinstance(event, ev.Granted) or (isinstance(event, ev.Moved) and event.proof):
                yield Given(number, event)


def stated(proof: Proof) -> Statement | None:
    """What a proof is of; None where it cannot be read."""
    try:
        return parse(proof.statement)
    except HoldfastError:
        return None


def named_here(journals: Iterator[bytes], here: str) -> set[tuple[int, str]]:
    """What the approvals that were given here with a passkey say of the list of approvers."""
    found: set[tuple[int, str]] = set()
    for journal in journals:
        if b'"authenticator_data"' not in journal:
            continue
        for one in given_in(journal):
            said = stated(one.proof) if one.proof and one.grant and one.grant.where == here else None
            found |= {said.approvers} if said and said.approvers[0] else set()
    return found
