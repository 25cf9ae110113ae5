"""What is examined around the workflows: the disk, who may read `.holdfast`, definitions, leftovers and git."""

from __future__ import annotations

import os
from _collections_abc import Iterator
from stat import S_IMODE, S_ISDIR, S_ISLNK

from holdfast.core import remedies
from holdfast.core.apply import summed
from holdfast.core.definition import Step
from holdfast.core.names import is_ulid
from holdfast.core.remedy import shell
from holdfast.core.state import State
from holdfast.errors import HoldfastError
from holdfast.files import system
from holdfast.files.locks import ways
from holdfast.files.replace import remove
from holdfast.git import exclude, index_lock, is_unsettled, unfinished
from holdfast.git.command import git as run
from holdfast.machine import configuration
from holdfast.machine import place as places
from holdfast.systems.seam import unversioned
from holdfast.systems.seam.actions import left_over
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep.findings import Finding, broken, ok, warning

THEIRS = frozenset((".gitignore", *places.SHARED))
SHOWN = 20


def file_system(wired: Wired) -> Finding:
    root = wired.place.root
    kind = system.here.file_system(root)
    if kind.startswith(places._UNSAFE):
        return warning(
            "file_system",
            f"{root} is on {kind}, which cannot promise that a lock or a synced write holds",
            "move the project to a local disk",
        )
    return ok("file_system", f"the file system is {kind or 'unknown'}")


def writable(wired: Wired) -> list[Finding]:
    """Nothing where it is; a project that may only be read is not fixed either."""
    refusal = wired.store.read_only
    return [warning(refusal.code, refusal.message, refusal.remedies)] if refusal else []


def exposed(home: str) -> list[str]:
    """What others than the user may read or write. Slots hold displaced documents, with the documents' own mode."""
    found = []
    for path, mode in _everything(home):
        document = os.path.basename(os.path.dirname(path)) == "slots" and not S_ISDIR(mode)
        if S_IMODE(mode) & 0o077 and not document:
            found.append(path)
    return found


def _everything(home: str) -> Iterator[tuple[str, int]]:
    yield home, os.lstat(home).st_mode
    folders = [home]
    while folders:
        folder = folders.pop()
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if folder == home and name in THEIRS:
                continue
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                continue
            if not S_ISLNK(mode):
                yield path, mode
            if S_ISDIR(mode):
                folders.append(path)


def permissions(wired: Wired) -> Finding:
    found = exposed(wired.place.home)
    if not found:
        return ok("permissions", "only you can read .holdfast")
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    shown = os.path.relpath(found[0], wired.place.root)
    return warning("permissions", f"others can read {shown}{more}", remedies.doctor(repair=True), shown)


def close_to_others(wired: Wired) -> int:
    """Folders 0700, files 0600; gives how many were wrong."""
    found = exposed(wired.place.home)
    for path in found:
        os.chmod(path, S_IMODE(os.stat(path).st_mode) & 0o700)
    return len(found)


def quarantined(wired: Wired) -> list[Finding]:
    folder = os.path.join(wired.place.home, "quarantine")
    try:
        names = sorted(name for name in os.listdir(folder) if not name.endswith((".reason", ".tmp")))
    except FileNotFoundError:
        return []
    found = []
    for name in names[-SHOWN:]:
        path = os.path.join(os.path.relpath(folder, wired.place.root), name)
        message = f"{path} is kept in quarantine: {_reason(os.path.join(folder, name))}"
        found.append(warning("quarantine", message, f"look at it, then: rm {path}*", path))
    if len(names) > SHOWN:
        more = len(names) - SHOWN
        found.append(warning("quarantine", f"{more} older files are in quarantine", "ls .holdfast/quarantine"))
    return found


def _reason(path: str) -> str:
    try:
        with open(path + ".reason", encoding="utf-8", errors="replace") as file:
            return " ".join(file.read(2000).split()) or "no reason was noted"
    except OSError:
        return "no reason was noted"


def leftover_slots(wired: Wired) -> list[str]:
    """Spare files of documents whose workflow is gone."""
    folder = os.path.join(wired.place.home, "slots")
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    gone = []
    for name in sorted(names):
        ulid = name.partition("-")[0]
        if is_ulid(ulid) and not wired.store.has(ulid):
            gone.append(os.path.join(folder, name))
    return gone


def slots(wired: Wired) -> list[Finding]:
    found = leftover_slots(wired)
    if not found:
        return []
    shown = os.path.relpath(found[0], wired.place.root)
    message = f"{len(found)} spare files belong to workflows that are gone"
    return [warning("slots", message, remedies.doctor(repair=True), shown)]


def drop_slots(wired: Wired, ulid: str = "") -> int:
    found = [p for p in leftover_slots(wired) if not ulid or os.path.basename(p).startswith(ulid)]
    for path in found:
        remove(path)
    return len(found)


def drop_logs(wired: Wired) -> None:
    """Removes the output of checks of workflows that are archived."""
    from shutil import rmtree

    from holdfast.checks import logs

    for folder in logs.left(wired.place.home, set(wired.store.every())):
        rmtree(folder, ignore_errors=True)


def definitions(wired: Wired) -> list[Finding]:
    found = []
    try:
        entries = wired.catalogue.all()
    except HoldfastError as error:
        return [broken("definitions", error.message, error.remedies)]
    for entry in entries:
        shown = os.path.relpath(entry.path, wired.place.root)
        if entry.error:
            found.append(warning("definition", f"{shown}: {entry.error}", remedies.check_file(shown), shown))
        elif entry.trusted is False and _commands(wired.catalogue.load(entry.path).steps):
            message = f"{shown} brings commands that nobody on this machine has trusted"
            found.append(warning("untrusted", message, remedies.trust(shown, text="read it, then"), shown))
    good = len(entries) - len(found)
    return [*found, ok("definitions", f"{good} definition{'s' if good != 1 else ''} can be used")] if good else found


def configured(wired: Wired) -> Iterator[Finding]:
    """Mistakes in the configuration, which commands meet one by one when they need a part of it."""
    from holdfast.checks import tooling

    for part in (tooling.configured, configuration.resuming):
        try:
            part(wired.place.root)
        except HoldfastError as error:
            yield broken("bad_config", error.message, error.remedies, configuration.CONFIG)
            return


def secrets(wired: Wired, states: list[State]) -> Iterator[Finding]:
    """What was redacted, and whether what the project says of secrets counts."""
    counts: dict[str, int] = {}
    for state in states:
        counts = summed(counts, state.redacted)
    kinds = ", ".join(f"{number} × {kind}" for kind, number in counts.items())
    try:
        said, used = configuration.secrets(wired.place.root, lambda *_: True), wired.engine.secrets
    except HoldfastError as error:
        yield broken("secrets", error.message, error.remedies)
        return
    if said != used:
        message = f"[secrets] of {configuration.CONFIG} is not used: nobody on this machine has trusted it"
        yield warning("untrusted", message, remedies.trust(configuration.CONFIG, text="read it, then"))
    off = "" if used.redact else "; redaction is switched off"
    yield ok("secrets", f"likely secrets that were redacted: {kinds or 'none'}{off}")


def _commands(steps: tuple[Step, ...]) -> bool:
    return any(check.run for step in steps for check in step.checks) or any(_commands(s.steps) for s in steps)


def excluded(wired: Wired, systems: list[str]) -> Iterator[Finding]:
    """Whether git passes by what is not for it."""
    repository = wired.place.repository
    if repository is None:
        return
    path = os.path.relpath(exclude.file(repository), wired.place.root)
    try:
        wanted = unversioned.lines(wired.place, repository, systems)
        absent = [line for line in exclude.absent(repository, wanted) if not line.startswith("!")]
    except (HoldfastError, OSError) as wrong:
        told = wrong.remedies if isinstance(wrong, HoldfastError) else (shell("ls", "-ld", path),)
        yield warning("exclude", f"git cannot be told which files are not for it: {wrong}", told, path)
        return
    if absent:
        message = f"git stash -u and git clean -fd take {', '.join(absent)}: {path} does not list them"
        yield warning("exclude", message, remedies.doctor(repair=True), path)
    else:
        named = ", ".join(line.strip("/").removesuffix("/*") for line in wanted if not line.startswith("!"))
        yield ok("exclude", f"git stash -u and git clean -fd leave {named} alone", path)


def git(wired: Wired) -> Finding:
    repository = wired.place.repository
    try:
        version = os.fsdecode(run(wired.place.root, "--version")[1]).strip()
    except HoldfastError as error:
        if repository is None:
            return warning("git", f"{error.message}; nothing here needs it", error.remedies)
        return broken("git", f"{error.message}, and {repository.top} is a repository", error.remedies)
    if repository and is_unsettled(repository):
        message = "a commit of Holdfast's is under way"
        return warning("commit_unfinished", message, ways(unfinished.committing(repository)))
    if repository and os.path.lexists(index_lock.path_of(repository)) and not index_lock.holder(repository):
        rest = shell("rm", "--", index_lock.path_of(repository), text="if no git runs in this repository")
        return warning("index_locked", index_lock.told(repository), rest, index_lock.path_of(repository))
    left = left_over(repository) if repository and wired.store.read_only is None else []
    if left:
        return warning("commit_unrecorded", " ".join(left), remedies.next_step())
    where = f"the repository {repository.top}" if repository else "no repository"
    return ok("git", "; ".join(filter(None, (f"{version}, {where}", *wired.settled))))
