"""What a person is shown before they approve: the artifacts, how they begin, and what is new since the last time."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import approved
from holdfast.core import lifecycle
from holdfast.core.state import Grant, Progress
from holdfast.place import regular
from holdfast.plainjson import spaced
from holdfast.surfaces.terminal import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.project import Project
    from holdfast.workflow import Workflow

MOST = 6000
"""How many characters a question has at most."""
_LINES, _WIDE = 12, 160
_DIFFERENT = 40
_ARTIFACTS = 8


def picture(
    project: Project, workflow: Workflow, path: str, hashes: Mapping[str, str], modifications: Mapping[str, Any]
) -> str:
    """The question, as text. Whatever comes from files or people is escaped, and cut where it is long."""
    state = workflow.state
    step, progress = state.plan.step(path), state.step(path)
    out = [f"Approve “{step.label}” ({path}, attempt {max(progress.attempt, 1)}) of {state.id}?"]
    about = state.title or state.subject
    out += [about] if about else []
    if progress.status == lifecycle.ESCALATED:
        out.append(f"It was escalated: {progress.reason}. To approve is to override that.")
    out += _artifacts(project, workflow, path, hashes)
    out += [
        f"check {name}: {'passed' if one.passed else 'failed'} ({one.run_by})"
        for name, one in progress.evidence.items()
    ]
    out += [f"review: {one.verdict.replace('_', ' ')} by {one.by}" for one in progress.verdicts[-1:]]
    if modifications:
        out.append(f"The agent says that you want these changes: {spaced(dict(modifications))[:600]}")
    text = escape("\n".join(out), lines=True)
    return text if len(text) <= MOST else f"{text[:MOST]}\n… cut; the files have the rest"


def _artifacts(project: Project, workflow: Workflow, path: str, hashes: Mapping[str, str]) -> list[str]:
    progress = workflow.state.step(path)
    named = list(progress.artifacts.items())
    if not named:
        return ["It has no artifacts."]
    before = _last(progress)
    base = project.wired.place.base(workflow.state.worktree)
    out: list[str] = []
    for name, artifact in named[:_ARTIFACTS]:
        now = hashes[name]
        word = "" if now == artifact.hash else ", changed since it was handed in" if now else ", missing"
        out += ["", f"{name}: {artifact.path} ({now[:12] or 'not there'}{word})"]
        try:
            content = regular(os.path.join(base, artifact.path), approved.LARGEST)
        except OSError:
            continue
        old = approved.copy(project.wired.place, workflow.ulid, before.hashes.get(name, "")) if before else None
        out += _new(name, before, now, content, old)
    if len(named) > _ARTIFACTS:
        out.append(f"and {len(named) - _ARTIFACTS} more")
    return [*out, ""]


def _last(progress: Progress) -> Grant | None:
    """The last approval that was really given."""
    given = [
        grant for grant in (*progress.past_grants, *((progress.grant,) if progress.grant else ())) if not grant.claimed
    ]
    return given[-1] if given else None


def _new(name: str, before: Grant | None, now: str, content: bytes, old: bytes | None) -> list[str]:
    """What is different since the last approval; how it begins, where there was none or it was not kept."""
    hashed = before.hashes.get(name, "") if before else ""
    if before and hashed == now:
        return [f"  the same as approved at {before.at}"]
    if before and old is not None and len(content) < approved.LARGEST:
        return [f"  changed since the approval of {before.at}:", *_difference(old, content)]
    told = [f"  changed since the approval of {before.at}; it begins:"] if before and hashed else []
    return [*told, *_beginning(content)]


def _text(content: bytes) -> list[str] | None:
    """Its lines. What was read may end in the middle of a character."""
    try:
        return content.decode().splitlines()
    except UnicodeDecodeError as odd:
        return None if odd.start < len(content) - 3 else content[: odd.start].decode().splitlines()


def _beginning(content: bytes) -> list[str]:
    lines = _text(content)
    if lines is None:
        return [f"  {len(content)} bytes that are no text"]
    shown = [f"  | {line[:_WIDE]}" for line in lines[:_LINES]]
    return [*shown, *([f"  | … {len(lines) - _LINES} more lines"] if len(lines) > _LINES else [])]


def _difference(old: bytes, new: bytes) -> list[str]:
    from difflib import unified_diff

    before, after = _text(old), _text(new)
    if before is None or after is None:
        return [f"  {len(old)} bytes before, {len(new)} now"]
    lines = [line[:_WIDE] for line in unified_diff(before, after, n=1, lineterm="")][2:]
    more = [f"  … {len(lines) - _DIFFERENT} more lines"] if len(lines) > _DIFFERENT else []
    return [*(f"  {line}" for line in lines[:_DIFFERENT]), *more]
