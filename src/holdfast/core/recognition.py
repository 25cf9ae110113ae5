"""How the person behind an approval was recognised, and whether this clone can tell that it was so.

A grant carries a code that only this user can make, in this clone. One without it is a claim: it came by git, in a
copied journal or from a document, or a program wrote it.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import policies
from holdfast.core.facts import Facts
from holdfast.core.state import DOCUMENT, RELAYED, Grant, Progress, Proof
from holdfast.core.value import Any
from holdfast.plain.digest import keyed
from holdfast.plain.plainjson import compact

TERMINAL, ELICITATION, PAGE, SIGNATURE, FORGE = "terminal", "elicitation", "page", "signature", "forge"
HERE = (TERMINAL, ELICITATION, PAGE)
"""What only the clone can recognise in which it was given."""
PASSKEY = "passkey"
WORDS = {
    TERMINAL: "at a terminal",
    ELICITATION: "in a form of the agent's host",
    PAGE: "on the page of holdfast web",
    SIGNATURE: "with a signature",
    PASSKEY: "with a passkey",
    FORGE: "on the forge",
}


def code(key: bytes, ulid: str, step: str, grant: Grant) -> str:
    """The code of a grant of this step. With an empty key it is only a name for the content."""
    said = [_plain(value) for name, value in grant.items() if name != "mac"]
    return keyed(key, compact([ulid, step, *said]).encode())


def _plain(value: Any) -> Any:
    if isinstance(value, Proof):
        return dict(value.items())
    return dict(value) if isinstance(value, Mapping) else value


def own(grant: Grant, ulid: str, step: str, facts: Facts) -> Grant:
    """The grant as one that was given here."""
    here = grant.replace(where=facts.here)
    return here.replace(mac=code(facts.key, ulid, step, here))


def is_recognised(policy: str, ulid: str, step: str, progress: Progress, facts: Facts) -> bool:
    """Whether the grant of a step counts here for a gate of this policy.

    A person who confirms in another clone what was granted here decides the same once more: both grants count where
    they were given.
    """
    grants = [one for one in (progress.grant, *progress.past_grants) if one and _is_same(one, progress.grant)]
    return any(_counts(policy, ulid, step, one, facts) for one in grants)


def _is_same(one: Grant, other: Grant | None) -> bool:
    """Whether two grants are the same decision on the same work, perhaps of other people in other places."""
    said = ("attempt", "hashes", "variant", "modifications")
    return other is not None and all(getattr(one, name) == getattr(other, name) for name in said)


def _counts(policy: str, ulid: str, step: str, grant: Grant, facts: Facts) -> bool:
    """Whether a grant counts here. An agent's word is no better and no worse elsewhere."""
    if grant.how == RELAYED:
        return policies.takes(policy, RELAYED)
    if policies.asks_for_proof(policy) and not policies.takes(policy, grant.how):
        return False
    if _is_own(ulid, step, grant, facts):
        return grant.how != FORGE or facts.forges is None or grant.where in facts.forges
    return code(b"", ulid, step, grant) in facts.verified


def _is_own(ulid: str, step: str, grant: Grant, facts: Facts) -> bool:
    """Whether Holdfast recorded a grant here, for this user."""
    return bool(grant.mac) and grant.mac == code(facts.key, ulid, step, grant)


def claim(ulid: str, step: str, grant: Grant, facts: Facts) -> str:
    """What a claim is: `only claimed: human ada is said to have given it at a terminal on laptop:harbour`."""
    if grant.how == DOCUMENT:
        return "only claimed by the document it was adopted from"
    if grant.how == RELAYED:
        return f"only claimed: {grant.by} is said to have passed it on"
    where = f" {'at' if grant.how == FORGE else 'on'} {grant.where}" if grant.where else ""
    why = "; it counts only in the folder where it was given" if grant.how in HERE else ""
    if _is_own(ulid, step, grant, facts):
        why = "; this gate asks for a proof that anybody can check" if grant.how in HERE else ""
    elif grant.where == facts.here:
        why = "; Holdfast did not record it here for this user: it may be forged"
    return f"only claimed: {grant.by} is said to have given it {WORDS.get(grant.how, grant.how[:40])}{where}{why}"
