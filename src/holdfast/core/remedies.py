"""The commands that refusals and answers suggest, one function each. `more` is `workflow`, `who` or `text`.

Nothing here gives a verdict: what a person decides is theirs to type, and a report leaves open what it says.
"""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Mapping, Sequence

from holdfast.core.remedy import Blank, Line, Remedy, line, one_of, shell
from holdfast.core.value import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.state import Lease

TEXT, PATH, STEP, REASON = Blank("TEXT"), Blank("PATH"), Blank("STEP"), Blank("REASON")
REPORT = Blank("--PASSED-OR-FAILED")
FIX = "fix it, then"
FIX_CODE = "fix it, commit it, then"
"""What comes before the command where something failed or was asked for."""
_PERSON = "person"
CONFIG = ".holdfast/config.toml"
_SETTLED = "once that is settled"
MORE_DOLLARS, MORE_HOURS = 5, 1
MORE = {"cost": MORE_DOLLARS, "time": f"{MORE_HOURS}h", "iterations": 3}


def _of(command: str, *names: str) -> Callable[..., Remedy]:
    """The function that suggests a command, with its arguments in this order; one that is not given is empty."""

    def suggested(*values: Any, **more: Any) -> Remedy:
        given = dict(zip(names, (*values, *("",) * (len(names) - len(values))), strict=True))
        return Remedy(command, given, **more)

    return suggested


begin = _of("begin", "step")
skip = _of("skip", "step")
reopen = _of("reopen", "step")
resume = _of("resume", "step")
cancel = _of("cancel")
revalidate = _of("revalidate")
restore = _of("restore", "number")
status = _of("status")
next_step = _of("next")
log = _of("log", "after")
listing = _of("list", "all")
schema = _of("schema", "dialect")
resume_packet = _of("resume-packet")
ack = _of("ack", "packet")
agent_end = _of("agent end", "lease")
check_file = _of("workflows check", "file")


def done(step: str, *, outputs: Iterable[str] = (), given: Mapping[str, Any] | None = None, **more: Any) -> Remedy:
    """`given` are further options, such as the commit that was made already."""
    files = dict.fromkeys(outputs, PATH)
    named = {"artifact": files} if files else {}
    return Remedy("done", {"step": step, **named, **(given or {})}, **more)


def check(name: str, *, step: str = "", **more: Any) -> Remedy:
    """Holdfast runs it, or asks how it went where it has no command."""
    return Remedy("check", {"name": name, "run": not step, "step": step}, **more)


def report(name: str, *, step: str = "", **more: Any) -> Remedy:
    return Remedy("check", {"name": name, "passed": REPORT, "step": step}, **more)


def fail(step: str, **more: Any) -> Remedy:
    return Remedy("fail", {"step": step, "reason": TEXT}, **more)


def unblock(step: str, *, guided: bool = False, **more: Any) -> Remedy:
    said = {"guidance": TEXT} if guided else {}
    return Remedy("unblock", {"step": step, **said}, text="" if guided else _SETTLED, **more)


def review(step: str, *, by: str | Blank = "", from_file: bool = False, **more: Any) -> Remedy:
    verdict = "" if from_file else one_of("approved", "needs_revision")
    return Remedy("review", {"step": step, "verdict": verdict, "role": by}, **more)


def person(what: str, *own: Remedy, workflow: str = "") -> tuple[Remedy, ...]:
    """Where a person decides: an agent shows what there is and waits, and these are the person's own commands."""
    return (
        Remedy(text=f"show {what} to a person and stop", who="agent"),
        Remedy("wait", {"for": "person"}, workflow, who="agent"),
        *(one.replace(who=_PERSON) for one in own),
    )


def held(lease: Lease, **more: Any) -> tuple[Remedy, ...]:
    """Where another session or agent is at work: nobody continues with it until its hold ends, but by its token."""
    own = (Remedy(text="pass the token of this lease if it is yours"),) if lease.key else ()
    return (
        Remedy("wait", {"for": "change"}, text="wait until it ends", **more),
        *own,
        listing(text="work on something else"),
        agent_end(lease.token, who=_PERSON, text="if it is gone", **more),
    )


def approve(step: str | Blank, *, variant: str | Blank = "", sign: str | Blank = "", **more: Any) -> Remedy:
    return Remedy("approve", {"step": step, "variant": variant, "sign": sign}, who=_PERSON, **more)


def page(**more: Any) -> Remedy:
    """The page on which a person approves with a passkey."""
    return Remedy("web", who=_PERSON, **{"text": "approve it on the page", **more})


def confirm(**more: Any) -> Remedy:
    """Every approval of the clone that is only claimed, at once."""
    return Remedy("approve", {"claimed": True}, who=_PERSON, **more)


def reject(step: str, **more: Any) -> Remedy:
    return Remedy("reject", {"step": step, "feedback": TEXT}, who=_PERSON, **more)


def reset(step: str, **more: Any) -> Remedy:
    return named("reset", {"step": step}, **more)


def revive(**more: Any) -> Remedy:
    """Of a workflow that somebody cancelled."""
    return Remedy("resume", text="if it is to continue after all", **more)


def unpause(*, persons: bool, **more: Any) -> tuple[Remedy, ...]:
    """What leads on from a pause: one that a person made is theirs to end."""
    resume = Remedy("resume", text="to continue", **more)
    return person("this", resume, **more) if persons else (resume,)


def extend(**bounds: object) -> Remedy:
    return named("extend", bounds)


def extending(bound: str, over: float = 0) -> tuple[Remedy, ...]:
    """What leads on when a bound is used up, by so many dollars or seconds more than it allows."""
    return person("this", more_of(bound, over), cancel())


def more_of(bound: str, over: float = 0) -> Remedy:
    """What gives a workflow the usual amount; where that is not enough, beyond what it has used."""
    if bound == "cost":
        return extend(cost=_beyond(MORE_DOLLARS, over))
    return extend(time=f"{_beyond(MORE_HOURS, over / 3600)}h") if bound == "time" else extend(**{bound: MORE[bound]})


def _beyond(usual: int, over: float) -> int:
    return usual if over < usual / 2 else usual - int(-over // 1)


def start(definition: str | Blank, subject: str | Blank = "", **more: Any) -> Remedy:
    """`values` are what `--set` says; `fresh`, `resume` and `branch` as they are spelled."""
    own = ("text", "workflow", "who")
    options = {name: value for name, value in more.items() if name not in own}
    return Remedy(
        "start",
        {"definition": definition, "subject": subject, **options},
        **{name: more[name] for name in own if name in more},
    )


def doctor(*, repair: bool = False, **more: Any) -> Remedy:
    return Remedy("doctor", {"repair": repair}, **more)


def adopt(path: str = "", **more: Any) -> Remedy:
    return Remedy("adopt", {"paths": [path] if path else []}, **more)


def trust(definition: str, *, owner: bool = False, **more: Any) -> Remedy:
    return named("trust", {"definition": definition, "owner": owner}, **more)


def recover(slug: str = "", *, take: str | Blank = "", **more: Any) -> Remedy:
    return Remedy("feature recover", {"slug": slug, "take": take}, **more)


def go_on(**more: Any) -> Remedy:
    """Of a feature: whatever can be done about it without a person."""
    return Remedy("feature continue", **more)


def committing(files: Sequence[str], text: str = "") -> tuple[Remedy, ...]:
    """What brings files to others, or out of the way of the tests."""
    commit = shell("git", "commit", "-m", TEXT, "--", *files, text="then")
    aside = shell("git", "stash", "push", "-u", "--", *files, text="to put it aside instead")
    return shell("git", "add", "--", *files, text=text), commit, aside


def finalize(merged: tuple[str, ...] = (), **more: Any) -> Remedy:
    return Remedy("feature finalize", {"merged": list(merged)}, **more)


def amend(step: str | Blank = "", *, retire: bool = False, **more: Any) -> Remedy:
    return Remedy("amend", {"step": step, "retire": retire}, **more)


def set_command(uses: str, **more: Any) -> Remedy:
    return Remedy("set", {"values": [Blank(f"{uses}_command='COMMAND'")]}, **more)


def choose_command(uses: str) -> Remedy:
    """What an exit code is only worth where a person says which command counts."""
    return set_command(uses, text="to choose the command that counts", who=_PERSON)


def equip(uses: str, *, is_listed: bool = False) -> tuple[Remedy, ...]:
    """What helps where only Holdfast's own run counts and no command was found: say it, write it, or allow reports.

    Where the configuration has an entry for it already, another one would break the file: that one is changed.
    """
    if is_listed:
        change = f"change '{uses}' below [commands] to the command, or to \"report\""
        return set_command(uses), line(f"${{EDITOR:-vi}} {CONFIG}", text=change, who=_PERSON)
    table = f"printf '\\n[commands.{uses}]\\nrun = \"%s\"\\n'"
    kept = f">> {CONFIG} && holdfast trust {CONFIG}"
    return (
        set_command(uses),
        shell(Line(table), Blank("'COMMAND'"), Line(kept), text="to configure it", who=_PERSON),
        line(f"{table} report {kept}", text="to allow reports", who=_PERSON),
    )


def add_step(name: str | Blank, *, under: str = "", after: str = "", **more: Any) -> Remedy:
    return Remedy("amend", {"add": name, "under": under, "after": after}, **more)


def unlock(path: str, **more: Any) -> Remedy:
    return Remedy("unlock", {"paths": [path]}, **more)


def agent_start(**more: Any) -> Remedy:
    return Remedy("agent start", {"name": Blank("ROLE")}, **more)


def session(what: str, name: str | Blank = "", **more: Any) -> Remedy:
    """One of the commands about a session as a whole, with its name."""
    return Remedy(f"session {what}", {"name": name}, **more)


def session_file(what: str, path: str | Blank, session: str, **more: Any) -> Remedy:
    """One of the commands about a file in a session, which is named: another one may be in use."""
    return Remedy(f"session {what}", {"path": path, "session": session}, **more)


def usage(command: str, **more: Any) -> Remedy:
    return Remedy(command, {"help": True}, **more)


def named(command: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Remedy:
    """Any other command, with its arguments by name. What only a person may do is theirs to type."""
    from holdfast.core.naming import PEOPLES

    return Remedy(command, arguments or {}, **{"who": _PERSON if command in PEOPLES else "anyone", **more})


def supervised(check: str, task: str) -> tuple[Remedy, Remedy]:
    """What a supervisor types: the command that prints what to look at, and the one that records what was found."""
    asked = {"check_type": check, "task": task} if task else {"check_type": check}
    return named("orchestrator supervise", asked), named(
        "orchestrator supervise", asked | {"verdict": one_of("PASS", "AUTO_FIX", "RE_PLAN")}
    ).replace(text="then")
