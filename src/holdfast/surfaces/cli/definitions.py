"""Definitions: listing, checking, beginning and trusting them."""

from __future__ import annotations

import os

from holdfast.checks import trust as trust_
from holdfast.core import refusals, remedies
from holdfast.core.remedy import Blank, shell
from holdfast.core.value import Any
from holdfast.definitions import Entry, template
from holdfast.errors import Conflict, HoldfastError, UsageError
from holdfast.machine import access
from holdfast.machine import place as places
from holdfast.machine.place import Place
from holdfast.plain.terminal import columns, escape, pad
from holdfast.surfaces.cli.call import Call
from holdfast.systems.seam.external import Offer
from holdfast.systems.seam.parts import Content
from holdfast.systems.seam.registry import systems, upkeep
from holdfast.systems.seam.trusted import content, understood


def listing(call: Call) -> None:
    entries = call.project.wired.catalogue.all()
    rows = [_entry(call, entry) for entry in entries]
    way = remedies.start(Blank("WORKFLOW"), Blank("SUBJECT"), text="to start one")
    below = f"\n\n{call.told([way])}" if call.command.name == "start" and entries else ""
    call.answer({"workflows": rows, "total": len(rows)}, lambda: _lines(call, entries) + below)


def _entry(call: Call, entry: Entry) -> dict[str, Any]:
    said = {
        name: getattr(entry, name)
        for name in ("name", "title", "description", "dialect", "steps", "builtin", "trusted")
    }
    path = None if entry.builtin else os.path.relpath(entry.path, call.project.root)
    return {**said, "runs_commands": _runs_commands(call, entry), "path": path, "error": entry.error or None}


def _lines(call: Call, entries: list[Entry]) -> str:
    if not entries:
        return "no definitions · holdfast workflows new NAME"
    wide = max(columns(escape(entry.name)) for entry in entries)
    out = []
    for entry in entries:
        steps = f"{entry.steps} step{'s' if entry.steps != 1 else ''}"
        notes = (
            [call.style.red(escape(entry.error))]
            if entry.error
            else [steps, escape(entry.description or entry.title or "without a description")]
        )
        untrusted = not entry.trusted and _runs_commands(call, entry)
        notes += [] if entry.builtin or entry.error else ["yours, not trusted" if untrusted else "yours"]
        out.append(f"{pad(escape(entry.name), wide)}  {' · '.join(note for note in notes if note)}")
    return "\n".join(out)


def check(call: Call) -> None:
    file = call.args.file
    subject = understood(call.project.wired.place.typed(file), file)
    if subject is not None:
        first, *rest = subject.lines or ("",)
        call.answer({"ok": True, **subject.data}, "\n".join([call.ok(first), *map(escape, rest)]))
        return
    found = call.project.wired.catalogue.load(file)
    steps = len(found.steps)
    data = {"ok": True, "name": found.name, "version": found.version, "digest": found.digest, "steps": steps}
    call.answer(data, call.ok(f"{file} is valid: {found.name}, {steps} step{'s' if steps != 1 else ''}"))


def new(call: Call) -> None:
    name, project = call.args.name, call.project
    if call.args.task_document:
        text = next(text for card in systems() if (text := upkeep(card.name).starter(name)))
        path, then = project.wired.place.typed(f"{name}.md"), remedies.check_file(f"{name}.md")
    else:
        text, then = template(name), remedies.start(name)
        path = os.path.join(project.wired.place.home, "workflows", f"{name}.toml")
        project.wired.prepare()
        os.makedirs(os.path.dirname(path), exist_ok=True)
    shown = os.path.relpath(path, project.root)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        said = f"{shown} is there already"
        raise Conflict("file_exists", said, remedy=remedies.check_file(shown), facts={"path": shown}) from None
    call.answer({"name": name, "path": shown}, call.ok(f"wrote {shown} · edit it, then: {then}"))


def trust(call: Call) -> None:
    """A person reads the commands and says yes; nobody else can."""
    said, settings = call.args.definition, call.settings
    if not said and not call.args.owner:
        raise refusals.misused("no file or definition is named", remedies.usage("trust"))
    if not call.is_person:
        if not call.args.owner:
            _file(call, said)
        named = remedies.trust(said or "", owner=call.args.owner)
        what = "the owner of a project" if call.args.owner else f"the commands of {said}"
        raise refusals.person_needed(f"{'stop trusting' if call.args.remove else 'trust'} {what}", named)
    if call.args.owner:
        _trust_owner(call, places.find(call.args.definition or "."))
        return
    untrusted = call.project.wired.store.read_only
    if untrusted and untrusted.code == "untrusted_owner" and not call.args.remove:
        raise untrusted
    path = _file(call, said)
    shown = os.path.relpath(path, call.project.root)
    if call.args.remove:
        removed = trust_.untrust(path, data_dir=settings.data_dir)
        text = f"{shown} is not trusted any more" if removed else f"{shown} was not trusted"
        call.answer({"path": shown, "removed": removed}, call.ok(text))
        return
    seen = content(path, call.project.root)
    if not call.ask(_picture(call, shown, seen), "Trust it?", default=call.args.yes):
        raise HoldfastError("declined", f"{shown} is not trusted", remedy=remedies.trust(said))
    if content(path, call.project.root) != seen:
        message = f"{shown} changed while you looked at it; it is not trusted"
        raise Conflict("changed_meanwhile", message, remedy=remedies.trust(said))
    for digest in (*seen.seals, seen.digest):
        trust_.trust(path, digest, data_dir=settings.data_dir, now=call.project.wired.world.now())
    rows = [{"step": step, "check": name, "run": list(run)} for step, name, run in seen.commands]
    data = {"path": shown, "digest": seen.digest, "trusted": True, "commands": rows}
    if seen.systems:
        data["systems"] = [_offered(name, offer) for name, offer in seen.systems.items()]
    call.answer(data, call.ok(f"{shown} is trusted, as it is now"))


def _trust_owner(call: Call, place: Place) -> None:
    """The owner of a project can change what runs in it; so this is asked once for the project, and for that user."""
    data_dir, found, root = call.settings.data_dir, access.stranger(place), place.root
    if call.args.remove:
        removed = trust_.untrust(root, data_dir=data_dir)
        text = f"the owner of {root} is not trusted any more" if removed else f"the owner of {root} was not trusted"
        call.answer({"path": root, "removed": removed}, call.ok(text))
        return
    if found is None:
        call.answer({"path": root, "trusted": True}, call.ok(f"{root} belongs to you or to root, and needs no trust"))
        return
    owner = access.named(found[1])
    picture = (
        f"{found[0]} belongs to {owner}. If you trust them, Holdfast writes in {root}\n"
        f"and runs its checks, systems and git filters with the rights of {access.named(os.geteuid())}.\n"
    )
    if not call.ask(escape(picture, lines=True), f"Trust {escape(owner)} in this project?", default=call.args.yes):
        raise HoldfastError("declined", f"{owner} is not trusted in {root}", remedy=remedies.trust(root, owner=True))
    now = call.project.wired.world.now()
    trust_.trust(root, trust_.owner(found[1]), data_dir=data_dir, now=now)
    data = {"path": root, "owner": found[1], "trusted": True}
    own = (
        shell("git", "config", "--global", "--add", "safe.directory", place.repository.top) if place.repository else ""
    )
    call.answer(data, call.ok(f"{owner} is trusted in {root}") + (f"\n  git asks for itself: {own}" if own else ""))


def _file(call: Call, said: str) -> str:
    """A file is meant when it is there; else the file a name stands for."""
    file = call.project.wired.place.typed(said)
    if os.path.isfile(file) or said.endswith(".toml"):
        return file
    path = call.project.wired.catalogue.path_of(said)
    if path is None:
        raise UsageError("built_in", f"{said} comes with Holdfast and needs no trust", remedy=remedies.start(said))
    return path


def _runs_commands(call: Call, entry: Entry) -> bool:
    """Whether there is anything to trust."""
    return not entry.error and bool(content(entry.path, call.project.root).commands)


def _picture(call: Call, shown: str, seen: Content) -> str:
    import shlex

    runs = bool(seen.commands or seen.systems)
    head = call.style.bold(escape(shown)) + (" may run:" if runs else " runs no commands")
    rows = [(call.style.dim(escape(f"{step} · {name}:")), escape(shlex.join(run))) for step, name, run in seen.commands]
    for name, offer in seen.systems.items():
        said = f"all code of {offer.package} {offer.version}, in {offer.folder}" if offer else "no package offers it"
        rows.append((call.style.dim(escape(f"system {name}:")), escape(said)))
    if seen.secrets:
        given = seen.secrets
        told = {"redact": "" if given.redact else "nothing", "prefixes": ", ".join(given.prefixes.values())}
        told["may be committed"] = ", ".join(given.allow)
        rows += [(call.style.dim(escape(f"secrets · {name}:")), escape(said)) for name, said in told.items() if said]
    rows += [(call.style.dim(escape(f"{name}:")), escape(said)) for name, said in seen.loosened]
    return "\n".join([head, *(f"  {what} {run}" for what, run in rows)]) + "\n"


def _offered(name: str, offer: Offer | None) -> dict[str, Any]:
    said = {"package": offer.package, "version": offer.version, "folder": offer.folder} if offer else {}
    return {"system": name, "installed": bool(offer), **said}


def schema(call: Call) -> None:
    from holdfast.upkeep import schemas

    call.project.wired.use_systems()  # those of other packages have schemas too
    if call.args.dialect is None:
        names = list(schemas.names())
        call.answer({"dialects": names}, "\n".join(names))
        return
    call.write_json(schemas.schema(call.args.dialect))
