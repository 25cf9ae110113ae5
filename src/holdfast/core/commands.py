"""What can be asked of a workflow. A command carries everything the rules need except the facts of the world."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.definition import Definition, Equipment, Identity, Step
from holdfast.core.state import Actor, Alert, Evidence, Progress, Proof, State
from holdfast.core.value import Any, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.errors import HoldfastError


class Command(Value):
    """Base of everything that can be asked; `decide` has a rule for each."""


class Start(Identity, Command, kw_only=True):
    steps: tuple[Step, ...]
    finished: Mapping[str, str] = {}
    """Steps that need not be done any more, and why."""
    begun: tuple[str, ...] = ()
    """Steps that begin with the workflow."""

    @classmethod
    def of(
        cls,
        definition: Definition,
        ulid: str,
        id: str,
        *,
        reading: tuple[str, ...] = (),
        reminders: tuple[str, ...] = (),
        **more: Any,
    ) -> Start:
        """What a definition says, what is to be read and kept in mind beside that, and what only this start knows."""
        said = {name: value for name, value in definition.items() if name in cls._known and name != "title"}
        said["reading"] += reading
        said["reminders"] += reminders
        return cls(ulid=ulid, id=id, type=definition.name, **{**said, **more})


class Begin(Command):
    step: str


class Done(Command):
    step: str
    artifacts: Mapping[str, str] = {}
    data: Mapping[str, Any] = {}
    evidence: Mapping[str, Evidence] = {}
    unchanged: str = ""
    """Why the work is handed in as it was when it failed or people asked for changes."""


class Attach(Command):
    """Names an output of a step that is still being worked on."""

    step: str
    artifacts: Mapping[str, str]


class Submit(Command):
    step: str
    artifacts: Mapping[str, str] = {}
    unchanged: str = ""


class Fail(Command):
    step: str
    reason: str
    data: Mapping[str, Any] = {}


class Iterate(Command):
    """The criteria of a task are not met yet: it is tried once more, with what the last try showed."""

    step: str
    reason: str


class Block(Command):
    """A step cannot continue. `by_hand`: a person does it, and only a person lets others at it again."""

    step: str
    reason: str
    by_hand: bool = False


class Unblock(Command):
    step: str
    guidance: str = ""


class Skip(Command):
    step: str
    reason: str = ""


class Review(Command):
    step: str
    verdict: str
    feedback: str = ""


class Approve(Command):
    step: str
    variant: str = ""
    modifications: Mapping[str, Any] = {}
    proof: Proof | None = None
    shown: Mapping[str, str] | None = None
    """The artifacts' hashes as the person who approves was shown them, where that is known."""


class Confirm(Command):
    """A person believes what a document claims of the checks of a step that is done."""

    step: str


class Reject(Command):
    step: str
    feedback: str = ""
    modifications: Mapping[str, Any] = {}
    proof: Proof | None = None


class Reopen(Command):
    step: str
    feedback: str = ""


class Reset(Command):
    """Begins a step again as if it had never been worked on, and all that wait for it; without a step, everything."""

    step: str = ""


class Advise(Command):
    """Feedback for a step, for when it is active next."""

    step: str
    feedback: str


class Finalize(Command):
    """The result of a completed workflow is handed over: nothing changes it any more.

    `elsewhere`: it was, in another clone, and what it was made of is not here any more. `branch`: the one that it was
    merged into, where that is done from there.
    """

    elsewhere: bool = False
    branch: str = ""


class Resume(Command):
    step: str = ""


class Cancel(Command):
    reason: str = ""


class Reinstate(Command):
    """A workflow that was given up continues where it was: unlike `Resume`, no step is taken up again."""


class Pause(Command):
    reason: str


class Extend(Command):
    cost: int = 0
    time: int = 0
    iterations: int = 0


class RecordCheck(Command):
    """The result of a check. The engine fills in what it saw; a reported one has only `passed`."""

    step: str
    name: str
    evidence: Evidence


class Note(Command):
    text: str
    step: str = ""


class Outdate(Command):
    """The result that the work builds on has changed."""


class Revalidate(Command):
    """The work was looked at again in the light of what the parent's result is now."""


class Rehome(Command):
    """The session is committed: `before` is where its files were, and now they are in the project.

    Its `own` folders are below `after`; everything else was a copy of a file of the project.
    """

    before: str
    after: str
    own: tuple[str, ...] = ()


class Record(Command):
    """Sets values of the workflow's context, or of one step; those that are `removed` are there no more."""

    values: Mapping[str, Any]
    step: str = ""
    removed: tuple[str, ...] = ()


class Spend(Command):
    micros: int
    agent: str = ""
    step: str = ""


class StartAgent(Command):
    role: str
    step: str = ""
    ttl: int = 600
    agent: str = ""
    """The host's id of an agent that was only seen at work."""
    key: str = ""
    """The digest of the secret in the token that the holder gets."""
    place: Mapping[str, str] = {}
    """Where it works, where it has a worktree of its own: these fields of the lease."""


class BeatAgent(Command):
    """A sign of life under the request's token, or of a lease by its number."""

    token: int = 0


class EndAgent(Command):
    """Gives back the lease of the request's token, one by its number, or that of an agent only seen at work."""

    token: int = 0
    outcome: str = ""
    agent: str = ""
    stale: bool = False
    """Only if it ran out: said by somebody who cannot speak for the agent."""


class Lock(Command):
    """Claims files, or all that a pattern with `*` and `?` means, for one agent."""

    paths: tuple[str, ...]
    agent: str = ""
    ttl: int = 600


class Unlock(Command):
    paths: tuple[str, ...]


class AddStep(Command):
    above: str
    step: Step
    after: str | None = None


class RetireStep(Command):
    step: str


class ChangeStep(Command):
    step: str
    new: Step


class TakeSnapshot(Command):
    label: str = ""


class Restore(Command):
    number: int


class Alarm(Command):
    """Records what was found wrong with a document."""

    alert: Alert


class Compacted(Command):
    """The host threw away the agent's context; the agent continues from what is recorded."""

    note: str = ""


class Sit(Command):
    """The asking session belongs to this workflow."""


class Leave(Command):
    """The asking session is over: what it held is free."""

    reason: str = ""


class Acknowledge(Command):
    """The session read the resume packet: it presents its id."""

    packet: str


class Urge(Command):
    """An agent wanted to stop while there is work it can do, and is held at it."""


class Touch(Command):
    """Files that were seen to be changed."""

    paths: tuple[str, ...]


class Remember(Command):
    """Something that was seen to happen around the work, for the history."""

    event: str
    data: Mapping[str, Any] = {}


class Brief(Command):
    """Changes what has to be read (`reading`) or kept in mind (`reminders`). `exactly` is the whole list."""

    what: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    exactly: tuple[str, ...] | None = None


class Learn(Command):
    lesson: str
    type: str = "insight"
    pattern: str = ""
    context: str = ""
    step: str = ""


class Equip(Equipment, Command):
    """Gives the checks that use a command of the project this one; one that was `typed` takes no other's place."""

    typed: bool = False


class Own(Command):
    """What only a system understands: its rule of this name decides, and says what the system keeps."""

    system: str
    name: str
    data: Mapping[str, Any] = {}


class Refile(Command):
    """The document of a workflow that is over goes to another place."""

    file: str


class Together(Command):
    """Several commands as one: all of them are legal or none is taken."""

    commands: tuple[Command, ...]


PARTLY, FORGED, NORMALISED = "edit_partly_refused", "edit_forged", "edit_normalised"
"""What is said of an edit of which not everything was taken as it was written."""
Place = tuple[str | tuple[str, Any], ...]
"""Where something is in a document: names, and for an entry of a list its key and what that says."""


class Part(Value):
    """What a field of an edited document asks for, or several fields that say one thing. It is decided by itself."""

    field: str
    places: tuple[Place, ...] = ()
    commands: tuple[Command, ...] = ()
    entries: tuple[Mapping[str, Any], ...] = ()
    """What is added to the history."""
    needs: str = ""
    """The field of the part without which this one says nothing."""
    written: Any = None
    """What the field is read as, where it was written in another way; it is at the first place from now on."""
    wrong: HoldfastError | None = None
    """Why it cannot be taken, whatever the rules say."""
    gate: bool = False
    """Whether it says that a gate was passed, which only people and reviewers do."""
    derived: bool = False
    """Whether the field follows from the rest: it is put right without a word."""
    expects: tuple[str, str] | None = None
    """The step, or nothing for the whole, and the status that it is to have afterwards: gates may lead elsewhere."""
    removes: bool = False
    """Whether steps go with it, which is always told."""


class Edit(Command):
    """A changed document, decoded into what it asks for. Each part is taken, or put back to what `base` says."""

    path: str
    document: Mapping[str, Any]
    base: Mapping[str, Any]
    parts: tuple[Part, ...] = ()
    source: str = "file"
    kept: str = ""
    """Where the original is kept, with `told` beside it."""
    told: tuple[str, ...] = ()
    """What becomes of each field: the rules refuse a decision that the copy does not tell."""

    @property
    def commands(self) -> tuple[Command, ...]:
        return tuple(command for part in self.parts for command in part.commands)


class Rename(Command):
    """Gives the workflow another title; its id and its files stay."""

    title: str


class TakeOver(Command):
    """A document that came with git: what it says of the steps is taken, what it says of gates is only claimed."""

    path: str
    document: Mapping[str, Any]
    progress: Mapping[str, Progress]


class Adopt(Command):
    """A document that has no journal yet, decoded into a state."""

    state: State
    document: Mapping[str, Any]


class Request(Value):
    """A command with who asks, under the token of which lease, and the key that makes a repetition harmless."""

    command: Command
    actor: Actor
    token: str = ""
    key: str = ""
    payload: str = ""
