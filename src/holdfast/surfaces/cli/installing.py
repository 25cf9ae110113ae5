"""Agent hosts: putting Holdfast to work in them, taking it out again, and their status line."""

from __future__ import annotations

from holdfast.core import remedies
from holdfast.core.remedy import Blank, Remedy, described
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.machine import place as places
from holdfast.plain.terminal import escape, fold
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from holdfast.hosts.installing.installation import Plan
    from holdfast.hosts.installing.setting import Setting
    from holdfast.upkeep.findings import Finding

_FOLDERS = ("commands", "agents", "skills", "workflows", "prompts")
"""Of many files in one of these, only the folder is said."""
_DONE = {"created": "wrote", "changed": "changed", "removed": "removed"}


def install(call: Call) -> int:
    from shutil import which

    from holdfast.hosts.installing import installation

    at = _setting(call, team=not call.args.no_team)
    hosts = [_host(call)] if call.args.host is not None else installation.present(at, which)
    if not hosts:
        way = remedies.named("install", {"host": Blank("HOST")}, text="name one")
        said = f"no agent host was found here; known are {', '.join(installation.HOSTS)}"
        raise NotFound("no_host", said, remedy=way, facts={"hosts": list(installation.HOSTS)})
    return _carried_out(call, hosts, at, "already installed")


def uninstall(call: Call) -> int:
    """A person's: an agent that a hook restricts must not be able to remove the hook."""
    from holdfast.hosts.installing import installation

    at = _setting(call)
    named = [_host(call)] if call.args.host is not None else []
    if call.args.dry_run:
        return _carried_out(call, named or list(installation.HOSTS), at, "it is not there", is_removal=True)
    if named or not call.is_person:
        what = f"remove Holdfast from {named[0] if named else 'every agent host'}"
        call.settings.require_person(what, remedies.named("uninstall", {"host": call.args.host or ""}))
        hosts = named
    else:
        changes = _there(call, at)
        hosts = list(changes)
        listed = "".join(f"{escape(host)}: {escape(', '.join(files))}\n" for host, files in changes.items())
        if hosts and not call.ask(fold(listed, call.width), "Remove Holdfast from all of these?"):
            look = remedies.named("uninstall", {"dry_run": True}, text="to see what it would remove")
            raise HoldfastError("declined", "nothing was removed", remedy=look)
    return _carried_out(call, hosts, at, "it is not there", is_removal=True)


def _there(call: Call, at: Setting) -> dict[str, list[str]]:
    """The hosts that removing would change, each with the files; a host of ours whose files cannot be read is one."""
    from holdfast.hosts.installing import installation

    found, seen = dict[str, list[str]](), set[str]()
    for host in sorted(installation.HOSTS, key=lambda one: not _is_installed(call, one, at)):
        try:
            plan = installation.planned(host, at, call.settings.data_dir, is_removal=True, gone=found)
        except HoldfastError as wrong:
            if installation.is_known(host, at, call.settings.data_dir) or installation.is_named(host, at):
                found[host] = [str(wrong.facts.get("path") or wrong.message)]
            continue
        changed = {one.path for one in plan.changes if one.kind != "unchanged"}
        if changed - seen:  # a file that hosts have in common is removed with the one that is installed
            found[host] = _files(plan)
            seen |= changed
    return found


def _is_installed(call: Call, host: str, at: Setting) -> bool:
    from holdfast.hosts.installing import installation

    try:
        return installation.is_known(host, at, call.settings.data_dir) or installation.is_there(host, at)
    except HoldfastError:
        return False  # what cannot be read is told in its turn


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
    raise refused_host(named, lambda close: remedies.named(call.command.name, {"host": close}))


def refused_host(named: str, way: Callable[[str | Blank], Remedy]) -> UsageError:
    """A name that no host has; `way` is the same command with another name."""
    from holdfast.core.names import nearest
    from holdfast.hosts.installing.installation import HOSTS

    known = tuple(HOSTS)
    longer = [host for host in known if named and host.startswith(named.lower())]
    close = longer[0] if len(longer) == 1 else nearest(named.lower(), known)
    hint = f", did you mean {close}?" if close else f"; known are {', '.join(known)}"
    said = f"there is no agent host {named[:80]!r}{hint}"
    return UsageError("bad_host", said, remedy=way(close or Blank("HOST")), facts={"hosts": list(known)})


def _carried_out(call: Call, hosts: list[str], at: Setting, nothing: str, *, is_removal: bool = False) -> int:
    """One host after the other, as two may have a file in common. What is wrong with one does not stop the others."""
    from holdfast.hosts.installing import installation

    if not call.args.dry_run and call.args.scope == "project":
        call.project.wired.require_writable()
    rows: list[dict[str, Any]] = []
    said, shown, code = [], dict[str, str](), 0
    for number, host in enumerate(hosts):
        try:
            gone = hosts[:number] if is_removal else ()
            plan = installation.planned(host, at, call.settings.data_dir, is_removal=is_removal, gone=gone)
            if not call.args.dry_run:
                installation.carry_out(plan)
        except HoldfastError as wrong:
            if len(hosts) == 1:
                raise
            code = code or wrong.exit_code
            rows.append({"host": host, "files": [], "said": [], **described(wrong, call.scope())})
            said.append(call.style.red(f"✗ {host}: {escape(wrong.message)}"))
            said += [f"  → {escape(call.told(wrong.remedies))}"] if wrong.remedies else []
            continue
        changed = [{"path": plan.shown[change.path], "change": change.kind} for change in plan.changes]
        rows.append({"host": host, "files": changed, "said": list(plan.said)})
        if plan.is_needed or plan.said or not is_removal or len(hosts) == 1:
            said += _lines(call, plan, nothing)
        if call.args.dry_run:
            shown |= {path: text for path, text in plan.differences().items() if text and path not in shown}
    warned = [] if is_removal or call.args.dry_run else unreached([row["host"] for row in rows], at)
    said += [line for one in warned for line in told_unreached(call, one)]
    where = "for you" if call.args.scope == "user" else "for this project"
    said = said or [call.ok(f"Holdfast is not installed in any agent host {where}")]
    diff = "".join(shown.values())
    data = {"scope": call.args.scope, "dry_run": call.args.dry_run, "hosts": rows}
    data |= {"warnings": [one.message for one in warned]} if warned else {}
    call.answer(
        {**data, **({"diff": diff} if call.args.dry_run else {})}, escape(diff, lines=True) if diff else "\n".join(said)
    )
    return code


def unreached(hosts: Sequence[str], at: Setting) -> list[Finding]:
    """What hosts that were just installed in will not find."""
    from holdfast.upkeep import reach

    found = reach.absent_for(hosts, at)
    return [found] if found else []


def told_unreached(call: Call, one: Finding) -> list[str]:
    said = fold(f"⚠ {escape(one.message)}", call.width if call.is_shown else 0)
    return [call.style.yellow(said), f"  {call.style.dim('→')} {escape(call.told(one.remedies))}"]


def _lines(call: Call, plan: Plan, nothing: str) -> list[str]:
    changed = [change for change in plan.changes if change.kind != "unchanged"]
    kept = [plan.shown[one.path] for one in plan.changes if one.kind == "unchanged" and one.before is not None]
    done: dict[str, list[str]] = {}
    for change in changed:
        done.setdefault(_DONE[change.kind], []).append(_short(plan.shown[change.path], kept))
    out = [call.ok(f"{plan.host}: {word} {', '.join(dict.fromkeys(names))}") for word, names in done.items()]
    if not changed:
        out.append(call.ok(f"{plan.host}: {nothing}"))
    return [*out, *(f"  {escape(line)}" for line in plan.said)]


def _files(plan: Plan) -> list[str]:
    """What a plan changes, each folder once."""
    changed = (change for change in plan.changes if change.kind != "unchanged")
    return list(dict.fromkeys(_short(plan.shown[change.path]) for change in changed))


def _short(name: str, kept: Sequence[str] = ()) -> str:
    """Of a file in a folder of ours only the folder; `kept` are files that stay as they are."""
    shared = next((f"/{folder}/" for folder in _FOLDERS if f"/{folder}/" in name), "")
    if not shared:
        return name
    folder = name.partition(shared)[0] + shared
    stays = any(one.startswith(folder) for one in kept)
    return f"the other files in {folder}" if stays else folder
