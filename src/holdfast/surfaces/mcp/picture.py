"""What a person is shown before they approve: the artifacts, how they begin, and what is new since the last time."""

from __future__ import annotations

import os
from _collections_abc import Mapping
from difflib import unified_diff

from holdfast.core import lifecycle, provenance, refusals
from holdfast.core.state import Grant, Progress
from holdfast.core.value import Any
from holdfast.documents import approved
from holdfast.engine.world import LARGEST_ARTIFACT
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import spaced
from holdfast.plain.terminal import escape
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving

MOST = 6000
"""How many characters a question has; only what is shown of the artifacts is cut for it."""
CUT = "\n… cut; the files have the rest"
_LINES, _WIDE = 12, 160
_DIFFERENT = 40
_ARTIFACTS = 8


def picture(
    project: Project, workflow: Workflow, path: str, hashes: Mapping[str, str], modifications: Mapping[str, Any]
) -> str:
    """The question, as text. Whatever comes from files or people is escaped.

    What the agent wants recorded comes before the artifacts, whose part alone is cut: nobody agrees to what is hidden.
    """
    state = workflow.state
    step, progress = state.plan.step(path), state.step(path)
    out = [f"Approve “{step.label}” ({path}, attempt {max(progress.attempt, 1)}) of {state.id}?"]
    about = state.title or state.subject
    out += [about] if about else []
    out += approving.about(workflow, path)
    if progress.status == lifecycle.ESCALATED:
        out.append(f"It was escalated: {progress.reason}. To approve is to override that.")
    if modifications:
        out.append(f"The agent says that you want these changes: {spaced(dict(modifications))}")
    out += [
        f"check {name}: {'passed' if one.passed else 'failed'} ({provenance.how(one) or one.run_by})"
        for name, one in progress.evidence.items()
    ]
    out += [f"review: {one.verdict.replace('_', ' ')} by {one.by}" for one in progress.verdicts[-1:]]
    head = escape("\n".join(out), lines=True)
    files = escape("\n".join(_artifacts(project, workflow, path, hashes)), lines=True)
    room = max(0, MOST - len(head))
    return f"{head}\n{files if len(files) <= room else files[:room] + CUT}"


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
        if not now:
            continue
        content = _sealed(os.path.join(base, artifact.path), now, path)
        old = approved.copy(project.wired.place, workflow.ulid, before.hashes.get(name, "")) if before else None
        out += _new(name, before, now, content, old)
    if len(named) > _ARTIFACTS:
        out.append(f"and {len(named) - _ARTIFACTS} more")
    return [*out, ""]


def _sealed(file: str, hashed: str, path: str) -> bytes:
    """How a file begins, if it still is the one that would be approved."""
    content = read_regular(file, LARGEST_ARTIFACT)
    if content is None or digest(content) != hashed:
        raise refusals.changed_meanwhile(path)
    return content[: approved.LARGEST + 1]


def _last(progress: Progress) -> Grant | None:
    """The last approval that was really given."""
    grants = (progress.grant, *reversed(progress.past_grants))
    return next((grant for grant in grants if grant and not grant.claimed), None)


def _new(name: str, before: Grant | None, now: str, content: bytes, old: bytes | None) -> list[str]:
    """What is different since the last approval; how it begins, where there was none or it was not kept."""
    hashed = before.hashes.get(name, "") if before else ""
    if before and hashed == now:
        return [f"  the same as approved at {before.at}"]
    if before and old is not None and len(content) <= approved.LARGEST:
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
    shown = [f"  | {_narrow(line)}" for line in lines[:_LINES]]
    return [*shown, *([f"  | … {len(lines) - _LINES} more lines"] if len(lines) > _LINES else [])]


def _narrow(line: str) -> str:
    return line if len(line) <= _WIDE else f"{line[:_WIDE]}…"


def _difference(old: bytes, new: bytes) -> list[str]:
    before, after = _text(old), _text(new)
    if before is None or after is None:
        return [f"  {len(old)} bytes before, {len(new)} now"]
    lines = [_narrow(line) for line in unified_diff(before, after, n=1, lineterm="")][2:]
    more = [f"  … {len(lines) - _DIFFERENT} more lines"] if len(lines) > _DIFFERENT else []
    return [*(f"  {line}" for line in lines[:_DIFFERENT]), *more]
