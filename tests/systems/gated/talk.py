"""Things that people say of a pull request, made in a word, and what is heard of them in the second phase."""

from __future__ import annotations

from holdfast.forges.port import Comment, Review, Thread
from holdfast.systems.gated.conversation import Heard, Said, heard

PHASES = ("01-requirements", "02-architecture", "03-implementation", "04-testing", "05-documentation")
FIRST, SECOND, CODE, TESTING, DOCS = PHASES
NOW = "a" * 40
BEFORE = "b" * 40
ASK = "CHANGES_REQUESTED"


def at(minute: int) -> str:
    return f"2026-03-01T10:{minute:02}:00Z"


def review(minute=5, state="APPROVED", body="", who="mona", belongs="MEMBER", commit=NOW, id=0):
    return Review(id or minute, who, state, body, at(minute), belongs, commit)


def comment(body="Shorter", minute=5, who="mona", belongs="MEMBER", id=""):
    return Comment(id or str(minute), who, body, at(minute), belongs)


def thread(path, *comments, line: int | None = 7, resolved=False):
    return Thread("T", path, line, resolved, comments or (comment(),))


def said(*parts: Review | Comment | Thread) -> Said:
    return Said(
        reviews=tuple(one for one in parts if isinstance(one, Review)),
        comments=tuple(one for one in parts if isinstance(one, Comment)),
        threads=tuple(one for one in parts if isinstance(one, Thread)),
    )


def hear(whole: Said, *, current=SECOND, since="", seen=(), counts=lambda commit: commit == NOW) -> Heard:
    return heard(whole, slug="door", phases=PHASES, current=current, since=since, seen=seen, counts=counts)
