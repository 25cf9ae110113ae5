"""Handing in a step of a workflow: what Holdfast runs for it first, and what it does with it."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, queries, refusals, remedies
from holdfast.core.definition import Check
from holdfast.core.provenance import IGNORED, LOCKED, PASSING
from holdfast.core.remedy import Remedy, quoted
from holdfast.core.state import SAME_RUN, Evidence
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, Refused, UsageError
from holdfast.plain import plainjson
from holdfast.project.looked import Looked
from holdfast.systems.seam.registry import system, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from holdfast.systems.seam.parts import Order

    Watching = Callable[[str, float], None]


class HandedIn(Looked):
    """A workflow whose steps are checked and handed in."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.handed: tuple[str, ...] = ()
        """The steps that the last `done` handed in."""
        self.ran: tuple[tuple[str, Evidence], ...] = ()
        """The checks that the last command ran, or whose run it took from another step."""

    def done(
        self,
        step: str = "",
        artifacts: Mapping[str, str] | None = None,
        *,
        test: str = "",
        order: Order | None = None,
        watch: Watching | None = None,
        unchanged: str = "",
        **how: Any,
    ) -> Self:
        """Hands in a step, without one that which this session works on, as far as its gates allow.

        What Holdfast can check itself and was not seen to hold of this tree is run first, once; `test` names the test
        it is about. A step with an action is done by doing it: `said` tells what was. Without a step, a commit that is
        all that comes next is made too. `unchanged` says why files are handed in as they were when they failed.
        """
        self.ran, self.handed = (), ()
        if not step and how.get("key", "") in self._look().state.keys:
            return self
        path = self.path(step) if step else self.worked_on()
        self._tell_branch()
        try:
            self._hand_in(path, artifacts, test, order, watch, unchanged, **how)
        except Refused as refusal:
            self._keep_seen(path)
            self._tell_unrecorded(refusal, path, artifacts)
            raise
        said = self.said
        after = "" if step or self.state.plan.step(path).action else queries.current(self.state)
        if after and self._only_commits(after):
            self._hand_in(after, None, "", order, watch, token=how.get("token", ""))
            self.said = (*said, *self.said)
        return self

    def _tell_unrecorded(self, refusal: Refused, path: str, artifacts: Mapping[str, str] | None) -> None:
        """A refused command keeps nothing: the files that it named are in the command that repeats it."""
        known = self.state.step(path).artifacts
        lost = {
            name: file
            for name, file in (artifacts or {}).items()
            if name not in known or known[name].path != self._wired.place.inside(file)
        }
        if not lost or refusal.code not in ("gate_unmet", "unchanged"):
            return
        listed = ", ".join(f"{name}={file}" for name, file in lost.items())
        refusal.message += f"; not recorded: {listed}"
        refusal.remedies = tuple(
            one.given(artifact={**one.arguments.get("artifact", {}), **lost})
            if isinstance(one, Remedy) and one.command in ("done", "submit")
            else one
            for one in refusal.remedies
        )

    def _tell_branch(self) -> None:
        """Says so where another branch is checked out: what is committed or pulled later would be refused there."""
        state, place = self.state, self._wired.place
        if not any(state.plan.step(path).action in ("commit", "pull_request") for path in state.plan.paths):
            return
        from holdfast.project.resuming import is_elsewhere

        if is_elsewhere(self._wired, state):
            way = f"git switch {quoted(state.branch)}"
            found = git.find(place.base(state.worktree))
            here = (git.branch(found) if found else "") or "no branch"
            said = f"{here} is checked out, and this work belongs to {state.branch}: nothing is committed here ({way})"
            self._wired.changes.append(said)

    def worked_on(self) -> str:
        """The step that this session works on."""
        state = self._look().state
        at = queries.worked_on(state, self._wired.settings.actor.session, self.facts(), self._leased())
        if at is None:
            raise refusals.already_finished(state)
        return at

    def _only_commits(self, path: str) -> bool:
        """Whether nothing but the commit of finished work is left of a step; a task without steps is work itself."""
        from holdfast.core.tasks import TASK

        step = self.state.plan.step(path)
        begun = step.action == "commit" and self.state.step(path).status == lifecycle.ACTIVE
        return begun and not (step.checks or step.outputs or (step.kind == TASK and not step.steps))

    def _hand_in(
        self,
        path: str,
        artifacts: Mapping[str, str] | None,
        test: str,
        order: Order | None,
        watch: Watching | None,
        unchanged: str = "",
        **how: Any,
    ) -> None:
        from holdfast.systems.seam.parts import Handing, Order

        own = work(self.state.dialect)
        given = self._wired.place.all_inside(artifacts)
        token, is_new = how.get("token", ""), how.get("key", "") not in self.state.keys
        acts = is_new and self._wired.acts(self.state, path)
        to_run = self._to_run(path, test) if is_new else []
        if to_run or acts:
            self.expect(how.pop("revision", 0))
        if to_run:
            self._require_room(cmd.Done(path, given), token)
        for check in to_run:
            self._run_or_reuse(path, check, test, watch, token)
        handing = Handing({**own.outputs(self._wired, self.state, path), **given}, order or Order())
        handing = own.before_done(self._wired, self.state, path, handing)
        command = cmd.Done(path, handing.artifacts, data=handing.data, unchanged=unchanged)
        said: tuple[str, ...] = ()
        if acts:
            command, said = self._acted(command, handing.order, watch, token=token)
        if is_new and self.state.bound(path) and self.state.step(path).status in lifecycle.OPEN:
            command, said = self._brought_in(command, token)
        self.said = ()
        try:
            self.execute(command, **{"summary": handing.order.message, **how})
        except HoldfastError as failure:
            raise (failure.after(said[-1]) if said else failure) from failure.__cause__
        self._wired.recorded(self.state, path)
        from holdfast.core import conditions

        handed_in = own.handed_in(self._wired, self.state, path)
        self.said = (*said, *self.said, *handed_in, *conditions.held_before(self.state, path))
        self.handed += (path,)

    def _brought_in(self, command: cmd.Done, token: str) -> tuple[cmd.Done, tuple[str, ...]]:
        """What was committed in the worktree of a step goes into the branch of the run, once the gates allow it.

        Where it does not go together with what others did, the try has failed, and the next one knows why.
        """
        from holdfast.core.tasks import COMMIT
        from holdfast.git.bringing import Collision
        from holdfast.systems.seam import worktrees

        path = command.step
        self._wired.preview(self._look(writing=True).state, command, token)
        lease = self.state.bound(path)
        assert lease is not None
        try:
            sha = worktrees.bring(self._wired, self.state, path)
        except Collision as collision:
            refusal = refusals.not_together(path, lease, self._wired.place.root, collision.files)
            iterates = self.state.plan.step(path).kind in self.state.conduct.iterated
            failed = cmd.Iterate(path, refusal.message) if iterates else cmd.Fail(path, refusal.message)
            self.execute(failed, token=token)
            if self.state.step(path).status != lifecycle.ACTIVE:
                refusal.remedies = remedies.person(path, *queries.going_on(self.state, path))
            raise refusal from None
        finally:
            self._turn.forget()
        if not sha:
            return command, ()
        return command.replace(data={**command.data, COMMIT: sha}), (f"brought {sha[:7]} into {lease.into}",)

    def _to_run(self, path: str, test: str) -> list[Check]:
        """The checks of a step that Holdfast can run and that were not seen to hold of this tree."""
        checks = self.state.plan.step(path).checks if self.state.step(path).status in lifecycle.OPEN else ()
        if test and not any(check.test for check in checks):
            about = [p for p in self.state.plan.leaves() if any(c.test for c in self.state.plan.step(p).checks)]
            said = f"{path} has no check of a test" + (f"; {about[0]} has" if about else "")
            raise UsageError("no_test", said, remedy=queries.onward(self.state, path, self.facts()))
        self._equip(path, test)
        checks = self.state.plan.step(path).checks if checks else ()
        if not any(check.run for check in checks):
            return []
        facts, progress = self.facts(), self.state.step(path)
        runnable = [check for check in checks if check.run and gates.is_runnable(check, path, facts)]
        other_test = [check for check in runnable if check.test and test not in ("", self._named(path, check))]
        lacking = [check for check in runnable if gates.check_verdict(check, progress, facts) != "passed"]
        return [check for check in runnable if check in lacking or check in other_test]

    def _equip(self, path: str, test: str) -> None:
        """Gives the checks of a step the commands that the project has for them now, and tells of those that differ."""
        for check in self.state.plan.step(path).checks if self.state.step(path).status in lifecycle.OPEN else ():
            found = self._wired.binding(self.state, path, check, test)
            if found is not None:
                from holdfast.checks.equipping import rebound

                self._decide(found)
                self._turn.forget()
                now = self.state.plan.step(path).check(check.name)
                self._wired.changes.extend(filter(None, [rebound(check, now) if now else ""]))

    def _require_room(self, command: cmd.Done, token: str) -> None:
        """Refuses what no check could clear, before one is run."""
        try:
            self._wired.preview(self.state, command, token)
        except Refused as refusal:
            if refusal.code != "gate_unmet":
                raise

    def _named(self, path: str, check: Check) -> str:
        evidence = self.state.step(path).evidence.get(check.name)
        return str(evidence.data.get("test") or "") if evidence else ""

    def _run_or_reuse(self, path: str, check: Check, test: str, watch: Watching | None, token: str) -> None:
        """A tree that did not change since the same command passed for another step is not tested again."""
        from holdfast.core import proof

        runs_before = proof.has_runs(self.state, path, check) and not self.state.bound(path)
        tree = self._wired.world.tree(self.state) if runs_before else None
        seen = proof.same_run(self.state, path, check, tree.id if tree else None, test)
        if seen is None:
            data = {"test": test} if test and check.test else {}
            self._run_check(path, check.name, data, watch, looked=True, token=token)
            return
        step, evidence = seen
        kept = {name: value for name, value in evidence.data.items() if name != PASSING}
        evidence = evidence.replace(data={**kept, SAME_RUN: evidence.data.get(SAME_RUN, step)})
        self._decide(cmd.RecordCheck(path, check.name, evidence), token=token)
        self.ran += ((check.name, self.state.step(path).evidence[check.name]),)

    def _prove(self, path: str, watch: Watching | None, token: str) -> None:
        """What is committed, or others are to pull, is what was proved: else its checks run again and have to pass."""
        from holdfast.core import proof

        for step, check in proof.lapsed(self.state, path, self.facts()):
            named = self._named(step, check)
            self._run_check(step, check.name, {"test": named} if named else {}, watch, looked=True, token=token)
        facts = self.facts()
        if proof.lapsed(self.state, path, facts):
            raise refusals.gate_unmet(path, queries.unmet_work(self.state, path, facts)[:1])

    def _acted(
        self, command: cmd.Done, order: Order, watch: Watching | None, *, token: str
    ) -> tuple[cmd.Done, tuple[str, ...]]:
        """The rules are asked before anything is done: a commit that may not count is not made."""
        from holdfast.systems.seam import actions

        self._look(writing=True)
        path = command.step
        form = actions.expected(self.state, path)
        asking = command.replace(data=form.data, evidence=form.evidence)
        self._wired.preview(self.state, asking, token)
        actions.require_all(self._wired, self.state, path)
        self._prove(path, watch, token)
        try:
            acted = actions.perform(self._wired, self.state, path, order)
        except Refused:
            self._turn.forget()
            if self._wired.acts(self._look(writing=True).state, path):
                raise
            return command, ()  # another process did it meanwhile
        self._turn.forget()
        return command.replace(data={**command.data, **acted.data}, evidence=acted.evidence), acted.said

    def ahead(self) -> Self:
        """Does what needs nobody: actions such as making the branch, when their step is reached."""
        said: tuple[str, ...] = ()
        at, actions = queries.current(self.state), system(self.state.dialect).at_once
        while at and self.state.plan.step(at).action in actions and self.state.step(at).status == lifecycle.ACTIVE:
            said += self.done(at).said
            at = queries.current(self.state)
        self.said = said
        return self

    def check(
        self,
        name: str,
        *,
        passed: bool | None = None,
        step: str = "",
        data: Mapping[str, Any] | None = None,
        watch: Watching | None = None,
        **how: Any,
    ) -> Evidence:
        """Runs a check, or records what somebody reports of it when `passed` is given.

        `data` goes with it: what a review found, or the test that a run is about (`{"test": NAME}`).
        """
        self._look(writing=passed is not None)
        self._tell_branch()
        path = queries.step_with(self.state, name, self.path(step) if step else "")
        plainjson.require(data or {}, "data")
        self._equip(path, str((data or {}).get("test") or ""))
        if passed is None:
            self._run_check(path, name, data, watch, **how)
        else:
            at = self._wired.world.at(self.state, path)
            tree = self._wired.world.tree(at).id if self.state.conduct.by_tree else None
            scope = "" if at is self.state else path
            evidence = Evidence(passed, self._wired.world.now(), 0, tree=tree, data=data or {}, scope=scope)
            self._decide(cmd.RecordCheck(path, name, evidence), **how)
            self._keep_seen(path)
        return self.state.step(path).evidence[name]

    def _keep_seen(self, path: str) -> None:
        """Where agents have leases, what is not committed now is not lost by what one of them does next."""
        if any(lease.step for lease in self.state.leases.values()) and self._wired.place.repository:
            from holdfast.systems.seam import seen

            seen.keep(self._wired, self.state, path)

    def _run_check(
        self, path: str, name: str, data: Any = None, watch: Any = None, *, looked: bool = False, **how: Any
    ) -> None:
        from holdfast.core import proof

        evidence = self._seen(path, name, data, watch, token=how.get("token", ""))
        evidence, changed = proof.stood_for(self.state, path, name, evidence)
        (self._decide if looked else self.execute)(cmd.RecordCheck(path, name, evidence), **how)
        self.ran += ((name, self.state.step(path).evidence[name]),)
        if changed:
            is_told = any(one.startswith(changed.partition(": ")[0]) for one in self._wired.changes)
            self._wired.changes.extend(() if is_told else (changed,))
            self._decide(cmd.Remember("command_changed", {"step": path, "note": changed}), token=how.get("token", ""))

    def _seen(self, path: str, name: str, data: Any = None, watch: Any = None, *, token: str = "") -> Evidence:
        """What a check shows now, and which work it is of; nothing is recorded.

        Files of one's own that appeared meanwhile are the command's doing; one that changed makes the evidence stale.
        """
        from holdfast.systems.seam.registry import own_tree

        owned, bound = work(self.state.dialect).owned, self.state.bound(path)
        before = None if bound else owned(self._wired, self.state, path)
        evidence = self._observed(path, name, data, watch, token=token)
        if before is None and not bound:
            return evidence
        evidence = evidence.replace(scope=path, data={**evidence.data, **self._unseen(path)})
        if before is None:
            return evidence
        after = owned(self._wired, self.state, path) or frozenset()
        return evidence.replace(tree=own_tree(after if before <= after else before))

    def _unseen(self, path: str) -> dict[str, Any]:
        """The files whose changes do not make the evidence of a step stale, though its checks may read them."""
        from holdfast.systems.seam.committed import ignored

        at = self._wired.world.at(self.state, path)
        repository = git.find(self._wired.place.base(at.worktree))
        locked = [] if at is not self.state else work(at.dialect).not_owned(self._wired, at, path)
        found = {IGNORED: ignored(self._wired, at, repository, path) if repository else [], LOCKED: locked}
        return {name: {"count": len(files), "names": files[:50]} for name, files in found.items() if files}

    def _observed(self, path: str, name: str, data: Any = None, watch: Any = None, *, token: str = "") -> Evidence:
        from holdfast.checks import evidence as evidence_
        from holdfast.checks import logs

        wired, state = self._wired, self.state
        by: dict[str, Any] = {"actor": wired.settings.actor, "token": token or wired.settings.token}
        run: dict[str, Any] = {"given": data or {}, "watch": watch, "cancelled": self.cancelled}
        log = logs.file(wired.place.home, state.ulid, path, name)
        if state.bound(path):
            from holdfast.systems.seam import worktrees

            at = worktrees.enter(wired, state, path)
            evidence, _ = evidence_.run(wired.engine, wired.world, at.worktree, at, path, name, log=log, **run, **by)
            self._keep_seen(path)
            self._turn.forget()
            return evidence
        where = wired.place.base(state.worktree)
        evidence, tree = evidence_.run(wired.engine, wired.world, where, state, path, name, log=log, **run, **by)
        self._keep_seen(path)
        self._turn.forget()
        self._turn.saw_tree(state, tree)
        return evidence
