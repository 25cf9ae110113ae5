"""Agent hosts: putting Holdfast to work in them, taking it out again, and their status line."""

from __future__ import annotations

from holdfast.core import remedies
from holdfast.core.remedy import one_of
from holdfast.errors import NotFound, UsageError
from holdfast.machine import place as places
from holdfast.plain.terminal import escape
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.installing.installation import Plan
    from holdfast.hosts.installing.setting import Setting

_FOLDERS = ("commands", "agents", "skills")
"""Of many files in one of these, only the folder is said."""
_DONE = {"created": "wrote", "changed": "changed", "removed": "removed"}


def install(call: Call) -> None:
    from shutil import which

    from holdfast.hosts.installing import installation

    at = _setting(call, team=not call.args.no_team)
    hosts = [_host(call)] if call.args.host else installation.present(at, which)
    if not hosts:
        way = remedies.named("install", {"host": one_of(*installation.HOSTS)}, text="name one")
        raise NotFound("no_host", "no agent host was found here", remedy=way)
    plans = [installation.planned(host, at, call.settings.data_dir) for host in hosts]
    _carried_out(call, plans, "it is there already")


def uninstall(call: Call) -> None:
    """A person's: an agent that a hook restricts must not be able to remove the hook."""
    from holdfast.hosts.installing import installation

    at = _setting(call)
    hosts = [_host(call)] if call.args.host else list(installation.HOSTS)
    plans = [installation.planned(host, at, call.settings.data_dir, is_removal=True) for host in hosts]
    if not call.args.dry_run:
        call.settings.require_person("remove Holdfast from an agent host", remedies.named("uninstall"))
    _carried_out(call, plans, "it is not there")


def answered(call: Call) -> int:
    """One event of a host, or its question for a line, on standard input; never anything but success."""
    if call.args.line:
        import shlex

        from holdfast.hosts.installing import lines

        line = shlex.join(lines.hook_words() if call.command.name == "hook" else lines.status_words())
        call.answer({"command": line}, line)
        return 0
    from holdfast.surfaces.hooks import quick, statusline

    return quick.main() if call.command.name == "hook" else statusline.main()


def _setting(call: Call, *, team: bool = True) -> Setting:
    from holdfast.hosts.installing import setting

    place = places.find(".")
    return setting.setting(call.settings, call.args.scope, place.worktree, place.root, team=team)


def _host(call: Call) -> str:
    from holdfast.hosts.installing.installation import HOSTS

    named = str(call.args.host)
    if named in HOSTS:
        return named
    said = f"{named[:80]!r} is not one of {', '.join(HOSTS)}"
    facts = {"hosts": list(HOSTS)}
    raise UsageError("bad_host", said, remedy=remedies.named(call.command.name, {"host": one_of(*HOSTS)}), facts=facts)


def _carried_out(call: Call, plans: list[Plan], nothing: str) -> None:
    """All of it is worked out by now: what is wrong with one file has kept every other as it is."""
    from holdfast.hosts.installing import installation

    if not call.args.dry_run:
        if call.args.scope == "project":
            call.project.wired.require_writable()
        for plan in plans:
            installation.carry_out(plan)
    files = {p.host: [{"path": p.shown[c.path], "change": c.kind} for c in p.changes] for p in plans}
    rows = [{"host": plan.host, "files": files[plan.host], "said": list(plan.said)} for plan in plans]
    diff = "".join(plan.difference() for plan in plans) if call.args.dry_run else ""
    data = {"scope": call.args.scope, "dry_run": call.args.dry_run, "hosts": rows}
    said = "\n".join(line for plan in plans for line in _lines(call, plan, nothing))
    shown = escape(diff, lines=True) if diff else ""
    call.answer({**data, **({"diff": diff} if call.args.dry_run else {})}, shown if diff else said)


def _lines(call: Call, plan: Plan, nothing: str) -> list[str]:
    changed = [change for change in plan.changes if change.kind != "unchanged"]
    done: dict[str, list[str]] = {}
    for change in changed:
        name = plan.shown[change.path]
        shared = next((f"/{folder}/" for folder in _FOLDERS if f"/{folder}/" in name), "")
        shown = name.partition(shared)[0] + shared if shared else name
        done.setdefault(_DONE[change.kind], []).append(shown)
    out = [call.ok(f"{plan.host}: {word} {', '.join(dict.fromkeys(names))}") for word, names in done.items()]
    if not changed:
        out.append(call.ok(f"{plan.host}: {nothing}"))
    return [*out, *(f"  {escape(line)}" for line in plan.said)]
