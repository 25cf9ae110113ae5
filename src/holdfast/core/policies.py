"""Whose word a gate takes, from the weakest policy to the strongest, and how a person's word can come.

A gate takes every word that is worth at least what it asks for: a proof passes a gate that asks for a person only.
"""

from __future__ import annotations

from _collections_abc import Iterable

PROOFS = ("signature", "passkey")
"""The words that anybody can check later."""
_PERSONS = ("terminal", "elicitation", "page", "forge", *PROOFS)
EITHER = "signed or passkey"
TAKES = {
    "": ("relayed", *_PERSONS),
    "relayed": ("relayed", *_PERSONS),
    "human": _PERSONS,
    EITHER: PROOFS,
    "signed": ("signature",),
    "passkey": ("passkey",),
}
"""Each policy with the ways in which a word comes that it takes."""
SAID = {
    "relayed": "",
    "human": " by a person",
    EITHER: " with a signature or a passkey",
    "signed": " with a signature",
    "passkey": " with a passkey",
}
"""What is said of an approval that a policy asks for."""


def takes(policy: str, how: str) -> bool:
    """Whether a gate of this policy takes a word that came in this way."""
    return how in TAKES[policy]


def asks_for_person(policy: str) -> bool:
    return policy not in ("", "relayed")


def asks_for_proof(policy: str) -> bool:
    return policy in (EITHER, "signed", "passkey")


def any_of(policies: Iterable[str]) -> str:
    """The one policy of a gate that is content with any of these."""
    wanted = frozenset(policies)
    for weaker in ("relayed", "human"):
        if weaker in wanted:
            return weaker
    return EITHER if EITHER in wanted or len(wanted) > 1 else next(iter(wanted), "relayed")


def loosens(old: str, new: str) -> bool:
    """Whether a gate takes a word afterwards that it did not take before; an empty policy is no gate."""
    return not {*TAKES[new]} <= {*TAKES[old]} or (old != "" and new == "")
