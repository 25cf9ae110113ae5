"""What this process can say of approvals: how it recognised a person, which approvals are of this clone, and which
proofs hold.
"""

from __future__ import annotations

from _collections_abc import Callable, Iterable

from holdfast.core.commands import Approve, Reject
from holdfast.core.state import Grant, Proof, State
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, Refused
from holdfast.machine import clone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.statement import Statement
    from holdfast.engine.contents import Contents
    from holdfast.machine.place import Place
    from holdfast.machine.proving import Prover


class Approvals:
    """`person` is how a person was recognised, `is_users` says whether an address is one of the user's forges, and
    `journal` gives all lines of a journal, as they are kept.
    """

    def __init__(
        self,
        place: Place,
        data_dir: str,
        *,
        person: str,
        prover: Callable[[], Prover],
        is_users: Callable[[str], bool],
        journal: Callable[[str], bytes],
        wait: float,
    ) -> None:
        self._place = place
        self._data_dir = data_dir
        self._person = person
        self._prover = prover
        self._is_users = is_users
        self._journal = journal
        self._wait = wait
        self._here = ""
        self._known: dict[str, bool] = {}

    def facts(
        self,
        state: State,
        steps: Iterable[str],
        asked: Approve | Reject | None,
        contents: Callable[[State, str], Contents],
    ) -> dict[str, Any]:
        """The facts about the approvals of these steps, and about the answer that is asked for."""
        grants = {step: grant for step in steps if (grant := state.step(step).grant)}
        proof = asked.proof if asked else None
        self._here = self._here or clone.name(self._place.root)
        facts: dict[str, Any] = {"person": self._person, "here": self._here}
        if grants or asked:
            from holdfast.core.recognition import FORGE

            facts["key"] = self._key(make=asked is not None and (proof is not None or bool(self._person)))
            facts["verified"] = self._verified(state, grants, facts["key"], contents)
            facts["forges"] = tuple(g.where for g in grants.values() if g.how == FORGE and self._is_users(g.where))
        if asked and proof:
            facts |= self._proven(state, asked.step, proof, contents)
        return facts

    def attested(self, how: str, where: str) -> dict[str, Any]:
        """The facts about people whom somebody else recognised."""
        return {"person": how, "here": where, "key": self._key(make=True)}

    def _key(self, *, make: bool) -> bytes:
        return clone.key(self._data_dir, self._place.home, make=make, wait=self._wait)

    def _proven(
        self, state: State, step: str, proof: Proof, contents: Callable[[State, str], Contents]
    ) -> dict[str, Any]:
        """Whose proof it is, once the journal and the files are found to be what its statement names."""
        from holdfast.core import statement
        from holdfast.core.recognition import PASSKEY, SIGNATURE

        said = statement.parse(proof.statement)
        how = PASSKEY if proof.credential else SIGNATURE
        signer = self._prover().signer(proof, said, step, given_now=True)
        self._require_journal(state, said)
        if step not in state.plan:
            return {}
        now = contents(state, step)
        if now.lines != said.artifacts:
            from holdfast.core.refusals import signed_something_else

            raise signed_something_else(step)
        recognised = {"person": PASSKEY} if how == PASSKEY else {}
        return {"signer": signer, "signed_with": how, "signed": now.hashes, **recognised}

    def _require_journal(self, state: State, said: Statement) -> None:
        """Refuses a statement of another past than the one that the journal has."""
        if said.workflow != state.ulid or not is_prefix(self._journal(state.ulid), *said.journal):
            from holdfast.core import remedies

            message = f"the journal of {state.id} does not begin with what was signed"
            facts = {"workflow": state.id, "revision": said.journal[0]}
            raise Refused("other_journal", message, remedy=remedies.doctor(), facts=facts)

    def _verified(
        self,
        state: State,
        grants: dict[str, Grant],
        key: bytes,
        contents: Callable[[State, str], Contents],
    ) -> frozenset[str]:
        """The grants of other clones whose proofs hold here, too, for the files as they are here."""
        from holdfast.core.recognition import code

        found = []
        for step, one in grants.items():
            if one.proof is None or one.mac == code(key, state.ulid, step, one):
                continue
            name = code(b"", state.ulid, step, one)
            if name not in self._known:
                self._known[name] = self._holds(state, step, one, one.proof)
            if self._known[name] and contents(state, step).lines == _stated(one.proof).artifacts:
                found.append(name)
        return frozenset(found)

    def _holds(self, state: State, step: str, grant: Grant, proof: Proof) -> bool:
        """Whether a proof is of this grant, and of the person that it names."""
        try:
            said = _stated(proof)
            return (
                is_of(said, state, step, grant)
                and self._prover().signer(proof, said, step, given_now=False) == grant.by
            )
        except HoldfastError:
            return False


def _stated(proof: Proof) -> Statement:
    from holdfast.core import statement

    return statement.parse(proof.statement)


def is_of(said: Statement, state: State, step: str, grant: Grant) -> bool:
    """Whether a statement says what a grant of this workflow says, the files and the time aside."""
    theirs = (said.workflow, said.id, said.step, said.attempt, said.variant, dict(said.modifications), said.decision)
    ours = (state.ulid, state.id, step, grant.attempt, grant.variant, dict(grant.modifications), "approve")
    return theirs == ours


def is_prefix(journal: bytes, revision: int, sha256: str) -> bool:
    """Whether the lines of a journal up to a revision are those with this SHA-256."""
    return revision > 0 and prefix(journal, revision) == sha256


def prefix(journal: bytes, revision: int) -> str:
    """The SHA-256 of the lines of a journal up to a revision; empty where it has fewer."""
    import hashlib

    end = 0
    for _ in range(revision):
        end = journal.find(b"\n", end) + 1
        if not end:
            return ""
    return hashlib.sha256(memoryview(journal)[:end]).hexdigest()
