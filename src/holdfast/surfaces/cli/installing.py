"""Agent hosts: putting Holdfast to work in them, taking it out again, and their status line."""

from __future__ import annotations

from holdfast.core import remedies
from holdfast.core.remedy import described, one_of
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.machine import place as places
from holdfast.plain.terminal import escape
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.hosts.installing.installation import Plan
    from holdfast.hosts.installing.setting import Setting

_FOLDERS = ("commands", "agents", "skills")
"""Of many files in one of these, only the folder is said."""
_DONE = {"created": "wrote", "changed": "changed", "removed": "removed"}


def install(call: Call) -> int:
    from shutil import which

    from holdfast.hosts.installing import installation

    at = _setting(call, team=not call.args.no_team)
    hosts = [_host(call)] if call.args.host is not None else installation.present(at, which)
    if not hosts:
        way = remedies.named("install", {"host": one_of(*installation.HOSTS)}, text="name one")
        raise NotFound("no_host", "no agent host was found here", remedy=way)
    return _carried_out(call, hosts, at, "it is there already")


def uninstall(call: Call) -> int:
    """A person's: an agent that a hook restricts must not be able to remove the hook."""
    from holdfast.hosts.installing import installation

    at = _setting(call)
    hosts = [_host(call)] if call.args.host is not None else list(installation.HOSTS)
    if not call.args.dry_run:
        call.settings.require_person("remove Holdfast from an agent host", remedies.named("uninstall"))
    return _carried_out(call, hosts, at, "it is not there", is_removal=True)


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
    said = said or [call.ok(f"none of {len(hosts)} hosts: {nothing}")]
    diff = "".join(shown.values())
    data = {"scope": call.args.scope, "dry_run": call.args.dry_run, "hosts": rows}
    call.answer(
        {**data, **({"diff": diff} if call.args.dry_run else {})}, escape(diff, lines=True) if diff else "\n".join(said)
    )
    return code


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
