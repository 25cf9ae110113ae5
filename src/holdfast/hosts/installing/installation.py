"""Installing in a host and taking it out again: what has to change, worked out before anything is written."""

from __future__ import annotations

import os
from _collections_abc import Callable, Collection

from holdfast.core.value import Value
from holdfast.errors import Broken
from holdfast.files.locks import Locked
from holdfast.files.replace import remove, unfinished
from holdfast.hosts.installing import cards, changes, claude_code, codex, opencode, record
from holdfast.hosts.installing.changes import Change
from holdfast.hosts.installing.host import Host
from holdfast.hosts.installing.parts import Part, Whole
from holdfast.hosts.installing.record import Kept, Record
from holdfast.hosts.installing.setting import File, Setting
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest

HOSTS: dict[str, Host] = {host.name: host for host in (claude_code.HOST, opencode.HOST, codex.HOST, *cards.HOSTS)}
WAIT = 10.0
"""Seconds for which an installation waits for another one of the same person."""
_BARE = ("", "{}")
"""What a file of ours may still hold when nothing of anybody is in it."""


class Plan(Value):
    """What one host needs, and nothing done yet. `shown` is how each file is called in what people read."""

    host: str
    at: Setting
    changes: tuple[Change, ...]
    said: tuple[str, ...]
    shown: dict[str, str]
    meanwhile: Record
    """What has to be known as long as files may be as they were or as they will be."""
    keeps: Record
    """What has to be known afterwards."""
    place: str
    is_removal: bool = False

    @property
    def is_needed(self) -> bool:
        return any(change.kind != "unchanged" for change in self.changes)

    def differences(self) -> dict[str, str]:
        """What would change, by file."""
        return {change.path: changes.difference([change], self.shown) for change in self.changes}


def present(at: Setting, on_path: Callable[[str], object]) -> list[str]:
    """The hosts that a project or person works with: their traces, or for a person also their programs."""
    return [host.name for host in HOSTS.values() if on_path(host.program) or is_used(host.name, at)]


def is_used(host: str, at: Setting) -> bool:
    """Whether a project or person has traces of a host."""
    return any(_is_used(trace, at) for trace in HOSTS[host].traces(at))


def _is_used(trace: str, at: Setting) -> bool:
    """Whether a trace is there. A folder in which there are only documents of workflows is no trace of its host."""
    if at.is_user or not os.path.isdir(trace):
        return os.path.lexists(trace)
    from holdfast.core.patterns import matches
    from holdfast.systems.seam.registry import systems

    ours = [path for card in systems() for path in (*card.own, *card.unversioned)]
    inside = os.path.relpath(trace, at.base)
    found = os.listdir(trace)
    return not found or not all(any(matches(own, f"{inside}/{name}") for own in ours) for name in found)


def carry_out(plan: Plan) -> None:
    """The record first: a crash in between leaves a file that is known, and not one that nobody remembers."""
    with Locked(os.path.dirname(plan.place), WAIT):
        remove(unfinished(plan.place))
        if not plan.is_removal and plan.meanwhile.files:
            record.write(plan.place, plan.meanwhile)
        changes.make(plan.changes, plan.shown)
        if plan.is_removal:
            changes.remove_folders(plan.keeps.folders)
        if not plan.keeps.files:
            record.forget(plan.place)
        elif plan.is_removal or plan.keeps != plan.meanwhile:
            record.write(plan.place, plan.keeps)


def leftovers(host: str, at: Setting) -> list[str]:
    """What an installation that was killed left beside the files of a host."""
    paths = (unfinished(changes.followed(file.path)) for file in HOSTS[host].files(at))
    return [path for path in paths if os.path.lexists(path)]


def is_known(host: str, at: Setting, data_dir: str) -> bool:
    """Whether it was installed from here."""
    return os.path.exists(_known_at(host, at, data_dir))


def is_there(host: str, at: Setting) -> bool:
    """Whether anything of ours is in the files of a host. A file that somebody edited is theirs: removing leaves it."""
    return any(commands for _, commands in running(host, at)) or any(
        isinstance(part, Whole) and _text(file, at) == part.text
        for file in HOSTS[host].files(at)
        for part in file.parts
    )


def is_named(host: str, at: Setting) -> bool:
    """Whether a file of a host speaks of Holdfast, whatever else is in it."""
    paths = (file.path for file in HOSTS[host].files(at))
    return any(b"holdfast" in (read_regular(path, changes.LARGEST) or b"") for path in paths)


def has_team(host: str, at: Setting) -> bool:
    """Whether agents of the team are there: an installation may be without them."""
    others = {file.path for file in HOSTS[host].files(at.replace(team=False))}
    return any(os.path.lexists(file.path) for file in HOSTS[host].files(at) if file.path not in others)


def running(host: str, at: Setting) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each file and the lines of ours in it that the host runs, with what they are for. Raises for a broken file."""
    found = []
    for file in HOSTS[host].files(at):
        text = _text(file, at)
        listed = [(part.about, line) for part in file.parts for line in part.commands(text, name_of(file.path, at))]
        if text and listed:
            found.append((file.path, listed))
    return found


def edited(host: str, at: Setting) -> dict[str, list[str]]:
    """The hooks of ours that somebody changed, by the name of their file."""
    return _by_file(host, at, lambda part, text, name: part.edited(text, name))


def foreign(host: str, at: Setting) -> list[str]:
    """The files in which another server has our name."""
    return list(_by_file(host, at, lambda part, text, name: [name] if part.is_foreign(text, name) else []))


def _by_file(host: str, at: Setting, found: Callable[[Part, str, str], list[str]]) -> dict[str, list[str]]:
    listed: dict[str, list[str]] = {}
    for file in HOSTS[host].files(at):
        name, text = name_of(file.path, at), _text(file, at)
        for part in file.parts if text else ():
            if several := found(part, text, name):
                listed.setdefault(name, []).extend(several)
    return listed


def name_of(path: str, at: Setting) -> str:
    """A path as people know it: from the project's folder, or from the person's."""
    inside = os.path.join(at.base, "")
    if path.startswith(inside):
        return ("~/" if at.is_user else "") + path[len(inside) :]
    return path


def planned(host: str, at: Setting, data_dir: str, *, is_removal: bool = False, gone: Collection[str] = ()) -> Plan:
    """What installing in a host, or removing it from there, has to change. What another host has in common with it
    stays for that one, unless it is `gone` by then.
    """
    known_at = _known_at(host, at, data_dir)
    known = record.read(known_at)
    within = "" if at.is_user else os.path.realpath(at.base)
    others = _others({host, *gone}, at, data_dir)
    shown: dict[str, str] = {}
    found: list[Change] = []
    kept: dict[str, Kept] = {}
    said: list[str] = []
    for file in HOSTS[host].files(at):
        name = name_of(file.path, at)
        now = changes.look(file.path, name, within)
        shown[now.path] = name
        is_others = _is_changed_by_others(file, now, known)
        if is_others:
            said.append(f"{name}: you edited this file, so it was kept")
        elif not is_removal or now.path not in others:
            after = _before(file, now, known, name) if is_removal else _put(file, now, said, name)
            now = now.replace(after=after, mode=now.mode or file.mode)
        found.append(now)
        if is_others and now.path in known.files:
            kept[now.path] = known.files[now.path]
        elif not is_removal and now.after is not None:
            before = _before(file, now, others.get(now.path, known), name)
            if before != now.after:
                kept[now.path] = Kept(before, digest(now.after))
    for path in known.files.keys() - shown.keys():
        shown[path] = name_of(path, at)
        left = _left_over(path, known, shown[path], said)
        found.append(left)
        if left.kind == "unchanged" and left.before is not None:
            kept[path] = known.files[path]
    asks = HOSTS[host].asks or (HOSTS[host].asks_in_project if not at.is_user else "")
    if asks and not is_removal and any(change.kind != "unchanged" for change in found):
        said.append(asks)
    used = [change.path for change in found if change.after is not None]
    made = changes.missing_folders(used)
    shared = dict.fromkeys(folder for other in others.values() for folder in other.folders)
    made += [folder for folder in shared if any(path.startswith(os.path.join(folder, "")) for path in used)]
    keeps = Record(kept, tuple(dict.fromkeys((*known.folders, *made))))
    written = {change.path: digest(change.before) for change in found if change.before not in (None, change.after)}
    begun = {path: one.replace(since=written.get(path, "")) for path, one in kept.items()}
    meanwhile = keeps.replace(files={**known.files, **begun})
    return Plan(host, at, tuple(found), tuple(said), shown, meanwhile, keeps, known_at, is_removal)


def _known_at(host: str, at: Setting, data_dir: str) -> str:
    """Where the record is. A person may have several folders of a host, each of which is an installation."""
    return record.place(data_dir, host, at.scope, HOSTS[host].traces(at)[0] if at.is_user else at.base)


def _others(but: Collection[str], at: Setting, data_dir: str) -> dict[str, Record]:
    """What is known of the files of other hosts that are installed as well."""
    found: dict[str, Record] = {}
    for other in HOSTS.keys() - but:
        try:
            known = record.read(_known_at(other, at, data_dir))
        except Broken:  # which is told where that host is meant
            continue
        found |= dict.fromkeys(known.files, known)
    return found


def _left_over(path: str, known: Record, name: str, said: list[str]) -> Change:
    """A file that another version put there, or that the host does not read any more: it is as if it had not been."""
    now = changes.look(path, name)
    if known.is_untouched(path, now.before):
        return now.replace(after=known.files[path].before)
    if now.before is not None:
        said.append(f"{name} has something of Holdfast that is of no use any more, and was changed: remove it by hand")
    return now


def _put(file: File, now: Change, said: list[str], name: str) -> bytes | None:
    text = before = _read(file, now, name)
    for part in file.parts:
        text = part.put(text, name, said)
    return changes.bytes_of(text, now.before) if text != before else now.before


def _before(file: File, now: Change, known: Record, name: str) -> bytes | None:
    """What the file would hold without us: as it was found at first, or as others have made it since."""
    if now.before is None:
        return None
    if known.is_untouched(now.path, now.before):
        return known.files[now.path].before
    text = before = changes.text_of(now.before, name)
    if not text.strip():
        return now.before
    for part in file.parts:
        text = part.take(text, name)
    if text == before:
        return now.before
    was_made = now.path in known.files and known.files[now.path].before is None
    if not text or (was_made and text.strip() in _BARE):
        return None
    return changes.bytes_of(text, now.before)


def _is_changed_by_others(file: File, now: Change, known: Record) -> bool:
    """A file that is all ours and was edited: an edit is somebody's work, whatever it was made of."""
    ours = now.path in known.files and any(isinstance(part, Whole) for part in file.parts)
    return ours and now.before is not None and not known.is_untouched(now.path, now.before)


def _read(file: File, now: Change, name: str) -> str:
    text = changes.text_of(now.before, name) if now.before is not None else ""
    return text if text.strip() else file.nothing


def _text(file: File, at: Setting) -> str:
    name = name_of(file.path, at)
    return _read(file, changes.look(file.path, name), name)
