"""What a hook does for a repository before the agent continues: finishes commits, keeps what is not committed."""

from __future__ import annotations

from _collections_abc import Collection

from holdfast import git
from holdfast.errors import HoldfastError
from holdfast.plain.digest import digest
from holdfast.surfaces.hooks import notes

RESERVE = 0.6
"""Seconds that a hook has left to end git and to say so."""


def settle(root: str, name: str, worktree: str) -> None:
    """Finishes or takes back a commit that was interrupted in a worktree."""
    from holdfast.git import unfinished

    repository = git.find(worktree)
    try:
        said = unfinished.settle(repository) if repository and notes.may_write(root) else ""
    except (HoldfastError, OSError) as failure:
        said = f"a commit of Holdfast's was interrupted, and cannot be finished: {failure}"
    if said:
        notes.log(root, name, said)


def pin(root: str, name: str, folders: Collection[str], *, stashes: bool = False) -> str:
    """Keeps what is committed nowhere, before a command of git that may throw it away; what could not be kept.

    It ends before the hook is given up, so that neither git nor a folder of it is left behind.
    """
    said = []
    for folder in folders:
        repository = git.find(folder)
        if repository is None or not notes.may_write(root):
            continue
        try:
            with _Hurry():
                why = _pinned(repository, stashes=stashes)
        except (HoldfastError, OSError) as failure:
            why = str(failure)
        except _TooLongError:
            why = "it takes too long"
        if why:
            said.append(f"what is not committed in {repository.top} is not kept before this command of git: {why}")
            notes.log(root, name, said[-1])
    return "; ".join(said)


def _pinned(repository: git.Repository, *, stashes: bool) -> str:
    """Pins a working tree, and with `stashes` these too; gives why not where there is too much to do that now."""
    from holdfast.git import pins

    kept = f"before/{digest(repository.top.encode())[:12]}"
    for stash in pins.stashes(repository) if stashes else ():
        pins.keep(repository, kept, stash)
    size = pins.size(repository)
    if size > pins.LARGEST:
        return f"it has {size >> 20} MiB, and {pins.LARGEST >> 20} MiB is the most"
    why = f"Not committed in {repository.top} before a command of git"
    pins.pin(repository, kept, why, git.head(repository) or "")
    pins.drop(repository, pins.listed(repository, kept)[: -pins.MOST])
    return ""


class _TooLongError(BaseException):
    """The time that a hook has is nearly over. Whatever catches exceptions lets it pass."""


class _Hurry:
    """Raises when the timer of the hook has only its reserve left; then the timer continues as it was."""

    def __enter__(self) -> None:
        import signal
        import time

        self._before, self._began = signal.getsignal(signal.SIGALRM), time.monotonic()
        self._left = signal.getitimer(signal.ITIMER_REAL)[0]
        if self._left:
            signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, max(self._left - RESERVE, 0.01))

    def _stop(self, *_: object) -> None:
        self._go_on()
        raise _TooLongError

    def _go_on(self) -> None:
        import signal
        import time

        if self._left:
            signal.signal(signal.SIGALRM, self._before)
            left = self._left - (time.monotonic() - self._began)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.01))

    def __exit__(self, *_: object) -> None:
        self._go_on()
