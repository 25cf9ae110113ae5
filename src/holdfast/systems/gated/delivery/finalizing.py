"""The end of a feature: its documents are published to `docs/`, committed, and the workspace is deleted.

Every part can be repeated, so whoever died in the middle runs it again.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import refusals, remedies
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, Refused, UsageError
from holdfast.git import changes as git_changes
from holdfast.plain.digest import digest
from holdfast.systems.gated import central, opening, words, workspace
from holdfast.systems.seam.ports import Workflow
from holdfast.systems.seam.wired import Wired


def finalize(wired: Wired, workflow: Workflow, merged: Sequence[str] = (), **how: Any) -> tuple[str, ...]:
    """Publishes, commits, then deletes; the sentences that people should hear."""
    state = workflow.state
    if state.dialect != "gated":
        said = f"{workflow.id} has no workspace to publish"
        raise UsageError("nothing_to_finalize", said, remedy=remedies.status(), facts={"workflow": workflow.id})
    with wired.store.exclusively("finalizing"):
        return _finalized(wired, workflow, merged, how)


def _finalized(wired: Wired, workflow: Workflow, merged: Sequence[str], how: Mapping[str, Any]) -> tuple[str, ...]:
    state = workflow.refresh().state
    token = how.get("token", 0) or wired.settings.token
    repository = _on_branch(wired.place.base(state.worktree), state)
    wired.engine.preview(state, cmd.Finalize(), wired.settings.actor, token=token)
    git_changes.catch_up(repository, words.MARK)
    if words.is_deleted(state):
        _commit_deletion(wired, state)
        return (f"{workflow.id} is finalized",)
    published: tuple[str, ...] = ()
    if state.context.get("workspace") != words.PUBLISHED:
        published = _publish(wired, workflow, merged, how)
    _keep(wired, workflow.state)
    kept = _delete(wired, workflow.state)
    workflow.execute(cmd.Record({"workspace": words.DELETED}), **how)
    _commit_deletion(wired, workflow.state)
    said = [f"published {path}" for path in published]
    said += [f"{path} stays: {_why(path)}" for path in kept]
    return (*said, f"{workflow.id} is finalized" + ("" if kept else f", and {words.home(state)} is deleted"))


def _publish(wired: Wired, workflow: Workflow, merged: Sequence[str], how: Mapping[str, Any]) -> tuple[str, ...]:
    """The docs are written, the feature is marked, and both are committed, before anything is deleted."""
    base, state = wired.place.base(workflow.state.worktree), workflow.state

    def allow(write: central.Write) -> None:
        _require_approved(state, write)

    with wired.store.exclusively("starting"):
        published = central.publish(base, workflow.id, _seeded(state), merged, allow)
    workflow.execute(cmd.Finalize(), **how)
    last = state.plan.children("")[-1]
    message = f"{workspace.subject_line(last, 'Publish the docs')}\n\n{workspace.trailers(workflow.state, last)}"
    _committed(wired, workflow.state, message)
    workflow.execute(cmd.Record({"workspace": words.PUBLISHED}), **how)
    return published


def _require_approved(state: State, write: central.Write) -> None:
    """An approval is of what a phase handed in: what was put beside it later, nobody has seen."""
    phase = central.phase_of(write.source)
    handed_in = {(artifact.path, artifact.hash) for artifact in state.step(phase).artifacts.values()}
    unknown = state.origin == "adopted" and not handed_in  # it was handed in before Holdfast came
    if unknown or (write.source, digest(write.content)) in handed_in:
        return
    aside = (
        f"move {write.source} out of the workspace",
        "put it back as it was approved",
        remedies.finalize(workflow=state.ulid, text="then"),
    )
    raise Refused(
        "gate_unmet",
        f"nobody approved {write.source} as it is, so {write.target} is not written; nothing was published",
        remedy=aside if state.finalized else remedies.reopen(phase, workflow=state.ulid),
        facts={"step": phase, "path": write.source},
    )


def _seeded(state: State) -> Mapping[str, str]:
    seeded = state.context.get(opening.SEEDED)
    return seeded if isinstance(seeded, Mapping) else {}


def _repository(base: str) -> git.Repository:
    repository = git.find(base)
    if repository is None:
        raise refusals.no_repository(base)
    return repository


def _on_branch(base: str, state: State) -> git.Repository:
    repository = _repository(base)
    here = git.branch(repository)
    if state.branch and here != state.branch:
        raise refusals.branch_mismatch(state, here)
    return repository


def _committed(wired: Wired, state: State, message: str) -> None:
    """Also what a run that died had published and not committed is part of it."""
    base = wired.place.base(state.worktree)
    try:
        workspace.committed(wired, state, message, central.published(base, state.id))
    except HoldfastError as refusal:
        if refusal.code != "nothing_to_commit":
            raise


def _keep(wired: Wired, state: State) -> None:
    """Commits what was written since the docs were published, by whoever thought that the workspace would last.

    The documents that Holdfast writes itself are in its journal.
    """
    base = wired.place.base(state.worktree)
    repository = _repository(base)
    listed = workspace.tracked(repository, base, words.home(state))
    own = {os.path.join(base, path) for path in _rendered(state)}
    there = [path for path in listed if os.path.lexists(full := os.path.join(repository.top, path)) and full not in own]
    last = state.plan.children("")[-1]
    subject = workspace.subject_line(last, "Keep what was written since the docs were published")
    _commit(repository, there, f"{subject}\n\n{workspace.trailers(state, last)}")


def _delete(wired: Wired, state: State) -> tuple[str, ...]:
    """Deletes what HEAD has as it is. Nobody could bring the rest back, so that stays, and is what is returned."""
    base, home = wired.place.base(state.worktree), words.home(state)
    repository = _repository(base)
    own = [os.path.join(base, path) for path in _rendered(state) if central.is_there(base, path)]
    known = (os.path.join(repository.top, path) for path in workspace.unchanged(repository, base, home))
    for full in dict.fromkeys((*own, *known)):
        os.unlink(full)
    apart = {os.path.join(repository.top, path) for path in workspace.submodules(repository, base, home)}
    return tuple(_cleared(base, home, apart)) if os.path.isdir(os.path.join(base, home)) else ()


def _rendered(state: State) -> list[str]:
    """The documents that are made from the journal, and so are never lost."""
    phases = (f"{path}/{words.STATUS_FILE}" for path in state.plan.children(""))
    return [f"{words.home(state)}/{name}" for name in (words.DOCUMENT, *phases)]


def _cleared(base: str, folder: str, apart: set[str]) -> list[str]:
    """Takes the folders away that are empty; what is left. Nothing is touched in a repository of its own."""
    full = os.path.join(base, folder)
    if full in apart or os.path.lexists(os.path.join(full, ".git")):
        return [f"{folder}/"]
    left: list[str] = []
    for name in sorted(os.listdir(full)):
        path, inner = f"{folder}/{name}", os.path.join(full, name)
        is_folder = os.path.isdir(inner) and not os.path.islink(inner)
        left += _cleared(base, path, apart) if is_folder else [path]
    if not left:
        os.rmdir(full)
    return left


def _why(path: str) -> str:
    return "it is a repository of its own" if path.endswith("/") else "no commit has it as it is"


def _commit_deletion(wired: Wired, state: State) -> None:
    """The last commit of a feature: its folder is gone, and the history says that it is finalized."""
    base = wired.place.base(state.worktree)
    repository = git.find(base)
    if repository is None:
        return
    last = state.plan.children("")[-1]
    title = state.title or state.subject
    message = f"{workspace.subject_line(last, f'Finalize {title}')}\n\n{workspace.trailers(state, last)}"
    paths = workspace.tracked(repository, base, words.home(state))
    gone = [path for path in paths if not os.path.lexists(os.path.join(repository.top, path))]
    _commit(repository, gone, message)


def _commit(repository: git.Repository, paths: Sequence[str], message: str) -> None:
    try:
        if paths:
            git_changes.commit(repository, paths, message)
    except HoldfastError as refusal:
        if refusal.code != "nothing_to_commit":
            raise
