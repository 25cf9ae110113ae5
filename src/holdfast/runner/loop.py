"""The loop of `holdfast run`: who is needed, that one works, and again, until a person is needed or all is done."""

from __future__ import annotations

import os
import time
from _collections_abc import Callable

from holdfast.core import remedies
from holdfast.core.definition import BUILT_IN
from holdfast.core.gates import READ
from holdfast.core.lifecycle import FINISHED
from holdfast.core.needs import Needs
from holdfast.core.remedy import Remedy
from holdfast.core.value import Value
from holdfast.errors import Conflict, HoldfastError, Refused
from holdfast.machine.running import Running, no_rights
from holdfast.runner import chosen, deciding, team
from holdfast.runner.deciding import Need, Tried
from holdfast.runner.folder import NOW, Folder
from holdfast.runner.lease import Leased
from holdfast.runner.limits import Shared
from holdfast.runner.process import found, wait_for_last
from holdfast.runner.work import Working

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.briefing import Briefing
    from holdfast.project.workflow import Workflow

FINISHED_CODE, NEEDED_CODE, INTERRUPTED_CODE = 0, 3, 130


class Result(Value):
    """Why a run ended."""

    code: int
    why: str
    """`finished`, `until`, `once`, `person`, `bound` or `stopped`."""
    said: str = ""
    ways: tuple[Remedy, ...] = ()
    step: str = ""


class Runner(Working):
    """Runs one workflow."""

    def run(self) -> Result:
        workflow = self._open()
        self._running = _settings(workflow)
        self._host = chosen.host(self._asked.host, self._running, self._environ)
        found(self._host.program, self._environ, workflow.wired.place.base(workflow.state.worktree))
        if self._running.rights not in self._host.rights:
            raise no_rights(self._host.name, self._running.rights, self._host.rights)
        self._require_prices(workflow)
        self._folder = Folder(workflow.wired.place.home, workflow.ulid)
        self._shared = Shared(self._settings.data_dir, self._credential(), self._running.backoff)
        workflow.wired.require_writable()
        if not self._folder.take():
            raise _taken(workflow)
        self._lease = Leased(self._folder)
        try:
            self._folder.forget("stop")
            self._folder.forget("ended")
            os.close(wait_for_last(self._folder))
            result = None
            while result is None:
                result = self._leased()
            if result.code == NEEDED_CODE:
                self._note_end(result.why, result.said, result.step)
            return result
        except HoldfastError as failure:
            self._note_end("failed", failure.message)
            raise
        finally:
            self._folder.end()
            self._lease.end(self._open())
            self._folder.prune()
            self._folder.let_go()

    def _leased(self) -> Result | None:
        """What became of the run; None where an agent ended the lease, which its own token lets it do."""
        self._settings = self._settings.replace(token="")
        self._lease.take(self._open())
        self._settings = self._settings.replace(token=self._lease.token)
        try:
            self._recover(self._open())
            return self._untrusted(self._open()) or self._loop()
        except HoldfastError as refusal:
            if refusal.code != "fenced" or self._lease.is_held(self._open().state):
                raise
            self._tell("fenced", "the agent ended the lease of this run, and it is taken again", {})
            return None

    def _note_end(self, why: str, said: str, step: str = "") -> None:
        """Kept for those who do not look at the terminal, until something happens after the end of the lease."""
        if self._lease.token:
            last = {"ended": why, "message": said, "step": step, "revision": self._open().state.revision + 1}
            self._folder.tell("ended", {**last, "at": time.time()})

    def preview(self) -> tuple[Need, str, str]:
        """Who is needed now, the host and its rights; nothing is changed."""
        workflow = self._open()
        running = _settings(workflow)
        host = chosen.host(self._asked.host, running, self._environ)
        self._folder = Folder(workflow.wired.place.home, workflow.ulid)
        brief = workflow.briefing()
        return self._need(workflow, brief), host.name, running.rights

    def _untrusted(self, workflow: Workflow) -> Result | None:
        """Before anything is paid for: nobody trusts a command that a later step has to run."""
        state, own = workflow.state, workflow.state.source not in ("", BUILT_IN)
        open_steps = [path for path in state.plan.paths if state.step(path).status not in FINISHED]
        checks = ((path, check) for path in open_steps for check in state.plan.step(path).checks)
        runs = tuple((path, check) for path, check in checks if check.run and (own or check.source))
        found = workflow.wired.world.facts(state, Needs(runs=runs)).untrusted if runs else {}
        for (step, name), source in found.items():
            said = f"nobody on this machine has trusted the command of the check {name!r} yet"
            return Result(NEEDED_CODE, "person", said, (remedies.trust(source, text=READ),), step)
        return None

    # The loop

    def _loop(self) -> Result:
        turns = 0
        while True:
            workflow = self._open()
            brief = workflow.briefing()
            if result := self._over(workflow, brief, turns):
                return result
            need = self._need(workflow, brief)
            if need.who == deciding.NOBODY:
                return self._ended(brief, need)
            if need.who == deciding.PERSON:
                return Result(NEEDED_CODE, _kind(brief), need.said, need.ways, need.step)
            if need.who == deciding.ENGINE:
                self._act(workflow, need)
                continue
            if self._asked.once and turns:
                return Result(FINISHED_CODE, "once", "one turn was asked for", step=need.step)
            if said := self._bound(workflow):
                return Result(NEEDED_CODE, "bound", said, step=need.step)
            self._wait()
            if not self._stopping():
                turns += self._work(workflow, need)

    def _over(self, workflow: Workflow, brief: Briefing, turns: int) -> Result | None:
        if how := self._stopping():
            said = "stopped as asked" + ("" if how == NOW else ", between two turns")
            return Result(INTERRUPTED_CODE, "stopped", said, step=brief.step or "")
        until = workflow.path(self._asked.until) if self._asked.until else ""
        if until and workflow.state.step(until).status in FINISHED:
            return Result(FINISHED_CODE, "until", f"{until} is done", step=until)
        return None

    def _ended(self, brief: Briefing, need: Need) -> Result:
        if brief.first is not None:
            return Result(NEEDED_CODE, "person", need.said, need.ways, need.step)
        return Result(FINISHED_CODE, "finished", f"{brief.state.id} is {brief.status}")

    def _act(self, workflow: Workflow, need: Need) -> None:
        """What Holdfast does itself, without a turn of an agent."""
        step = need.step
        try:
            if need.does == "begin":
                workflow.begin(step)
            elif need.does == "resume":
                workflow.resume(step)
            else:
                if need.role and team.commit(workflow, step):
                    workflow = self._open()
                workflow.cancelled = lambda: self._stopping() == NOW
                workflow.done(step, watch=self._checking(step))
            said = f"{step}: {'begun' if need.does == 'begin' else 'begun again' if need.does == 'resume' else 'done'}"
            self._tell(need.does, said, {"step": step})
            self._why = [] if need.does == "done" else self._why
        except HoldfastError as refusal:
            if need.does == "done" and self._stopping() == NOW:
                return  # the check that ran was ended
            if not isinstance(refusal, Refused | Conflict) or refusal.code == "fenced" or need.does != "done":
                raise
            self._refuse(workflow, step, refusal)

    def _checking(self, step: str) -> Callable[[str, float], None]:
        """While checks run, the lease lasts, and a person sees what they print."""

        def watch(line: str, seconds: float) -> None:
            self._lease.beat(self._open)
            self._show({"checks": step, "seconds": seconds, "tool": line})

        return watch

    def _refuse(self, workflow: Workflow, step: str, refusal: HoldfastError) -> None:
        """What the gates said is what the next turn is about; where a step counts its tries, it is one of them."""
        self._tell("refused", f"{step}: {refusal.message}", {"step": step, "message": refusal.message})
        self._why = [refusal.message]
        workflow = self._open()
        state, defined = workflow.state, workflow.state.plan.step(step)
        had_turn = self._tried(workflow, workflow.briefing()).had_turn
        if state.step(step).status != "active":
            return
        if had_turn and defined.kind in state.conduct.iterated:
            workflow.iterate(step, refusal.message[:1000])
        elif not had_turn and defined.retry is not None:
            workflow.fail(step, refusal.message[:1000])
        self._refused = step, self._open().state.step(step).attempt

    def _need(self, workflow: Workflow, brief: Briefing) -> Need:
        members = team.of(workflow.state, brief.step or "", workflow.wired.place.root)
        return deciding.need(brief, self._tried(workflow, brief), members)

    def _tried(self, workflow: Workflow, brief: Briefing) -> Tried:
        step = brief.step or ""
        attempt = workflow.state.step(step).attempt if step else 0
        notes = self._notes(step, attempt)
        had = notes.get("turns", 0) > 0 and not notes.get("reviewed")
        return Tried(had, self._refused == (step, attempt))


def _settings(workflow: Workflow) -> Running:
    from holdfast.machine.running import trusted

    return trusted(workflow.wired.place.root, workflow.wired.is_trusted)


def _taken(workflow: Workflow) -> Conflict:
    said = f"{workflow.id} is run by another process on this machine"
    ways = (
        remedies.named("status", {"watch": True}, workflow=workflow.ulid, text="watch it"),
        remedies.named("stop", workflow=workflow.ulid, who="person"),
    )
    return Conflict("already_run", said, remedy=ways, facts={"workflow": workflow.id})


def _kind(brief: Briefing) -> str:
    return "bound" if brief.first is not None and brief.first.kind == "bound" else "person"
