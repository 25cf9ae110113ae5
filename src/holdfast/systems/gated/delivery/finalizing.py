"""The end of a feature: its documents are published to `docs/`, committed, and the workspace is deleted.

Every part can be repeated, so a process that died in the middle runs it again.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import gates, queries, refusals, remedies
from holdfast.core.remedy import advice, shell
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import object_in
from holdfast.errors import Refused, UsageError
from holdfast.git import changes as git_changes
from holdfast.git import remotes
from holdfast.plain.digest import digest
from holdfast.systems.gated import base as feature_base
from holdfast.systems.gated import central, hand_in, journal_history, subject, words, workspace
from holdfast.systems.gated.delivery import beside, clones, handing_over, leftovers, pull_request
from holdfast.systems.gated.delivery.beside import Beside
from holdfast.systems.gated.delivery.continuing import require_heard
from holdfast.systems.seam.ports import Workflow
from holdfast.systems.seam.wired import Wired


def finalize(
    wired: Wired,
    workflow: Workflow,
    merged: Sequence[str] = (),
    shown: str = "",
    addresses: Sequence[str] = (),
    **how: Any,
) -> tuple[str, ...]:
    """Publishes, commits, then deletes; the sentences that people should hear.

    `shown` is the digest of what a person has seen beside what was approved, and lets go out with it; `addresses` are
    those that a person has seen and confirmed.
    """
    state = workflow.state
    if state.dialect != "gated":
        said = f"{workflow.id} has no workspace to publish"
        raise UsageError("nothing_to_finalize", said, remedy=remedies.status(), facts={"workflow": workflow.id})
    with wired.store.exclusively("finalizing"):
        try:
            _require_known_remote(wired, workflow, addresses, how)
            return _finalized(wired, workflow, merged, shown, how)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{workflow.id} is not finalized completely. Repeat the command.") from None


def elsewhere(wired: Wired, state: State) -> list[str]:
    """The addresses of an end, where a person has to confirm them; else none."""
    repository, branch = _published(wired, state)
    if repository is None or not branch or not (state.finished_at or state.finalized):
        return []
    now = feature_base.addresses(repository, state, branch)
    return now if feature_base.is_elsewhere(state, now) else []


def _published(wired: Wired, state: State) -> tuple[git.Repository | None, str | None]:
    """The repository of a feature, and the branch that its end publishes."""
    repository = git.find(wired.place.base(state.worktree))
    return repository, str(state.branch) if state.finalized else git.branch(repository) if repository else None


def _require_known_remote(wired: Wired, workflow: Workflow, confirmed: Sequence[str], how: Mapping[str, Any]) -> None:
    """Refuses an end at other addresses than the feature's, or records those that a person confirmed.

    What was heard of the branch at another address says nothing of this one.
    """
    state = workflow.refresh().state
    now = elsewhere(wired, state)
    if not now:
        return
    repository, branch = _published(wired, state)
    assert repository is not None
    if now != list(confirmed):
        raise handing_over.other_remote(state, str(branch), now)
    where = git_changes.remote(repository, str(branch))
    if where and feature_base.begun_at(state)[-1:] != now[-1:]:
        remotes.forget(repository, str(branch), where)
        remotes.ask(repository, str(branch), where)
    workflow.execute(cmd.Record({words.REMOTE: now}), **how)


def unapproved(wired: Wired, state: State) -> Beside | None:
    """What an end, or the push that is left of one, would publish beside what was approved."""
    repository, branch = _published(wired, state)
    if repository is None or not branch or (words.is_deleted(state) and not leftovers.is_unsent(wired, state)):
        return None
    try:
        return beside.found(wired, state, repository, branch)
    except Refused as refused:
        if refused.code != "remote_unasked":
            raise
        return None  # what is left is not pushed then, either


def _finalized(
    wired: Wired, workflow: Workflow, merged: Sequence[str], shown: str, how: Mapping[str, Any]
) -> tuple[str, ...]:
    state = workflow.refresh().state
    if leftovers.is_on_base(wired, state):
        here = wired.repository(state.worktree)
        again = {queries.WORKSPACE: "", words.FINALIZED_FROM: git.head(here) or "", words.FINALIZED_TO: ""}
        begun = cmd.Together((cmd.Finalize(branch=git.branch(here) or ""), cmd.Record(again)))
        state = workflow.execute(begun, **how).state
    if words.is_deleted(state):
        if early := leftovers.merged_early(wired, state):
            raise early
        if _let_pass(wired, wired.repository(state.worktree), state, shown):
            state = workflow.execute(cmd.Record({words.CONFIRMED: shown}), **how).state
        return (f"{workflow.id} is finalized", *leftovers.sent(wired, state))
    if not state.finished_at and not state.finalized:
        if wired.is_elsewhere(state) and state.cancelled is None:
            raise wired.branch_mismatch(state)
        wired.preview(state, cmd.Finalize())  # what is not completed ends nowhere, whatever branch is checked out
    if git.busy(wired.repository(state.worktree)):
        raise git_changes.under_way(wired.repository(state.worktree))
    repository, branch = handing_over.ground(wired, state)
    wired.preview(state, cmd.Finalize())
    told = clones.require_current(wired, state)
    left_out = journal_history.wrong(wired, state)
    if left_out is not None:
        raise left_out
    if not state.finalized:
        require_heard(wired, workflow)
    _require_committed(wired, state)
    _require_same_code(wired, repository, state)
    confirmed = _let_pass(wired, repository, state, shown)
    published: tuple[str, ...] = ()
    if state.context.get(queries.WORKSPACE) != words.PUBLISHED:
        _require_same_documents(wired, repository, state)
        published = _publish(wired, workflow, merged, branch, confirmed, how)
    _keep(wired, repository, workflow.state)
    kept = _delete(wired, repository, workflow.state)
    _commit_deletion(wired, repository, workflow.state)
    ended = {queries.WORKSPACE: queries.DELETED, words.FINALIZED_TO: git.head(repository) or ""}
    workflow.execute(cmd.Record(ended), **how)
    said = [*told, *(f"published {path}" for path in published)]
    why = {True: "it is a repository of its own", False: "no commit has it as it is"}
    said += [f"{path} stays: {why[path.endswith('/')]}" for path in kept]
    over = f"{workflow.id} is finalized" + ("" if kept else f", and {words.home(state)} is deleted")
    pushed = handing_over.pushed(wired, workflow.state)
    return (*said, over, *pushed, *pull_request.describe(wired, workflow.state))


def _let_pass(wired: Wired, repository: git.Repository, state: State, shown: str) -> str:
    """Refuses an end that would publish what nobody approved; the digest of what a person lets go out with it."""
    one = unapproved(wired, state)
    if one is None:
        return ""
    if one.digest not in (shown, state.context.get(words.CONFIRMED)):
        raise beside.refusal(state, repository, one)
    return one.digest


def _require_committed(wired: Wired, state: State) -> None:
    """Refuses to continue with an end that died, where the tests passed only with what is in no commit."""
    for phase in state.plan.children("") if state.finalized else ():
        if state.plan.step(phase).code and (files := hand_in.unproven(wired, state, phase)):
            seeing = hand_in.seeing(wired, state, files)
            raise refusals.gate_unmet(phase, [gates.uncommitted(phase, files, seeing, finished=True)])


def _require_same_code(wired: Wired, repository: git.Repository, state: State) -> None:
    """Refuses to continue with an end that died, where the branch has other code than the one that it began with."""
    then = str(state.context.get(words.FINALIZED_FROM) or "")
    if not state.finalized or not then or git.branch(repository) == feature_base.name(repository, state):
        return
    other = hand_in.altered(wired, repository, state, then) if git_changes.resolve(repository, then) else []
    if not other:
        return
    listed = ", ".join(other[:5]) + (f" and {len(other) - 5} more" if len(other) > 5 else "")
    said = f"{listed}: changed since {state.id} began to end, so nobody approved it"
    gone = [path for path in other if not git_changes.has_path(repository, then, path)]
    back = [path for path in other if path not in gone]
    ways = (
        *((shell("git", "-C", repository.top, "checkout", then[:12], "--", *back),) if back else ()),
        *((shell("git", "-C", repository.top, "rm", "-q", "--", *gone, text="then" if back else ""),) if gone else ()),
        shell("git", "-C", repository.top, "commit", "-m", "Put the code back as it was approved", text="then"),
        remedies.finalize(workflow=state.ulid, text="then; the change goes into a feature of its own"),
    )
    raise Refused("gate_unmet", said, remedy=ways, facts={"files": other[:50], "commit": then})


def _require_same_documents(wired: Wired, repository: git.Repository, state: State) -> None:
    """Refuses to continue with an end that died before it published, where the workspace is not as it was approved."""
    then = str(state.context.get(words.FINALIZED_FROM) or "HEAD")
    changed: list[str] = []
    for phase in state.plan.children("") if state.finalized else ():
        whole, known = hand_in.hand_in(wired, state, phase), state.step(phase).artifacts
        if whole is None or not known:
            continue
        was = {one.path: one.hash for name, one in known.items() if name != hand_in.CODE}
        now = {path: hashed for name, (path, hashed, _) in whole.parts.items() if name != hand_in.CODE}
        changed += [path for path in sorted({*was, *now}) if was.get(path) != now.get(path)]
    if not changed:
        return
    base = wired.place.base(state.worktree)
    inside = {path: git.inside(repository, os.path.join(base, path)) or path for path in changed}
    new = [path for path in changed if not git_changes.has_path(repository, then, inside[path])]
    back = [path for path in changed if path not in new]
    ways = (
        *((shell("git", "restore", f"--source={then[:12]}", "--", *back),) if back else ()),
        *(advice(f"move {path} out of the workspace") for path in new[:5]),
        remedies.finalize(workflow=state.ulid, text="then"),
    )
    said = (
        f"{', '.join(changed[:5])}: changed since {state.id} began to end, so nobody approved it; nothing was published"
    )
    raise Refused("gate_unmet", said, remedy=ways, facts={"files": changed[:50], "commit": then})


def _publish(
    wired: Wired, workflow: Workflow, merged: Sequence[str], branch: str, confirmed: str, how: Mapping[str, Any]
) -> tuple[str, ...]:
    """The docs are written, the feature is marked, and both are committed, before anything is deleted."""
    base, state = wired.place.base(workflow.state.worktree), workflow.state

    def allow(write: central.Write) -> None:
        _require_approved(state, write)

    with wired.store.exclusively("starting"):
        published = central.publish(base, workflow.id, object_in(state.context, subject.SEEDED), merged, allow)
    ending: cmd.Command = cmd.Finalize(branch=branch)
    if not state.finalized:
        head = git.head(wired.repository(state.worktree)) or ""
        kept = {words.FINALIZED_FROM: head, **({words.CONFIRMED: confirmed} if confirmed else {})}
        ending = cmd.Together((ending, cmd.Record(kept)))
    workflow.execute(ending, **how)
    # Also what a run that died had published and not committed is part of it.
    docs = central.published(base, workflow.id)
    workspace.committed(wired, workflow.state, "Publish the docs", more=docs)
    workflow.execute(cmd.Record({queries.WORKSPACE: words.PUBLISHED}), **how)
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
    said = f"nobody approved {write.source} as it is, so {write.target} is not written; nothing was published"
    again = remedies.person(phase, remedies.reopen(phase, workflow=state.ulid))
    way = aside if state.finalized else again
    raise Refused("gate_unmet", said, remedy=way, facts={"step": phase, "path": write.source})


def _keep(wired: Wired, repository: git.Repository, state: State) -> None:
    """Commits what was written since the docs were published, by somebody who thought that the workspace would last.

    The documents that Holdfast writes itself are in its journal.
    """
    base = wired.place.base(state.worktree)
    listed = workspace.tracked(repository, base, words.home(state))
    own = {os.path.join(base, path) for path in _rendered(state)}
    there = [path for path in listed if os.path.lexists(full := os.path.join(repository.top, path)) and full not in own]
    message = workspace.message(state, "Keep what was written since the docs were published")
    workspace.commit_changed(wired, repository, there, message)


def _delete(wired: Wired, repository: git.Repository, state: State) -> tuple[str, ...]:
    """Deletes what HEAD has as it is. Nobody could bring the rest back, so that stays, and is what is returned."""
    base, home = wired.place.base(state.worktree), words.home(state)
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


def _commit_deletion(wired: Wired, repository: git.Repository, state: State) -> None:
    """The last commit of a feature: its folder is gone, and the history says that it is finalized."""
    paths = workspace.tracked(repository, wired.place.base(state.worktree), words.home(state))
    gone = [path for path in paths if not os.path.lexists(os.path.join(repository.top, path))]
    message = workspace.message(state, f"Finalize {state.title or state.subject}")
    workspace.commit_changed(wired, repository, gone, message)
