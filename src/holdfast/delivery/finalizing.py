"""The end of a feature: its documents are published to `docs/`, committed, and the workspace is deleted.

Every part can be repeated, so whoever died in the middle runs it again.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git, git_changes
from holdfast.core import commands as cmd
from holdfast.core import refusals
from holdfast.core.state import State
from holdfast.dialects import gated_words as words
from holdfast.errors import HoldfastError, UsageError
from holdfast.gated import central, opening, workspace
from holdfast.project import Project
from holdfast.stores.locks import Locked
from holdfast.workflow import Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def finalize(project: Project, workflow: Workflow, merged: Sequence[str] = (), **how: Any) -> tuple[str, ...]:
    """Publishes, commits, then deletes; the sentences that people should hear."""
    wired = project.wired
    state = workflow.state
    if state.dialect != "gated":
        raise UsageError(
            "nothing_to_finalize",
            f"{workflow.id} has no workspace to publish",
            remedy="holdfast status",
            facts={"workflow": workflow.id},
        )
    with Locked(os.path.join(wired.place.home, "finalizing"), wired.settings.lock_wait):
        return _finalized(project, workflow, merged, how)


def _finalized(project: Project, workflow: Workflow, merged: Sequence[str], how: Mapping[str, Any]) -> tuple[str, ...]:
    wired, state = project.wired, workflow.refresh().state
    token = how.get("token", 0) or wired.settings.token
    wired.engine.preview(state, cmd.Finalize(), wired.settings.actor, token=token)
    repository = _on_branch(wired.place.base(state.worktree), state)
    git_changes.catch_up(repository)
    if words.is_deleted(state):
        _commit_deletion(project, state)
        return (f"{workflow.id} is finalized",)
    published: tuple[str, ...] = ()
    if state.context.get("workspace") != words.PUBLISHED:
        published = _publish(project, workflow, merged, how)
    kept = _delete(project, workflow.state)
    workflow.execute(cmd.Record({"workspace": words.DELETED}), **how)
    _commit_deletion(project, workflow.state)
    said = [f"published {path}" for path in published]
    said += [f"{path} stays: git ignores it, so nobody else has it" for path in kept]
    return (*said, f"{workflow.id} is finalized, and {words.home(state)} is deleted")


def _publish(project: Project, workflow: Workflow, merged: Sequence[str], how: Mapping[str, Any]) -> tuple[str, ...]:
    """The docs are written, the feature is marked, and both are committed, before anything is deleted."""
    base, state = project.wired.place.base(workflow.state.worktree), workflow.state
    with Locked(project.wired.place.starting, project.wired.settings.lock_wait):
        published = central.publish(base, workflow.id, _seeded(state), merged)
    workflow.execute(cmd.Finalize(), **how)
    last = state.plan.children("")[-1]
    message = f"{workspace.subject_line(last, 'Publish the docs')}\n\n{workspace.trailers(workflow.state, last)}"
    _committed(project, workflow.state, message)
    workflow.execute(cmd.Record({"workspace": words.PUBLISHED}), **how)
    return published


def _seeded(state: State) -> Mapping[str, str]:
    seeded = state.context.get(opening.SEEDED)
    return seeded if isinstance(seeded, Mapping) else {}


def _on_branch(base: str, state: State) -> git.Repository:
    repository = git.find(base)
    if repository is None:
        raise refusals.no_repository(base)
    here = git.branch(repository)
    if state.branch and here != state.branch:
        raise refusals.branch_mismatch(state, here)
    return repository


def _committed(project: Project, state: State, message: str) -> None:
    """Also what a run that died had published and not committed is part of it."""
    base = project.wired.place.base(state.worktree)
    try:
        workspace.committed(project.wired, state, message, central.published(base, state.id))
    except HoldfastError as refusal:
        if refusal.code != "nothing_to_commit":
            raise


def _delete(project: Project, state: State) -> tuple[str, ...]:
    """Deletes what git has; what it ignores nobody could bring back, so that stays."""
    base = project.wired.place.base(state.worktree)
    repository = git.find(base)
    assert repository is not None
    for path in workspace.tracked(repository, base, words.home(state)):
        full = os.path.join(repository.top, path)
        if os.path.lexists(full):
            os.unlink(full)
    left: list[str] = []
    for folder, _, names in os.walk(os.path.join(base, words.home(state)), topdown=False):
        left += [os.path.relpath(os.path.join(folder, name), base) for name in names]
        if not os.listdir(folder):
            os.rmdir(folder)
    return tuple(sorted(left))


def _commit_deletion(project: Project, state: State) -> None:
    """The last commit of a feature: its folder is gone, and the history says that it is finalized."""
    base = project.wired.place.base(state.worktree)
    repository = git.find(base)
    if repository is None:
        return
    last = state.plan.children("")[-1]
    title = state.title or state.subject
    message = f"{workspace.subject_line(last, f'Finalize {title}')}\n\n{workspace.trailers(state, last)}"
    paths = workspace.tracked(repository, base, words.home(state))
    gone = [path for path in paths if not os.path.lexists(os.path.join(repository.top, path))]
    try:
        if gone:
            git_changes.commit(repository, gone, message)
    except HoldfastError as refusal:
        if refusal.code != "nothing_to_commit":
            raise
