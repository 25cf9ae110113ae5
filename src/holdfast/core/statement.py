"""What exactly is approved or rejected, as a text that is signed: one field a line, every value in JSON.

The text names the workflow, the step and the attempt, the journal up to a line, and every file with its SHA-256. So a
proof says yes or no to exactly this: it cannot be carried over to another try, file, answer or workflow. Each statement
has one text: what reads back as another text is refused.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import gates, lifecycle
from holdfast.core.state import State
from holdfast.core.value import Any, Value
from holdfast.errors import Refused

FORMAT = "holdfast approval 2"
APPROVE, REJECT = "approve", "reject"
LARGEST = 4 << 20
_FIELDS = (
    *("decision", "workflow", "id", "step", "attempt", "waiting", "journal", "artifact", "shown", "variant"),
    *("modifications", "feedback", "approvers", "nonce"),
)
_MOST_LINES = 50_000


class Statement(Value):
    decision: str
    workflow: str
    """The ULID."""
    id: str
    step: str
    attempt: int
    waiting: str
    """Since when the step waits; empty where it does not."""
    journal: tuple[int, str]
    """A revision, and the SHA-256 of all lines of the journal up to it."""
    artifacts: tuple[tuple[str, str, str], ...]
    """Name, path and SHA-256 of the content of each file, the hash empty where there is none."""
    shown: str = ""
    """The SHA-256 of what the person was shown, where it is known."""
    variant: str = ""
    modifications: Mapping[str, Any] = {}
    feedback: str = ""
    approvers: tuple[int, str] = (0, "")
    """How many lines the list of approvers had, and the SHA-256 of the last; (0, "") for a signature."""
    nonce: str = ""


def text(statement: Statement) -> str:
    """The one text of a statement, in ASCII."""
    lines = [FORMAT]
    for name in _FIELDS:
        if name == "artifact":
            lines += [f"{name} {_json(list(one))}" for one in statement.artifacts]
        else:
            value = getattr(statement, name)
            lines.append(f"{name} {_json(list(value) if isinstance(value, tuple) else value)}")
    return "\n".join((*lines, ""))


def parse(said: str) -> Statement:
    """The statement of a text; a line that is unknown, missing, repeated or at another place is refused."""
    import json

    first, *lines = said.split("\n") if len(said) <= LARGEST and said.isascii() else [""]
    if first != FORMAT or len(lines) > _MOST_LINES or not lines or lines.pop():
        raise unreadable(f"it does not begin with {FORMAT}, or is longer than a statement can be")
    found: dict[str, Any] = {"artifacts": []}
    for line in lines:
        name, _, value = line.partition(" ")
        try:
            data = json.loads(value)
        except (ValueError, RecursionError):
            raise unreadable(f"the line {line[:60]!r} has no JSON value") from None
        if name == "artifact":
            found["artifacts"].append(data)
        elif name in found or name not in _FIELDS:
            raise unreadable(f"the line {line[:60]!r} is there twice, or no field of a statement")
        else:
            found[name] = data
    statement = _made(found)
    if text(statement) != said:
        raise unreadable("its lines are in another order, or a value is written in another way")
    return statement


def _made(found: dict[str, Any]) -> Statement:
    """The statement, if every field is there and is what it should be."""
    texts = ("decision", "workflow", "id", "step", "waiting", "shown", "variant", "feedback", "nonce")
    pairs = ("journal", "approvers")
    if not (
        all(isinstance(found.get(name), str) for name in texts)
        and found["decision"] in (APPROVE, REJECT)
        and type(found.get("attempt")) is int
        and isinstance(found.get("modifications"), dict)
        and all(_is_of(found.get(name), int, str) for name in pairs)
        and all(_is_of(one, str, str, str) for one in found["artifacts"])
    ):
        raise unreadable("a field is missing, or has a value of another kind")
    lists = {name: tuple(found[name]) for name in pairs}
    return Statement(**{**found, **lists, "artifacts": tuple(tuple(one) for one in found["artifacts"])})


def _is_of(value: object, *kinds: type) -> bool:
    return isinstance(value, list) and [type(one) for one in value] == [*kinds]


def _json(value: object) -> str:
    import json

    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def attempt_of(state: State, path: str) -> int:
    """The attempt that an answer is of: a step that only asks begins with the answer."""
    progress = state.step(path)
    begins = progress.status == lifecycle.PENDING and gates.only_asks(state.plan.step(path))
    return progress.attempt + begins


def differences(statement: Statement, state: State, path: str, decision: str) -> list[str]:
    """The fields in which a statement is about something else than an answer to this step in this state."""
    expected = {
        "decision": decision,
        "workflow": state.ulid,
        "id": state.id,
        "step": path,
        "attempt": attempt_of(state, path),
        "waiting": state.step(path).waiting_since,
    }
    return [name for name, value in expected.items() if getattr(statement, name) != value]


def unreadable(why: str) -> Refused:
    from holdfast.core import remedies

    said = f"this is not the statement of an approval: {why}"
    remedy = remedies.approve(remedies.STEP, text="sign what is asked for now, all of it")
    return Refused("bad_statement", said, remedy=remedy, facts={"reason": why})
