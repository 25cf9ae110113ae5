"""The commands that refusals and answers suggest, one function each. `more` is `workflow`, `who` or `text`.

Nothing here gives a verdict: what a person decides is theirs to type, and a report leaves open what it says.
"""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core.remedy import Blank, Remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TEXT, PATH, STEP = Blank("TEXT"), Blank("PATH"), Blank("STEP")
_PERSON = "person"
_SETTLED = "once that is settled"
MORE = {"cost": 5, "time": "1h", "iterations": 3}


def begin(step: str, **more: Any) -> Remedy:
    return Remedy("begin", {"step": step}, **more)


def done(step: str, *, outputs: Iterable[str] = (), given: Mapping[str, Any] | None = None, **more: Any) -> Remedy:
    """`given` are further options, such as the commit that was made already."""
    files = dict.fromkeys(outputs, PATH)
    named = {"artifact": files} if files else {}
    return Remedy("done", {"step": step, **named, **(given or {})}, **more)


def check(name: str, *, step: str = "", **more: Any) -> Remedy:
    """Holdfast runs it, or asks how it went where it has no command."""
    return Remedy("check", {"name": name, "run": not step, "step": step}, **more)


def report(name: str, *, step: str = "", **more: Any) -> Remedy:
    return Remedy("check", {"name": name, "passed": Blank("--passed|--failed"), "step": step}, **more)


def fail(step: str, **more: Any) -> Remedy:
    return Remedy("fail", {"step": step, "reason": TEXT}, **more)


def unblock(step: str, *, guided: bool = False, **more: Any) -> Remedy:
    said = {"guidance": TEXT} if guided else {}
    return Remedy("unblock", {"step": step, **said}, text="" if guided else _SETTLED, **more)


def skip(step: str, **more: Any) -> Remedy:
    return Remedy("skip", {"step": step}, **more)


def review(step: str, *, by: str = "", from_file: bool = False, **more: Any) -> Remedy:
    verdict = "" if from_file else Blank("approved|needs_revision")
    return Remedy("review", {"step": step, "verdict": verdict, "role": by}, **more)


def person(what: str, *own: Remedy, workflow: str = "") -> tuple[Remedy, ...]:
    """Where a person decides: an agent shows what there is and waits, and these are the person's own commands."""
    return (
        Remedy(text=f"show {what} to a person and stop", who="agent"),
        Remedy("wait", {"for": "person"}, workflow, who="agent"),
        *(one.replace(who=_PERSON) for one in own),
    )


def approve(step: str | Blank, *, variant: str | Blank = "", sign: str | Blank = "", **more: Any) -> Remedy:
    return Remedy("approve", {"step": step, "variant": variant, "sign": sign}, who=_PERSON, **more)


def reject(step: str, **more: Any) -> Remedy:
    return Remedy("reject", {"step": step, "feedback": TEXT}, who=_PERSON, **more)


def reopen(step: str | Blank, **more: Any) -> Remedy:
    return Remedy("reopen", {"step": step}, **more)


def reset(step: str, **more: Any) -> Remedy:
    return named("reset", {"step": step}, **more)


def resume(step: str = "", **more: Any) -> Remedy:
    return Remedy("resume", {"step": step}, **more)


def revive(**more: Any) -> Remedy:
    """Of a workflow that somebody cancelled."""
    return Remedy("resume", text="if it is to go on after all", **more)


def unpause(by: str, **more: Any) -> tuple[Remedy, ...]:
    """What leads on from a pause: one that a person made is theirs to end."""
    resume = Remedy("resume", text="once it may go on", **more)
    return person("this", resume, **more) if by.partition(" ")[0] == "human" else (resume,)


def extend(**bounds: object) -> Remedy:
    return named("extend", bounds)


def extending(bound: str) -> tuple[Remedy, ...]:
    """What leads on when a bound is used up."""
    return person("this", extend(**{bound: MORE[bound]}), cancel())


def cancel(**more: Any) -> Remedy:
    return Remedy("cancel", **more)


def revalidate(**more: Any) -> Remedy:
    return Remedy("revalidate", **more)


def restore(number: int | Blank, **more: Any) -> Remedy:
    return Remedy("restore", {"number": number}, **more)


def start(definition: str | Blank, subject: str | Blank = "", **more: Any) -> Remedy:
    """`values` are what `--set` says; `fresh`, `resume` and `branch` as they are spelled."""
    own = ("text", "workflow", "who")
    options = {name: value for name, value in more.items() if name not in own}
    return Remedy(
        "start",
        {"definition": definition, "subject": subject, **options},
        **{name: more[name] for name in own if name in more},
    )


def status(**more: Any) -> Remedy:
    return Remedy("status", **more)


def next_step(**more: Any) -> Remedy:
    return Remedy("next", **more)


def log(after: int, **more: Any) -> Remedy:
    return Remedy("log", {"after": after}, **more)


def listing(**more: Any) -> Remedy:
    return Remedy("list", **more)


def doctor(*, repair: bool = False, **more: Any) -> Remedy:
    return Remedy("doctor", {"repair": repair}, **more)


def adopt(path: str = "", **more: Any) -> Remedy:
    return Remedy("adopt", {"paths": [path] if path else []}, **more)


def trust(definition: str, **more: Any) -> Remedy:
    return named("trust", {"definition": definition}, **more)


def schema(dialect: str = "", **more: Any) -> Remedy:
    return Remedy("schema", {"dialect": dialect}, **more)


def recover(slug: str = "", *, take: str | Blank = "", **more: Any) -> Remedy:
    return Remedy("recover", {"slug": slug, "take": take}, **more)


def finalize(merged: tuple[str, ...] = (), **more: Any) -> Remedy:
    return Remedy("finalize", {"merged": list(merged)}, **more)


def amend(step: str | Blank = "", *, retire: bool = False, **more: Any) -> Remedy:
    return Remedy("amend", {"step": step, "retire": retire}, **more)


def add_step(name: str | Blank, *, under: str = "", after: str = "", **more: Any) -> Remedy:
    return Remedy("amend", {"add": name, "under": under, "after": after}, **more)


def resume_packet(**more: Any) -> Remedy:
    return Remedy("resume-packet", **more)


def ack(packet: str | Blank, **more: Any) -> Remedy:
    return Remedy("ack", {"packet": packet}, **more)


def unlock(path: str, **more: Any) -> Remedy:
    return Remedy("unlock", {"paths": [path]}, **more)


def agent_end(token: int, **more: Any) -> Remedy:
    return Remedy("agent end", {"lease": token}, **more)


def agent_start(**more: Any) -> Remedy:
    return Remedy("agent start", {"name": Blank("ROLE")}, **more)


def session(what: str, name: str | Blank = "", **more: Any) -> Remedy:
    """One of the commands about sessions, with the session or file it takes."""
    return Remedy(f"session {what}", {"name": name, "path": name}, **more)


def check_file(file: str | Blank, **more: Any) -> Remedy:
    return Remedy("workflows check", {"file": file}, **more)


def usage(command: str, **more: Any) -> Remedy:
    return Remedy(command, {"help": True}, **more)


def named(command: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Remedy:
    """Any other command, with its arguments by name. What only a person may do is theirs to type."""
    from holdfast.core.naming import PEOPLES

    return Remedy(command, arguments or {}, **{"who": _PERSON if command in PEOPLES else "anyone", **more})
