"""What a workflow may look like: steps in a tree, with gates, retries and bounds."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any, Value

POLICIES = ("relayed", "human", "signed or passkey", "signed", "passkey")
"""Whose word a gate takes; `policies` has what each is content with."""
ACTIONS = {"load": "loaded", "branch": "branch", "commit": "commit_sha", "pull_request": "pr_url"}
"""What Holdfast itself does when a step is handed in, and the fact about the step that shows it was done. A system may
have further ones for the definitions of its dialect."""
OPENING = ("load", "branch")
"""The actions that Holdfast does when a workflow starts: they are no part of the work."""
BUILT_IN = "built-in"
"""The source of a definition that comes with Holdfast."""
MAX_STEPS = 2000
DEEPEST = 8


class Check(Value):
    """A named check. With `run`, the engine can run it; `run_by = "engine"` accepts nobody else's word.

    `uses` stands for a command of the project, which is looked up when a workflow starts; `source` is then the file it
    was found in. `test` says what a test must do for this check to pass: `fails` or `passes`. `report` is the JUnit XML
    file that the command writes.
    """

    name: str
    run: tuple[str, ...] = ()
    run_by: str = "any"
    timeout: int = 600
    uses: str = ""
    test: str = ""
    report: str = ""
    source: str = ""
    folder: str = ""
    """Where the command runs, from the top of the worktree."""
    by: str = ""
    """Who typed the command, where somebody did: `agent NAME`, `human NAME`."""
    text: str = ""
    """What it means, in words, where the name alone does not say it."""
    was: str = ""
    """The command that it had first in its folder, in words, where it has another one now."""


class Equipment(Value):
    """A command of the project for the checks that use it, in the whole tree or `under` a step."""

    uses: str
    run: tuple[str, ...]
    source: str = ""
    report: str = ""
    folder: str = ""
    run_by: str = "engine"
    under: str = ""
    by: str = ""


class Review(Value):
    """Reviewers look at the work; after `max` rejected rounds the step is escalated."""

    by: tuple[str, ...] = ()
    max: int = 4
    files: bool = False
    """Whether a reviewer writes the review into a file, which decides."""


class Approval(Value):
    """A person's word. The policy says through which channel it may come.

    `rejected` is what a bare no means: the step has failed, or it is worked on again (`revise`). `of` is the output
    that is approved, where the others only go with it: after a no, that one has to change.
    """

    by: str = "relayed"
    rejected: str = "fail"
    of: str = ""


class Choice(Value):
    """A person picks one of the options; without any, whatever the work offers."""

    options: tuple[str, ...] = ()
    by: str = "relayed"
    rejected: str = "fail"


class Retry(Value):
    """How often a step may fail, where the next try begins, and what it is when the tries are used up."""

    max: int
    back_to: str = ""
    exhausted: str = "failed"


class Conduct(Value):
    """What holds for every workflow whose subject is read in one way."""

    groups: tuple[str, ...] = ()
    """Kinds of steps that group the tasks which the subject brings, in the shape that `[step.task]` gives."""
    bounded: tuple[str, ...] = ()
    """Kinds of steps that the bound on tries counts for; empty: every leaf."""
    iterated: tuple[str, ...] = ()
    """Kinds of steps that can be tried once more because their criteria are not met."""
    checkpointed: tuple[str, ...] = ()
    """Kinds of steps whose begin keeps the commit and the time, and whose end takes a snapshot."""
    criteria: tuple[str, ...] = ()
    """Kinds of steps that are done only after the checks that have a command were run."""
    guarded_end: bool = False
    """Whether only a person gives up a run that is where a person has to decide."""
    by_tree: bool = True
    """Whether reported evidence is bound to the working tree."""
    frozen_trust: bool = False
    """Whether the steps come from the subject file, and its commands are trusted as they were at the start."""
    finalized: bool = False
    """Whether a completed run is unfinished until `finalize` has published its result."""
    grounded: bool = False
    """Whether the system says what the work builds on: work stops while that does not hold."""
    binding: bool = False
    """Whether others are held to the run although it was given up, unless a person gave it up."""
    phased: bool = False
    """Whether the number of a task begins with that of its phase."""
    handed_whole: bool = False
    """Whether the system says what the work of a step is, and reviews and approvals are of all of it."""


class Words(Value):
    """What systems add to the words of a definition."""

    loads: Mapping[str, Conduct] = {}
    """What a subject can be read as, and how such workflows are conducted."""
    actions: Mapping[str, Mapping[str, str]] = {}
    """By dialect: what Holdfast does when a step is handed in, and the fact that shows it was done."""


class Bounds(Value):
    """Limits the engine enforces: micro-dollars, seconds, attempts per step. None is no limit."""

    max_cost: int | None = None
    max_time: int | None = None
    max_iterations: int | None = None


class Step(Value):
    """A node of the tree: a leaf is work, a branch is done when its children are."""

    id: str
    name: str = ""
    description: str = ""
    kind: str = ""
    agents: tuple[str, ...] = ()
    requires: tuple[str, ...] | None = None
    outputs: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    review: Review | None = None
    approval: Approval | None = None
    choice: Choice | None = None
    retry: Retry | None = None
    parallel: bool = False
    optional: bool = False
    mandatory: bool = False
    """Whether nobody may leave it out, not even a person."""
    code: bool = False
    """Whether its work is also what its branch changes in the project."""
    action: str = ""
    own_fact: str = ""
    """For an action of a system: the fact about the step that shows it was done."""
    result: str = ""
    """The output that says in JSON whether the work passed, with its violations if it did not."""
    passed: str = "PASS"
    failed: str = "FAIL"
    """The words of the result for these two."""
    task: Step | None = None
    """The shape of every task below this step."""
    deny: tuple[str, ...] = ()
    """Tools of the host that are not for this step, such as `Bash(git push*)`."""
    supervised: str = ""
    """The check of a supervisor that has to be made before the step begins."""
    supervised_after: str = ""
    """The check of a supervisor that has to be made of the work before it is handed in, in each try."""
    steps: tuple[Step, ...] = ()

    @property
    def label(self) -> str:
        return self.name or self.id

    @property
    def fact(self) -> str:
        """The fact about the step that shows that its action was done."""
        return self.own_fact or ACTIONS.get(self.action, "")

    @property
    def gated(self) -> bool:
        return bool(self.checks or self.outputs or self.review or self.approval or self.choice or self.action)

    def check(self, name: str) -> Check | None:
        return next((check for check in self.checks if check.name == name), None)


class Terms(Value):
    """What a definition says beside its steps, and what every workflow that follows it keeps."""

    version: int = 1
    title: str = ""
    dialect: str = "skill"
    bounds: Bounds = Bounds()
    loads: str = ""
    """What the subject is read as: a feature file, a task."""
    advance: bool = False
    """Whether the next step begins by itself."""
    reading: tuple[str, ...] = ()
    """Files that an agent which takes the work up has to read, each as `@path`."""
    reminders: tuple[str, ...] = ()
    keep_going: bool = False
    """Whether an agent is held at its work until the workflow is done, blocked or out of bounds."""
    require_ack: bool = False
    """Whether a session has to show that it read the resume packet before it may write."""
    read_only: tuple[str, ...] = ()
    """Roles that may look and change nothing, as patterns: `*-reviewer`."""
    digest: str = ""
    source: str = ""
    """The file it was read from; empty for one that was given as Python values."""


class Definition(Terms, kw_only=True):
    name: str
    description: str = ""
    """What it is for, in one sentence."""
    steps: tuple[Step, ...]


class Identity(Terms, kw_only=True):
    """What a workflow is from its first moment: shared by the command that starts it, its first event and its state."""

    ulid: str
    id: str
    type: str
    subject: str = ""
    context: Mapping[str, Any] = {}
    branch: str | None = None
    worktree: str = ""
    session: str = ""
    conduct: Conduct = Conduct()
    head: str | None = None
    """The commit the work began at."""
    dirt: Mapping[str, str] = {}
    """What was changed and not committed at that time: the path and the hash of its content."""
    parent: str = ""
    """The ULID of the workflow whose result this one builds on."""
    parent_seal: str = ""
    """What that result was when this one was last built on it."""
    own: Mapping[str, Mapping[str, Any]] = {}
    """What systems keep of this workflow, by system: plain data that only their own rules change."""


def fill(template: str, subject: str, context: Mapping[str, object]) -> str:
    """Replaces `{subject}` and `{context.KEY}`, and nothing else: a template is never code."""
    out, rest = "", template
    while "{" in rest:
        before, _, rest = rest.partition("{")
        inside, closed, after = rest.partition("}")
        out += before
        if not closed:
            return out + "{" + inside
        if inside == "subject":
            out += subject
        elif inside.startswith("context.") and inside[8:] in context:
            out += str(context[inside[8:]])
        else:
            out += "{"
            continue
        rest = after
    return out + rest
