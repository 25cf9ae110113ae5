"""Who made a proof: an SSH key of the allowed signers, or a passkey of a list of approvers."""

from __future__ import annotations

from _collections_abc import Callable, Iterable

from holdfast.core import remedies, statement
from holdfast.core.remedy import Blank, advice
from holdfast.core.state import Proof
from holdfast.core.statement import Statement
from holdfast.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.machine.approvers import Approvers, Lists
    from holdfast.machine.passkeys import Key

Named = tuple[int, str]
"""What statements say of a list: its length, and the hash of its last line."""


class Prover:
    """`signers` gives the file that says who may sign, or refuses; `named` gives what the approvals of this clone say
    of the list, and `is_replaced` says whether a person here put another list in the place of one with this hash.
    """

    def __init__(
        self,
        signers: Callable[[], str],
        lists: Callable[[], Lists],
        named: Callable[[], Iterable[Named]],
        is_replaced: Callable[[str], bool],
    ) -> None:
        self._signers = signers
        self._lists = lists
        self._named = named
        self._is_replaced = is_replaced

    def signer(self, proof: Proof, said: Statement, step: str | Blank, *, given_now: bool) -> str:
        """The name of the person who made a proof of this statement; refused where it does not hold.

        A passkey that approves now has to be in force now, by the list that counts here; of a proof that was given
        before, it had to be in force then.
        """
        if not proof.credential:
            from holdfast.machine import signing

            return signing.verify(statement.text(said).encode(), proof.signature.encode(), self._signers(), step)
        return self._touched(proof, said, self.list() if given_now else None).name

    def list(self) -> Approvers:
        """The list that counts here; refused where it does not continue what earlier approvals here name."""
        found = self._lists().here()
        require_continued(found, self._named(), self._is_replaced)
        return found

    def _touched(self, proof: Proof, said: Statement, here: Approvers | None) -> Key:
        from holdfast.machine import passkeys

        known = [here] if here else self._lists().every()
        at = next((one for one in known if one.continues(said.approvers)), None)
        if at is None:
            raise passkeys.bad("the list of approvers that it names is missing or was replaced")
        return touched(proof, said, at, 0 if here else said.approvers[0])


def touched(proof: Proof, said: Statement, known: Approvers, number: int) -> Key:
    """The passkey that made a proof, which had to be in force after a line of a list; without one, after the last."""
    from holdfast.machine import passkeys

    key = known.key(proof.credential, number)
    if key is None:
        raise passkeys.bad("its key is not in force")
    parts = (proof.credential, proof.client_data, proof.authenticator_data, proof.signature)
    passkeys.require(key, statement.text(said), passkeys.Assertion(*parts))
    return key


def require_continued(found: Approvers, named: Iterable[Named], is_replaced: Callable[[str], bool]) -> None:
    """Refuses a list that was replaced or cut: it has to continue every list that earlier approvals here name."""
    lost = sorted({one for one in named if not found.continues(one)})
    if not lost or _are_replaced(found, lost, is_replaced):
        return
    said = f"{found.path} is not the list of approvers under which earlier approvals here were signed"
    ways = (
        remedies.named("passkey list", text="look at it"),
        remedies.named("passkey add", {"new_root": True}, who="person", text="if all of your keys are lost"),
    )
    if not found.lines:
        said = f"{found.path} is gone, and earlier approvals here were signed by its keys"
        ways = (advice("restore it from a copy"), *ways[1:])
    facts = {
        "path": found.path,
        "lost": [hashed for _, hashed in lost],
        "named": list(lost[-1]),
        "found": list(found.at),
    }
    raise Refused("approvers_replaced", said, remedy=ways, facts=facts)


def _are_replaced(found: Approvers, lost: Iterable[Named], is_replaced: Callable[[str], bool]) -> bool:
    """Whether all of these are of a list in whose place a person here put this one, or is about to."""
    if all(is_replaced(hashed) for _, hashed in lost):  # no copy of it was left
        return True
    from holdfast.machine.approvers import read, retired

    before = [one for one in map(read, retired(found.path)) if is_replaced(one.at[1])]
    before = [one for one in before if one.at[1] == found.after or not found.lines]
    return all(any(old.continues(one) for old in before) for one in lost)
