"""`holdfast feature continue`: whatever can be done about a feature without anybody is done, and the rest is named.

The one place that asks the forge what people said. Everything here can be repeated: what was done before is found done.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, queries, refusals, remedies
from holdfast.core.names import fitting
from holdfast.core.recognition import FORGE
from holdfast.core.remedy import Remedy, shell, told, typed
from holdfast.core.state import Actor, State
from holdfast.core.value import Any
from holdfast.errors import Refused
from holdfast.forges.port import Forge
from holdfast.git import changes as git_changes
from holdfast.git import history as git_history
from holdfast.systems.gated import base as feature_base
from holdfast.systems.gated import checkout, review_read, words, workspace
from holdfast.systems.gated.conversation import Heard, Said, heard
from holdfast.systems.gated.delivery import clones, confirmation, handing_over, leftovers, pull_request
from holdfast.systems.seam import publishing
from holdfast.systems.seam.ports import Workflow
from holdfast.systems.seam.wired import Wired

SEEN = "reviewed_ids"
"""The value of the context that keeps which remarks of the newest second were heard."""
READINGS = 4


def go_on(wired: Wired, workflow: Workflow, **how: Any) -> tuple[str, ...]:
    """Takes a feature as far as it goes now; the sentences that people should hear."""
    state = workflow.refresh().state
    if state.cancelled or words.is_deleted(state):
        done = (*workspace.commit_left(wired, state), *leftovers.sent(wired, state))
        if done:
            return done
    if state.cancelled:
        raise refusals.cancelled(state)
    if state.finalized:
        raise refusals.finalized(state)
    wired.preview(state, cmd.Record({}))
    handing_over.require_unmerged(wired, state)
    wrong = checkout.unsuitable(wired, state)
    if wrong is not None:
        raise wrong
    repository = git.find(wired.place.base(state.worktree))
    if checkout.is_on_base(wired, state):
        return (f"{state.id} is merged: what is left is {_finalize(wired, state)}",)
    said = clones.require_current(wired, state)
    told = _gone_on(wired, workflow, repository, how)
    sent = clones.send(wired, workflow.state)
    return (*said, *told, *sent, *pull_request.describe(wired, workflow.state))


def _gone_on(
    wired: Wired, workflow: Workflow, repository: git.Repository | None, how: Mapping[str, Any]
) -> tuple[str, ...]:
    state = workflow.state
    at = queries.current(state)
    other = gates.changed(state, at, workflow.facts()) if at and state.step(at).status in gates.REVIEWED else []
    if at and other:
        because = gates.changed_because(state, at, other)
        done = workflow.done(at, **how).said
        return (*done, f"{because}: {at} is handed in again, for another review")
    said = workspace.commit(wired, state)
    said += _confirmed(wired, workflow)
    state = workflow.state
    if at is None:
        return (*said, *_completed(wired, workflow, repository, how))
    if state.step(at).status == lifecycle.PENDING:
        return (*said, *workflow.begin(at, **how).said)
    if state.step(at).status != lifecycle.WAITING:
        return (*said, *workspace.wanted(wired, state, at))
    changed = review_read.changed(wired, state)
    if changed is not None:
        raise changed
    forge = pull_request.forge_of(wired, state)
    if isinstance(forge, str):
        claimed = (remedies.confirm(),) if gates.claimed(state, workflow.facts()) else ()
        ways = (*claimed, remedies.approve(at, text="then" if claimed else ""), remedies.reject(at))
        by_hand = told(ways, wired.scope(state.ulid).replace(person=True))
        return (*said, f"{at} waits for a person, who types {by_hand} ({forge})")
    return (*said, *_reviewed(wired, workflow, at, forge, how))


def _confirmed(wired: Wired, workflow: Workflow) -> tuple[str, ...]:
    """Approvals that another clone heard on the pull request count here once the forge says the same."""
    state, claimed = workflow.state, confirmation.claimed(workflow)
    number = state.context.get("pr_number")
    forge = pull_request.forge_of(wired, state) if claimed and isinstance(number, int) else ""
    if isinstance(forge, str) or not isinstance(number, int):
        return ()
    repository, base = wired.repository(state.worktree), wired.place.base(state.worktree)
    approved = confirmation.found(wired, repository, base, state, forge, number)
    said: tuple[str, ...] = ()
    for phase, login in approved.items():
        if phase in claimed:
            _as_people(wired, workflow, cmd.Together((cmd.Approve(phase),)), login, forge)
            said += (*workflow.said, f"the approval of {phase} by {login} is confirmed by the pull request")
    return said


def _completed(
    wired: Wired, workflow: Workflow, repository: git.Repository | None, how: Mapping[str, Any]
) -> tuple[str, ...]:
    """All phases are approved: what is on the pull request is what is here, and what is said there is still heard."""
    state = workflow.state
    number = state.context.get("pr_number")
    if not (repository and state.branch and isinstance(number, int)):
        return ()
    forge = wired.forge(state.worktree, strict=True)
    if forge.refusal is not None:
        raise forge.refusal
    request = forge.get(number)
    if request.state == "merged":
        onward = f"git switch {request.base}, git pull, {_finalize(wired, state)}"
        return (f"pull request {request.url} is merged: what is left is {onward}",)
    if not publishing.push(forge, repository, state.branch):
        raise _no_base(state.branch)
    found = _still_said(workflow, forge, number)
    if found.earliest:
        return _asked_again(wired, workflow, found, forge, how)
    return (f"pull request {state.context['pr_url']} has all of it", *found.aside)


def _finalize(wired: Wired, state: State) -> str:
    return typed(remedies.finalize(workflow=state.ulid), wired.scope(state.ulid))


def _still_said(workflow: Workflow, forge: Forge, number: int) -> Heard:
    """What was said since all phases were approved. Nothing waits for an approval any more."""
    state = workflow.state
    phases = state.plan.children("")
    said = _said(forge, number)
    seen = state.context.get(SEEN)
    return heard(
        Said(tuple(one for one in said.reviews if one.state != "APPROVED"), said.comments, said.threads),
        slug=workflow.id,
        phases=phases,
        current=phases[-1],
        since=str(state.context.get("last_reviewed_at") or ""),
        seen=frozenset(seen if isinstance(seen, (list, tuple)) else ()),
        counts=lambda _: False,
    )


def require_heard(wired: Wired, workflow: Workflow) -> None:
    """Refuses to end a feature while its pull request has remarks that nobody heard."""
    number = workflow.state.context.get("pr_number")
    forge = pull_request.forge_of(wired, workflow.state) if isinstance(number, int) else ""
    if isinstance(forge, str) or not isinstance(number, int) or forge.get(number).state != "open":
        return
    found = _still_said(workflow, forge, number)
    if found.earliest:
        said = f"the pull request asks for changes of {found.earliest} that are not processed yet"
        way = remedies.go_on(workflow=workflow.state.ulid)
        raise Refused("remarks_unheard", said, remedy=way, facts={"step": found.earliest, "number": number})


def _asked_again(
    wired: Wired, workflow: Workflow, found: Heard, forge: Forge, how: Mapping[str, Any]
) -> tuple[str, ...]:
    """A phase that was approved is worked on again, as people asked for it."""
    heard_up_to = cmd.Record({"last_reviewed_at": found.newest, SEEN: list(found.newest_ids)})
    later = [cmd.Advise(path, fitting(text)) for path, text in found.feedback.items() if path != found.earliest]
    asked = cmd.Reopen(found.earliest, fitting(found.feedback[found.earliest]))
    _as_people(wired, workflow, cmd.Together((asked, *later, heard_up_to)), "reviewers", forge, **how)
    said = f"changes of {found.earliest} are asked for on the pull request, and it is worked on again with all after it"
    return (*workflow.said, said, *found.aside)


def _reviewed(wired: Wired, workflow: Workflow, at: str, forge: Forge, how: Mapping[str, Any]) -> tuple[str, ...]:
    """Pushes what waits, opens the pull request if there is none, and does what people said on it."""
    repository = wired.repository(workflow.state.worktree)
    branch = str(workflow.state.branch)
    if not publishing.push(forge, repository, branch):
        raise _no_base(branch)
    number = workflow.state.context.get("pr_number")
    if not isinstance(number, int):
        return _opened(wired, workflow, repository, forge, how)
    request = forge.get(number)
    facts = {"number": number, "url": request.url}
    if request.url != workflow.state.context.get("pr_url"):
        known = workflow.state.context.get("pr_url")
        said = f"the pull request of {workflow.id} is {known}, and this is {request.url}"
        raise Refused("pull_request_elsewhere", said, remedy=shell("git", "remote", "-v"), facts=facts)
    if request.state == "closed" or request.head != branch:
        said = f"pull request {number} is {'closed' if request.state == 'closed' else f'not of {branch}'}"
        ways: tuple[Remedy | str, ...] = (f"reopen it on {request.url}",)
        if request.state == "closed":
            ways += (
                remedies.cancel(workflow=workflow.state.ulid).given(reason=remedies.TEXT).replace(text="to give it up"),
            )
        raise Refused("pull_request_closed", said, remedy=ways, facts=facts)
    context = workflow.state.context
    seen = context.get(SEEN)
    folder = os.path.join(wired.place.base(workflow.state.worktree), words.home(workflow.state))
    prefix = os.path.relpath(folder, repository.top)
    handed_in = git_history.newest_of(repository, f"{prefix}/{at}/{words.STATUS_FILE}")
    loose = workspace.loose(wired, workflow.state, at)
    found = heard(
        _said(forge, number),
        slug=workflow.id,
        phases=workflow.state.plan.children(""),
        current=at,
        since=str(context.get("last_reviewed_at") or ""),
        seen=frozenset(seen if isinstance(seen, (list, tuple)) else ()),
        counts=lambda commit: not loose and _is_of_what_waits(repository, handed_in, commit, prefix),
    )
    told = _done(wired, workflow, at, found, forge, how)
    _pushed(repository, branch)
    return told


def _said(forge: Forge, number: int) -> Said:
    """The three lists as they were together: read again while somebody is still speaking."""
    said = before = None
    for _ in range(READINGS):
        said = Said(forge.reviews(number), forge.comments(number), forge.threads(number))
        if said == before:
            break
        before = said
    assert said is not None
    return said


def _is_of_what_waits(repository: git.Repository, handed_in: str, commit: str, workspace: str) -> bool:
    """Whether a review of this commit speaks of what was handed in, and nothing outside the workspace came after it."""
    known = bool(handed_in) and git_history.is_ancestor(repository, handed_in, commit)
    return known and git_history.is_same_outside(repository, commit, workspace)


def _pushed(repository: git.Repository, branch: str) -> None:
    if not git_changes.is_pushed(repository, branch):
        git_changes.push(repository, branch)


def _opened(
    wired: Wired, workflow: Workflow, repository: git.Repository, forge: Forge, how: Mapping[str, Any]
) -> tuple[str, ...]:
    state, branch = workflow.state, str(workflow.state.branch)
    base = feature_base.name(repository, state)
    if not base:
        raise _no_base(branch)
    made = pull_request.opened(wired, forge, state, base)
    workflow.execute(cmd.Record({"pr_url": made.url, "pr_number": made.number}), **how)
    _pushed(repository, branch)
    return (*workflow.said, f"pull request {made.url}")


def _no_base(branch: str) -> Refused:
    said = f"it is not known what {branch} is to be merged into"
    ways = shell("git", "remote", "set-head", "origin", "--auto")
    return Refused("no_base", said, remedy=ways, facts={"branch": branch})


def _done(
    wired: Wired, workflow: Workflow, at: str, found: Heard, forge: Forge, how: Mapping[str, Any]
) -> tuple[str, ...]:
    heard_up_to = cmd.Record({"last_reviewed_at": found.newest, SEEN: list(found.newest_ids)})
    later = [cmd.Advise(path, fitting(text)) for path, text in found.feedback.items() if path != found.earliest]
    if found.approved_by:
        together = cmd.Together((heard_up_to, *later, cmd.Approve(at)))
        _as_people(wired, workflow, together, found.approved_by[0], forge, **how)
        said = (*workflow.said, f"{at} is approved on the pull request by {', '.join(found.approved_by)}")
        following = queries.current(workflow.state)
        if following and workflow.state.step(following).status == lifecycle.PENDING:
            said += workflow.begin(following, **how).said
        return (*said, *found.remarks, *found.aside)
    if found.earliest:
        text = fitting(found.feedback[found.earliest])
        asked = cmd.Reject(at, text) if found.earliest == at else cmd.Reopen(found.earliest, text)
        _as_people(wired, workflow, cmd.Together((asked, *later, heard_up_to)), "reviewers", forge, **how)
        back = "" if found.earliest == at else f", and all phases up to {at} are worked on again"
        return (*workflow.said, f"changes of {found.earliest} are asked for on the pull request{back}", *found.aside)
    said = ()
    if later or found.newest != str(workflow.state.context.get("last_reviewed_at") or ""):
        said = workflow.execute(cmd.Together((*later, heard_up_to)), **how).said
    threads = f"{found.unresolved} unresolved thread{'' if found.unresolved == 1 else 's'} on the pull request"
    waits = f"{at} waits: {threads if found.unresolved else 'nobody has approved the pull request yet'}"
    return (*said, waits, *found.aside)


def _as_people(wired: Wired, workflow: Workflow, command: cmd.Together, login: str, forge: Forge, **how: Any) -> None:
    """Does what people said on the pull request, as theirs."""
    before = workflow.state
    people = Actor("human", f"{login}@{forge.source}", forge.name)
    address = forge.address_of(before.context["pr_number"])
    said = {"attested": (FORGE, address), "token": wired.settings.token, **how}
    after = wired.execute(before.ulid, command, people, **said)
    told = workspace.settle(wired, before, after, "")
    workflow.refresh().said = told
