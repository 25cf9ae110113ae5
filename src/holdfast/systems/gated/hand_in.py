"""What a phase hands in: its documents, everything else in its folder, and where it is code, what the branch changes.

Reviews and approvals are of all of it. What the base branch brings is not the feature's own and changes nothing.
"""

from __future__ import annotations

import os
from _collections_abc import Container, Iterator, Mapping, Sequence

from holdfast import git
from holdfast.core import gates, lifecycle
from holdfast.core.facts import HandIn
from holdfast.core.remedy import Remedy
from holdfast.core.state import Artifact, State
from holdfast.documents.lens.fields import object_in
from holdfast.engine.world import said
from holdfast.errors import HoldfastError
from holdfast.git import changes as git_changes
from holdfast.git import history, leftover, own, passed_over
from holdfast.git.command import git as run
from holdfast.git.content import Changed
from holdfast.machine.place import HOME, SHARED, read_regular
from holdfast.plain.digest import digest
from holdfast.systems.gated import base as feature_base
from holdfast.systems.gated import central, journal_copy, templates, wording, words, workspace
from holdfast.systems.seam import team_files
from holdfast.systems.seam.wired import Wired

CODE = "code"
"""The name of the part that is what the branch changes."""
LARGEST = 4 << 20
_BLANK = "write what readers need, or why there is nothing to say"
_SINCE = "changes since "
_REVIEWS = "reviews"


def hand_in(wired: Wired, state: State, phase: str) -> HandIn | None:
    """What a phase hands in now, and what is missing; None for a workspace that is deleted, or not checked out."""
    base = wired.place.base(state.worktree)
    is_there = os.path.isdir(os.path.join(base, words.home(state)))
    if words.is_deleted(state) or (not is_there and wired.is_elsewhere(state)):
        return None
    required = words.outputs(state, phase)
    named = {**required, **words.beside(state, phase)}
    found = {name: path for name, path in named.items() if os.path.isfile(os.path.join(base, path))}
    found |= {_name(path): path for path in _files(base, f"{words.home(state)}/{phase}") if path not in named.values()}
    parts = {name: (path, *_hashed(wired, os.path.join(base, path))) for name, path in found.items()}
    told, since, has_code = b"", "", True
    loose, files = tuple[str, ...](), tuple[str, ...]()
    if state.plan.step(phase).code:
        rows = changes(wired, state, phase)
        has_code = bool(rows and (isinstance(rows, Artifact) or any(not _is_rule(wired, state, p) for p in rows[1])))
        if isinstance(rows, Artifact):
            parts[CODE] = (rows.path, rows.hash, rows.size)
        elif rows:
            since, sections = rows
            if sections:
                content = joined(sections)
                parts[CODE] = (f"{_SINCE}{since[:12]}" if since else "all files", digest(content), len(content))
                told, files = content if len(content) <= LARGEST else b"", tuple(sorted(sections))
        is_done = state.step(phase).status == lifecycle.DONE
        loose = unproven(wired, state, phase) if is_done else tuple(workspace.loose(wired, state, phase))
    lacking, copied = [], []
    for name, path in required.items():
        wrong, content = _wrong(wired, base, path)
        if wrong:
            lacking.append((name, path, wrong))
        elif _is_copied(wired, state, path, content):
            copied.append(path)
    told_by = {name: wired.world.said(os.path.join(base, path)) for name, path in found.items()}
    told_by = {name: one for name, one in told_by.items() if one}
    deleted = _deleted(wired, state, phase, base, parts)
    is_decided = state.step(phase).status in gates.REVIEWED
    own_rules = tuple(rules(wired, state)) if is_decided else ()
    commanding = tuple(commands(wired, state)) if is_decided and state.plan.step(phase).code else ()
    return HandIn(
        parts,
        told_by,
        tuple(lacking),
        deleted,
        tuple(copied),
        told,
        files,
        since,
        loose=loose,
        seeing=seeing(wired, state, loose),
        rules=own_rules,
        commands=commanding,
        without_code=not has_code,
    )


def _deleted(wired: Wired, state: State, phase: str, base: str, parts: Container[str]) -> dict[str, str]:
    """The files of a phase that were handed in and are gone, with the commit that has each, where one has."""
    progress = state.step(phase)
    handed = progress.status in gates.HANDED_IN
    gone = [one.path for name, one in progress.artifacts.items() if handed and name != CODE and name not in parts]
    repository = git.find(base) if gone else None
    if repository is None:
        return {}
    found = ((path, history.last_with(repository, os.path.join(base, path))) for path in sorted(gone))
    return {path: commit for path, commit in found if commit}


def _is_copied(wired: Wired, state: State, path: str, content: bytes) -> bool:
    """Whether a document says what the project's own one said when the feature began, white space aside."""
    source = central.source_of(path.removeprefix(f"{words.home(state)}/"))
    seeded = object_in(state.context, "seeded").get(source)
    if seeded is None or seeded == digest(content):
        return seeded is not None
    full = os.path.join(wired.place.base(state.worktree), source)
    repository = git.find(wired.place.base(state.worktree))
    known = [read_regular(full, LARGEST), git.head_blob(repository, full, state.head or "") if repository else None]
    return any(one is not None and digest(one) == seeded and said(path, one) == said(path, content) for one in known)


def changes(wired: Wired, state: State, phase: str) -> tuple[str, Mapping[str, bytes]] | Artifact | None:
    """The commit that the branch is compared with, and the lines that it changes, by file.

    Of an approved phase it is what was approved once a later one with code has begun: that one is reviewed and approved
    with what changes from then on. While another branch is checked out, it is what it was.
    """
    repository = git.find(wired.place.base(state.worktree))
    if repository is None or _is_succeeded(state, phase) or wired.is_elsewhere(state):
        return state.step(phase).artifacts.get(CODE)
    since, head = compared_with(wired, repository, state), git.head(repository)
    if head and state.step(phase).status == lifecycle.DONE:
        return since or "", committed(wired, repository, state, since, head)
    found = wired.world.changed(repository, since, wired.world.aside(state))
    told = own.lines(repository, since, _new(state, found))
    if head:
        told |= own.committed_lines(repository, since, head, _rules(wired, repository, state, since, head))
    return since or "", told


def compared_with(
    wired: Wired, repository: git.Repository, state: State, at: str | None = None, main: str | None = None
) -> str | None:
    """The commit that the branch is compared with: once it was merged, still what its base had without it.

    After a merge, the newest commit that both have is one of the branch's own, which has its journal.
    """
    main = main or feature_base.commit(repository, state)
    since = own.base(repository, main, state.head, at)
    head = at or git.head(repository)
    inside = git.inside(repository, os.path.join(wired.place.base(state.worktree), journal_copy.name(state.id)))
    if since is None or head is None or inside is None or not git_changes.has_path(repository, since, inside):
        return since
    handed = (state.step(phase).artifacts.get(CODE) for phase in state.plan.children(""))
    recorded = {one.path.removeprefix(_SINCE) for one in handed if one and one.path.startswith(_SINCE)}
    known = [sha for sha in (git_changes.resolve(repository, one) for one in sorted(recorded)) if sha]
    return own.base_without(repository, main, state.head, inside, head, known) or since


def committed(
    wired: Wired, repository: git.Repository, state: State, since: str | None, commit: str
) -> dict[str, bytes]:
    """What the branch changes up to a commit: approved is what others see, whatever is in the working tree now."""
    found = own.committed(repository, since, commit, wired.world.aside(state))
    found = {**_new(state, found), **_rules(wired, repository, state, since, commit)}
    return own.committed_lines(repository, since, commit, found)


def unproven(wired: Wired, state: State, phase: str) -> tuple[str, ...]:
    """Of finished code: what only is in the working tree, unless the checks ran on what is committed, without it.

    The end writes and commits the docs itself.
    """
    from holdfast.git import content

    repository = git.find(wired.place.base(state.worktree))
    if repository is None or _is_succeeded(state, phase):
        return ()
    aside = (*wired.world.aside(state), *wired.world.published(state))
    targets = wired.world.published(state)
    loose = [path for path in workspace.loose(wired, state, phase, aside) if not _is_half_written(path, targets)]
    trees = {one.tree for one in state.step(phase).evidence.values()}
    if not loose or (state.is_code_done and trees == {content.committed_tree(repository, aside)}):
        return ()
    return tuple(loose)


def seeing(wired: Wired, state: State, files: Sequence[str]) -> tuple[Remedy, ...]:
    """What makes git look at those of the files that it is told to pass over."""
    repository = git.find(wired.place.base(state.worktree)) if files else None
    return passed_over.seeing(repository, files) if repository else ()


def _is_half_written(path: str, targets: Sequence[str]) -> bool:
    """Whether an end that died was writing this beside one of the docs that it publishes."""
    folder, name = os.path.split(path)
    beside = any(folder in (target, os.path.dirname(target)) for target in targets)
    return beside and name.startswith(".") and name.endswith(".tmp")


def rules(wired: Wired, state: State) -> list[str]:
    """The files in `.holdfast/` that the branch changes: settings, who may sign, definitions, the team."""
    return sorted(path for path in _committed(wired, state) if _is_rule(wired, state, path))


def commands(wired: Wired, state: State) -> list[str]:
    """The files that the branch changes and that say what its checks run, such as a `Makefile`, or are run."""
    checks = [check for path in state.plan.paths for check in state.plan.step(path).checks]
    named = {(check.folder, one) for check in checks for one in (check.source, *check.run) if one}
    base = wired.place.base(state.worktree)
    said = {os.path.join(base, *parts) for folder, one in named for parts in ((one,), (folder, one))}
    top, listed = wired.repository(state.worktree).top, {os.path.normpath(one) for one in said}
    found = (path for path in _committed(wired, state) if os.path.join(top, path) in listed)
    return sorted(path for path in found if not _is_rule(wired, state, path))


def _committed(wired: Wired, state: State) -> Mapping[str, Changed]:
    """All that the commits of the branch change."""
    repository = git.find(wired.place.base(state.worktree))
    head = git.head(repository) if repository else None
    if repository is None or head is None or wired.is_elsewhere(state):
        return {}
    since = compared_with(wired, repository, state)
    return own.committed(repository, since, head, ()) if since != head else {}


def _rules(
    wired: Wired, repository: git.Repository, state: State, since: str | None, commit: str
) -> dict[str, Changed]:
    """What commits say of Holdfast's own settings: what only is in the working tree is nobody else's."""
    if since == commit:
        return {}
    found = own.committed(repository, since, commit, ())
    return {name: one for name, one in found.items() if _is_rule(wired, state, name)}


def _is_rule(wired: Wired, state: State, path: str) -> bool:
    """Whether a path, from the top of the repository, is one of the files in `.holdfast/` that travel with git."""
    inside = os.path.relpath(os.path.join(wired.place.base(state.worktree), HOME), wired.repository(state.worktree).top)
    return any(f"{path}/".startswith(f"{inside}/{name}/") for name in SHARED)


def altered(wired: Wired, repository: git.Repository, state: State, then: str) -> list[str]:
    """The files of which HEAD has other changes of the branch than a commit had, the docs that are published aside."""
    head = git.head(repository)
    if head is None or head == then:
        return []
    aside = wired.world.published(state)
    compared = ((compared_with(wired, repository, state, at), at) for at in (then, head))
    was, now = (committed(wired, repository, state, since, at) for since, at in compared)
    other = (name for name in sorted({*was, *now}) if was.get(name) != now.get(name))
    return [name for name in other if not any(f"{name}/".startswith(f"{path}/") for path in aside)]


def hash_at(wired: Wired, repository: git.Repository, state: State, known: Artifact, commit: str) -> str:
    """The hash of what the branch had changed at a commit, compared with the one it was compared with."""
    since = git_changes.resolve(repository, known.path.removeprefix(_SINCE))
    return digest(joined(committed(wired, repository, state, since, commit))) if since else ""


def _new(state: State, found: Mapping[str, Changed]) -> dict[str, Changed]:
    """Without what was already uncommitted when the feature began, and is unchanged."""
    return {path: one for path, one in found.items() if path not in state.dirt or state.dirt[path] != one.blob}


def _is_succeeded(state: State, phase: str) -> bool:
    if state.step(phase).status != lifecycle.DONE:
        return False
    phases = state.plan.children("")
    later = (one for one in phases[phases.index(phase) + 1 :] if state.plan.step(one).code)
    return any(state.step(one).status != lifecycle.PENDING for one in later)


def joined(sections: Mapping[str, bytes]) -> bytes:
    rows = ((os.fsencode(path), sections[path]) for path in sorted(sections))
    return b"".join(b"diff %s\n%s\n" % (path, section.rstrip(b"\n")) for path, section in rows)


def _name(path: str) -> str:
    return f"file-{digest(os.fsencode(path))[:12]}"


def _files(base: str, folder: str) -> Iterator[str]:
    """Everything in the folder of a phase but its reviews, its status and what editors leave, from the top.

    What git ignores is in no commit, and so is a repository inside: others could not see it.
    """
    repository = git.find(base)
    own = (f"{folder}/{_REVIEWS}/", f"{folder}/{words.STATUS_FILE}")
    for path in sorted(_walked(base, folder) if repository is None else _listed(base, folder)):
        if not path.startswith(own) and not leftover.is_leftover(os.path.basename(path)):
            yield path


def _listed(base: str, folder: str) -> Iterator[str]:
    asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f":(literal){folder}")
    for name in run(base, *asked)[1].split(b"\0")[:-1]:
        full = os.path.join(os.fsencode(base), name)
        if os.path.islink(full) or os.path.isfile(full):
            yield os.fsdecode(name)


def _walked(base: str, folder: str) -> Iterator[str]:
    for at, _, files in os.walk(os.path.join(base, folder)):
        yield from (os.path.relpath(os.path.join(at, name), base) for name in files)


def _hashed(wired: Wired, full: str) -> tuple[str, int]:
    if os.path.islink(full):
        return digest(b"link " + os.fsencode(os.readlink(full))), 0
    return wired.world.hashed(full) or ("unreadable", 0)


def _wrong(wired: Wired, base: str, path: str) -> tuple[str, bytes]:
    """What keeps a required document from being one, and what it says."""
    full = os.path.join(base, path)
    if not os.path.lexists(full):
        return "is missing", b""
    if os.path.realpath(full) != os.path.join(os.path.realpath(base), path):
        return "is behind a symbolic link", b""
    content = read_regular(full, LARGEST)
    if content is None:
        return f"is no file of at most {LARGEST} bytes", b""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "is no text in UTF-8", b""
    name = os.path.basename(path).removesuffix(".md")
    if not wording.is_more(text, ""):
        only = wording.placeholder(text)
        return (f"only says {only[:40]!r}: {_BLANK}" if only else "has no content yet"), b""
    if not all(wording.is_more(text, one) for one in _templates(wired, name)):
        return "says nothing beyond its template", b""
    return "", content


def _templates(wired: Wired, name: str) -> list[str]:
    if name not in templates.NAMES:
        return []
    shipped = team_files.shipped_text(templates.FOLDER, name)
    try:
        return [shipped, templates.template(name, wired.place.root)]
    except HoldfastError:
        return [shipped]  # what is wrong with a file of the project is told to who asks for the template
