"""What can be asked of a workflow. A command carries everything the rules need except the facts of the world."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.definition import Definition, Step
from holdfast.core.state import Actor, Alert, Evidence, Progress, State
from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Start(Value):
    definition: Definition
    ulid: str
    id: str
    subject: str = ""
    title: str = ""
    context: Mapping[str, Any] = {}
    branch: str | None = None
    worktree: str = ""
    session: str = ""
    head: str | None = None
    dirt: Mapping[str, str] = {}
    parent: str = ""
    parent_seal: str = ""
    finished: Mapping[str, str] = {}
    """Steps that need not be done any more, and why."""


class Begin(Value):
    step: str


class Done(Value):
    step: str
    artifacts: Mapping[str, str] = {}
    data: Mapping[str, Any] = {}
    evidence: Mapping[str, Evidence] = {}


class Attach(Value):
    """Names an output of a step that is still being worked on."""

    step: str
    artifacts: Mapping[str, str]


class Submit(Value):
    step: str
    artifacts: Mapping[str, str] = {}


class Fail(Value):
    step: str
    reason: str
    data: Mapping[str, Any] = {}


class Block(Value):
    step: str
    reason: str


class Unblock(Value):
    step: str
    guidance: str = ""


class Skip(Value):
    step: str
    reason: str = ""


class Review(Value):
    step: str
    verdict: str
    feedback: str = ""


class Approve(Value):
    step: str
    variant: str = ""
    modifications: Mapping[str, Any] = {}
    word: str = ""
    signed: Mapping[str, str] | None = None
    """The artifacts' hashes a signature was made over, where one was."""


class Reject(Value):
    step: str
    feedback: str = ""
    modifications: Mapping[str, Any] = {}


class Reopen(Value):
    step: str
    feedback: str = ""


class Resume(Value):
    step: str = ""


class Cancel(Value):
    reason: str = ""


class Pause(Value):
    reason: str


class Extend(Value):
    cost: int = 0
    time: int = 0
    iterations: int = 0


class RecordCheck(Value):
    """The result of a check. The engine fills in what it saw; a reported one has only `passed`."""

    step: str
    name: str
    evidence: Evidence


class Note(Value):
    text: str
    step: str = ""


class Outdate(Value):
    """The result that the work builds on has changed."""


class Revalidate(Value):
    """The work was looked at again in the light of what the parent's result is now."""


class Rehome(Value):
    """The session is committed: `before` is where its files lay, and now they lie in the project.

    Its `own` folders lie below `after`; everything else was a copy of a file of the project.
    """

    before: str
    after: str
    own: tuple[str, ...] = ()


class Record(Value):
    """Sets values of the workflow's context, or of one step."""

    values: Mapping[str, Any]
    step: str = ""


class Spend(Value):
    micros: int
    agent: str = ""
    step: str = ""


class StartAgent(Value):
    role: str
    step: str = ""
    ttl: int = 600


class BeatAgent(Value):
    token: int


class EndAgent(Value):
    token: int
    outcome: str = ""


class AddStep(Value):
    above: str
    step: Step
    after: str | None = None


class RetireStep(Value):
    step: str


class ChangeStep(Value):
    step: str
    new: Step


class TakeSnapshot(Value):
    label: str = ""


class Restore(Value):
    number: int


class Alarm(Value):
    """Records what was found wrong with a document."""

    alert: Alert


class Compacted(Value):
    """The host threw away the agent's context; the agent goes on from what is recorded."""

    note: str = ""


class Edit(Value):
    """A changed document, decoded into the commands it stands for; all of them are legal or none is taken."""

    path: str
    document: Mapping[str, Any]
    commands: tuple[Command, ...] = ()
    entries: tuple[Mapping[str, Any], ...] = ()
    source: str = "file"


class TakeOver(Value):
    """A document that came with git: what it says of the steps is taken, what it says of gates is only claimed."""

    path: str
    document: Mapping[str, Any]
    progress: Mapping[str, Progress]


class Adopt(Value):
    """A document that has no journal yet, decoded into a state."""

    state: State
    document: Mapping[str, Any]


Command = (
    Start
    | Begin
    | Done
    | Attach
    | Submit
    | Fail
    | Block
    | Unblock
    | Skip
    | Review
    | Approve
    | Reject
    | Reopen
    | Resume
    | Cancel
    | Pause
    | Extend
    | RecordCheck
    | Note
    | Record
    | Outdate
    | Revalidate
    | Rehome
    | Spend
    | StartAgent
    | BeatAgent
    | EndAgent
    | AddStep
    | RetireStep
    | ChangeStep
    | TakeSnapshot
    | Restore
    | TakeOver
    | Alarm
    | Compacted
    | Edit
    | Adopt
)


class Request(Value):
    """A command with who asks, under which fencing token, and the key that makes a repetition harmless."""

    command: Command
    actor: Actor
    token: int = 0
    key: str = ""
    payload: str = ""


class Facts(Value):
    """What the rules must know of the world, gathered by the engine under the lock."""

    now: str
    boot: str = ""
    mono: float = 0
    hashes: Mapping[str, tuple[str, int] | None] = {}
    tree: str | None = None
    head: str | None = None
    dirty: bool = False
    trusted: bool = True
    signer: str = ""
    past: State | None = None
    results: Mapping[str, Mapping[str, Any] | None] = {}
    """What the results that a command names say, by path; None where one is no JSON object."""
    parent_seal: str | None = None
    """What the parent's result is now; empty when it is not approved, None when nobody asked."""
    unknown_commits: tuple[str, ...] = ()
    """Commits that a command names and that the branch does not have."""
