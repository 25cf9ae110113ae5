"""Who made a proof: an SSH key of the allowed signers, or a passkey of the list of approvers."""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core import statement
from holdfast.core.remedy import Blank
from holdfast.core.state import Proof
from holdfast.core.statement import Statement


class Prover:
    """`signers` gives the file that says who may sign, or refuses."""

    def __init__(self, signers: Callable[[], str]) -> None:
        self._signers = signers

    def signer(self, proof: Proof, said: Statement, step: str | Blank) -> str:
        """The name of whoever made a proof of this statement; refused where it does not hold."""
        from holdfast.machine import signing

        text = statement.text(said).encode()
        return signing.verify(text, proof.signature.encode(), self._signers(), step)
