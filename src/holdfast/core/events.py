"""What can happen to a workflow. Events are facts: applying one never fails and never asks the world anything."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.definition import Bounds, Step
from holdfast.core.state import (
    Alert,
    Artifact,
    Escalation,
    Evidence,
    Grant,
    Hold,
    Intervention,
    Learning,
    Lease,
    Progress,
    Snapshot,
    Supervision,
    Verdict,
)
from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Started(Value):
    """A workflow began. The whole tree is here: a changed definition file affects new workflows only."""

    ulid: str
    id: str
    type: str
    steps: tuple[Step, ...]
    dialect: str = "skill"
    version: int = 1
    digest: str = ""
    source: str = ""
    title: str = ""
    subject: str = ""
    context: Mapping[str, Any] = {}
    bounds: Bounds = Bounds()
    branch: str | None = None
    worktree: str = ""
    session: str = ""
    loads: str = ""
    advance: bool = False
    head: str | None = None
    dirt: Mapping[str, str] = {}
    parent: str = ""
    parent_seal: str = ""
    reading: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    keep_going: bool = False
    require_ack: bool = False
    read_only: tuple[str, ...] = ()
    supervision: Supervision = Supervision()


class Adopted(Value):
    """A document with no journal was taken over whole. What it claims of gates opens nothing until confirmed."""

    ulid: str
    id: str
    type: str
    steps: tuple[Step, ...]
    document: Mapping[str, Any]
    dialect: str = "skill"
    title: str = ""
    subject: str = ""
    context: Mapping[str, Any] = {}
    branch: str | None = None
    worktree: str = ""
    created_at: str = ""
    progress: Mapping[str, Progress] = {}
    history: tuple[Mapping[str, Any], ...] = ()
    history_count: int = 0
    version: int = 1
    digest: str = ""
    source: str = ""
    bounds: Bounds = Bounds()
    loads: str = ""
    session: str = ""
    reading: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    keep_going: bool = False
    require_ack: bool = False
    read_only: tuple[str, ...] = ()
    file: str = ""
    supervision: Supervision = Supervision()
    learnings: tuple[Learning, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    spent: int = 0
    rested_seconds: float = 0
    leases: Mapping[str, Lease] = {}
    alerts: tuple[Alert, ...] = ()
    escalations: tuple[Escalation, ...] = ()


class Moved(Value):
    """A step went from one status to the next. `move` is a key of the transition table."""

    move: str
    step: str
    attempt: int = 0
    reason: str = ""
    feedback: str = ""
    renewed: bool = False
    data: Mapping[str, Any] = {}
    blames: str = ""
    """The step whose try this one judged: it failed with it, and is renewed with it."""


class Produced(Value):
    step: str
    name: str
    artifact: Artifact


class Checked(Value):
    step: str
    name: str
    evidence: Evidence


class Reviewed(Value):
    step: str
    verdict: Verdict


class Advised(Value):
    """A step got feedback beside the moves that carry some."""

    step: str
    feedback: str


class Granted(Value):
    """A person's approval or choice. `confirmed` replaces what a document only claimed."""

    step: str
    grant: Grant


class Noted(Value):
    text: str
    step: str = ""


class Recorded(Value):
    """Facts about a step, or about the workflow's context when no step is named."""

    values: Mapping[str, Any]
    step: str = ""
    removed: tuple[str, ...] = ()


class Marked(Value):
    """`mark` is cancelled, paused, finalized or outdated; `on` False takes it away again."""

    mark: str
    on: bool = True
    reason: str = ""


class Founded(Value):
    """The workflow builds on what another one's result is now."""

    parent: str
    seal: str


class Rehomed(Value):
    """The session a workflow was in was committed: it goes on in the project, and its files lie there."""

    session: str
    before: str
    after: str
    own: tuple[str, ...] = ()


class Spent(Value):
    micros: int
    agent: str = ""
    step: str = ""


class Warned(Value):
    """A bound is nearly used up, or used up. Given once for each level."""

    bound: str
    percent: int
    used: str
    limit: str


class Extended(Value):
    bounds: Bounds


class Leased(Value):
    lease: Lease
    took_over: int = 0


class Beat(Value):
    token: int
    boot: str
    deadline: float


class Released(Value):
    token: int
    outcome: str = ""


class Locked(Value):
    holds: Mapping[str, Hold]


class Unlocked(Value):
    paths: tuple[str, ...]


class Compacted(Value):
    """The context of the session that the record names was thrown away."""

    note: str = ""


class Seated(Value):
    """The session that the record names belongs to this workflow."""


class Acknowledged(Value):
    """The session that the record names has caught up."""


class Urged(Value):
    """An agent that wanted to stop was held at its work."""


class Briefed(Value):
    """What has to be read (`reading`) or heeded (`reminders`) is this now."""

    what: str
    entries: tuple[str, ...]


class Learned(Value):
    learning: Learning


class Supervised(Value):
    """A check of the supervisor. Without an intervention it found no conflict."""

    check_type: str
    task: str
    verdict: str
    intervention: Intervention | None = None
    fixes: int = 0


class Refiled(Value):
    file: str


class Sighted(Value):
    """A file of the project was looked at, and said this."""

    source: str
    account: Mapping[str, Any]


class Amended(Value):
    """The tree changed: `add` a step (below `path`, after a sibling), `retire` or `change` one."""

    op: str
    path: str
    step: Step | None = None
    after: str | None = None


class Snapshotted(Value):
    number: int
    head: str | None = None
    label: str = ""


class Restored(Value):
    """The steps are as they were at a snapshot, or as git brought them (number 0). History and spending go on."""

    number: int
    steps: tuple[Step, ...]
    progress: Mapping[str, Progress]


class Edited(Value):
    """A person or agent changed the document on disk and the change was legal."""

    path: str
    document: Mapping[str, Any]
    source: str = "file"


class Remembered(Value):
    """A history entry that came in through a document."""

    entry: Mapping[str, Any]


class Alerted(Value):
    alert: Alert


Event = (
    Started
    | Adopted
    | Moved
    | Produced
    | Checked
    | Reviewed
    | Advised
    | Granted
    | Noted
    | Recorded
    | Marked
    | Founded
    | Rehomed
    | Spent
    | Warned
    | Extended
    | Leased
    | Beat
    | Released
    | Locked
    | Unlocked
    | Compacted
    | Seated
    | Acknowledged
    | Urged
    | Briefed
    | Learned
    | Supervised
    | Refiled
    | Sighted
    | Amended
    | Snapshotted
    | Restored
    | Edited
    | Remembered
    | Alerted
)
