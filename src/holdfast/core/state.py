"""The state of one workflow: always the fold of its journal."""

from __future__ import annotations

from _collections_abc import Callable, Mapping
from _operator import is_not
from itertools import compress

from holdfast.core import lifecycle
from holdfast.core.definition import Identity
from holdfast.core.plan import Plan
from holdfast.core.value import Any, Value

KEPT = 100
"""How many history entries and notes the state keeps; the journal has all."""
KEPT_KEYS = 1000
KEPT_RENDERINGS = 32
KEPT_ALERTS = 10
KEPT_SEATS = 16
BASE, BEGAN = "base_sha", "began_at"
"""Facts about a task that hold for all tries at it: the commit and the moment at which the first one began."""
BY_HAND = "by_hand"
"""The fact about a step that a person does it."""
BLOCKED_BY = "blocked_by"
"""The fact about a step: the person who blocked it."""
PERSONS = (BY_HAND, BLOCKED_BY)
"""The facts about a step that only a person sets or takes away."""
ADDED = "added_tasks"
"""The fact about a step that lists the tasks below it which somebody added by a command: no file has them."""
REMOVED = "removed_tasks"
"""The fact about a step that lists the tasks below it which a person took out, each with its path and the reason."""
SAME_RUN = "same_run"
"""What evidence says that is of a run for another step, on the same tree: that step."""
SHOWN_BY = "shown_by"
"""What evidence says where the test is gone, or is not what it was when it was red: the step that showed it."""
HELD = "held_before"
"""The fact about a step: the checks that passed when it began. They prove nothing about the work."""
FREE_TRIES = "free_tries"
"""The fact about a step: how many of its tries do not count, because its plan changed under it."""
CHECKED = "supervised"
"""The fact about a step: which checks of a supervisor were made of it, each with the attempt that it was made in."""
FOUND = "found"
"""The fact about a step that keeps the file about it as it was found when the workflow was adopted."""
UNCHANGED = "unchanged"
"""The fact about a step: why it was handed in again as it was when it failed or people asked for changes."""
RAN = "agents_ran"
"""The fact about a step: how many agents worked on it side by side, as its result says."""
COMMITS = "commits"
"""The fact about a step: all commits that were made for it, oldest first."""
FILES = "files_modified"
"""The fact about a step: the files that were changed for it."""
LASTING = (BASE, BEGAN, FOUND, HELD, FREE_TRIES, CHECKED, COMMITS, ADDED)
"""The facts that hold for all tries at a step."""


class Actor(Value):
    """Who did it, and through which surface. `session` is the host's, where there is one."""

    kind: str
    name: str = ""
    surface: str = ""
    session: str = ""

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind


ENGINE = Actor("engine")


_OF_WORDS = "said "


def contents(hashed: str, said: str) -> tuple[str, ...]:
    """The hash of a file, and the one of its words where it is text, which is told from it."""
    return (hashed, f"{_OF_WORDS}{said}") if said else (hashed,)


def is_of_words(hashed: str) -> bool:
    return hashed.startswith(_OF_WORDS)


class Artifact(Value):
    path: str
    hash: str
    at: str
    size: int = 0
    said: str = ""
    """The hash of its words, white space aside; empty for what is no text."""

    @property
    def contents(self) -> tuple[str, ...]:
        """What tells whether it is something else than before: its hash, and the one of its words."""
        return contents(self.hash, self.said)


class Evidence(Value):
    """The recorded result of a check. `tree` is what the working tree was when it ran."""

    passed: bool
    at: str
    attempt: int
    run_by: str = "reported"
    by: str = ""
    exit_code: int | None = None
    duration_ms: int | None = None
    head: str | None = None
    tree: str | None = None
    dirty: bool = False
    tail: str = ""
    digest: str = ""
    detail: str = ""
    claimed: bool = False
    data: Mapping[str, Any] = {}
    """What goes with it: how many tests ran, what a review found, where a pull request is."""
    redacted: Mapping[str, int] = {}
    """How many likely secrets were redacted in what the command printed, by kind."""
    scope: str = ""
    """The step whose own work `tree` is of, where several agents work side by side; empty: the workflow's tree."""

    def tests_passed(self, test: str) -> bool:
        """Whether the tests passed when a check ran for which a test had to fail or to pass."""
        return self.exit_code == 0 if self.exit_code is not None else self.passed == (test == "passes")


RELAYED, DOCUMENT = "relayed", "document"
"""How a grant came about that no person gave here: an agent passed it on, or a document says so."""


class Proof(Value):
    """What anybody can check later without the machine on which a person answered: a statement that was signed.

    An SSH key made `signature`, in armor; or a passkey made it over `authenticator_data` and the hash of `client_data`,
    all of them base64url, and `credential` is its id.
    """

    statement: str
    signature: str
    credential: str = ""
    client_data: str = ""
    authenticator_data: str = ""


class Grant(Value):
    """An approval or choice that was given, bound to the attempt and to the artifacts' hashes."""

    at: str
    by: str
    how: str
    """How the person was recognised: `terminal`, `elicitation`, `page`, `signature`, `passkey`, `forge`; else `relayed`
    or `document`."""
    attempt: int
    hashes: Mapping[str, str] = {}
    variant: str = ""
    modifications: Mapping[str, Any] = {}
    where: str = ""
    """The machine and the clone, or the address at the forge."""
    proof: Proof | None = None
    mac: str = ""
    """The code by which the clone where it was given recognises it."""
    limits: tuple[str, ...] = ()
    """What limited the proof of the tests that the person was shown."""

    @property
    def claimed(self) -> bool:
        """Whether no clone can recognise it, nor could one ever. `recognition` says whether this one does."""
        return self.how != RELAYED and not self.mac


class Verdict(Value):
    """What a reviewer said of one round."""

    verdict: str
    at: str
    by: str
    attempt: int
    feedback: str = ""
    hashes: Mapping[str, str] = {}
    """What it is of, where the system says what the work of the step is."""


class Act(Value):
    """One act of the cycle in which a step is made and reviewed, and what came of it once that is known."""

    at: str
    action: str
    iteration: int
    result: str = ""


class Escalation(Value):
    """A step that was put before a person: why, and what they said."""

    step: str
    reason: str
    iteration: int
    at: str
    resolved_at: str = ""
    resolution: str = ""


class Try(Value):
    """An attempt that ended: how, and what the next one should know."""

    attempt: int
    ended: str
    at: str
    reason: str = ""
    data: Mapping[str, Any] = {}


class Progress(Value):
    """The state of one step."""

    status: str = lifecycle.PENDING
    attempt: int = 0
    failures: int = 0
    rounds: int = 0
    started_at: str = ""
    finished_at: str = ""
    waiting_since: str = ""
    reason: str = ""
    feedback: tuple[str, ...] = ()
    advice: str = ""
    """The feedback that is still to be acted on: settled when people have the work before them, or it is done."""
    acts: tuple[Act, ...] = ()
    artifacts: Mapping[str, Artifact] = {}
    evidence: Mapping[str, Evidence] = {}
    verdicts: tuple[Verdict, ...] = ()
    reviewed: bool = False
    grant: Grant | None = None
    past_grants: tuple[Grant, ...] = ()
    tries: tuple[Try, ...] = ()
    data: Mapping[str, Any] = {}
    spent: int = 0
    """Micro-dollars that went into this step."""
    sent_back: Mapping[str, str] = {}
    """The files that have to change before it is handed in again, by name, with what they were when the work failed or
    people asked for changes."""
    turned_down: Mapping[str, tuple[str, ...]] = {}
    """What these files were each time: no earlier one is taken again either."""


class Claim(Value):
    """What an agent has for a time. The deadline is monotonic time on one boot, so a clock jump expires nothing."""

    token: int
    at: str
    boot: str
    deadline: float
    ttl: int
    session: str = ""

    def expired(self, boot: str, mono: float) -> bool:
        return boot != self.boot or mono > self.deadline


class Lease(Claim, kw_only=True):
    """An agent at work."""

    role: str
    step: str = ""
    agent: str = ""
    """The host's own id of an agent that was only seen at work. Such a lease fences nobody."""
    key: str = ""
    """The digest of the secret in its holder's token, which is kept nowhere. `token` is only the fencing number."""
    worktree: str = ""
    """The worktree that was made for the agent, from the root of the project."""
    branch: str = ""
    """The branch that is checked out there."""
    into: str = ""
    """The branch that the work is brought into when the step is done."""

    @property
    def holder(self) -> str:
        """A session that holds a workflow as a whole goes by its own name, not by that of the definition."""
        return f"another session ({self.session[:12]}…)" if self.session and not self.step else self.role


class Hold(Claim, kw_only=True):
    """A file that one agent works on."""

    agent: str
    lease: int = 0
    """The token of the lease under which the agent works, where it has one: the lock ends with it."""


class Seat(Value):
    """A session of a host that works here: how often its context was compacted, and what it has caught up with."""

    at: str
    compactions: int = 0
    caught_up: int = -1


class Learning(Value):
    """What was learned: a `pattern` to follow, an `antipattern` to avoid, or an `insight`."""

    at: str
    lesson: str
    type: str = "insight"
    pattern: str = ""
    context: str = ""
    step: str = ""
    attempt: int = 0


class Mark(Value):
    """An explicit mark on the workflow: cancelled, paused, finalized."""

    at: str
    by: str
    reason: str = ""
    person: str = ""
    """How a person was recognised whose word it takes."""


class Snapshot(Value):
    """A place in the journal that `restore` can go back to."""

    number: int
    revision: int
    at: str
    head: str | None = None
    label: str = ""


class Alert(Value):
    """Something that happened to a document and that people should hear of."""

    at: str
    code: str
    message: str
    path: str = ""
    kept: str = ""


class Carried(Identity):
    """What a workflow can bring along when it is adopted from a document."""

    created_at: str = ""
    progress: Mapping[str, Progress] = {}
    history: tuple[Mapping[str, Any], ...] = ()
    history_count: int = 0
    file: str = ""
    """Where its document is, if not where the dialect would put it."""
    learnings: tuple[Learning, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    spent: int = 0
    rested_seconds: float = 0
    leases: Mapping[str, Lease] = {}
    alerts: tuple[Alert, ...] = ()
    escalations: tuple[Escalation, ...] = ()


class Shown(Value):
    """The documents that were in the project when a line was written: of which revision, and the hash of each."""

    at: int
    documents: Mapping[str, str]


class State(Carried, kw_only=True):
    plan: Plan
    origin: str = "started"
    updated_at: str = ""
    moved_at: str = ""
    """When a step last moved, or the workflow was marked: what happens beside that changes no document in git."""
    finished_at: str = ""
    revision: int = 0
    agent_calls: int = 0
    warned: tuple[str, ...] = ()
    rest_since: str = ""
    cancelled: Mark | None = None
    paused: Mark | None = None
    finalized: Mark | None = None
    outdated: Mark | None = None
    """Set when the parent's result has changed since this one was last built on it."""
    learnings_count: int = 0
    locks: Mapping[str, Hold] = {}
    seats: Mapping[str, Seat] = {}
    urged: int = 0
    """How often an agent that wanted to stop was held since the work last moved."""
    fence: int = 0
    keys: Mapping[str, tuple[str, int]] = {}
    notes: tuple[Mapping[str, str], ...] = ()
    stands_at: int = 0
    """The snapshot that was taken or restored last."""
    base: Mapping[str, Any] | None = None
    renderings: tuple[Shown, ...] = ()
    """Documents that were shown before the newest line: the journal tells what was shown, not what is to be."""
    redacted: Mapping[str, int] = {}
    """How many likely secrets were redacted in its journal, by kind."""

    def step(self, path: str) -> Progress:
        return self.progress.get(path, _UNTOUCHED)

    def bound(self, path: str) -> Lease | None:
        """The lease with a worktree of its own under which a step is worked on."""
        bound = (lease for lease in self.leases.values() if lease.worktree)
        return next((one for one in bound if path == one.step or path.startswith(f"{one.step}/")), None)

    @property
    def is_code_done(self) -> bool:
        """Whether all code is done, so that what others get of it counts, and not what is only in this working tree."""
        code = [one for one in self.plan.children("") if self.plan.step(one).code]
        return bool(self.finished_at) or (bool(code) and all(self.step(one).status == lifecycle.DONE for one in code))

    def most_tries(self, path: str) -> int:
        """How many tries the bound allows a step, with those that do not count; 0 is no bound."""
        limit = self.bounds.max_iterations
        return limit + self.step(path).attempt - self.counted_tries(path) if limit else 0

    def counted_tries(self, path: str) -> int:
        """How many tries of a step the bound counts: the one that is under way, too."""
        free = self.step(path).data.get(FREE_TRIES)
        return self.step(path).attempt - (free if isinstance(free, int) else 0)

    @property
    def is_cost_unknown(self) -> bool:
        """Whether cost is bounded, work was done, and nobody ever said what it cost."""
        worked = any(progress.attempt for path, progress in self.progress.items() if "/" in path)
        return bool(self.bounds.max_cost) and not self.spent and worked


_UNTOUCHED = Progress()


def moved(before: Mapping[str, Progress], after: Mapping[str, Progress]) -> tuple[str, ...]:
    """The steps whose progress is another one, or is gone. There may be many steps, and few of them move at once."""
    global _moved
    known = _moved  # taken once: another thread may put its own answer there meanwhile
    if known[0] is not before or known[1] is not after:
        found = list(compress(after, map(is_not, after.values(), map(before.get, after))))
        if len(before) + sum(path not in before for path in found) > len(after):
            found += before.keys() - after.keys()
        _moved = known = (before, after, tuple(found))
    return known[2]


_moved: tuple[Mapping[str, Progress], Mapping[str, Progress], tuple[str, ...]] = ({}, {}, ())
"""The last answer: everything that follows from the progress asks for the same two."""


class Following:
    """What is said of some steps, of each by its progress alone: asked again only of those that moved."""

    def __init__(self, said: Callable[[Progress], Any]) -> None:
        self._said = said
        self._known: tuple[Mapping[str, Progress], dict[str, Any]] = ({}, {})

    def of(self, progress: Mapping[str, Progress]) -> Mapping[str, Any]:
        """What there is to say, by the paths of the steps, in no order."""
        before, found = self._known
        if before is not progress:
            found = dict(found)
            for path in moved(before, progress):
                said = self._said(progress[path]) if path in progress else None
                if said:
                    found[path] = said
                else:
                    found.pop(path, None)
            self._known = (progress, found)
        return found


OPENED = Following(lambda one: one if one.status in lifecycle.OPEN else None)
"""The progress of the steps that are open."""
