"""`holdfast init`: looks at a project, says what is there, and sets Holdfast up as far as somebody agrees."""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.remedy import Remedy, one_of
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, UsageError
from holdfast.plain.terminal import escape
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.upkeep.survey import Survey

_SHOWN = 5


def init(call: Call) -> int:
    """Writes only what it says. Without a terminal, `--yes` or a named host, it writes nothing."""
    from shutil import which

    from holdfast.upkeep.survey import survey

    named = _named(call)
    wired = call.project.wired
    seen = survey(wired, which)
    agreed = bool(named or call.args.yes)
    wanted = named or [one.name for one in seen.hosts if not one.scopes]
    may_write, wrote, failed = agreed or call.is_person, list[str](), dict[str, HoldfastError]()
    asked = [] if agreed or not may_write else list(wanted)
    if may_write:
        wired.require_writable()
    if may_write and not seen.is_prepared:
        wired.prepare()
        wrote += [".holdfast", *([_exclude(call)] if seen.is_git else [])]
    for host in wanted if may_write else ():
        about = _found(call, seen) + "\n" if [host] == asked[:1] else ""
        if host in asked and not call.ask(
            about, f"Install Holdfast in {host}, for this {call.args.scope}?", default=True
        ):
            continue
        try:
            wrote += _installed(call, host)
        except HoldfastError as wrong:  # the trouble of one host does not stop the others
            failed[host] = wrong
    after = survey(wired, which) if wrote else seen
    ways = _ways(call, after, may_write=may_write)
    call.answer(_data(call, after, wrote, failed, ways), lambda: _text(call, after, wrote, failed, ways, may_write))
    return max((one.exit_code for one in failed.values()), default=0)


def _named(call: Call) -> list[str]:
    from holdfast.hosts.installing.installation import HOSTS

    named = list(dict.fromkeys(call.args.hosts))
    for host in named:
        if host not in HOSTS:
            said = f"{host[:80]!r} is not one of {', '.join(HOSTS)}"
            raise UsageError("bad_host", said, remedy=remedies.named("init", {"hosts": [one_of(*HOSTS)]}),
                             facts={"hosts": list(HOSTS)})  # fmt: skip
    return named


def _installed(call: Call, host: str) -> list[str]:
    """Installs in a host; the files that were written."""
    from holdfast.hosts.installing import installation
    from holdfast.hosts.installing.setting import setting

    place = call.project.wired.place
    at = setting(call.settings, call.args.scope, place.worktree, place.root)
    plan = installation.planned(host, at, call.settings.data_dir)
    installation.carry_out(plan)
    return [plan.shown[change.path] for change in plan.changes if change.kind != "unchanged"]


def _exclude(call: Call) -> str:
    from holdfast.git import exclude

    place = call.project.wired.place
    assert place.repository is not None
    path = exclude.file(place.repository)
    inside = os.path.relpath(path, place.root)
    return path if inside.startswith("..") else inside


def _ways(call: Call, seen: Survey, *, may_write: bool) -> list[Remedy]:
    """What can be typed now."""
    found: list[Remedy] = []
    left = [one.name for one in seen.hosts if not one.scopes]
    if not may_write and (left or not seen.is_prepared):
        found.append(remedies.named("init", {"yes": True}, text="to set all of it up"))
    found += [remedies.named("install", {"host": name}) for name in left]
    if seen.documents:
        found.append(remedies.adopt())
    feature = next((name for name in seen.starts if name.startswith("features/")), "")
    if feature and not seen.workflows:
        found.append(remedies.start("dev", feature))
    return found or [remedies.status() if seen.workflows else remedies.named("workflows")]


def _data(
    call: Call, seen: Survey, wrote: list[str], failed: dict[str, HoldfastError], ways: list[Remedy]
) -> dict[str, Any]:
    hosts = [
        {
            "host": one.name,
            "installed": list(one.scopes),
            **({"error": failed[one.name].message} if one.name in failed else {}),
        }
        for one in seen.hosts
    ]
    test = {"command": seen.test, "source": seen.source} if seen.test else None
    return {
        "root": seen.root,
        "git": seen.is_git,
        "test": test,
        "hosts": hosts,
        "documents": list(seen.documents),
        "starts": list(seen.starts),
        "workflows": seen.workflows,
        "wrote": wrote,
        "next": [call.told((way,)) for way in ways],
    }


def _found(call: Call, seen: Survey) -> str:
    hosts = [f"{one.name} ({'installed' if one.scopes else 'Holdfast is not installed'})" for one in seen.hosts]
    rows = {
        "project": f"{seen.root}, {'a git repository' if seen.is_git else 'without git'}",
        "tests": f"{seen.test} (from {seen.source})" if seen.test else "no test command was found",
        "agent hosts": ", ".join(hosts) or "none",
        "documents": _several(seen.documents) + ", not adopted" if seen.documents else "",
        "to start from": _several(seen.starts),
        "workflows": str(seen.workflows) if seen.workflows else "",
    }
    return "".join(f"{name + ':':<15}{escape(text)}\n" for name, text in rows.items() if text)


def _several(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _text(
    call: Call,
    seen: Survey,
    wrote: list[str],
    failed: dict[str, HoldfastError],
    ways: list[Remedy],
    may_write: bool,
) -> str:
    out = [_found(call, seen).rstrip("\n")]
    out += [call.ok(f"wrote {escape(name)}") for name in _grouped(wrote)]
    for host, wrong in failed.items():
        out.append(escape(f"{host}: {wrong.message} ({call.told(wrong.remedies)})"))
    if not wrote:
        out.append("nothing was written" if not may_write else call.ok("all of it is set up: nothing was written"))
    return "\n".join([*out, *(f"{call.style.dim('→')} {escape(call.told((way,)))}" for way in ways)])


def _grouped(names: list[str]) -> list[str]:
    """Of many files in one folder, only the folder."""
    folders = [name if name.count("/") < 2 else name.rpartition("/")[0] + "/" for name in names]
    many = {folder for folder in folders if folders.count(folder) > 1}
    return list(dict.fromkeys(folder if folder in many else name for folder, name in zip(folders, names, strict=True)))
