"""What a person is shown of the work that they decide about: its files, how they begin, and what is new in them."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import covered, refusals
from holdfast.core.facts import HandIn
from holdfast.core.state import Artifact, Progress, State
from holdfast.core.value import Value
from holdfast.documents import approved
from holdfast.engine.world import LARGEST_ARTIFACT
from holdfast.machine.place import Place, read_regular
from holdfast.plain.digest import digest
from holdfast.project.workflow import Workflow
from holdfast.surfaces import excerpt
from holdfast.surfaces.excerpt import Excerpt, Room
from holdfast.systems.seam.registry import texts

SHORT, WHOLE, LONG, PAGE = Room(12, 40), Room(400, 400), Room(2000, 2000), Room(2000, 2000, 2000)
"""What is shown in a form, on a terminal, in a pager, and on a page."""
ARTIFACTS, MANY = 8, 30
"""How many files are shown in a form, and on a terminal or a page; the rest is counted."""
_CHANGED = 60
NOTHING = "It has no artifacts."
OTHERS = "It has no artifacts of its own. The approval is for the work of the steps before it:"


BACK = "sent back"
_BACK = ("revised", "rejected", "reopened", "failed")
"""Moves with which work goes back to be changed."""


class Past(Value):
    """What was decided about before: an approval, a review, or that it goes back, with what it was of."""

    word: str
    at: str
    hashes: Mapping[str, str]

    @property
    def named(self) -> str:
        return f"it was {BACK}, {self.at}" if self.word == BACK else f"the {self.word} of {self.at}"


class File(Value):
    """One file: how it is named where it was handed in, its hash now, and what is shown of it, line by line."""

    name: str
    path: str
    hash: str
    word: str = ""
    """What is to be known of it before anything else, such as that it is missing."""
    told: tuple[str, ...] = ()
    is_whole: bool = False
    """Whether what is told is all that there is to see of it, or all that is new in it."""

    @property
    def head(self) -> str:
        word = f", {self.word}" if self.word else ""
        return f"{self.name}: {self.path} ({self.hash[:12] or 'not there'}{word})"


class Handed(Value):
    """What is decided about: files, and what is approved without being in a file."""

    files: tuple[File, ...] = ()
    left_out: int = 0
    plan: tuple[str, ...] = ()
    rules: str = ""
    heading: str = ""
    """Whose files these are, where the step handed in none itself."""

    def lines(self) -> list[str]:
        """All of it as text; nothing is escaped."""
        if not self.files:
            return [*self.plan, ""] if self.plan else [NOTHING]
        out = [self.heading] if self.heading else []
        out += [line for one in self.files for line in ("", one.head, *one.told)]
        out += [f"and {self.left_out} more"] if self.left_out else []
        return [*out, *self.plan, *(["", self.rules] if self.rules else []), ""]


def shown(
    place: Place,
    workflow: Workflow,
    path: str,
    hashes: Mapping[str, str],
    most: int = ARTIFACTS,
    *,
    room: Room = SHORT,
) -> Handed:
    """The files with what is different since they were last decided about, else how they begin, and what is approved
    without being in a file.
    """
    state = workflow.state
    progress, handed = state.step(path), workflow.facts().hand_ins.get(path)
    known, whose = covered.files(state, path), _whose(state, path)
    files = _files(known, handed)
    plan = tuple(texts(state.dialect).approved(state, path)[: room.changed])
    if not files:
        return Handed(plan=plan)
    base = place.base(state.worktree)
    out: list[File] = []
    before = _past(progress, hashes, _sent_back(place, workflow, path))
    found = {name for name, file in files.items() if os.path.lexists(os.path.join(base, file))}
    if len(files) > most:  # what changed is never among those that are only counted
        files = dict(sorted(files.items(), key=lambda one: _is_as_handed_in(known.get(one[0]), hashes.get(one[0], ""))))
    for name, file in list(files.items())[:most]:
        now, artifact = hashes.get(name, ""), known.get(name)
        word = "missing" if not now else "not handed in" if artifact is None else ""
        word = word or ("" if _is_as_handed_in(artifact, now) else "changed since it was handed in")
        one = File(whose.get(name, name), file, now, word)
        if now:
            is_told = handed is not None and digest(handed.changes) == now
            is_code = handed is not None and (
                is_told or (bool(handed.files) and not handed.changes and name not in found)
            )
            content = handed.changes if handed is not None and is_told else _sealed(os.path.join(base, file), now, path)
            last = before or _elsewhere(state, path, name, file)
            hashed = last.hashes.get(name, "") if last else ""
            old = approved.copy(place, workflow.ulid, hashed) if last else None
            how = excerpt.Ways() if is_code else excerpt.ways(place, base, file)
            new = _new(last, hashed, now, content, old, room, how)
            told = (*(_overview(handed) if handed is not None and is_code else ()), *new.lines)
            told += (excerpt.compare(how),) if word and not last and how.whole else ()
            one = one.replace(told=told, is_whole=new.is_whole)
        out.append(one)
    return Handed(tuple(out), max(0, len(files) - most), plan, _rules(handed), OTHERS if whose else "")


def _rules(whole: HandIn | None) -> str:
    """What is said where the branch changes what Holdfast itself goes by, or what its checks run."""
    changed = {"the rules of Holdfast": whole.rules, "what the checks run": whole.commands} if whole else {}
    told = (
        f"{what}: {', '.join(files[:_CHANGED])}"
        + (f" and {len(files) - _CHANGED} more" if len(files) > _CHANGED else "")
        for what, files in changed.items()
        if files
    )
    said = "; ".join(told)
    return f"this branch changes {said}" if said else ""


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


def _files(known: Mapping[str, Artifact], whole: HandIn | None) -> dict[str, str]:
    named = {name: artifact.path for name, artifact in known.items()}
    return named if whole is None else {**{name: one[0] for name, one in whole.parts.items()}, **named}


def _whose(state: State, path: str) -> dict[str, str]:
    """Of files that other steps handed in, by their paths: under which name, and in which step."""
    if not covered.is_of_others(state, path):
        return {}
    progress = ((step, state.step(step)) for step in state.plan.paths)
    named = {one.path: f"{name} of {step}" for step, done in progress for name, one in done.artifacts.items()}
    return {file: named[file] for file in covered.files(state, path)}


def _sealed(file: str, hashed: str, path: str) -> bytes | None:
    """The content of a file, if it still is the one that is decided about; None for what is no file."""
    if os.path.islink(file) or not os.path.lexists(file):
        return None
    content = read_regular(file, LARGEST_ARTIFACT)
    if content is None or digest(content) != hashed:
        raise refusals.changed_meanwhile(path)
    return content


def _sent_back(place: Place, workflow: Workflow, path: str) -> Past | None:
    """What was sent back last, where copies of it were kept."""
    state, known = workflow.state, workflow.state.step(path).turned_down
    moves = (one for one in reversed(state.history) if one.get("step") == path and one.get("event") in _BACK)
    at = next((str(one["at"]) for one in moves), "")
    found = {name: next((one for one in reversed(were) if approved.copy(place, state.ulid, one) is not None), "")
             for name, were in known.items()}  # fmt: skip
    hashes = {name: one for name, one in found.items() if one}
    return Past(BACK, at, hashes) if at and hashes else None


def _past(progress: Progress, hashes: Mapping[str, str], back: Past | None) -> Past | None:
    """What was decided last of something else than this: an approval that was really given, a review, or that it goes
    back; else the newest approval of this.
    """
    given = [one for one in (progress.grant, *progress.past_grants) if one and not one.claimed]
    said = [Past("approval", one.at, one.hashes) for one in given]
    said += [Past("review", one.at, one.hashes) for one in progress.verdicts if one.hashes]
    said += [back] if back else []
    said.sort(key=lambda one: one.at)
    other = [one for one in said if dict(one.hashes) != dict(hashes)]
    approvals = [one for one in said if one.word == "approval"]
    return next(iter(other[-1:] or approvals[-1:]), None)


def _elsewhere(state: State, path: str, name: str, file: str) -> Past | None:
    """The approval of the same file, or of a part of the same name such as the code, that a step before this one
    handed in.
    """
    for step in reversed(state.plan.paths[: state.plan.place(path)]):
        progress = state.step(step)
        grant = progress.grant
        if grant is None or grant.claimed:
            continue
        named = (one for one, artifact in progress.artifacts.items() if artifact.path == file)
        found = next((one for one in (name, file, *named) if one in grant.hashes), None)
        if found is not None:
            return Past("approval", grant.at, {name: grant.hashes[found]})
    return None


def _is_as_handed_in(artifact: Artifact | None, now: str) -> bool:
    return artifact is None or now == artifact.hash


def _new(
    before: Past | None,
    hashed: str,
    now: str,
    content: bytes | None,
    old: bytes | None,
    room: Room,
    how: excerpt.Ways,
) -> Excerpt:
    """What is different since it was decided about; how it begins, where it was not or was not kept."""
    if before and hashed == now:
        when = "when" if before.word == BACK else "at"
        return Excerpt((f"  the same as {when} {before.named}",), is_whole=True)
    if content is None:
        return Excerpt(("  no file, or a link",))
    changed = f"  changed since {before.named}" if before and hashed else ""
    if old is not None and len(content) <= excerpt.COMPARED:
        found = excerpt.difference(old, content, room.changed, how.whole, room.wide)
        return found.replace(lines=(f"{changed}:", *found.lines))
    told = [f"{changed}; it begins:"] if changed else []
    compare = [excerpt.compare(how)] if changed and how.whole else []
    found = excerpt.beginning(content, room.first, how.whole, room.wide)
    return found.replace(lines=(*told, *found.lines, *compare))
