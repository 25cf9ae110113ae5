"""The pull request of a feature: the forge that has it, and what it says of itself, kept up to date.

Holdfast writes only between two marks of the description. What people write around them stays, and where they removed
the marks, nothing is written any more.
"""

from __future__ import annotations

import os
import re
from _collections_abc import Sequence

from holdfast import git
from holdfast.core import lifecycle, queries
from holdfast.core.state import State
from holdfast.errors import HoldfastError
from holdfast.forges.port import Forge, PullRequest
from holdfast.machine import configuration
from holdfast.systems.gated import hand_in, words
from holdfast.systems.seam.trusted import content
from holdfast.systems.seam.wired import Wired

_BEGIN, _END = "<!-- holdfast: begin. Changes up to the end mark are overwritten. -->", "<!-- holdfast: end -->"
_BETWEEN = re.compile(rf"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
_MOST_FILES = 30
_STANDING = {
    lifecycle.ACTIVE: "in progress",
    lifecycle.IN_REVIEW: "in review by an agent",
    lifecycle.WAITING: "waits for a person",
    lifecycle.DONE: "approved",
    lifecycle.SKIPPED: "skipped",
    lifecycle.ESCALATED: "escalated: a person decides how it continues",
    lifecycle.FAILED: "failed",
    lifecycle.BLOCKED: "blocked",
}
_GUIDE = """\
## For reviewers

- What a phase hands in is in `{home}/PHASE/`, the reviews of it in `{home}/PHASE/reviews/`. The code belongs to
  `03-implementation` and `04-testing`.
- Approve the pull request to let the phase that waits pass. An approval is of the commit that you looked at.
- Comment on files of `{home}/` or on code to ask for changes: the earliest phase that you comment on is worked on
  again, and what you say of later ones waits for them. This holds until the feature is finalized.
- A thread that is not resolved holds back the approval of its phase.
"""
_RULES = (
    "## Rules that this branch changes\n\nHoldfast itself goes by these files, or its checks run what they say. "
    "Read them before you approve:\n\n"
)
_FINALIZED = "The feature is finalized: its documents are published in `docs/`, and `{home}/` is deleted.\n"


def forge_of(wired: Wired, state: State) -> Forge | str:
    """The forge that the branch is pushed to; or why people decide by Holdfast's own commands alone."""
    place = wired.place
    has_branch = git.find(place.base(state.worktree)) is not None and state.branch
    if not has_branch or _does_without(wired, state):
        return f"{configuration.CONFIG} says that no pull request is used"
    forge = wired.forge(state.worktree, strict=True)
    why = forge.refusal
    if why is None:
        return forge
    if forge.name == "none":
        return why.message
    if number(state):
        raise why
    return f"{why.message}: {why.remedy}"


def _does_without(wired: Wired, state: State) -> bool:
    """Whether the project uses no pull requests. One that is open is heard until a person trusts what says otherwise:
    a branch does not silence its own review.
    """
    root = wired.place.root
    if configuration.uses_pull_requests(root):
        return False
    path = os.path.join(root, configuration.CONFIG)
    return not number(state) or wired.is_trusted(content(path).digest, path)


def number(state: State) -> int:
    """The number of the pull request; 0 while there is none."""
    found = state.context.get("pr_number")
    return found if isinstance(found, int) else 0


def opened(wired: Wired, forge: Forge, state: State, base: str) -> PullRequest:
    """Opens the pull request, or takes the one that is open: its own words stay, and the checklist goes below them."""
    title = f"[Feature] {state.title or state.subject}"[:256]
    kept = _kept(state, _changed_rules(wired, state))
    made = forge.open(str(state.branch), base, title, f"{state.subject}\n\n{kept}\n")
    if not _BETWEEN.search(made.body):
        forge.describe(made.number, f"{made.body}\n\n{kept}\n".lstrip())
    return made


def describe(wired: Wired, state: State) -> tuple[str, ...]:
    """Brings the description up to date; what is said where that fails, which stops nothing else."""
    if not number(state):
        return ()
    try:
        forge = forge_of(wired, state)
        if isinstance(forge, str):
            return ()
        request, rules = forge.get(number(state)), _changed_rules(wired, state)
        text = _BETWEEN.sub(lambda _: _kept(state, rules), request.body.replace("\r\n", "\n"), count=1)
        if request.state == "open" and text != request.body.replace("\r\n", "\n"):
            forge.describe(request.number, text)
    except HoldfastError as failure:
        return (f"the description of the pull request is not up to date: {failure.message}",)
    return ()


def _changed_rules(wired: Wired, state: State) -> list[str]:
    return [*hand_in.rules(wired, state), *hand_in.commands(wired, state)]


def _kept(state: State, rules: Sequence[str]) -> str:
    home = words.home(state)
    guide = _FINALIZED.format(home=home) if state.finalized else f"{_now(state)}{_GUIDE.format(home=home)}"
    if rules:
        listed = "".join(f"- `{_plain(path)}`\n" for path in rules[:_MOST_FILES])
        more = f"- {len(rules) - _MOST_FILES} more\n" if len(rules) > _MOST_FILES else ""
        guide = f"{_RULES}{listed}{more}\n{guide}"
    return (
        f"{_BEGIN}\n"
        f"This feature is developed in phases, each of which waits here for a review:\n\n{_checklist(state)}\n\n"
        f"{guide}{_END}"
    )


def _checklist(state: State) -> str:
    rows = []
    for path in state.plan.children(""):
        status = state.step(path).status
        mark = "x" if status in lifecycle.FINISHED else " "
        standing = f" ({_STANDING[status]})" if status in _STANDING else ""
        rows.append(f"- [{mark}] {path}: {state.plan.step(path).description}{standing}")
    return "\n".join(rows)


def _now(state: State) -> str:
    """What to look at: the files of the phase that waits for a person."""
    at = queries.current(state)
    if at is None or state.step(at).status != lifecycle.WAITING:
        return ""
    listed = sorted({one.path for one in state.step(at).artifacts.values()})
    rows = [f"- `{_plain(path)}`" for path in listed[:_MOST_FILES]]
    if len(listed) > _MOST_FILES:
        rows.append(f"- {len(listed) - _MOST_FILES} more")
    handed_in = "\n".join(rows)
    return f"## To review now\n\n`{at}`, round {words.iterations(state, at)}. Handed in:\n\n{handed_in}\n\n"


def _plain(path: str) -> str:
    """A path that ends neither the code that it is in nor a mark."""
    return path.replace("`", "'").replace("<!--", "< !--")
