"""Sessions: work that becomes part of the project as a whole, or not at all."""

from __future__ import annotations

import sys

from holdfast.core import refusals, remedies
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.plain.terminal import escape
from holdfast.systems.seam.ports import Call
from holdfast.systems.story.sessions import Sessions

LARGEST = 64 << 20
_SIGNS = {"modified": "~", "created": "+", "deleted": "-", "artifacts": "+", "retries": "+"}


def create(call: Call) -> None:
    made = _sessions(call).create(call.args.name, call.args.description or "")
    call.answer(made, lambda: call.ok(f"session {made['name']}") + f"  (holdfast session use {made['name']})")


def use(call: Call) -> None:
    name = "" if call.args.none else call.args.name or ""
    if bool(name) == bool(call.args.none):
        raise refusals.misused("name a session, or --none to leave it", remedies.session("list"))
    before = _sessions(call).use(name)
    said = f"session {name} is in use" if name else f"left the session {before}" if before else "no session is in use"
    call.answer({"active": name, "before": before}, lambda: call.ok(said))


def status(call: Call) -> None:
    sessions = _sessions(call)
    found = sessions.status(sessions.named(call.args.name or ""))
    call.answer(found, lambda: _picture(call, found))


def listing(call: Call) -> None:
    rows = _sessions(call).list()

    def text() -> str:
        return "\n".join(_line(call, row) for row in rows) or "no sessions  (holdfast session create NAME)"

    call.answer({"sessions": rows, "total": len(rows)}, text)


def write(call: Call) -> None:
    (sessions, name), data = _used(call), _input(call.args.source)
    path = sessions.write(name, _file(call), data)
    call.answer({"session": name, "path": path, "size_bytes": len(data)}, lambda: call.ok(f"{path} in {name}"))


def path(call: Call) -> None:
    sessions, name = _used(call)
    full = sessions.path(name, _file(call))
    call.answer({"session": name, "path": full}, lambda: escape(full))


def read(call: Call) -> None:
    sessions, name = _used(call)
    data = sessions.read(name, _file(call))
    if call.args.json:
        text = data.decode("utf-8", "backslashreplace")
        call.write_json({"session": name, "path": call.args.path, "content": text, "size_bytes": len(data)})
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def delete(call: Call) -> None:
    sessions, name = _used(call)
    path = sessions.delete(name, _file(call))
    call.answer({"session": name, "path": path}, lambda: call.ok(f"{path} is deleted in {name}"))


def keep(call: Call) -> None:
    sessions, name = _used(call)
    path = sessions.keep(name, _file(call))
    call.answer({"session": name, "path": path}, lambda: call.ok(f"{path} of {name} will replace the project's"))


def drop(call: Call) -> None:
    sessions, name = _used(call)
    path, kept = sessions.drop(name, _file(call))
    aside = f"; its copy is kept as {kept}" if kept else ""
    said = {"session": name, "path": path, "kept": kept}
    call.answer(said, lambda: call.ok(f"{path} is the project's again in {name}{aside}"))


def retry(call: Call) -> None:
    sessions, name = _used(call)
    note = sessions.retry(name, _file(call), call.args.reason)
    call.answer({"session": name, **note}, lambda: call.ok(f"{note['file']} is tried again; kept as {note['kept']}"))


def commit(call: Call) -> None:
    name = call.args.name
    done = _sessions(call).commit(name, force=call.args.force)

    def text() -> str:
        lines = _plan(call, done)
        if done["committed"]:
            already = " already" if done.get("already") else ""
            return "\n".join([call.ok(f"session {name} is committed{already}"), *lines])
        sides = f"holdfast session keep PATH --session {name}, or holdfast session drop PATH --session {name}"
        twice = [one["workflow_id"] for one in done["conflicts"] if "workflow_id" in one]
        ways = [sides] if len(twice) < len(done["conflicts"]) else []
        ways += [f"holdfast cancel {id}" for id in twice[:1]]
        first = f"resolve the conflicts first: {'; '.join(ways)}"
        onward = first if done["conflicts"] else f"holdfast session commit {name} --force"
        return "\n".join([f"A commit of {name} would change:", *(lines or ["  nothing"]), f"→ {onward}"])

    call.answer(done, text)


def cancel(call: Call) -> None:
    """A person is asked; an agent has to say `--yes`, as nobody would hear the question."""
    sessions, name = _sessions(call), call.args.name
    if not call.args.yes:
        if not call.is_person:
            said = f"cancelling {name} deletes its files, workflows and journals permanently"
            way = remedies.session("cancel", name).given(yes=True)
            raise UsageError("not_confirmed", said, remedy=way, facts={"session": name})
        if not call.ask(_shown_before_end(sessions, name), f"Delete the session {escape(name)} permanently?"):
            raise HoldfastError("declined", f"{name} was not cancelled", remedy=remedies.session("status", name))
    sessions.cancel(name)
    call.answer({"session": name, "cancelled": True}, lambda: call.ok(f"session {name} is cancelled, nothing is left"))


def _sessions(call: Call) -> Sessions:
    return Sessions(call.project.wired)


def _used(call: Call) -> tuple[Sessions, str]:
    sessions = _sessions(call)
    return sessions, sessions.named(call.args.session or "")


def _file(call: Call) -> str:
    typed: str = call.args.path
    return call.project.wired.place.typed(typed)


def _input(source: str | None) -> bytes:
    try:
        if source is None:
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with open(source, "rb") as file:
                data = file.read(LARGEST + 1)
    except OSError as failure:
        raise NotFound("no_file", f"{source} cannot be read: {failure.strerror}", remedy="--from FILE") from None
    if len(data) > LARGEST:
        said = f"the content has more than {LARGEST >> 20} MiB"
        facts = {"limit": LARGEST}
        raise UsageError("too_large", said, remedy="copy it to where holdfast session path PATH says", facts=facts)
    return data


def _line(call: Call, row: dict[str, Any]) -> str:
    mark = call.style.green("●") if row["status"] == "ACTIVE" else "○"
    if "error" in row:
        return f"{call.style.red('✗')} {escape(row['name'])}  {escape(row['error'])}"
    stats = row["stats"]
    counts = ", ".join(f"{stats[kind]} {kind}" for kind in ("modified", "created", "deleted") if stats[kind])
    about = f"  {escape(row['description'])}" if row["description"] else ""
    return f"{mark} {escape(row['name'])}  {row['status']}  {call.style.dim(counts or 'no changes')}{about}"


def _picture(call: Call, found: dict[str, Any]) -> str:
    changes = {**found["changes"], "workflows": found["workflows"], "conflicts": found["conflicts"]}
    return "\n".join([_line(call, found), *_plan(call, changes)])


def _plan(call: Call, said: dict[str, Any]) -> list[str]:
    out = [f"  {sign} {escape(path)}" for kind, sign in _SIGNS.items() for path in said.get(kind, ())]
    out += [f"  workflow {escape(one['workflow_id'])}" for one in said["workflows"]]
    red = call.style.red
    return out + [f"  {red('✗')} {escape(one['path'])}: {one['reason'].replace('_', ' ')}" for one in said["conflicts"]]


def _shown_before_end(sessions: Sessions, name: str) -> str:
    try:
        stats = sessions.status(name)["stats"]
    except NotFound:
        raise
    except HoldfastError as wrong:
        return f"{escape(wrong.message)}\n"  # what cannot be read can still be deleted
    return f"{escape(name)}: {stats['modified']} modified, {stats['created']} created, {stats['deleted']} deleted.\n"
