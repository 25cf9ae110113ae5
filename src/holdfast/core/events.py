"""What can happen to a workflow. Events are facts: applying one never fails and never asks the world anything."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.definition import Bounds, Equipment, Identity, Step
from holdfast.core.state import (
    Alert,
    Artifact,
    Carried,
    Evidence,
    Grant,
    Hold,
    Learning,
    Lease,
    Progress,
    Proof,
    Verdict,
)
from holdfast.core.value import Any, Value


class Started(Identity, kw_only=True):
    """A workflow began. The whole tree is here: a changed definition file affects new workflows only."""

    steps: tuple[Step, ...]


class Adopted(Carried, kw_only=True):
    """A document without a journal became a workflow. What it claims of gates opens nothing until confirmed."""

    steps: tuple[Step, ...]
    document: Mapping[str, Any]


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
    proof: Proof | None = None
    """What makes a person's no checkable, where they gave it with a passkey."""


class Produced(Value):
    step: str
    name: str
    artifact: Artifact


class Dropped(Value):
    """An artifact does not belong to the work any more: its file is gone."""

    step: str
    name: str


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
    """An approval or choice. One that confirms a claim takes its place."""

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
    person: str = ""
    """How a person was recognised whose word it takes; empty where nobody's was needed."""


class Founded(Value):
    """The workflow builds on what another one's result is now."""

    parent: str
    seal: str


class Rehomed(Value):
    """The session a workflow was in was committed: it continues in the project, and its files are there."""

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
    key: str = ""


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
    """What has to be read (`reading`) or kept in mind (`reminders`) is this now."""

    what: str
    entries: tuple[str, ...]


class Learned(Value):
    learning: Learning


class Owned(Value):
    """A system keeps these values now. `entry` is what the history says of it, `line` the same as one sentence."""

    system: str
    values: Mapping[str, Any]
    entry: Mapping[str, Any] = {}
    line: str = ""


class Refiled(Value):
    file: str


class Amended(Value):
    """The tree changed: `add` a step (below `path`, after a sibling), `retire` or `change` one."""

    op: str
    path: str
    step: Step | None = None
    after: str | None = None


class Equipped(Equipment):
    """The checks that use a command of the project have this one now: all of them, or those of a step and below it.

    Without words nothing is run, and `run_by` says whether reports count.
    """


class Snapshotted(Value):
    number: int
    head: str | None = None
    label: str = ""


class Restored(Value):
    """The steps are as they were at a snapshot, or as git brought them (number 0). History and spending continue."""

    number: int
    steps: tuple[Step, ...]
    progress: Mapping[str, Progress]


class Branched(Value):
    """The work belongs to another branch, into which it was merged."""

    branch: str


class Renamed(Value):
    """The workflow has another title."""

    title: str


class Edited(Value):
    """A person or agent changed the document on disk: what was legal of it is in `document`."""

    path: str
    document: Mapping[str, Any]
    source: str = "file"


class Remembered(Value):
    """A history entry that came in through a document."""

    entry: Mapping[str, Any]


class Alerted(Value):
    alert: Alert


_Whole = Started | Adopted | Noted | Recorded | Marked | Founded | Rehomed | Refiled | Renamed | Branched | Owned
_Steps = (
    Moved | Produced | Dropped | Checked | Reviewed | Advised | Granted | Amended | Equipped | Snapshotted | Restored
)
_Agents = Leased | Beat | Released | Locked | Unlocked | Spent | Warned | Extended
_Sessions = Compacted | Seated | Acknowledged | Urged | Briefed | Learned
_Documents = Edited | Remembered | Alerted
Event = _Whole | _Steps | _Agents | _Sessions | _Documents
