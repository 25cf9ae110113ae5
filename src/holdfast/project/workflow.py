"""One workflow, from Python: what a surface calls to move it."""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.definition import Step
from holdfast.core.gates import policy
from holdfast.core.policies import asks_for_proof
from holdfast.core.state import CHECKED, COMMITS, FREE_TRIES, HELD, REMOVED, Lease, Proof
from holdfast.core.value import Any
from holdfast.errors import Conflict, Refused
from holdfast.plain import plainjson
from holdfast.plain.digest import digest
from holdfast.project.handing import HandedIn
from holdfast.systems.seam.registry import dialect, system, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from holdfast.project.step_work import StepWork

SESSION_TTL = 1800
"""Seconds for which a session holds its workflow without doing anything to it."""


class Workflow(HandedIn):
    """A workflow as it was when last looked at. Every method that changes it returns it, with the new state."""

    def begin(self, step: str | int, **how: Any) -> Self:
        """A check that passes when its step begins is noted: it will prove nothing about the work."""
        path = self.path(step)
        is_new = self.state.step(path).attempt == 0
        self.execute(cmd.Begin(path), **how)
        if is_new and self.state.plan.step(path).kind in self.state.conduct.checkpointed:
            self._note_held(path, how.get("token", ""))
        return self

    def _note_held(self, path: str, token: str) -> None:
        from holdfast.errors import HoldfastError

        held = []
        for check in self.state.plan.step(path).checks:
            try:
                held += [check.name] if check.run and self._observed(path, check.name, token=token).passed else []
            except HoldfastError:  # nobody trusts it yet, or it was ended: nothing is known
                continue
        if held:
            self._decide(cmd.Record({HELD: held}, path), token=token)
            from holdfast.core import conditions

            self.said += conditions.held_before(self.state, path)

    def iterate(self, step: str | int, reason: str, **how: Any) -> Self:
        """One more try at a task whose criteria are not met."""
        return self.execute(cmd.Iterate(self.path(step), reason), **how)

    def supervise(self, check_type: str, task: str = "", verdict: str = "PASS", **found: Any) -> Self:
        """What a check of the supervisor found: `conflict_type`, `severity`, `resolution`, `fixes`, `affected`."""
        how = {name: found.pop(name) for name in ("token", "key") if name in found}
        said = {"check_type": check_type, "task": task, "verdict": verdict, **found}
        return self.execute(cmd.Own(self.state.dialect, "supervise", said), **how)

    def join(self, ttl: int = SESSION_TTL) -> Lease | None:
        """Holds the workflow for this session, where the host gives it a name; an expired hold is taken over.

        A live hold of another session is returned: then this one may only look.
        """
        actor = self._wired.settings.actor
        if not actor.session or actor.kind != "agent":
            return None
        try:
            self.execute(cmd.StartAgent(self.state.type, "", ttl))
        except Conflict as refusal:
            if refusal.code != "lease_held":
                raise
            return self.state.leases.get(f"{self.state.type}@")
        return None

    def attach(self, step: str | int, artifacts: Mapping[str, str], **how: Any) -> Self:
        return self.execute(cmd.Attach(self.path(step), self._wired.place.all_inside(artifacts)), **how)

    def submit(
        self, step: str | int, artifacts: Mapping[str, str] | None = None, *, unchanged: str = "", **how: Any
    ) -> Self:
        path, own = self.path(step), work(self.state.dialect)
        handed = {**own.outputs(self._wired, self.state, path), **self._wired.place.all_inside(artifacts)}
        try:
            self.execute(cmd.Submit(path, handed, unchanged), **how)
        except Refused as refusal:
            self._tell_unrecorded(refusal, path, artifacts)
            raise
        self.said += own.handed_in(self._wired, self.state, path)
        return self

    def fail(self, step: str | int, reason: str, **how: Any) -> Self:
        return self.execute(cmd.Fail(self.path(step), reason), **how)

    def block(self, step: str | int, reason: str, **how: Any) -> Self:
        return self.execute(cmd.Block(self.path(step), reason), **how)

    def unblock(self, step: str | int, guidance: str = "", **how: Any) -> Self:
        return self.execute(cmd.Unblock(self.path(step), guidance), **how)

    def skip(self, step: str | int, reason: str = "", **how: Any) -> Self:
        return self.execute(cmd.Skip(self.path(step), reason), **how)

    def review(self, step: str | int, verdict: str = "", feedback: str = "", **how: Any) -> Self:
        """What a review said. Where reviews are files, the file decides and nobody repeats it."""
        path, gate = self.path(step), self.state.plan.step(self.path(step)).review
        decided = work(self.state.dialect).reviewed
        if decided and gate and gate.files:
            self.require_suitable()
            self._wired.preview(self._look().state, cmd.Review(path, "needs_revision"), how.get("token", ""))
            verdict, feedback = decided(self._wired, self.state, path, verdict or feedback)
        return self.execute(cmd.Review(path, verdict, feedback), **how)

    def approve(
        self,
        step: str,
        variant: str = "",
        modifications: Mapping[str, Any] | None = None,
        *,
        sign: str = "",
        signature: bytes = b"",
        statement: bytes = b"",
        **how: Any,
    ) -> Self:
        """Approves a step. A gate that asks for a proof takes an SSH key to sign with, or a statement and its
        signature; `statement()` gives the text to sign.
        """
        path = self.path(step)
        if sign and not signature and asks_for_proof(policy(self.state.plan.step(path))):
            from holdfast.machine import signing

            statement = self.statement(path, variant, modifications)
            signature = signing.sign(statement, sign)
        return self.execute(self._approval(path, variant, modifications, signature, statement), **how)

    def require_approvable(
        self,
        step: str,
        variant: str = "",
        modifications: Mapping[str, Any] | None = None,
        *,
        sign: str = "",
        signature: bytes = b"",
        statement: bytes = b"",
    ) -> cmd.Approve:
        """Refuses what the rules would refuse, before a person is asked; else what would be approved.

        All but the signature, where it is still to be made with a key.
        """
        self.require_decidable()
        self.require_as_read()
        path = self.path(step)
        command = self._approval(path, variant, modifications, signature, statement)
        try:
            self._wired.preview(self.state, command)
        except Refused as refusal:
            if not sign or refusal.code != "signature_needed":
                raise
        from holdfast.core.rules.people import renewed

        return renewed(self.state, command)

    def _approval(
        self, path: str, variant: str, modifications: Mapping[str, Any] | None, signature: bytes, statement: bytes
    ) -> cmd.Approve:
        command = cmd.Approve(path, variant, dict(modifications or {}))
        if not asks_for_proof(policy(self.state.plan.step(path))) or not signature:
            return command
        from holdfast.core import statement as statements
        from holdfast.machine import signing

        text = statement.decode("ascii", "replace")
        said = statements.parse(text)
        return command.replace(
            variant=variant or said.variant,
            modifications={**said.modifications, **command.modifications},
            proof=Proof(text, signing.armored(signature, path)),
        )

    def statement(self, step: str, variant: str = "", modifications: Mapping[str, Any] | None = None) -> bytes:
        """The text that an SSH signature of an approval is made over. Each one is used once."""
        from holdfast.core.statement import text
        from holdfast.project.stating import stated

        self.require_decidable()
        said = stated(self._wired, self._look().state, self.path(step), variant=variant, modifications=modifications)
        return text(said).encode()

    def reject(
        self, step: str | int, feedback: str = "", modifications: Mapping[str, Any] | None = None, **how: Any
    ) -> Self:
        return self.execute(cmd.Reject(self.path(step), feedback, dict(modifications or {})), **how)

    def reset(self, step: str = "", **how: Any) -> Self:
        """Begins a step again, with all that wait for it; without one, everything is. Only a person may."""
        return self.execute(cmd.Reset(self.path(step) if step else ""), **how)

    def reopen(self, step: str | int, feedback: str = "", **how: Any) -> Self:
        return self.execute(cmd.Reopen(self.path(step), feedback), **how)

    def resume(self, step: str = "", **how: Any) -> Self:
        """Continues after a stop; refused where only one workflow can run in a worktree and another one does."""
        if self.state.cancelled and system(self.state.dialect).shares == "worktree":
            self._wired.require_alone(self.state)
        command: cmd.Command = cmd.Resume(self.path(step) if step else "")
        renewed = self._renewed()
        if renewed:
            command = cmd.Together((command, *(cmd.Record(values, path) for path, values in renewed.items())))
        return self.execute(command, **how)

    def _renewed(self) -> Mapping[str, Mapping[str, Any]]:
        """What a person who sets used-up work going again takes as it is now; nobody else can resume it then."""
        state = self.state
        if not state.conduct.grounded or not any(queries.is_used_up(state, path) for path in state.plan.leaves()):
            return {}
        return work(state.dialect).resuming(self._wired, state)

    def cancel(self, reason: str = "", **how: Any) -> Self:
        return self.execute(cmd.Cancel(reason), **how)

    def pause(self, reason: str, **how: Any) -> Self:
        return self.execute(cmd.Pause(reason), **how)

    def extend(self, *, cost: int = 0, time: int = 0, iterations: int = 0, **how: Any) -> Self:
        """More micro-dollars, seconds or attempts; only a person may."""
        return self.execute(cmd.Extend(cost, time, iterations), **how)

    def note(self, text: str, step: str = "", **how: Any) -> Self:
        return self.execute(cmd.Note(text, self.path(step) if step else ""), **how)

    def record(self, values: Mapping[str, Any], step: str = "", **how: Any) -> Self:
        """Remembers values: of the workflow's context, or of a step.

        `test_command` is none to remember: checks that use the project's test command run it from now on.
        """
        from holdfast.checks import equipping
        from holdfast.core.refusals import require_free

        plainjson.require(values, "values")
        require_free(values, (*dialect(self.state.dialect).reserved, REMOVED, HELD, FREE_TRIES, CHECKED, COMMITS))
        used = {check.uses for path in self.state.plan.paths for check in self.state.plan.step(path).checks}
        given = {} if step else {name: equipping.typed(name) for name in values}
        given = {name: uses for name, uses in given.items() if uses in used - {""}}
        parts: list[cmd.Command] = [
            cmd.Equip(uses, equipping.words(values[name], name, remedies.set_command(uses)), typed=True)
            for name, uses in given.items()
        ]
        rest = {name: value for name, value in values.items() if name not in given}
        if rest or not parts:
            parts.append(cmd.Record(rest, self.path(step) if step else ""))
        return self.execute(parts[0] if len(parts) == 1 else cmd.Together(tuple(parts)), **how)

    def spend(self, micros: int, agent: str = "", step: str = "", **how: Any) -> Self:
        return self.execute(cmd.Spend(micros, agent, self.path(step) if step else ""), **how)

    def start_agent(
        self, role: str, step: str = "", ttl: int = 600, *, worktree: bool | None = None, **how: Any
    ) -> str:
        """Takes a lease; gives its token, which is kept nowhere. A repetition with the same key gives none.

        With `worktree`, by default where the configuration says so, the agent gets a worktree of its own.
        """
        secret = os.urandom(16).hex()
        key, path = digest(secret.encode()), self.path(step) if step else ""
        place = self._worktree(path, worktree)
        self.execute(cmd.StartAgent(role, path, ttl, key=key, place=place), **how)
        lease = next((lease for lease in self.state.leases.values() if lease.key == key), None)
        token = self._taken = f"{lease.token}-{secret}" if lease else ""
        if lease is not None and lease.worktree:
            self._enter(lease, token)
        if lease is not None and path and self._wired.place.repository:
            from holdfast.systems.seam import worktrees

            self.said = (*self.said, *worktrees.left_before(self._wired, self.state, path))
        return token

    def _worktree(self, path: str, wanted: bool | None) -> dict[str, str]:
        """Where an agent works that is started for a step; empty where that is the worktree of the run."""
        from holdfast.machine import configuration

        inherited = bool(path) and self.state.bound(path) is not None
        by_default = wanted is None and bool(path) and configuration.agents(self._wired.place.root).worktrees
        if not (wanted or inherited or by_default):
            return {}
        from holdfast.systems.seam import worktrees

        if not (wanted or inherited or worktrees.is_possible(self._wired, self.state, path)):
            return {}
        worktrees.require_trust(self._wired)
        return worktrees.planned(self._wired, self._look().state, path)

    def _enter(self, lease: Lease, token: str) -> None:
        """Makes the worktree of a new lease; where it cannot be made, nobody has the lease."""
        from holdfast.errors import HoldfastError
        from holdfast.systems.seam import worktrees

        try:
            worktrees.prepare(self._wired, worktrees.made(self._wired, self.state, lease))
        except HoldfastError:
            self.execute(cmd.EndAgent(lease.token), token=token)
            raise

    def beat(self, token: str, **how: Any) -> Self:
        return self.execute(cmd.BeatAgent(), token=token, **how)

    def end_agent(self, token: str = "", outcome: str = "", *, lease: int = 0, **how: Any) -> Self:
        """Gives a lease back, by its token or its number. Its worktree is removed, with what it holds pinned."""
        return self.execute(cmd.EndAgent(lease, outcome), token=token, **how)

    def snapshot(self, label: str = "", **how: Any) -> int:
        self.execute(cmd.TakeSnapshot(label), **how)
        return self.state.snapshots[-1].number

    def restore(self, number: int, **how: Any) -> Self:
        """The steps as they were at a snapshot. The working tree is left alone."""
        return self.execute(cmd.Restore(number), **how)

    def revalidate(self, **how: Any) -> Self:
        """The work was looked at again, now that what it builds on has changed."""
        return self.execute(cmd.Revalidate(), **how)

    def compacted(self, note: str = "", **how: Any) -> Self:
        return self.execute(cmd.Compacted(note), **how)

    def acknowledge(self, packet: str, **how: Any) -> Self:
        """This session has read its resume packet."""
        return self.execute(cmd.Acknowledge(packet), **how)

    def read_first(self, *paths: str, **how: Any) -> Self:
        """Adds files to the required reading; each has to be there, inside the project."""
        from holdfast.project.required import entries

        return self.execute(cmd.Brief("reading", add=entries(paths, self._wired.place)), **how)

    def read_no_more(self, *paths: str, **how: Any) -> Self:
        """Takes files off the required reading, by the path or by the entry as it is."""
        from holdfast.project.required import listed

        return self.execute(cmd.Brief("reading", remove=listed(paths, self.state.reading, "reading")), **how)

    def remind(self, *texts: str, remove: Sequence[str] = (), **how: Any) -> Self:
        """Adds reminders that outlive the agent's context, or takes some away."""
        from holdfast.project.required import listed

        gone = listed(remove, self.state.reminders, "reminders")
        return self.execute(cmd.Brief("reminders", add=texts, remove=gone), **how)

    def learn(
        self, lesson: str, type: str = "insight", *, pattern: str = "", context: str = "", step: str = "", **how: Any
    ) -> Self:
        """Keeps what was learned: a `pattern` to follow, an `antipattern` to avoid, or an `insight`."""
        return self.execute(cmd.Learn(lesson, type, pattern, context, self.path(step) if step else ""), **how)

    def lock(self, *paths: str, agent: str = "", ttl: int = 600, **how: Any) -> int:
        """Claims files, or what a pattern means, for one agent; gives the fencing token."""
        command = cmd.Lock(tuple(self._wired.place.pattern(path) for path in paths), agent, ttl)
        with self._wired.store.exclusively("starting"):  # other workflows lock files too
            self.execute(command, **how)
        return max((self.state.locks[path].token for path in command.paths if path in self.state.locks), default=0)

    def unlock(self, *paths: str, **how: Any) -> Self:
        return self.execute(cmd.Unlock(tuple(self._wired.place.pattern(path) for path in paths)), **how)

    def add_step(self, step: Step, above: str = "", after: str | None = None, **how: Any) -> Self:
        return self.execute(cmd.AddStep(self.path(above) if above else "", step, after), **how)

    def retire_step(self, step: str | int, **how: Any) -> Self:
        return self.execute(cmd.RetireStep(self.path(step)), **how)

    def change_step(self, step: str | int, new: Step, **how: Any) -> Self:
        return self.execute(cmd.ChangeStep(self.path(step), new), **how)

    def step(self, step: str | int) -> StepWork:
        """`with wf.step("build") as step:` begins it, and is done at the end, or failed with the exception's text."""
        from holdfast.project.step_work import StepWork

        return StepWork(self, self.path(step))
