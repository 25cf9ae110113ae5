"""`holdfast run` and `holdfast stop`: agent hosts that work through a workflow, and a person who watches."""

from __future__ import annotations

import os
import signal
import sys
from _collections_abc import Mapping

from holdfast.core import limits, moment, refusals, remedies
from holdfast.core.remedy import naming, told
from holdfast.core.value import Any
from holdfast.errors import NotFound
from holdfast.machine.settings import is_hosted
from holdfast.plain.terminal import escape, write
from holdfast.project.workflow import Workflow
from holdfast.runner.folder import NOW, STOP, Folder
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.runner.loop import Result, Runner

_ERASE = "\r\x1b[K"
_MARKS = {"turn": "▶", "done": "✓", "refused": "✗", "limited": "⏳", "unpriced": "⚠"}


def run(call: Call) -> int:
    _require_person("let Holdfast run agents", "run")
    workflow = _workflow(call)
    if workflow is None:
        said = f"would start {call.args.definition} {call.args.subject}".strip()
        call.answer({"would_start": call.args.definition}, escape(said))
        return 0
    from holdfast.runner.loop import Runner
    from holdfast.runner.work import Asked

    args, screen, stopping = call.args, _Screen(call, workflow), _Stopping()
    asked = Asked(args.host or "", args.until or "", args.once, args.max_cost or 0, args.max_time or 0)
    runner = Runner(
        call.project.root,
        workflow.ulid,
        asked,
        call.settings,
        os.environ,
        tell=screen.tell,
        show=screen.show,
        stopping=stopping,
    )
    if args.dry_run:
        return _previewed(call, workflow, runner)
    with stopping, screen:
        result = runner.run()
    call.look_again()
    return _said(call, call.project.workflow(workflow.ulid), result)


def stop(call: Call) -> None:
    """The runner sees it within a moment: it ends after the turn of the agent, or ends that turn too."""
    _require_person("stop a run", "stop")
    workflow = call.workflow()
    folder = Folder(call.project.wired.place.home, workflow.ulid)
    if not folder.is_taken():
        said = f"nobody runs {workflow.id} on this machine"
        way = remedies.named("run", workflow=workflow.ulid, who="person")
        raise NotFound("not_run", said, remedy=way, facts={"workflow": workflow.id})
    how = NOW if call.args.now else STOP
    folder.ask_stop(how)
    when = "now" if call.args.now else "after this turn"
    call.answer({"workflow_id": workflow.id, "stops": how}, call.ok(f"the run of {workflow.id} ends {when}"))


def _require_person(what: str, command: str) -> None:
    """An agent that starts agents would spend without anybody having asked for it."""
    from holdfast.machine.person import host_above

    if is_hosted(os.environ) or host_above():
        raise refusals.person_needed(what, remedies.named(command, who="person"))


def _workflow(call: Call) -> Workflow | None:
    """The workflow that is meant; one that is named by its definition is started. None where that is only shown."""
    args = call.args
    if not args.definition:
        return call.workflow()
    if args.workflow:
        said = "holdfast run: -w and the name of a definition cannot both be given"
        raise refusals.misused(said, remedies.usage("run"))
    found = call.project.find(args.definition, args.subject)
    if found is None and not args.dry_run:
        found = call.project.start(args.definition, args.subject)
    if found is not None:
        call.about = found.ulid
    return found


def _previewed(call: Call, workflow: Workflow, runner: Runner) -> int:
    need, host, rights = runner.preview()
    who = {"agent": f"a turn of {host}, with the rights {rights}", "reviewer": f"a review by {host}"}
    what = who.get(need.who) or {"engine": "Holdfast itself", "person": "a person"}.get(need.who, "nobody")
    data = {"workflow_id": workflow.id, "needs": need.who, "step": need.step or None, "does": need.does or None,
            "host": host, "rights": rights, "message": need.said}  # fmt: skip
    at = f" at {need.step}" if need.step else ""
    call.answer(data, escape(f"{workflow.id}{at} needs {what}" + (f": {need.said}" if need.said else "")))
    return 0


def _said(call: Call, workflow: Workflow, result: Result) -> int:
    state = workflow.state
    ways = told(result.ways, naming(state, person=True)) if result.ways else ""
    data = {"event": "end", "workflow_id": workflow.id, "why": result.why, "message": result.said,
            "step": result.step or None, "remedy": ways, "spent": moment.money(state.spent)}  # fmt: skip
    if call.args.json:
        _write_line(data)
        return result.code
    mark = call.style.green("✓") if result.code == 0 else call.style.yellow("⏸")
    text = f"{mark} {escape(result.said)}" + (f"  {call.style.dim(f'({escape(ways)})')}" if ways else "")
    spent = f"\n  spent: {moment.money(state.spent)}" if state.spent else ""
    call.answer({}, text + spent)
    return result.code


def _write_line(data: Mapping[str, Any]) -> None:
    from json import dumps

    write(dumps(data, ensure_ascii=True) + "\n")
    sys.stdout.flush()


class _Screen:
    """A line for what happened, and on a terminal one that is written over: how the turn stands."""

    def __init__(self, call: Call, workflow: Workflow) -> None:
        self._call = call
        self._is_live = sys.stderr.isatty() and not call.args.json
        usages = limits.usages(workflow.state, workflow.facts().now)
        self._limit = next((one.limit_text for one in usages if one.bound == "cost"), "")
        self._shown = ""

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        self._clear()

    def tell(self, kind: str, said: str, data: Mapping[str, Any]) -> None:
        self._clear()
        if self._call.args.json:
            _write_line({"event": kind, **data})
            return
        mark = _MARKS.get(kind, "·") if self._call.unicode else "*"
        write(f"{mark} {escape(said)}\n")
        sys.stdout.flush()

    def show(self, now: Mapping[str, Any]) -> None:
        if not self._is_live:
            return
        if "waits" in now:
            line = f"waits {moment.span(now['waits'])}"
        elif "checks" in now:
            line = f"checks of {now['checks']} · {moment.span(now['seconds'])} · {now['tool']}"
        else:
            spent = moment.money(now["spent"]) + (f" of {self._limit}" if self._limit else "")
            parts = (now["step"], f"attempt {now['attempt']}", f"turn {now['turn']} of {now['host']}",
                     moment.span(now["seconds"]), now["tool"], spent,
                     f"silent for {moment.span(now['silent'])}" if now["silent"] >= 5 else "")  # fmt: skip
            line = " · ".join(str(part) for part in parts if part)
        width = (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1
        if line != self._shown:
            self._shown = line
            sys.stderr.write(f"{_ERASE}{escape(line)[:width]}")
            sys.stderr.flush()

    def _clear(self) -> None:
        if self._shown:
            self._shown = ""
            sys.stderr.write(_ERASE)
            sys.stderr.flush()


class _Stopping:
    """Ctrl-C once: the turn is finished, and then the run ends. Twice, or any other request to end: now."""

    def __init__(self) -> None:
        self._asked = ""
        self._before: dict[int, Any] = {}

    def __call__(self) -> str:
        return self._asked

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._on)

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _on(self, number: int, _: object) -> None:
        if number == signal.SIGINT and not self._asked:
            self._asked = STOP
            sys.stderr.write("\nends after this turn; Ctrl-C again ends it now\n")
        else:
            self._asked = NOW
