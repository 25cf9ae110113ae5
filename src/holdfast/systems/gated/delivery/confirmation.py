"""Approvals that other clones heard on the pull request: the forge is asked again, and what it still says is taken.

A review is of a commit. That commit has to be one in which the phase waited for people, with the files that were
approved.
"""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core import gates
from holdfast.core.recognition import FORGE
from holdfast.core.state import Grant, State
from holdfast.documents.lens.fields import object_in as within
from holdfast.forges.port import Forge, Review
from holdfast.git import history
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import object_in
from holdfast.systems.gated import hand_in, words
from holdfast.systems.gated.remarks import BELONGING
from holdfast.systems.seam.ports import Workflow
from holdfast.systems.seam.wired import Wired


def claimed(workflow: Workflow) -> dict[str, Grant]:
    """The phases whose approvals on the pull request are only claimed here."""
    state = workflow.state
    grants = {path: state.step(path).grant for path in gates.claimed(state, workflow.facts())}
    return {path: grant for path, grant in grants.items() if grant and grant.how == FORGE}


def found(
    wired: Wired, repository: git.Repository, base: str, state: State, forge: Forge, number: int
) -> dict[str, str]:
    """Who approved each phase, for those commits of the branch of which a review says so."""
    approved: dict[str, str] = {}
    for review in forge.reviews(number):
        if review.state == "APPROVED" and review.association in BELONGING:
            phase = _waiting(repository, base, state, review)
            grant = state.step(phase).grant if phase else None
            if grant and all(
                _is_in(wired, repository, base, state, review, phase, *one) for one in grant.hashes.items()
            ):
                approved[phase] = review.author
    return approved


def _waiting(repository: git.Repository, base: str, state: State, review: Review) -> str:
    """The phase that waited for people in the commit that was looked at."""
    if not review.commit or not history.is_ancestor(repository, review.commit, git.head(repository) or ""):
        return ""
    path = os.path.join(base, words.home(state), words.DOCUMENT)
    phases = within(object_in(git.head_blob(repository, path, review.commit)) or {}, "phases")
    waited = [one for one in words.PHASES if within(phases, one).get("status") == words.USER_REVIEW]
    return waited[0] if len(waited) == 1 else ""


def _is_in(
    wired: Wired,
    repository: git.Repository,
    base: str,
    state: State,
    review: Review,
    phase: str,
    name: str,
    hashed: str,
) -> bool:
    artifact = state.step(phase).artifacts.get(name)
    if name == hand_in.CODE and artifact:
        return hand_in.hash_at(wired, repository, state, artifact, review.commit) == hashed
    data = git.head_blob(repository, os.path.join(base, artifact.path), review.commit) if artifact else None
    return data is not None and digest(data) == hashed
