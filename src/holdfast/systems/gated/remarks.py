"""What people said, as remarks: who said it, which phase it is about, and whether it was heard before."""

from __future__ import annotations

from _collections_abc import Collection, Iterable, Sequence

from holdfast.core import moment
from holdfast.core.value import Value
from holdfast.forges.port import Comment, Review, Thread
from holdfast.systems.gated.words import FEATURE_FOLDER, HOME

BELONGING = frozenset(("OWNER", "MEMBER", "COLLABORATOR"))
"""How a forge calls those who belong to a project."""

_CODE = "03-implementation"
_TAB = "    "


class Remark(Value):
    """One thing that one person said, wherever that was. `state` is a review's; a comment has none."""

    id: str
    at: str
    author: str
    belongs: bool
    text: str
    phase: str
    is_new: bool
    state: str = ""
    commit: str = ""
    place: str = ""
    in_thread: bool = False

    @property
    def says_something(self) -> bool:
        """A review without words is only the envelope of what was said in threads, unless it decides something."""
        return bool(self.text) or self.state in ("APPROVED", "CHANGES_REQUESTED")

    @property
    def is_about_the_whole(self) -> bool:
        """Whether it is of the pull request as a whole and decides nothing: asked for in a review or beside it."""
        return bool(self.text) and not self.in_thread and self.state in ("", "COMMENTED")

    @property
    def block(self) -> str:
        """It as text, with who said it and where."""
        return f"@{line(self.author)}{self.place and f' on {self.place}'}:\n{self.text}"


class Standpoint(Value):
    """The state of the work, and so what a remark is about. All up to `since` was heard; of its second only `seen`."""

    slug: str
    phases: Sequence[str]
    current: str
    since: str
    seen: Collection[str]

    def remarks(
        self, reviews: Iterable[Review], comments: Iterable[Comment], threads: Iterable[Thread]
    ) -> list[Remark]:
        """Everything that can count, the oldest first: no drafts, nothing that is resolved."""
        found = [self._review(one) for one in reviews if one.state != "PENDING"]
        found += [self._comment(one, f"comment:{one.id}") for one in comments]
        found += [
            self._comment(one, f"thread:{one.id}", thread)
            for thread in threads
            if not thread.resolved
            for one in thread.comments
        ]
        return sorted(found, key=lambda one: one.at)

    def unresolved(self, threads: Iterable[Thread]) -> int:
        """How many threads block an approval. One where only outsiders spoke does not."""
        return sum(
            not thread.resolved
            and not self.is_later(self.phase_of(thread.path))
            and any(one.association in BELONGING for one in thread.comments)
            for thread in threads
        )

    def phase_of(self, path: str) -> str:
        folders = path.split("/")[:-1]
        if path and folders[:1] != [HOME]:
            return _CODE
        phase = folders[2] if len(folders) > 2 and folders[1] == self.slug else ""
        if phase == FEATURE_FOLDER:
            return self.phases[0]
        return phase if phase in self.phases else self.current

    def is_later(self, phase: str) -> bool:
        return self.phases.index(phase) > self.phases.index(self.current)

    def _is_new(self, at: str, id: str) -> bool:
        return at > self.since or (at == self.since and id not in self.seen)

    def _review(self, one: Review) -> Remark:
        """A review. What a dismissed one says is void; that it was there is not."""
        id = f"review:{one.id}"
        return Remark(
            id=id,
            at=one.submitted_at,
            author=one.author,
            belongs=one.association in BELONGING,
            text="" if one.state == "DISMISSED" else plain(one.body),
            phase=self.current,
            is_new=self._is_new(one.submitted_at, id),
            state=one.state,
            commit=one.commit,
        )

    def _comment(self, one: Comment, id: str, thread: Thread | None = None) -> Remark:
        path, number = (thread.path, thread.line) if thread else ("", None)
        return Remark(
            id=id,
            at=one.created_at,
            author=one.author,
            belongs=one.association in BELONGING,
            text=plain(one.body),
            phase=self.phase_of(path),
            is_new=self._is_new(one.created_at, id),
            place=line(path) if number is None else f"{line(path)}:{number}",
            in_thread=thread is not None,
        )


def second(since: str) -> str:
    """A moment as a forge tells it, to the second and in UTC; nothing stays nothing."""
    return moment.whole(moment.from_epoch(moment.to_epoch(since) // 1)) if since else ""


def plain(text: str) -> str:
    """A text without control characters and marks that hide or turn it; its lines stay."""
    return "\n".join(map(line, text.replace("\t", _TAB).splitlines())).strip("\n").rstrip()


def line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else " " if sign.isspace() else "" for sign in text)
