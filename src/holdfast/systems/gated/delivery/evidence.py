"""What is left of a feature whose journal is lost: its files, its reviews, and what git remembers of both.

Everything here only reads. What a link leads to is not looked at: it may be anywhere.
"""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterator, Mapping

from holdfast import git
from holdfast.core import moment
from holdfast.core.value import Any, Value
from holdfast.documents.files import LARGEST
from holdfast.documents.lens.fields import is_moment
from holdfast.errors import HoldfastError
from holdfast.git.command import git as run
from holdfast.machine.place import Place, below, read_regular
from holdfast.systems.gated import adoption, review_file, words
from holdfast.systems.gated.delivery import near_miss
from holdfast.systems.seam.found import parsed

REVIEWS = "reviews"
LARGEST_TEXT = 1 << 20
LONGEST_URL = 2000
_MOST_COMMITS = 10_000
_MOST_VERSIONS = 20
_MOST_REVIEWS = 1000


class Said(Value):
    """A value, and where it was found."""

    value: Any
    source: str


class Review(Value):
    """A review file: `decision` is empty where it cannot be read as one."""

    number: int
    name: str
    at: str
    decision: str = ""
    feedback: str = ""


class Commit(Value):
    """A commit of the workspace, and what its trailers keep."""

    sha: str
    at: str
    phase: str
    kept: Mapping[str, str]

    @property
    def source(self) -> str:
        return f"git log: {self.sha[:7]}"


class Left(Value):
    """All that was found, by the phases that it speaks of. Paths are relative to the workspace."""

    document: Said | None
    committed: Said | None
    statuses: Mapping[str, Said]
    committed_statuses: Mapping[str, Said]
    reviews: Mapping[str, tuple[Review, ...]]
    begun: Mapping[str, str]
    """Why a phase must have begun that has neither a status nor reviews."""
    commits: tuple[Commit, ...]
    """The oldest first."""
    title: Said
    branch: Said
    described_at: Said
    cancelled: Said | None
    fixed: tuple[str, ...] = ()
    """What the document can only mean, where it does not say so."""


def gather(place: Place, slug: str) -> Left | None:
    """What there is in the workspace of a feature, and in git; None where no description proves that it is one."""
    files = _Workspace(place, slug)
    described = files.read(words.DESCRIPTION, LARGEST_TEXT)
    if described is None:
        return None
    history = _History(place, slug)

    def is_document(found: Mapping[str, Any]) -> bool:
        return not adoption.mistakes(found) and adoption.id_of(found) == slug

    statuses = {phase: said for phase in words.PHASES if (said := _status(files.said, phase))}
    lost = [phase for phase in words.PHASES if phase not in statuses]
    title = " ".join(described.decode("utf-8", "replace").partition("\n")[0].lstrip("#").split())
    title = "".join(char for char in title if char.isprintable())[: adoption.LONGEST_TITLE]
    document, committed = files.said(words.DOCUMENT, is_document), history.newest(words.DOCUMENT, is_document)
    near = files.said(words.DOCUMENT, near_miss.is_near) if document is None and committed is None else None
    meant, fixed = near_miss.fixed(near.value, slug) if near else ({}, ())
    return Left(
        document=Said(meant, near.source) if near else document,
        committed=committed,
        statuses=statuses,
        committed_statuses={phase: said for phase in lost if (said := _status(history.newest, phase))},
        reviews={phase: files.reviews(phase, history) for phase in lost},
        begun={phase: why for phase in lost if (why := files.begun(phase))},
        commits=history.commits,
        title=Said(title or slug, words.DESCRIPTION if title else "the folder's name"),
        branch=_branch(place, slug),
        described_at=files.time_of(words.DESCRIPTION, history),
        cancelled=files.cancellation(),
        fixed=fixed,
    )


def _status(look: Callable[[str, Callable[[Mapping[str, Any]], bool]], Said | None], phase: str) -> Said | None:
    return look(f"{phase}/{words.STATUS_FILE}", lambda found: not adoption.status_mistakes(found, phase))


def _branch(place: Place, slug: str) -> Said:
    """The branch that has the feature's name, where there is one; else the one that somebody works on."""
    own, here = f"feature/{slug}", place.branch()
    if here is None or here == own or place.repository is None:
        return Said(own, "the branch that HEAD is on" if here == own else "the name of the feature")
    known = run(place.repository.top, "rev-parse", "-q", "--verify", f"refs/heads/{own}", ok=(0, 1, 128))[0] == 0
    return Said(own, "the name of the feature") if known else Said(here, "the branch that HEAD is on")


class _Workspace:
    """The files of one feature."""

    def __init__(self, place: Place, slug: str) -> None:
        self._top = os.path.realpath(place.worktree)
        self._home = f"{words.HOME}/{slug}"

    def read(self, name: str, most: int = LARGEST) -> bytes | None:
        full = self._full(name)
        return read_regular(full, most) if full else None

    def _full(self, name: str) -> str:
        """Where a file of the workspace is; empty where a link leads to it."""
        path = os.path.join(self._top, self._home, name)
        return path if below(self._top, f"{self._home}/{name}") == path else ""

    def said(self, name: str, fits: Callable[[Mapping[str, Any]], bool]) -> Said | None:
        """A document of the workspace, if it is one."""
        found = parsed(self.read(name) or b"")
        return Said(found, name) if found is not None and fits(found) else None

    def begun(self, phase: str) -> str:
        if self.read(f"{phase}/{words.STATUS_FILE}") is not None:
            return f"{phase}/{words.STATUS_FILE}, which cannot be read"
        folder = self._full(f"{phase}/{REVIEWS}")
        if folder and os.path.isdir(folder):
            return f"{phase}/{REVIEWS}"
        return "the first phase begins with the feature" if phase == words.PHASES[0] else ""

    def reviews(self, phase: str, history: _History) -> tuple[Review, ...]:
        """The reviews of the round that a phase is in, by their numbers."""
        folder = self._full(f"{phase}/{REVIEWS}")
        try:
            names = os.listdir(folder) if folder else []
        except OSError:
            names = []
        numbers = sorted(number for name in names if (number := _number(name)))[:_MOST_REVIEWS]
        return tuple(self._review(f"{phase}/{REVIEWS}/review-{number}.md", number, history) for number in numbers)

    def _review(self, name: str, number: int, history: _History) -> Review:
        found = Review(number, name, str(self.time_of(name, history).value))
        try:
            read = review_file.read(os.path.join(self._top, self._home, name), f"{self._home}/{name}")
        except HoldfastError:
            return found
        return found.replace(decision=read.decision, feedback=read.feedback)

    def time_of(self, name: str, history: _History) -> Said:
        """When a file was committed last, else when it was written."""
        committed = history.time_of(name)
        if committed:
            return Said(committed, f"git log: {name}")
        try:
            written = os.lstat(os.path.join(self._top, self._home, name)).st_mtime
        except OSError:
            return Said(None, "nothing said otherwise")
        return Said(moment.whole(moment.from_epoch(int(written))), f"{name}, as it was written")

    def cancellation(self) -> Said | None:
        """When and why the feature was given up, as the note about it says."""
        text = (self.read(words.CANCELLATION, LARGEST_TEXT) or b"").decode("utf-8", "replace")
        if not text.startswith("# Cancelled\n"):
            return None
        rows = [line.removeprefix("- At: ") for line in text.splitlines() if line.startswith("- At: ")]
        reason = text.removeprefix("# Cancelled\n").rpartition("\n- At: ")[0].strip()
        at = rows[-1] if rows and is_moment(rows[-1]) else None
        return Said({"cancelled_at": at, "cancelled_reason": reason[:500]}, words.CANCELLATION)


class _History:
    """What git remembers of one workspace, since a feature of this name was last finalized."""

    def __init__(self, place: Place, slug: str) -> None:
        self._repository = place.repository
        self._range: tuple[str, ...] = ("HEAD",)
        self._folder = f"{words.HOME}/{slug}"
        self.commits: tuple[Commit, ...] = ()
        if place.repository is None or git.head(place.repository) is None:
            self._repository = None
            return
        inside = os.path.relpath(place.worktree, place.repository.top)
        self._folder = self._folder if inside == os.curdir else f"{inside}/{self._folder}"
        commits = []
        for commit in self._logged(slug):
            if commit.kept.get("Workflow-Status") == "finalized":
                self._range = (f"^{commit.sha}", "HEAD")
                break
            commits.append(commit)
        self.commits = tuple(reversed(commits))

    def _logged(self, slug: str) -> Iterator[Commit]:
        """The commits of the convention that touched the workspace, the newest first."""
        about = ("-z", f"-n{_MOST_COMMITS}", "--fixed-strings", f"--grep={words.MARK.strip()}", "--format=%H%n%ct%n%B")
        for row in self._log(*about, name="").split("\0"):
            sha, _, rest = row.lstrip("\n").partition("\n")
            at, _, message = rest.partition("\n")
            phase, kept = _understood(message)
            if at.isdigit() and message.startswith(words.MARK) and kept.get("Workflow", slug) == slug:
                yield Commit(sha, moment.whole(moment.from_epoch(int(at))), phase, kept)

    def _log(self, *options: str, name: str) -> str:
        if self._repository is None:
            return ""
        path = f"{self._folder}/{name}" if name else self._folder
        where = ("--end-of-options", *self._range, "--", f":(top,literal){path}")
        code, out = run(self._repository.top, "log", "--no-show-signature", *options, *where, ok=(0, 128))
        return out.decode("utf-8", "replace") if code == 0 else ""

    def newest(self, name: str, fits: Callable[[Mapping[str, Any]], bool]) -> Said | None:
        """The newest version of a document that is one; a commit that took it away has none."""
        for sha in self._log(f"-n{_MOST_VERSIONS}", "--format=%H", name=name).split():
            found = parsed(self._blob(f"{sha}:{self._folder}/{name}"))
            if found is not None and fits(found):
                return Said(found, f"{name} in commit {sha[:7]}")
        return None

    def _blob(self, name: str) -> bytes:
        assert self._repository is not None
        top = self._repository.top
        code, size = run(top, "cat-file", "-s", name, ok=(0, 128))
        if code or int(size) > LARGEST:
            return b""
        return run(top, "cat-file", "blob", name, ok=(0, 128))[1]

    def time_of(self, name: str) -> str:
        found = self._log("-n1", "--format=%ct", name=name).strip()
        return moment.whole(moment.from_epoch(int(found))) if found.isdigit() else ""


def _number(name: str) -> int:
    said = name.removeprefix("review-").removesuffix(".md")
    fits = name == f"review-{said}.md" and said.isascii() and said.isdigit() and len(said) <= 4
    return int(said) if fits and not said.startswith("0") else 0


def _understood(message: str) -> tuple[str, dict[str, str]]:
    """The phase that a commit is about, and its trailers, of which only those are believed that can be true."""
    subject, _, rest = message.partition("\n")
    phase = subject.removeprefix(words.MARK).partition(":")[0]
    rows = (line.partition(": ") for line in rest.rstrip("\n").rpartition("\n\n")[2].splitlines())
    said = {name: value.strip() for name, _, value in rows}
    kept = {name: value for name, value in said.items() if name in _BELIEVED and _BELIEVED[name](value)}
    return phase if phase in words.PHASES else "", kept


def _is_url(text: str) -> bool:
    return text.startswith(("https://", "http://")) and len(text) <= LONGEST_URL and text.isprintable()


_BELIEVED = {
    "Workflow": words.is_slug,
    "Workflow-Status": lambda text: text in words.WORKFLOW_WORDS.values(),
    "Phase-Status": lambda text: text in words.PHASE_WORDS.values(),
    "Pull-Request": _is_url,
    "Last-Reviewed-At": is_moment,
}
