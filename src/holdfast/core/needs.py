"""What the rules must know of the world before they can decide a command: said here, gathered by the engine."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core.definition import BUILT_IN, Check
from holdfast.core.gates import is_undone
from holdfast.core.lifecycle import DONE, ESCALATED, OPEN
from holdfast.core.queries import is_half_finalized
from holdfast.core.state import OPENED, RELAYED, Following, State
from holdfast.core.tasks import COMMIT
from holdfast.core.value import Any, Value

_TREE = (cmd.Begin, cmd.Done, cmd.Submit, cmd.Review, cmd.Approve, cmd.Edit)
_OF_STEP = (cmd.Begin, cmd.Done, cmd.Submit)
_WHOLE = (*_TREE, cmd.Attach, cmd.Finalize, cmd.Skip, cmd.Reopen, cmd.Confirm)
_HEAD = (cmd.TakeSnapshot, cmd.Begin, cmd.Done, cmd.Approve, cmd.Edit)


_RELYING = Following(lambda one: one if one.artifacts or one.grant else None)
"""The progress of the steps that rely on files, or on what a person said."""


_HANDED = OPEN | {DONE, ESCALATED}


class Needs(Value):
    """Which facts to gather. Everything else is left out, because files and git processes cost time."""

    hashes: tuple[str, ...] = ()
    """Files whose content counts, by their paths in the worktree."""
    hand_ins: tuple[str, ...] = ()
    """Steps whose work is what their system says it is, all of it."""
    results: tuple[tuple[str, str], ...] = ()
    """Steps, each with the JSON file that says how it went."""
    commits: tuple[Any, ...] = ()
    """What a document names as commits."""
    made: tuple[str, ...] = ()
    """The commits of tasks, which the branch may have lost."""
    tree: bool = False
    trees: tuple[str, ...] = ()
    """Steps with evidence of their own work."""
    head: bool = False
    begins: str = ""
    """The step that begins, at the HEAD of the worktree that it is worked on in."""
    locks: bool = False
    """The files that other workflows hold."""
    trust: tuple[str, Check | None] | None = None
    """The step and the check whose command must be trusted. The check as it is, because a plan can change."""
    past: int = 0
    """The number of the snapshot to go back to."""
    parent: str = ""
    ground: bool = False
    """What the system says of that on which the work builds."""
    runs: tuple[tuple[str, Check], ...] = ()
    """Steps that are worked on, with their checks whose commands a person may still have to trust."""
    unbound: tuple[tuple[str, Check], ...] = ()
    """Steps that are worked on, with their checks that use a command of the project and have none."""
    pull_request: str = ""
    """The step whose pull request is to be made."""

    grants: tuple[str, ...] = ()
    """Steps with an approval that this clone has to recognise."""
    answer: cmd.Approve | cmd.Reject | None = None
    """The approval that is asked for, or the rejection that comes with a proof."""

    def include(self, other: Needs) -> bool:
        """Whether facts gathered for these needs are enough for the other ones."""
        return (
            {*other.hashes} <= {*self.hashes}
            and {*other.hand_ins} <= {*self.hand_ins}
            and {*other.results} <= {*self.results}
            and all(commit in self.commits for commit in other.commits)
            and {*other.made} <= {*self.made}
            and (self.tree or not other.tree)
            and {*other.trees} <= {*self.trees}
            and other.begins in ("", self.begins)
            and (self.tree or self.head or not other.head)
            and (self.locks or not other.locks)
            and other.trust in (None, self.trust)
            and all(one in self.runs for one in other.runs)
            and all(one in self.unbound for one in other.unbound)
            and other.pull_request in ("", self.pull_request)
            and other.past in (0, self.past)
            and {*other.grants} <= {*self.grants}
            and other.answer in (None, self.answer)
            and other.parent in ("", self.parent)
            and (self.ground or not other.ground)
        )


def needs(state: State, command: cmd.Command | None = None) -> Needs:
    """What a command needs; without one, what a reader must know to judge the gates."""
    parts: tuple[cmd.Command | None, ...] = (command,)
    if isinstance(command, (cmd.Edit, cmd.Together)):
        parts = command.commands
    hashes: dict[str, None] = {}
    grants: list[str] = []
    whole = state.conduct.handed_whole
    for path, progress in _RELYING.of(state.progress).items():
        hashes.update(dict.fromkeys(artifact.path for artifact in progress.artifacts.values() if not whole))
        if progress.grant and progress.grant.how != RELAYED:
            grants.append(path)
    results = []
    for part in parts:
        if isinstance(part, (cmd.Done, cmd.Attach, cmd.Submit)):
            hashes.update(dict.fromkeys(part.artifacts.values()))
        if isinstance(part, cmd.Done) and part.step in state.plan and state.plan.step(part.step).result:
            name = state.plan.step(part.step).result
            known = state.step(part.step).artifacts.get(name)
            results.append((part.step, part.artifacts.get(name) or (known.path if known else "")))
    if command is None and state.origin == "adopted":
        results = _claimed_results(state)
    judges = command is None or isinstance(command, (*_TREE, cmd.Finalize))
    return Needs(
        hashes=tuple(hashes),
        hand_ins=_hand_ins(state, parts) if whole and not state.finalized else (),
        results=tuple((step, file) for step, file in results if file),
        commits=_commits(command),
        made=_made(state) if command is None else (),
        tree=judges and _has_tree_evidence(state),
        trees=_scopes(state, command.step if isinstance(command, _OF_STEP) else "") if judges or whole else (),
        head=isinstance(command, _HEAD if state.conduct.checkpointed else cmd.TakeSnapshot),
        begins=command.step if isinstance(command, cmd.Begin) and state.bound(command.step) else "",
        locks=isinstance(command, cmd.Lock),
        trust=_trust(state, command) if isinstance(command, cmd.RecordCheck) else None,
        runs=_runs(state) if command is None or any(getattr(part, "step", "") for part in parts) else (),
        unbound=_unbound(state) if command is None or isinstance(command, cmd.Done) else (),
        pull_request=_pull_request(state) if command is None else "",
        past=command.number if isinstance(command, cmd.Restore) else 0,
        parent=state.parent,
        ground=state.conduct.grounded and not (state.finished_at or state.cancelled),
        grants=tuple(grants),
        answer=next((p for p in parts if isinstance(p, cmd.Approve) or (isinstance(p, cmd.Reject) and p.proof)), None),
    )


def _hand_ins(state: State, parts: tuple[cmd.Command | None, ...]) -> tuple[str, ...]:
    """The steps that are worked on or done, where it counts what their work is now."""
    if not any(part is None or isinstance(part, _WHOLE) for part in parts):
        return ()
    return tuple(path for path in state.plan.paths if state.step(path).status in _HANDED)


def _claimed_results(state: State) -> list[tuple[str, str]]:
    """The results of steps that an adopted document says are done: a person who confirms that asks what they say."""
    done = ((path, one) for path, one in state.progress.items() if one.status == DONE and path in state.plan)
    found = ((path, one.artifacts.get(state.plan.step(path).result)) for path, one in done)
    return [(path, artifact.path) for path, artifact in found if artifact and not artifact.hash]


def _has_tree_evidence(state: State) -> bool:
    """Only then can evidence have become stale, and the tree costs several git processes."""
    open_steps = OPENED.of(state.progress).items()
    code = [state.step(path) for path in state.plan.children("") if state.plan.step(path).code]
    relied_on = [*(step for _, step in open_steps), *(code if not state.finalized or is_half_finalized(state) else ())]
    if any(seen.tree and not seen.scope for step in relied_on for seen in step.evidence.values()):
        return True
    taking = [p for p, _ in open_steps if p in state.plan and state.plan.step(p).action in ("commit", "pull_request")]
    if not taking:
        return False
    from holdfast.core.proof import of_taken

    return any(of_taken(state, path) for path in taking)


def _scopes(state: State, only: str) -> tuple[str, ...]:
    """Of the steps that are worked on, or of one alone: each costs several git processes."""
    begun = [step for path, step in OPENED.of(state.progress).items() if only in ("", path)]
    return tuple(dict.fromkeys(seen.scope for step in begun for seen in step.evidence.values() if seen.scope))


def _runs(state: State) -> tuple[tuple[str, Check], ...]:
    """What comes with Holdfast is trusted by its origin, and is not asked about."""
    own = state.source not in ("", BUILT_IN)
    found = []
    for path in OPENED.of(state.progress):
        if path in state.plan:
            checks = state.plan.step(path).checks
            found += [(path, check) for check in checks if check.run and (own or check.source)]
    return tuple(found)


def _unbound(state: State) -> tuple[tuple[str, Check], ...]:
    begun = [path for path in OPENED.of(state.progress) if path in state.plan]
    return tuple(
        (path, check) for path in begun for check in state.plan.step(path).checks if check.uses and not check.run
    )


def _pull_request(state: State) -> str:
    begun = (path for path in OPENED.of(state.progress) if path in state.plan)
    asked = (path for path in begun if state.plan.step(path).action == "pull_request")
    return next((path for path in asked if is_undone(state.plan.step(path), state.step(path))), "")


def trusted_with(state: State, check: Check) -> str:
    """What a person trusts so that a check may run: the definition, the document of the tasks, or the settings."""
    return check.source or (state.source if state.conduct.frozen_trust else state.type)


def _commits(command: cmd.Command | None) -> tuple[Any, ...]:
    parts = command.commands if isinstance(command, cmd.Edit) else ()
    return tuple(part.values[COMMIT] for part in parts if isinstance(part, cmd.Record) and part.values.get(COMMIT))


def _made(state: State) -> tuple[str, ...]:
    """The commits of the tasks of a workflow that continues; the branch of a finished one may be anything."""
    if state.finished_at or state.cancelled:
        return ()
    return tuple(str(one.data[COMMIT]) for one in state.progress.values() if one.data.get(COMMIT))


def _trust(state: State, command: cmd.RecordCheck) -> tuple[str, Check | None]:
    known = command.step in state.plan
    return command.step, state.plan.step(command.step).check(command.name) if known else None
