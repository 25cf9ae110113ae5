"""What this process can say of approvals: how it recognised a person, and which approvals are of this clone."""

from __future__ import annotations

from _collections_abc import Callable, Iterable

from holdfast.core.commands import Approve
from holdfast.core.state import Grant, State
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.machine import clone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.machine.place import Place


class Approvals:
    """`person` is how a person was recognised, `signers` gives the file that says who may sign, or refuses, and
    `is_users` says whether an address is one of the user's forges.
    """

    def __init__(
        self,
        place: Place,
        data_dir: str,
        *,
        person: str,
        signers: Callable[[], str],
        is_users: Callable[[str], bool],
        wait: float,
    ) -> None:
        self._place = place
        self._data_dir = data_dir
        self._person = person
        self._signers = signers
        self._is_users = is_users
        self._wait = wait
        self._here = ""
        self._signed: dict[str, bool] = {}

    def facts(self, state: State, steps: Iterable[str], asked: Approve | None) -> dict[str, Any]:
        """The facts about the approvals of these steps, and about the one that is asked for."""
        grants = {step: grant for step in steps if (grant := state.step(step).grant)}
        signed = bool(asked and asked.signature)
        self._here = self._here or clone.name(self._place.root)
        facts: dict[str, Any] = {"person": self._person, "here": self._here}
        if grants or asked:
            from holdfast.core.recognition import FORGE

            facts["key"] = self._key(make=asked is not None and (signed or bool(self._person)))
            facts["verified"] = self._verified(state, grants, facts["key"])
            facts["forges"] = tuple(g.where for g in grants.values() if g.how == FORGE and self._is_users(g.where))
        if asked and signed:
            facts["signer"] = self._signer(state, asked)
        return facts

    def attested(self, how: str, where: str) -> dict[str, Any]:
        """The facts about people whom somebody else recognised."""
        return {"person": how, "here": where, "key": self._key(make=True)}

    def _key(self, *, make: bool) -> bytes:
        return clone.key(self._data_dir, self._place.home, make=make, wait=self._wait)

    def _signer(self, state: State, asked: Approve) -> str:
        from holdfast.machine import signing

        step, hashes = asked.step, asked.signed or {}
        attempt = state.step(step).attempt
        said = signing.payload(state.ulid, state.id, step, attempt, hashes, asked.variant, asked.modifications)
        return signing.verify(said, asked.signature.encode(), self._signers(), step)

    def _verified(self, state: State, grants: dict[str, Grant], key: bytes) -> frozenset[str]:
        """The grants of other clones whose signatures hold here, too."""
        from holdfast.core.recognition import code
        from holdfast.machine import signing

        foreign = ((step, one) for step, one in grants.items() if one.signature)
        for step, one in foreign:
            name = code(b"", state.ulid, step, one)
            if name in self._signed or one.mac == code(key, state.ulid, step, one):
                continue
            said = signing.payload(state.ulid, state.id, step, one.attempt, one.hashes, one.variant, one.modifications)
            try:
                self._signed[name] = signing.verify(said, one.signature.encode(), self._signers(), step) == one.by
            except HoldfastError:
                self._signed[name] = False
        return frozenset(name for name, holds in self._signed.items() if holds)
