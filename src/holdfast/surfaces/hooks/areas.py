"""Where an agent may write because of its role: a reviewer nothing but its review, a creator no review."""

from __future__ import annotations

from holdfast.surfaces.hooks import patterns, places
from holdfast.surfaces.hooks.calls import clean, rows, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Iterator
    from typing import Any

    from holdfast.surfaces.hooks.calls import Call
    from holdfast.surfaces.hooks.writes import Target

_MOVING = frozenset(("am", "cherry-pick", "commit", "merge", "pull", "push", "rebase", "revert", "tag"))
"""Commands of git that change the branch or its files, whichever they are."""


def is_of(call: Call, roles: list[str]) -> bool:
    """Whether the agent is of one of these roles. One that came with a plugin has the plugin's name before its own."""
    names = (call.agent, call.agent.rpartition(":")[2])
    return bool(call.agent) and any(patterns.matches(role, name) for role in roles for name in names)


def outside(call: Call, workflows: list[dict[str, Any]], mine: list[dict[str, Any]]) -> str:
    """Why the agent's role keeps it from writing what it is about to; empty when it may."""
    if not call.agent or not (call.targets or call.commands):
        return ""
    for workflow in workflows:
        for area in _areas(call, workflow):
            base, never = text(workflow, "worktree") or call.root, texts(area, "never")
            for target in call.targets:
                if any(_lies_in(target, f"{base}/{path}") for path in never):
                    return (
                        f"{clean(call.agent)} writes no reviews of {clean(text(workflow, 'id'))}, and"
                        f" {clean(target.shown)} is where they are. A reviewer writes them; report to the lead agent."
                    )
    return _beside(call, mine)


def _beside(call: Call, mine: list[dict[str, Any]]) -> str:
    """Of roles that write one file only: what is another one, in this project."""
    held = [(one, area) for one in mine for area in _areas(call, one) if texts(area, "only")]
    if not held:
        return ""
    own = [f"{text(one, 'worktree') or call.root}/{path}" for one, area in held for path in texts(area, "only")]
    bases = {call.root, call.worktree, *(text(one, "worktree") for one, _ in held)} - {""}
    wrong = next((target.shown for target in call.targets if not _is_allowed(target, own, bases)), "")
    wrong = wrong or next((" ".join(one.bare) for one in call.commands if _moves_the_branch(one.bare)), "")
    if not wrong:
        return ""
    return (
        f"{clean(call.agent)} changes nothing but its review, {', '.join(clean(path) for path in _shown(held))}:"
        f" {clean(wrong)}. Write there what you found, and report it to the lead agent."
    )


def _areas(call: Call, workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (area for area in rows(workflow, "areas") if is_of(call, texts(area, "roles")))


def _shown(held: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[str]:
    return [path for _, area in held for path in texts(area, "only")]


def _lies_in(target: Target, folder: str) -> bool:
    """Whether a target is a folder, is below it, or takes it away with one that it is in."""
    above = target.takes == "folder"
    return any(
        spot == folder or bool(places.below(folder, spot)) or (above and bool(places.below(spot, folder)))
        for spot in target.spots
    )


def _is_allowed(target: Target, own: list[str], bases: set[str]) -> bool:
    """The file itself, the folders on the way to it, and what is in no folder of the project.

    Of a copy it is not known whether its target is a file or a folder, so that what is in it is named as well.
    """
    for spot in target.spots:
        is_own = any(spot == path or places.below(path, spot) for path in own)
        is_way = target.takes == "file" and any(places.below(spot, path) for path in own)
        inside = any(spot == base or places.below(base, spot) for base in bases)
        if inside and not is_own and not is_way:
            return False
    return True


def _moves_the_branch(words: list[str]) -> bool:
    if len(words) < 2 or words[0].rpartition("/")[2] != "git" or words[1] not in _MOVING:
        return False
    from holdfast.surfaces.hooks import worktrees

    return not worktrees.only_prints(words[1:])
