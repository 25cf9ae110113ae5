"""A branch here and on its remote: asked within a few seconds, compared, and pushed once more where that helps."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.value import Value
from holdfast.errors import HoldfastError
from holdfast.git import changes
from holdfast.git.command import git as run
from holdfast.git.command import plain_lines

SECONDS = 20
"""How long a remote may take to answer. Nobody waits longer to be told that there is no network."""
TRIES = 3
PUSHED, BEHIND, REFUSED, UNREACHABLE, NO_REMOTE = "pushed", "behind", "refused", "unreachable", "no_remote"
_REFUSALS = ("[remote rejected]", "protected branch", "pre-receive hook declined")
_MOVED = ("[rejected]", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref")


class Position(Value):
    """How a branch stands to the one of its remote, as that was when it was last heard of."""

    remote: str
    ours: str
    theirs: str = ""
    """The remote's commit; empty where the remote is not known to have the branch."""
    ahead: int = 0
    behind: int = 0

    @property
    def name(self) -> str:
        """What git calls the remote's branch here."""
        return self.tracking.removeprefix("refs/remotes/")

    tracking: str = ""


class Asked(Value):
    """What a remote says that it has of a branch."""

    remote: str = ""
    sha: str = ""
    """Its commit; empty where the remote does not have the branch, or was not asked."""
    why: str = ""
    """Why the remote could not be asked."""


class Sent(Value):
    """What became of a push: one of the words above, and git's own reason."""

    outcome: str
    remote: str = ""
    reason: str = ""


def position(repo: git.Repository, branch: str) -> Position | None:
    """Where a branch stands; None without a remote, or where there is no such branch here."""
    where = changes.remote(repo, branch)
    ours = changes.tip(repo, branch) if where else None
    if where is None or ours is None:
        return None
    tracking = changes.tracking(repo, where, branch)
    theirs = (changes.at_ref(repo, tracking) if tracking else None) or ""
    if not theirs or theirs == ours:
        return Position(where, ours, theirs, tracking=tracking)
    counted = run(repo.top, "rev-list", "--left-right", "--count", "--end-of-options", f"{ours}...{theirs}", "--")[1]
    ahead, behind = map(int, counted.split())
    return Position(where, ours, theirs, ahead, behind, tracking)


def fetch(repo: git.Repository, branch: str) -> str:
    """Ask the remote for a branch, which it may have from another clone; why it could not be asked, else empty.

    A branch that is gone from the remote stays as it was heard of last.
    """
    where = changes.remote(repo, branch) or ""
    return ask(repo, branch, where).why if where and changes.tracking(repo, where, branch) else ""


def ask(repo: git.Repository, branch: str, where: str) -> Asked:
    """The same of a remote that is named, with what it has where pushes go to, which may be another address."""
    if not where or not changes.url(repo, where):
        return Asked(where)
    tracking = tracking_of(repo, where, branch)
    full = f"refs/heads/{branch}"
    words = ("fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance")
    source, settings = _pushed_to(repo, where)
    try:
        run(repo.top, *words, "--", source, f"+{full}:{tracking}", env=settings, seconds=SECONDS)
    except HoldfastError as error:
        return Asked(where, why="" if "couldn't find remote ref" in error.message else _reason(error))
    return Asked(where, changes.at_ref(repo, tracking) or "")


def addresses(repo: git.Repository, where: str) -> tuple[str, tuple[str, ...]]:
    """The address that a remote is fetched from and those that it is pushed to, as git rewrites them."""
    fetched, pushed = _addresses(repo, where), _addresses(repo, where, "--push")
    return (fetched[0] if fetched else where), pushed or (where,)


def _addresses(repo: git.Repository, where: str, *how: str) -> tuple[str, ...]:
    code, listed = run(repo.top, "remote", "get-url", *how, "--all", "--", where, ok=(0, 2, 128))
    return tuple(os.fsdecode(listed).splitlines()) if code == 0 else ()


def _pushed_to(repo: git.Repository, where: str) -> tuple[str, dict[str, str]]:
    """What a fetch is given to ask where pushes go to. Git would rewrite the address as one to fetch from, so it has a
    name that nobody else knows for this one run.
    """
    fetched, (pushed, *_) = addresses(repo, where)
    if pushed == fetched:
        return where, {}
    name = f"pushed-{os.urandom(16).hex()}"
    count = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    key = {f"GIT_CONFIG_KEY_{count}": f"url.{pushed}.insteadOf", f"GIT_CONFIG_VALUE_{count}": name}
    return name, {"GIT_CONFIG_COUNT": str(count + 1), **key}


def forget(repo: git.Repository, branch: str, where: str) -> None:
    """What a remote was heard to have of a branch no longer counts, as it is at another address."""
    run(repo.top, "update-ref", "-d", tracking_of(repo, where, branch))


def tracking_of(repo: git.Repository, where: str, branch: str) -> str:
    """The ref that keeps what a remote has of a branch, also where the configuration names none."""
    return changes.tracking(repo, where, branch) or f"refs/remotes/{where}/{branch}"


def unsent(repo: git.Repository, trailer: str) -> list[tuple[str, str]]:
    """Of the commits on branches here that no remote is known to have: the branch, and what a trailer says. Without a
    remote there are none.
    """
    if not run(repo.top, "remote")[1].strip():
        return []
    form = f"--format=%S%x00%(trailers:key={trailer},valueonly,separator=%x00)"
    listed = run(repo.top, "log", "--max-count=1000", "--branches", "--not", "--remotes", "--source", form)[1]
    rows = (line.split("\0") for line in os.fsdecode(listed).splitlines())
    return [(row[0].removeprefix("refs/heads/"), row[1].strip()) for row in rows if len(row) > 1 and row[1].strip()]


def in_the_way(repo: git.Repository, now: Position) -> list[str]:
    """The files that are changed here and not committed, and that the remote's branch changed too."""
    listed = run(repo.top, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")[1].split(b"\0")
    here = {row[3:] for row in listed if row}
    words = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--end-of-options")
    there = run(repo.top, *words, f"{now.ours}...{now.theirs}", "--")[1].split(b"\0")
    return sorted(os.fsdecode(name) for name in here.intersection(there) if name)


def push(repo: git.Repository, branch: str, to: str = "") -> Sent:
    """Push a branch, under its own name or another one. Nothing is forced.

    Where the remote did not answer, or somebody else was just writing there, it is tried again.
    """
    last = Sent(NO_REMOTE)
    for _ in range(TRIES):
        try:
            return Sent(PUSHED, changes.push(repo, branch, to))
        except HoldfastError as error:
            if error.code == "no_remote":
                return last
            last = Sent(_outcome(error), str(error.facts.get("remote") or ""), _reason(error))
        if last.outcome == REFUSED:
            return last
        if last.outcome == BEHIND:
            if fetch(repo, branch):
                return last
            now = position(repo, branch)
            if now is None or now.behind:
                return last
    return last


def _outcome(error: HoldfastError) -> str:
    output = f"{error.message}\n{error.facts.get('output', '')}"
    if any(word in output for word in _REFUSALS):
        return REFUSED
    return BEHIND if any(word in output for word in _MOVED) else UNREACHABLE


def _reason(error: HoldfastError) -> str:
    lines = plain_lines(str(error.facts.get("output", ""))) or [error.message]
    telling = [line for line in lines if any(word in line for word in (*_REFUSALS, "fatal:", "error:", "[rejected]"))]
    said = (telling or [error.message])[0]
    return " ".join(os.fsdecode(said.encode("utf-8", "surrogateescape")).split())[:300]
