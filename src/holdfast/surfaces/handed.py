"""What a person is shown of the work that they decide about: its files, how they begin, and what is new in them."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import refusals
from holdfast.core.facts import HandIn
from holdfast.core.state import Progress, State
from holdfast.core.value import Value
from holdfast.documents import approved
from holdfast.engine.world import LARGEST_ARTIFACT
from holdfast.machine.place import Place, read_regular
from holdfast.plain.digest import digest
from holdfast.project.workflow import Workflow
from holdfast.surfaces import excerpt, inputs
from holdfast.systems.seam.registry import texts

SHORT, WHOLE, LONG = (12, 40), (400, 400), (2000, 2000)
"""How many lines of a file are shown, and of what is different in it: in a form, on a terminal, in a pager."""
_ARTIFACTS = 8
_CHANGED = 60
NOTHING = "It has no artifacts."


class Past(Value):
    """What was decided about before: an approval or a review, with what it was of."""

    word: str
    at: str
    hashes: Mapping[str, str]


def lines(
    place: Place,
    workflow: Workflow,
    path: str,
    hashes: Mapping[str, str],
    most: int = _ARTIFACTS,
    *,
    room: tuple[int, int] = SHORT,
) -> list[str]:
    """The files with what is different since they were last decided about, else how they begin, and what is approved
    without being in a file; nothing is escaped.
    """
    state = workflow.state
    progress, handed = state.step(path), workflow.facts().hand_ins.get(path)
    files = _files(progress, handed)
    plan = texts(state.dialect).approved(state, path)[: room[1]]
    if not files:
        return [*plan, ""] if plan else inputs.lines(place, workflow, path, most, room) or [NOTHING]
    base = place.base(state.worktree)
    out: list[str] = []
    before = _past(progress, hashes)
    found = {name for name, file in files.items() if os.path.lexists(os.path.join(base, file))}
    for name, file in list(files.items())[:most]:
        now, known = hashes.get(name, ""), progress.artifacts.get(name)
        word = ", missing" if not now else ", not handed in" if known is None else ""
        word = word or ("" if known is None or now == known.hash else ", changed since it was handed in")
        out += ["", f"{name}: {file} ({now[:12] or 'not there'}{word})"]
        if not now:
            continue
        is_told = handed is not None and digest(handed.changes) == now
        is_code = handed is not None and (is_told or (bool(handed.files) and not handed.changes and name not in found))
        content = handed.changes if handed is not None and is_told else _sealed(os.path.join(base, file), now, path)
        out += _overview(handed) if handed is not None and is_code else []
        last = before or _elsewhere(state, path, name)
        hashed = last.hashes.get(name, "") if last else ""
        old = approved.copy(place, workflow.ulid, hashed) if last else None
        how = excerpt.Ways() if is_code else excerpt.ways(place, base, file)
        out += _new(last, hashed, now, content, old, room, how)
    if len(files) > most:
        out.append(f"and {len(files) - most} more")
    return [*out, *plan, *_rules(handed), ""]


def _rules(whole: HandIn | None) -> list[str]:
    """What is said where the branch changes what Holdfast itself goes by."""
    if whole is None or not whole.rules:
        return []
    many = len(whole.rules)
    shown = f"this branch changes the rules of Holdfast: {', '.join(whole.rules[:_CHANGED])}"
    return ["", f"{shown} and {many - _CHANGED} more" if many > _CHANGED else shown]


def _overview(whole: HandIn) -> list[str]:
    """Every file that a branch changes, with how many lines, and the command that shows all of them."""
    rows: list[str] = []
    for section in (b"\n" + whole.changes).split(b"\ndiff ")[1:]:
        name, _, body = section.partition(b"\n")
        lines = body.split(b"\n")
        counts = [(sign, sum(line.startswith(sign.encode()) for line in lines)) for sign in ("+", "-")]
        told = "".join(f" {sign}{many}" for sign, many in counts if many) or (" deleted" if body == b"deleted" else "")
        rows.append(os.fsdecode(name) + told)
    rows = rows or list(whole.files)
    more = f" and {len(rows) - _CHANGED} more" if len(rows) > _CHANGED else ""
    listed = f"{len(rows)} file{'' if len(rows) == 1 else 's'}: {', '.join(rows[:_CHANGED])}{more}"
    if not whole.since:
        return [f"  {listed}", *(["  git ls-files shows all of them"] if more else [])]
    names = [f"  git diff --stat=200 {whole.since[:12]} HEAD lists all of them"] if more else []
    return [f"  {listed}", *names, f"  git diff {whole.since[:12]} HEAD shows all of it"]


def _files(progress: Progress, whole: HandIn | None) -> dict[str, str]:
    known = {name: artifact.path for name, artifact in progress.artifacts.items()}
    return known if whole is None else {**{name: one[0] for name, one in whole.parts.items()}, **known}


def _sealed(file: str, hashed: str, path: str) -> bytes | None:
    """The content of a file, if it still is the one that is decided about; None for what is no file."""
    if os.path.islink(file) or not os.path.lexists(file):
        return None
    content = read_regular(file, LARGEST_ARTIFACT)
    if content is None or digest(content) != hashed:
        raise refusals.changed_meanwhile(path)
    return content


def _past(progress: Progress, hashes: Mapping[str, str]) -> Past | None:
    """The newest approval that was really given, or review, of something else than this; else the newest of this."""
    given = [one for one in (progress.grant, *progress.past_grants) if one and not one.claimed]
    said = [Past("approval", one.at, one.hashes) for one in given]
    said += [Past("review", one.at, one.hashes) for one in progress.verdicts if one.hashes]
    said.sort(key=lambda one: one.at)
    other = [one for one in said if dict(one.hashes) != dict(hashes)]
    approvals = [one for one in said if one.word == "approval"]
    return next(iter(other[-1:] or approvals[-1:]), None)


def _elsewhere(state: State, path: str, name: str) -> Past | None:
    """The approval of a part that a step before this one handed in under the same name, such as the code."""
    earlier = state.plan.paths[: state.plan.place(path)]
    grants = (state.step(one).grant for one in reversed(earlier))
    found = next((one for one in grants if one and not one.claimed and name in one.hashes), None)
    return Past("approval", found.at, found.hashes) if found else None


def _new(
    before: Past | None,
    hashed: str,
    now: str,
    content: bytes | None,
    old: bytes | None,
    room: tuple[int, int],
    how: excerpt.Ways,
) -> list[str]:
    """What is different since it was decided about; how it begins, where it was not or was not kept."""
    if before and hashed == now:
        return [f"  the same as at the {before.word} of {before.at}"]
    if content is None:
        return ["  no file, or a link"]
    changed = f"  changed since the {before.word} of {before.at}" if before and hashed else ""
    if old is not None and len(content) <= excerpt.COMPARED:
        return [f"{changed}:", *excerpt.difference(old, content, room[1], how.whole)]
    told = [f"{changed}; it begins:"] if changed else []
    compare = [excerpt.compare(how)] if changed and how.whole else []
    return [*told, *excerpt.beginning(content, room[0], how.whole), *compare]
