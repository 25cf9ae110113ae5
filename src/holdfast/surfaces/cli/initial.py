"""`holdfast init`: looks at a project, says what is there, and sets Holdfast up as far as somebody agrees."""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.remedy import Remedy
from holdfast.core.value import Any
from holdfast.errors import UNCHANGED, HoldfastError
from holdfast.plain.terminal import escape, fold, to_ascii
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.installing import refused_host, told_unreached, unreached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.installing.installation import Plan
    from holdfast.hosts.installing.setting import Setting
    from holdfast.upkeep.survey import Host, Survey

_SHOWN = 5


def init(call: Call) -> int:
    """Writes only what it says. Without a terminal, `--yes` or a named host, it writes nothing."""
    from shutil import which

    from holdfast.upkeep.survey import survey

    named = _named(call)
    wired = call.project.wired
    seen = survey(wired, which)
    agreed = bool(named or call.args.yes)
    wanted = named or [one.name for one in seen.hosts if one.is_open]
    may_write, wrote = agreed or call.is_person, list[str]()
    own = [] if seen.is_prepared else [".holdfast", *([_exclude(call)] if seen.is_git else [])]
    failed = {one.name: one.wrong for one in seen.hosts if one.wrong and may_write and not named}
    asked = [] if agreed or not may_write else list(wanted)
    if may_write:
        wired.require_writable()
    about = _announced(call, seen, own)
    if asked:
        wanted = [
            one
            for one in asked
            if call.ask(_shown(call, one, about if one == asked[0] else ""), _question(call, one), default=True)
        ]
    if may_write and own:
        wired.prepare()
        wrote += own
    for host in wanted if may_write else ():
        try:
            wrote += _installed(call, host)
        except HoldfastError as wrong:  # the trouble of one host does not stop the others
            failed[host] = wrong
    warned = unreached([one for one in wanted if one not in failed], _setting(call)) if may_write else []
    after = survey(wired, which) if wrote else seen
    ways = _ways(call, after, may_write=may_write)
    head = "" if asked and call.is_shown else _found(call, after)
    data = _data(call, after, wrote, failed, ways)
    data |= {"warnings": [one.message for one in warned]} if warned else {}
    below = "".join(f"\n{line}" for one in warned for line in told_unreached(call, one))
    call.answer(data, lambda: head + _text(call, wrote, failed, ways, may_write) + below)
    return max((one.exit_code for one in failed.values()), default=0)


def _question(call: Call, host: str) -> str:
    return f"Install Holdfast in {host}, for {'you' if call.args.scope == 'user' else 'this project'}?"


def _shown(call: Call, host: str, about: str) -> str:
    """What is above the question of a host: for the first one all that was found, and which files it would change."""
    files = [plan.shown[one.path] for plan in (_plan(call, host),) for one in plan.changes if one.kind != "unchanged"]
    told = fold(f"{host + ':':<15}{escape(', '.join(_grouped(files)))}\n", call.width)
    return about + (told if call.unicode else to_ascii(told))


def _announced(call: Call, seen: Survey, own: list[str]) -> str:
    """What is said before the first question: what was found, and what is written whatever the answers are."""
    writes = f"{'this writes:':<15}{escape(', '.join(own))}\n" if own else ""
    text = fold(f"{_found(call, seen)}{writes}\n", call.width)
    return text if call.unicode else to_ascii(text)


def _named(call: Call) -> list[str]:
    from holdfast.hosts.installing.installation import HOSTS

    named = list(dict.fromkeys(call.args.hosts))
    for host in named:
        if host not in HOSTS:
            raise refused_host(host, lambda close: remedies.named("init", {"hosts": [close]}))
    return named


def _plan(call: Call, host: str) -> Plan:
    """What installing in a host would change."""
    from holdfast.hosts.installing import installation

    return installation.planned(host, _setting(call), call.settings.data_dir)


def _setting(call: Call) -> Setting:
    from holdfast.hosts.installing.setting import setting

    place = call.project.wired.place
    return setting(call.settings, call.args.scope, place.worktree, place.root)


def _installed(call: Call, host: str) -> list[str]:
    """Installs in a host; the files that were written."""
    from holdfast.hosts.installing import installation

    plan = _plan(call, host)
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
    left = [one.name for one in seen.hosts if one.is_open]
    if not may_write and (left or not seen.is_prepared):
        parts = ([] if seen.is_prepared else ["make .holdfast"]) + (["install in these hosts"] if left else [])
        found.append(remedies.named("init", {"yes": True}, text=f"to {' and '.join(parts)}"))
    broken = (str(one.wrong.facts.get("path", "")) for one in seen.hosts if one.wrong and not may_write)
    found += [Remedy(text=f"fix {path}") for path in broken if path]
    found += [remedies.named("install", {"host": name}) for name in left]
    if seen.lost:
        found.append(remedies.doctor())
    elif seen.documents:
        found.append(remedies.adopt())
    feature = next((name for name in seen.starts if name.startswith("features/")), "")
    if feature and not seen.workflows:
        found.append(remedies.start("dev", feature))
    if seen.tasks and not seen.workflows:
        found.append(remedies.start("orchestrate", seen.tasks[0]))
    return found or [remedies.status() if seen.workflows else remedies.named("workflows")]


def _data(
    call: Call, seen: Survey, wrote: list[str], failed: dict[str, HoldfastError], ways: list[Remedy]
) -> dict[str, Any]:
    hosts = [
        {
            "host": one.name,
            "installed": list(one.scopes),
            **({"error": _reason(wrong)} if (wrong := failed.get(one.name) or one.wrong) else {}),
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
    hosts = [f"{one.name} ({_standing(one)})" for one in seen.hosts]
    rows = {
        "project": f"{seen.root}, {'a git repository' if seen.is_git else 'without git'}",
        "tests": f"{seen.test} (from {seen.source})" if seen.test else "no test command was found",
        "agent hosts": ", ".join(hosts) or "none",
        "documents": _several(seen.documents) + ", not adopted" if seen.documents else "",
        "journals": ", ".join(seen.lost),
        "to start from": _several(seen.starts),
        "workflows": str(seen.workflows) if seen.workflows else "",
    }
    return "".join(f"{name + ':':<15}{escape(text)}\n" for name, text in rows.items() if text)


def _reason(wrong: HoldfastError) -> str:
    return wrong.message.removesuffix(f"; {UNCHANGED}")


def _standing(host: Host) -> str:
    if host.wrong:
        return _reason(host.wrong)
    if not host.scopes:
        return "Holdfast is not installed"
    return "installed" + (" for you" if host.scopes == ("user",) else "")


def _several(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _text(call: Call, wrote: list[str], failed: dict[str, HoldfastError], ways: list[Remedy], may_write: bool) -> str:
    out = [call.ok(f"wrote {escape(name)}") for name in _grouped(wrote)]
    for host, wrong in failed.items():
        out.append(call.style.red(f"✗ {host}: {escape(wrong.message)}"))
        out.append(f"  {call.style.dim('→')} {escape(call.told(wrong.remedies))}")
    if not wrote and not (failed and may_write):
        out.append("nothing was written" if not may_write else call.ok("nothing is left to write"))
    return "\n".join([*out, *(f"{call.style.dim('→')} {escape(call.told((way,)))}" for way in ways)])


def _grouped(names: list[str]) -> list[str]:
    """Of many files in one folder, only the folder."""
    folders = [name if name.count("/") < 2 else name.rpartition("/")[0] + "/" for name in names]
    many = {folder for folder in folders if folders.count(folder) > 1}
    return list(dict.fromkeys(folder if folder in many else name for folder, name in zip(folders, names, strict=True)))
