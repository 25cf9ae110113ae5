"""Every approval in the journals of a project, checked from its proof: with journals and lists only, and no network.

A proof has to be of its line: of this answer to this step, given in this attempt, after exactly these lines of the
journal. Its nonce was never used before, its key was in force then, and its signature holds.
"""

from __future__ import annotations

import os
from _collections_abc import Iterator, Sequence

from holdfast.core import events as ev
from holdfast.core import gates, policies, statement
from holdfast.core.apply import Fold, Record
from holdfast.core.recognition import WORDS
from holdfast.core.state import DOCUMENT, RELAYED, Proof, State
from holdfast.core.statement import Statement
from holdfast.core.value import Any, Value
from holdfast.engine.approvals import prefix
from holdfast.engine.codec import decode_record
from holdfast.errors import HoldfastError
from holdfast.machine.approvers import Approvers
from holdfast.machine.proving import touched
from holdfast.plain.plainjson import object_in
from holdfast.systems.seam.wired import Wired

PROVEN, BARE, WRONG, NOTED = "proven", "without a proof", "wrong", "noted"


class Finding(Value):
    """What is known of one answer, or what is wrong with a journal or a list."""

    verdict: str
    path: str
    line: int
    message: str
    workflow: str = ""
    step: str = ""
    by: str = ""


class Pin(Value):
    """What somebody knows of the list of approvers: the hash of its first line, and its smallest length."""

    root: str
    least: int = 1


class _Answer(Value):
    """A person's answer in a line of a journal, and the state before that line."""

    state: State
    line: int
    step: str
    decision: str
    by: str
    how: str
    proof: Proof | None
    said: dict[str, Any]
    names: frozenset[str] | None
    """The artifacts that the line says were approved; None where it says nothing of them."""


class Checker:
    """`lists` are those by which a passkey may have been in force, `signers` says who may sign.

    `replaced` are lists in whose place a person put others: with a pin, nothing holds by those with another root.
    """

    def __init__(
        self,
        lists: Sequence[Approvers],
        signers: str | HoldfastError,
        pin: Pin | None,
        replaced: Sequence[Approvers] = (),
    ) -> None:
        self._lists = lists
        self._replaced = replaced
        self._used: set[str] = set()
        self._signers = signers
        self._pin = pin
        self._nonces: dict[str, str] = {}

    def pinned(self) -> Iterator[Finding]:
        """What is wrong with the lists themselves."""
        if self._pin is None:
            return
        if not self._lists:
            yield Finding(WRONG, "", 0, "there is no list of approvers, so nothing has the root that was given")
        for one in self._lists:
            if one.root != self._pin.root:
                yield Finding(WRONG, one.path, 1, f"its first line has the hash {one.root}, not the one that was given")
            elif len(one.lines) < self._pin.least:
                said = f"it has {len(one.lines)} lines, and had {self._pin.least} before"
                yield Finding(WRONG, one.path, len(one.lines), said)

    def unused(self) -> Iterator[Finding]:
        """The replaced lists that do not have the root that was given, and by which nothing was approved."""
        for one in self._replaced if self._pin else ():
            if not self._is_pinned(one) and one.path not in self._used:
                yield Finding(NOTED, one.path, 0, "this list was replaced, and no approval here was made by it")

    def _is_pinned(self, known: Approvers) -> bool:
        return self._pin is None or known.root == self._pin.root

    def journal(self, path: str, data: bytes, damage: HoldfastError | None) -> Iterator[Finding]:
        """What is known of every answer in a journal."""
        held = 0
        for answer in _answers(data):
            name = answer.state.id
            known = {"workflow": name, "step": answer.step, "by": answer.by}
            try:
                verdict, said = self._judged(answer, data, f"{path}:{answer.line}", held)
            except HoldfastError as refusal:
                verdict, said = WRONG, refusal.message
            if verdict == PROVEN and answer.proof:
                held = max(held, statement.parse(answer.proof.statement).journal[0])
            yield Finding(verdict, path, answer.line, said, **known)
        if damage is not None:
            yield Finding(WRONG, path, _line_of(damage), damage.message)

    def _judged(self, answer: _Answer, data: bytes, where: str, held: int) -> tuple[str, str]:
        step = answer.state.plan.step(answer.step) if answer.step in answer.state.plan else None
        policy = gates.policy(step) if step else ""
        if answer.proof is None:
            if answer.how in policies.PROOFS:
                return WRONG, f"it says {answer.how}, and has no proof"
            if policies.asks_for_proof(policy) and answer.how != DOCUMENT:
                return WRONG, f"it was {_how(answer)}, where only{policies.SAID[policy]} counts"
            return BARE, _how(answer)
        said = statement.parse(answer.proof.statement)
        wrong = _differences(answer, said)
        if wrong:
            return WRONG, f"the statement that was signed has another {', another '.join(wrong)} than this line"
        if said.journal[0] >= answer.line or prefix(data, said.journal[0]) != said.journal[1]:
            return WRONG, f"{_lines(held + 1, said.journal[0])} not as signed"
        if said.nonce in self._nonces:
            return WRONG, f"the same proof is in {self._nonces[said.nonce]}"
        self._nonces[said.nonce] = where
        who, note = self.made(answer.proof, said)
        if who != answer.by:
            return WRONG, f"it was made by {who}, and this line says {answer.by}"
        return PROVEN, f"with a {'passkey' if answer.proof.credential else 'signature'}{note}"

    def made(self, proof: Proof, said: Statement) -> tuple[str, str]:
        """Who made a proof, and what else is to be said of it; refused where it does not hold."""
        if not proof.credential:
            from holdfast.machine import signing

            if isinstance(self._signers, HoldfastError):
                raise self._signers
            return signing.verify(statement.text(said).encode(), proof.signature.encode(), self._signers, said.step), ""
        from holdfast.machine import passkeys

        at = next((one for one in (*self._lists, *self._replaced) if one.continues(said.approvers)), None)
        if at is None:
            raise passkeys.bad("the list of approvers that it names is missing or was replaced")
        self._used.add(at.path)
        note = f", by the list that was replaced: {at.path}" if at in self._replaced else ""
        if note and not self._is_pinned(at):
            raise passkeys.bad(f"it was made by {at.path}, which was replaced and has another root than was given")
        return touched(proof, said, at, said.approvers[0]).name, note


def project(wired: Wired, checker: Checker, ulids: Sequence[str]) -> list[Finding]:
    """What is known of the answers in these journals, and in all archived ones where none is named."""
    found = list(checker.pinned())
    for ulid in ulids or sorted(wired.store.every()):
        path = os.path.relpath(wired.store.file_of(ulid), wired.place.root)
        damage = wired.store.examine(ulid).damage
        if not wired.store.has(ulid):
            found.append(Finding(WRONG, path, 0, damage.message if damage else "the journal is gone"))
            continue
        found += checker.journal(path, wired.journal(ulid), damage)
    folder = os.path.join(wired.place.home, "archive")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) and not ulids else ():
        if name.endswith(".jsonl"):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                data = file.read()
            found += checker.journal(os.path.relpath(path, wired.place.root), data, _damage(wired, data, path))
    return [*found, *checker.unused()]


def _damage(wired: Wired, data: bytes, path: str) -> HoldfastError | None:
    try:
        wired.store.examine_copy(data, path)
    except HoldfastError as failure:
        return failure
    return None


def _answers(data: bytes) -> Iterator[_Answer]:
    """The answers of people in the lines of a journal, up to one that cannot be read."""
    folding = Fold()
    for number, raw in enumerate(data.split(b"\n")[:-1], 1):
        said = object_in(raw)
        try:
            record = decode_record(said or {})
        except (HoldfastError, TypeError, ValueError, KeyError, AttributeError):
            return
        answers = [one for one in record.events if _is_answer(one)]
        if answers and number > 1:
            before = folding.state
            yield from (_answer(before, number, record, one) for one in answers)
        folding.add(record)


def _line_of(damage: HoldfastError) -> int:
    found = damage.facts.get("seq", damage.facts.get("line"))
    return found if isinstance(found, int) else 0


def _is_answer(event: ev.Event) -> bool:
    return isinstance(event, ev.Granted) or (isinstance(event, ev.Moved) and event.proof is not None)


def _answer(before: State, line: int, record: Record, event: ev.Event) -> _Answer:
    if isinstance(event, ev.Granted):
        grant = event.grant
        said: dict[str, Any] = {"variant": grant.variant, "modifications": dict(grant.modifications), "feedback": ""}
        said["attempt"] = grant.attempt
        told = ("approve", grant.by, grant.how, grant.proof, said, frozenset(grant.hashes))
        return _Answer(before, line, event.step, *told)
    assert isinstance(event, ev.Moved)
    changes = [one.values.get("modifications") for one in record.events if isinstance(one, ev.Recorded)]
    said = {"variant": "", "modifications": next(filter(None, changes), {}), "feedback": event.feedback}
    return _Answer(before, line, event.step, "reject", record.actor.name, "passkey", event.proof, said, None)


def _differences(answer: _Answer, said: Statement) -> list[str]:
    found = statement.differences(said, answer.state, answer.step, answer.decision)
    found += [name for name, value in answer.said.items() if getattr(said, name) != value]
    names = {one[0] for one in said.artifacts}
    return [*dict.fromkeys(found), *(["artifacts"] if answer.names is not None and names != answer.names else [])]


def _how(answer: _Answer) -> str:
    told = {RELAYED: "passed on by an agent", DOCUMENT: "claimed by a document"}
    return told.get(answer.how) or f"given {WORDS.get(answer.how, answer.how[:40])}"


def _lines(first: int, last: int) -> str:
    return f"line {last} of this journal is" if first >= last else f"lines {first} to {last} of this journal are"
