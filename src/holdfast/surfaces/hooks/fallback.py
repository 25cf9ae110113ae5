"""What state files say by themselves: where the journal of a workflow cannot be read, or the file is no JSON.

Nothing is recorded. The agent is told what the file says, that nothing more is known, and who can fix it.
"""

from __future__ import annotations

import os

from holdfast.core import moment, remedies
from holdfast.core.briefing import Briefing
from holdfast.core.facts import Facts
from holdfast.core.packet import TYPED, packet
from holdfast.core.packet_parts import Line, Part, assembled, told
from holdfast.core.remedy import Scope
from holdfast.errors import Broken, HoldfastError
from holdfast.plain import ulid
from holdfast.plain.lenient import fault
from holdfast.project import seats
from holdfast.project.project import Project
from holdfast.project.required import look as look_at
from holdfast.systems.seam.found import Found, kept_by_agents
from holdfast.systems.seam.registry import dialect, refusal_of, texts

LONGEST_LINE = 500
LEAST = 600
"""Characters that a file is worth telling in."""


def restored(project: Project, wrong: HoldfastError, session: str, occasion: str, limit: int) -> str:
    """The packet of the session's state file, where its journal is the one that cannot be read, else of the one that
    was written last; empty where there is none."""
    wired = project.wired
    lost = seats.unreadable(project, session)
    files = list(kept_by_agents(wired.place.worktree))
    own = [one for one in files if any(wired.documents.may_be_of(ulid, one.path) for ulid in lost)]
    for found in own or files:
        if found.is_broken:
            return unread(found, limit)
        spoken = found.dialect
        try:
            document = spoken.found_at(found.document, found.path) if spoken.found_at else found.document
            state = spoken.adopt(document, None, Facts(now=wired.world.now()), ulid.new())
        except HoldfastError:
            continue
        said = f"this is only what {found.path} says: {wrong.message}"
        refusal = refusal_of(spoken.name) or Broken("journal_in_doubt", said, remedy=remedies.doctor())
        reading = look_at(state.reading, wired.place.worktree)
        brief = Briefing(state, Facts(wired.world.now()), texts(spoken.name), required=lambda: reading,  # noqa: B023
                         words=dialect(spoken.name).status_words, refusal=refusal)  # fmt: skip
        return packet(brief, occasion=occasion, limit=limit)
    return ""


def unreadable(project: Project, limit: int, since: str = "") -> str:
    """The newest state file that is no JSON and that no workflow knows, as text; empty where there is none.

    `since` leaves out one that was written before that time.
    """
    worktree = project.wired.place.worktree
    found = next((one for one in kept_by_agents(worktree) if one.is_broken), None)
    if found is None or limit < LEAST:
        return ""
    is_old = since and os.stat(os.path.join(worktree, found.path)).st_mtime < moment.to_epoch(since)
    return "" if is_old else unread(found, limit)


def unread(found: Found, limit: int) -> str:
    lines = found.data.decode("utf-8", "replace").splitlines()
    shown = tuple(told(line, LONGEST_LINE).replace(item=True) for line in lines if line.strip())
    way = TYPED.tell((remedies.schema(found.dialect.name),), Scope())
    wrong = fault(found.data)
    heading = f"{os.path.basename(found.path)} is a state file that is no JSON ({wrong}). What it says:"
    todo = Line(f"Write it again as JSON at {found.path}; its form: {way}", whole=True)
    parts = (Part("file", heading, shown), Part("actions", "", (todo,)))
    return assembled(parts[:1], parts[1:], ("actions", "file"), limit, (f"cat {found.path}",))
