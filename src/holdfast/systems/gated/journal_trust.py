"""What a journal from outside must not bring: paths and commands that nobody here decided about."""

from __future__ import annotations

import os

from holdfast.core import gates, lifecycle, policies, remedies
from holdfast.core.definition import BUILT_IN, Check
from holdfast.core.remedy import Remedy, quoted, shell
from holdfast.core.state import State
from holdfast.errors import Broken, Conflict
from holdfast.git.changes import is_branch_name
from holdfast.machine.configuration import CONFIG
from holdfast.systems.gated import words
from holdfast.systems.seam.wired import Wired


def require_sound(wired: Wired, slug: str, worktree: str, state: State) -> None:
    """A journal from outside says nothing of where files are here, nor which commands may run."""
    name = f"{words.HOME}/{slug}/{words.JOURNAL}"
    brought = _brought(wired, worktree, state)
    told = ", ".join(" ".join(map(quoted, one.run)) for one in brought)
    wrong = [
        what
        for what, is_wrong in {
            f"it is the journal of {state.id}": (state.id, state.dialect) != (slug, "gated"),
            "it was started in a linked worktree of another machine": state.worktree != worktree,
            "it names files elsewhere": bool(state.file or state.session),
            "its branch cannot be the name of one": not is_branch_name(state.branch or ""),
            "it asks for no approval of a phase, or leaves one out": not _is_gated(state),
            f"it brings commands of its own, which this project does not have: {told}": bool(brought),
        }.items()
        if is_wrong
    ]
    if wrong:
        said = f"{name} is not applied: {'; '.join(wrong)}"
        ways: tuple[Remedy, ...] = (shell("git", "log", "--", name),)
        if len(wrong) == 1 and brought and all(one.uses for one in brought):
            named = f"to let it run, write {brought[0].uses} = '{told}' below [commands] in {CONFIG}, then"
            ways = (remedies.trust(CONFIG, text=named), *ways)
        raise Conflict("copy_refused", said, remedy=ways, facts={"reasons": wrong})


def _brought(wired: Wired, worktree: str, state: State) -> list[Check]:
    """The checks whose commands are neither found in this project, nor in its configuration as somebody trusted it, nor
    in the journal here.

    What a definition of the project's own says is trusted with that, when it is to run.
    """
    brought = _checks(state)
    here = _checks_here(wired, state) if brought else []
    checks = [check for check in brought if check not in here]
    if not checks:
        return []
    from holdfast.checks import tooling
    from holdfast.systems.seam.trusted import content

    place = wired.place
    config, base = os.path.join(place.root, CONFIG), place.base(worktree)
    trusted = os.path.exists(config) and wired.is_trusted(content(config).digest, config)
    found: list[Check] = []
    for one in checks:
        if not one.uses and state.source not in ("", BUILT_IN):
            continue
        known = [tooling.commands(place.root, base), tooling.nearest(base, [os.path.join(one.folder, "x")])]
        tools = [table.get(one.uses) for table in known] if one.uses else []
        own = [tool for tool in tools if tool and (tool.source != CONFIG or trusted)]
        if not any((tool.run, tool.folder) == (one.run, one.folder) for tool in own) and one not in found:
            found.append(one)
    return found


def _checks_here(wired: Wired, state: State) -> list[Check]:
    """None where the journal here cannot be read: the copy may be there to fix it."""
    try:
        return _checks(wired.store.load(state.ulid)) if wired.store.has(state.ulid) else []
    except Broken:
        return []


def _checks(state: State) -> list[Check]:
    return [check for path in state.plan.paths for check in state.plan.step(path).checks if check.run]


def _is_gated(state: State) -> bool:
    """Whether every phase asks for a person: the lines of a journal from outside were decided by nobody here."""
    asking = [p for p in words.PHASES if p in state.plan and policies.asks_for_person(gates.policy(state.plan.step(p)))]
    return len(asking) == len(words.PHASES) and not any(state.step(p).status == lifecycle.SKIPPED for p in asking)
