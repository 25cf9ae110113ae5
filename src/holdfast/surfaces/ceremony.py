"""How a page has a person approve with a passkey. It translates: what counts is decided by the rules.

A server keeps one `Ceremony` for as long as it runs, and calls, with a project or workflow that it opened for the
request:

- `ask(workflow, step, ...)` → `Asked`. The page gets `statement`, `nonce` and `options`; it passes `options` to
  `PublicKeyCredential.parseRequestOptionsFromJSON` and `navigator.credentials.get({publicKey})`. A script that does not
  want to trust the server computes `challenge` itself: the SHA-256 of `statement` in UTF-8.
- `answer(project, nonce, assertion)` → the workflow, changed. `assertion` is `toJSON()` of what the browser returned.
- `enrol(project, name)` → `Asked`, with options for `parseCreationOptionsFromJSON` and `navigator.credentials.create`.
- `enrolled(project, nonce, response)` → None where the key was the first one and is the root of a new list, else
  `Asked`: a key in force has to sign `statement`.
- `remove(project, name)` → `Asked`, in the same way.
- `change(project, nonce, assertion)` → the list with its new line.

Every nonce is in memory only, for `LASTS` seconds, and is spent before anything else is looked at. Each refusal is a
`HoldfastError` with its code, and nothing was changed then. Who may ask is for the server to say: it lets in people.
"""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, policies, refusals, remedies, statement
from holdfast.core.moment import from_epoch
from holdfast.core.state import Actor, Proof
from holdfast.core.statement import APPROVE, REJECT, Statement
from holdfast.core.value import Any, Value
from holdfast.errors import Refused, UsageError
from holdfast.machine import approvers, passkeys
from holdfast.machine.approvers import Approvers, Change, Lists
from holdfast.machine.known_approvers import KnownApprovers, stamp
from holdfast.plain import clock
from holdfast.project import wiring
from holdfast.project.project import Project
from holdfast.project.stating import stated
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving

LASTS = 300
"""Seconds in which a person can answer."""
MOST = 200
"""How many questions are open at once; the oldest makes room."""
_PROOF = ("passkey_needed", "signature_needed", "person_needed")


class Asked(Value):
    """What a page needs to ask a person for a passkey."""

    nonce: str
    options: Mapping[str, Any]
    """The JSON form of `publicKey`: bytes are base64url."""
    statement: str = ""
    """The text that is signed; empty where a key is to be made."""
    count: int = 1
    """How often this step was asked about since it waits: who is asked many times should wonder."""


class _Open(Value):
    """A question that was asked and is not answered."""

    about: tuple[str, ...]
    until: float
    said: Statement | None = None
    change: Change | None = None
    name: str = ""


class Ceremony:
    """The open questions of one page, whose address is `origin`. Threads may share it."""

    def __init__(self, origin: str = passkeys.ORIGIN, seconds: Callable[[], float] = clock.seconds) -> None:
        passkeys.rp_id(origin)
        self.origin = origin
        self._seconds = seconds
        self._open: dict[str, _Open] = {}
        self._counts: dict[tuple[str, ...], int] = {}

    def ask(
        self,
        workflow: Workflow,
        step: str,
        decision: str = APPROVE,
        *,
        shown: str = "",
        variant: str = "",
        modifications: Mapping[str, Any] | None = None,
        feedback: str = "",
    ) -> Asked:
        """What a person would sign to approve or reject a step now. `shown` is the SHA-256 of what they were shown.

        A later question about the same step takes the place of this one.
        """
        if decision not in (APPROVE, REJECT):
            said = f"{decision[:40]!r} is no decision: {APPROVE} or {REJECT}"
            raise UsageError("bad_decision", said, remedy=remedies.status())
        workflow.refresh()
        path = workflow.path(step)
        self._require_askable(workflow, path, decision, variant, modifications or {})
        wired = workflow.wired
        known = wiring.prover(wired.place, wired.settings, wired.store).list()
        if not any(key.origin == self.origin for key in known.now):
            raise self._no_key(known)
        said_now = stated(
            wired,
            workflow.state,
            path,
            decision,
            variant=variant,
            modifications=modifications,
            feedback=feedback if decision == REJECT else "",
            shown=shown,
            approvers=known.at,
        )
        text, about = statement.text(said_now), (workflow.ulid, path)
        counted = (*about, str(said_now.attempt), said_now.waiting)
        self._counts[counted] = self._counts.get(counted, 0) + 1
        self._put(said_now.nonce, _Open(about, self._until, said=said_now))
        options = passkeys.asking(text, list(known.now), self.origin)
        return Asked(said_now.nonce, options, text, self._counts[counted])

    def answer(self, project: Project, nonce: str, assertion: object) -> Workflow:
        """Does what the person signed, if it still holds: key, journal, step and files as they are now."""
        said = self._spent(nonce).said
        if said is None:
            raise _gone()
        given = passkeys.assertion(assertion)
        wired = project.wired
        key = wiring.prover(wired.place, wired.settings, wired.store).list().key(given.credential)
        if key is None or key.origin != self.origin:
            raise passkeys.bad("its key is not in force here")
        passkeys.require(key, statement.text(said), given)  # nobody is named as the actor who did not answer
        proof = Proof(
            statement.text(said), given.signature, given.credential, given.client_data, given.authenticator_data
        )
        actor = Actor("human", key.name, "web")
        own = Project(wiring.wire(wired.place, wired.settings.replace(actor=actor, person=None)))
        command: cmd.Command = cmd.Reject(said.step, said.feedback, said.modifications, proof)
        if said.decision == APPROVE:
            command = cmd.Approve(said.step, said.variant, said.modifications, proof)
        return own.workflow(said.workflow).execute(command)

    def enrol(self, project: Project, name: str) -> Asked:
        """What a browser needs to make a key."""
        known = self._list(project)
        nonce = os.urandom(32)
        options = passkeys.enrolling(name, list(known.now), self.origin, nonce, os.urandom(16))
        self._put(passkeys.encoded(nonce), _Open(("enrol", name), self._until, name=name))
        return Asked(passkeys.encoded(nonce), options)

    def enrolled(self, project: Project, nonce: str, response: object) -> Asked | None:
        """Takes a key that a browser made. The first one begins a list; others have to be signed by one of it."""
        name = self._spent(nonce).name
        if not name:
            raise _gone()
        since = from_epoch(self._seconds())
        key = passkeys.enrolled(response, name, self.origin, passkeys.decoded(nonce, "nonce"), since)
        known = self._list(project)
        if not known.lines:
            _write(project, approvers.applied(known, approvers.adding(known, key, _before(project, known)), None))
            return None
        return self._to_sign(known, approvers.adding(known, key))

    def remove(self, project: Project, name: str) -> Asked:
        """What a key in force signs so that the key with this name approves nothing any more."""
        known = self._list(project)
        return self._to_sign(known, approvers.removing(known, name))

    def change(self, project: Project, nonce: str, assertion: object) -> Approvers:
        """Adds the line that a key in force has signed."""
        change = self._spent(nonce).change
        if change is None:
            raise _gone()
        given, known = passkeys.assertion(assertion), self._list(project)
        after = approvers.applied(known, change, given)
        _write(project, after)
        return after

    def _require_askable(
        self, workflow: Workflow, path: str, decision: str, variant: str, changes: Mapping[str, Any]
    ) -> None:
        """Refuses where more than a person's word is missing, or a passkey cannot give it."""
        state = workflow.state
        policy, status = gates.policy(state.plan.step(path)), state.step(path).status
        if not policies.takes(policy, "passkey"):
            raise refusals.proof_needed(policy)(path)
        workflow.require_decidable()
        is_ready = approving.is_ready(workflow, path)
        if decision == REJECT:
            if not (lifecycle.allows(status, "rejected") or (status == lifecycle.PENDING and is_ready)):
                raise refusals.wrong_status(state, workflow.facts(), path, "rejected")
            return
        try:
            workflow.wired.preview(state, cmd.Approve(path, variant, changes))
        except Refused as refusal:
            if refusal.code not in _PROOF:
                raise
        if not is_ready:
            raise refusals.wrong_status(state, workflow.facts(), path, "approved", (lifecycle.WAITING,))

    def _to_sign(self, known: Approvers, change: Change) -> Asked:
        if not any(key.origin == self.origin for key in known.now):
            raise self._no_key(known)
        nonce = passkeys.encoded(os.urandom(32))
        self._put(nonce, _Open(("change",), self._until, change=change))
        return Asked(nonce, passkeys.asking(change.text, list(known.now), self.origin), change.text)

    def _list(self, project: Project) -> Approvers:
        """The list that counts, to change it: only by a person's page, and not the one of the machine."""
        wired = project.wired
        if wired.settings.actor.kind != "human":
            raise refusals.person_needed("change who may approve", remedies.page())
        lists = Lists(wired.place, wired.settings.config_dir)
        if lists.is_fixed:
            said = f"{lists.system} says who may approve on this machine, and only its owner changes it"
            raise Refused("approvers_fixed", said, remedy=remedies.named("passkey list"), facts={"path": lists.system})
        return wiring.prover(wired.place, wired.settings, wired.store).list()

    @property
    def _until(self) -> float:
        return self._seconds() + LASTS

    def _put(self, nonce: str, question: _Open) -> None:
        """One question about a step, and one change of the list, is open at a time."""
        now = self._seconds()
        for known, one in list(self._open.items()):
            if one.until < now or one.about == question.about:
                self._open.pop(known, None)
        while len(self._open) >= MOST:
            self._open.pop(next(iter(self._open)), None)
        self._open[nonce] = question

    def _spent(self, nonce: str) -> _Open:
        found = self._open.pop(nonce, None)
        if found is None or found.until < self._seconds():
            raise _gone()
        return found

    def _no_key(self, known: Approvers) -> Refused:
        said = f"{known.path} has no passkey that was made at {self.origin}"
        facts = {"path": known.path, "origin": self.origin}
        return Refused("no_passkey", said, remedy=remedies.page(text="make a passkey on the page"), facts=facts)


def _gone() -> Refused:
    said = "this question was answered, took too long, or was replaced by a newer one; nothing was changed"
    return Refused("question_gone", said, remedy=remedies.page(text="look at it again"))


def _write(project: Project, found: Approvers) -> None:
    approvers.write(found)
    KnownApprovers(project.wired.settings.data_dir).found(found.path, stamp(found.path))


def _before(project: Project, known: Approvers) -> str:
    """The hash of the list in whose place a person puts a new one; empty where there was none."""
    mine = KnownApprovers(project.wired.settings.data_dir)
    lost = [one.at[1] for one in map(approvers.read, approvers.retired(known.path)) if mine.is_replaced(one.at[1])]
    return lost[-1] if lost else ""
