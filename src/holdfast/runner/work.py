"""What a runner does between two looks at who is needed: one turn of a host, and what came of it."""

from __future__ import annotations

import random
import time
import uuid
from _collections_abc import Callable, Mapping

from holdfast.core import limits, moment, remedies
from holdfast.core.state import Actor
from holdfast.core.value import Any, Value
from holdfast.errors import Refused
from holdfast.machine.running import Running
from holdfast.project.project import open_project
from holdfast.runner import chosen, prompting, turning
from holdfast.runner.deciding import REVIEWER, Need
from holdfast.runner.folder import Folder
from holdfast.runner.host import Host, Order
from holdfast.runner.lease import ROLE, Leased
from holdfast.runner.ledger import Ledger
from holdfast.runner.limits import Shared
from holdfast.runner.meter import Meter
from holdfast.runner.process import environment
from holdfast.runner.turning import Outcome, Turn, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.machine.settings import Settings
    from holdfast.project.workflow import Workflow

SESSIONS = uuid.UUID("6f3c1a52-6a5e-5b0e-9f0c-9d8f7a1b2c3d")
"""The names of sessions are made in this space: the same for the same workflow, step and attempt, on every machine."""
_SAME, _FAILURES = 3, 3
_PAUSE, _LOOKS = 0.2, 2.0


class Asked(Value):
    """What was typed."""

    host: str = ""
    until: str = ""
    once: bool = False
    max_cost: int = 0
    max_time: int = 0


class Working:
    """One workflow that agents work on.

    `tell` is told what happened, in words and as data; `show` how the turn of a host stands.
    """

    _running: Running
    _host: Host
    _folder: Folder
    _shared: Shared
    _lease: Leased

    def __init__(
        self,
        root: str,
        ulid: str,
        asked: Asked,
        settings: Settings,
        environ: Mapping[str, str],
        *,
        tell: Callable[[str, str, Mapping[str, Any]], None],
        show: Callable[[Mapping[str, Any]], None],
        stopping: Callable[[], str],
    ) -> None:
        self._root, self._ulid, self._asked, self._environ = root, ulid, asked, environ
        self._settings = settings.replace(actor=Actor("agent", ROLE, "cli", ""), person=None, token="")
        self._tell, self._show_, self._typed_stop = tell, show, stopping
        self._began = time.monotonic()
        self._spent = 0
        self._limit_asked = self._shown = 0.0
        self._limit_said = ""
        self._why: list[str] = []
        self._refused = ("", 0)
        self._failures = 0

    # One turn

    def _work(self, workflow: Workflow, need: Need) -> int:
        """1 if a turn was had."""
        step, state = need.step, workflow.state
        attempt = state.step(step).attempt if step else 0
        notes = self._notes(step, attempt)
        notes.setdefault("mark", self._mark(workflow, step))
        session = session_of(state.ulid, step, attempt, need.role, notes["fresh"])
        ledger = Ledger(self._folder, session)
        if ledger.host and ledger.host != self._host.name and ledger.known:
            ledger.lose()  # another host does not have it
        ledger.step = step
        why, self._why = self._why, []
        text = (prompting.more if ledger.known else prompting.first)(workflow, need, why=why)
        outcome = self._turned(workflow, need, ledger, text)
        self._refused = "", 0
        if outcome.kind == turning.MISSING and notes.get("missing", 0) < 2:
            ledger.lose() if ledger.known else ledger.know(session)
            self._note(step, attempt, {**notes, "missing": notes.get("missing", 0) + 1})
            self._why = why
            return 0
        self._after(self._open(), need, attempt, notes, outcome)
        return 1

    def _turned(self, workflow: Workflow, need: Need, ledger: Ledger, text: str) -> Outcome:
        state, running, host = workflow.state, self._running, chosen.again(self._host, self._running)
        place, repository = workflow.wired.place, workflow.wired.place.repository
        gate = state.plan.step(need.step).review if need.who == REVIEWER else None
        looks = gate is not None and not gate.files and running.rights != "all"
        order = Order(
            session=ledger.session,
            known=ledger.known,
            prompt=self._folder.prompt(ledger.session, text),
            folder=place.base(state.worktree),
            rights="read" if looks and "read" in host.rights else running.rights,
            running=running,
            git=repository.common_dir if repository else "",
            is_review=need.who == REVIEWER,
        )
        own = {"HOLDFAST_TOKEN": self._lease.token, "HOLDFAST_RUN": state.ulid}
        own |= {"HOLDFAST_ACTOR": need.role} if need.role else {}
        env = environment(self._environ, (*host.variables, *running.env), own)
        meter = self._meter(host, ledger)
        number = self._notes(need.step, state.step(need.step).attempt if need.step else 0)["turns"] + 1
        data = {"step": need.step, "attempt": state.step(need.step).attempt if need.step else 0, "turn": number,
                "host": host.name, "session": ledger.session, "role": need.role}  # fmt: skip
        self._tell("turn", f"{need.step or 'at the end'}: turn {number} of {host.name}{_as(need)}", data)

        def spend(micros: int, step: str, key: str) -> None:
            self._spend(micros, step, key)
            self._limit_asked = 0.0

        def enough() -> str:
            if time.monotonic() - self._limit_asked > _LOOKS:
                self._limit_asked, self._limit_said = time.monotonic(), self._bound(self._open())
            return self._limit_said

        def beat() -> None:
            self._lease.beat(self._open)

        def show(now: Mapping[str, object]) -> None:
            self._show({**data, **now, "spent": self._spent})

        self._limit_said, self._shown = "", 0.0
        watch = Watch(spend, enough, beat, self._stopping, show)
        outcome = Turn(host, order, ledger, meter, self._folder, watch).run(env)
        self._shared.learn(meter.taught)
        if meter.has_unknown:
            self._tell("unpriced", f"what {host.name} used has no known price, and is not counted", {"host": host.name})
        return outcome

    def _after(self, workflow: Workflow, need: Need, attempt: int, notes: dict[str, Any], outcome: Outcome) -> None:
        """What came of a turn, and what the next one has to know of it."""
        step, data = need.step, {"step": need.step, "outcome": outcome.kind, "message": outcome.said}
        said = f"{step or 'at the end'}: {outcome.said or 'the turn is over'}"
        if outcome.denied:
            said += f"; not allowed: {', '.join(outcome.denied)}"
            self._why.append(f"These tools are not allowed here: {', '.join(outcome.denied)}")
        self._tell("turned", said, {**data, "denied": list(outcome.denied)})
        if outcome.kind == turning.LIMITED:
            seconds = self._shared.limit(outcome.wait, random.random())  # noqa: S311 - nobody has to guess it
            self._tell("limited", f"waits {moment.span(seconds)} for the model's service", {"seconds": int(seconds)})
            return
        if outcome.kind in (turning.STOPPED, turning.BOUND):
            return
        if outcome.kind in (turning.FAILED, turning.MISSING):
            self._failed(workflow, need, outcome)
            return
        self._failures = 0
        self._shared.allowed()
        notes = {**notes, "turns": notes["turns"] + 1, "reviewed": need.who == REVIEWER}
        mark = self._mark(workflow, step)
        if outcome.kind == turning.STALLED:
            self._why.append(f"your last turn was ended: {outcome.said}")
        is_same = mark == notes.get("mark")
        notes = {**notes, "mark": mark, "same": notes.get("same", 0) + 1 if is_same else 0}
        if outcome.kind == turning.STALLED or notes["same"] >= _SAME:
            notes = self._stalled(workflow, need, notes, outcome)
        elif notes["turns"] >= self._running.turns:
            self._block(workflow, step, f"{notes['turns']} turns of an agent did not finish it")
        self._note(step, attempt, notes)
        if need.who == REVIEWER:
            self._reviewed(self._open(), step)

    def _stalled(self, workflow: Workflow, need: Need, notes: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
        """One session more, that begins with the reason; when that one stalls too, a person decides."""
        reason = outcome.said or f"{_SAME} turns changed nothing"
        if notes["fresh"]:
            self._block(workflow, need.step, f"the agent is stuck: {reason}")
        else:
            self._why = [f"a session before this one was ended: {reason}"]
        return {**notes, "fresh": notes["fresh"] + 1, "same": 0}

    def _failed(self, workflow: Workflow, need: Need, outcome: Outcome) -> None:
        self._failures += 1
        if self._failures >= _FAILURES:
            self._failures = 0
            self._block(workflow, need.step, f"{self._host.name} failed {_FAILURES} times: {outcome.said}")
            return
        self._sleep(min(self._running.backoff * 2 ** (self._failures - 1), 1800))

    def _block(self, workflow: Workflow, step: str, reason: str) -> None:
        """What only a person can clear. At the end of a workflow no step is there that could be blocked."""
        workflow = workflow.refresh()
        if step and workflow.state.step(step).status == "active":
            workflow.block(step, reason)
        else:
            raise Refused("stuck", f"{workflow.id}: {reason}", remedy=remedies.next_step(workflow=workflow.ulid))

    def _reviewed(self, workflow: Workflow, step: str) -> None:
        """Where a file has the review, Holdfast reads it."""
        gate = workflow.state.plan.step(step).review
        if not gate or not gate.files or workflow.state.step(step).reviewed:
            return
        try:
            workflow.review(step)
        except Refused as refusal:
            self._why = [refusal.message]

    def _mark(self, workflow: Workflow, step: str) -> str:
        """What changes when work is done: the tree, what checks showed of it, and what was handed in."""
        from holdfast.plain.digest import digest

        state = workflow.refresh().state
        progress = state.step(step) if step else None
        seen = sorted((name, one.passed, one.tree) for name, one in progress.evidence.items()) if progress else []
        files = sorted((name, one.hash) for name, one in progress.artifacts.items()) if progress else []
        status = (progress.status, progress.attempt) if progress else ()
        tree = workflow.wired.world.tree(state)
        return digest(repr((seen, files, status, tree.id, tree.head)).encode())

    # Bounds and money

    def _bound(self, workflow: Workflow) -> str:
        """Why no more may be spent; empty while there is room."""
        asked = self._asked
        if asked.max_cost and self._spent >= asked.max_cost:
            return f"this run may cost {moment.money(asked.max_cost)}, and has cost {moment.money(self._spent)}"
        if asked.max_time and time.monotonic() - self._began >= asked.max_time:
            return f"this run may take {moment.span(asked.max_time)}"
        usages = limits.usages(workflow.state, workflow.wired.world.now())
        reached = (one for one in usages if one.reached)
        return next(
            (f"the bound on {one.bound} is used up ({one.used_text} of {one.limit_text})" for one in reached), ""
        )

    def _spend(self, micros: int, step: str, key: str) -> None:
        workflow = self._open()
        workflow.spend(micros, ROLE, step, key=key)
        self._spent += micros

    def _meter(self, host: Host, ledger: Ledger) -> Meter:
        prices = self._shared.prices()
        return Meter(self._running, host.name, ledger.seen, prices, is_sum=host.is_sum, tells_cost=host.tells_cost)

    def _require_prices(self, workflow: Workflow) -> None:
        """Under a bound on money, a host whose cost nobody knows is refused before it costs anything."""
        is_bounded = bool(self._asked.max_cost or workflow.state.bounds.max_cost)
        names = filter(None, (self._running.model, self._host.name))
        if is_bounded and not self._host.tells_cost and self._running.price(*names) is None:
            name = self._running.model or self._host.name
            said = f"{self._host.name} does not say what it costs, and there is a bound on cost"
            way = f'give its price in .holdfast/config.toml: [runner.prices."{name}"] with input and output'
            raise Refused("no_price", said, remedy=way, facts={"host": self._host.name})

    def _recover(self, workflow: Workflow) -> None:
        """Counts and books what a runner left that died."""
        for session in self._folder.sessions():
            ledger = Ledger(self._folder, session)
            if not ledger.turns:
                continue
            keys = workflow.state.keys
            if not ledger.is_over:
                ledger.repeat(keys.__contains__, self._spend)
                host = chosen.host(ledger.host, self._running, self._environ)
                turning.counted_again(host, ledger, self._meter(host, ledger), self._folder, self._spend)
            elif session == self._folder.sessions()[-1]:
                ledger.repeat(keys.__contains__, self._spend)
        self._spent = 0

    # Around the turns

    def _open(self) -> Workflow:
        """A look of its own: agents and people change things meanwhile."""
        return open_project(self._root, settings=self._settings, one_request=True).workflow(self._ulid)

    def _stopping(self) -> str:
        return self._typed_stop() or self._folder.asked_to_stop()

    def _wait(self) -> None:
        """Leaves a service alone that asked for it."""
        left = self._shared.left()
        if left:
            self._sleep(left)

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._stopping():
            self._show({"waits": until - time.monotonic()})
            self._lease.beat(self._open)
            time.sleep(_PAUSE)

    def _show(self, now: Mapping[str, Any]) -> None:
        self._show_(now)
        if time.monotonic() - self._shown > _LOOKS:
            self._shown = time.monotonic()
            self._folder.tell("now", {**now, "at": time.time()})

    def _credential(self) -> str:
        names = (one for one in self._host.variables if self._environ.get(one))
        return " ".join([self._host.name, *(f"{name}={self._environ[name]}" for name in names)])

    def _notes(self, step: str, attempt: int) -> dict[str, Any]:
        """What the runner keeps of an attempt: how many turns it had, and how many sessions were given up."""
        found = self._folder.read("tries")
        is_this = found.get("step") == step and found.get("attempt") == attempt
        return found if is_this else {"turns": 0, "fresh": 0}

    def _note(self, step: str, attempt: int, notes: Mapping[str, Any]) -> None:
        self._folder.write("tries", {**notes, "step": step, "attempt": attempt})


def session_of(ulid: str, step: str, attempt: int, role: str = "", fresh: int = 0) -> str:
    """The session of an attempt at a step: nothing has to be remembered to find it again."""
    more = [one for one in (role, f"fresh-{fresh}" if fresh else "") if one]
    return str(uuid.uuid5(SESSIONS, "/".join([ulid, step, str(attempt), *more])))


def _as(need: Need) -> str:
    return f" as {need.role}" if need.role else ""
