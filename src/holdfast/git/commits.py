"""Commits of some paths, as they are in the working tree, that nothing can tear."""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core.secrets import DEFAULT, Secrets
from holdfast.errors import HoldfastError, Refused, UsageError
from holdfast.files.locks import Locked
from holdfast.git import passed_over, unfinished
from holdfast.git.additions import require_no_secrets
from holdfast.git.changes import refusal, require_idle, tree_of
from holdfast.git.changes import status as _status
from holdfast.git.command import git as run
from holdfast.git.command import run_hook
from holdfast.git.made import Purpose, found
from holdfast.git.private import copy_index, missing
from holdfast.git.signals import HeldBack

# Housekeeping in the background would take the index of the commit for the user's, and what they staged for garbage.
_COMMITTING = ("core.splitIndex=false", "i18n.commitEncoding=UTF-8", "gc.auto=0", "maintenance.auto=false",
               "core.logAllRefUpdates=true")  # fmt: skip
_AFTERWARDS = "post-commit"


class Beside:
    """What is done in the working tree for a commit, and undone where that is not made. This one does nothing."""

    def do(self) -> None:
        """Called before the commit is prepared, while nobody else commits."""

    def undo(self) -> None:
        """Called once it is certain that the commit is not made."""


def made_for(repo: git.Repository, purpose: Purpose, wait: float) -> str:
    """The commit that an interrupted command made for this, after those under way have ended; empty without one."""
    if git.is_unsettled(repo):
        with Locked(repo.git_dir, wait) as held, HeldBack():
            unfinished.settled(repo, held, wait)
    return found(repo, purpose)


def commit(
    repo: git.Repository,
    paths: Sequence[str],
    message: str,
    secrets: Secrets = DEFAULT,
    purpose: Purpose | None = None,
    wait: float = unfinished.LOCK_WAIT,
    beside: Beside | None = None,
) -> str:
    """Commit exactly these paths, relative to the top, as they are in the working tree: the full hash.

    What would add a likely secret is refused. Another commit, or a git that has locked the index, is waited for
    `wait` seconds each.
    What else is staged stays so and is not in the commit. Git commits from an index made of HEAD and these paths, so
    that a refusal leaves the user's own untouched; a hook that stages more adds it to the commit. One at a time: two
    that began at the same HEAD would take each other's work back. One that was made for the same purpose, and that
    the caller has not recorded, is the answer.
    """
    made: list[str] = []
    try:
        with Locked(repo.git_dir, wait) as held:  # git itself does not use this lock
            unfinished.settled(repo, held, wait)
            known = found(repo, purpose) if purpose else ""
            if known:
                return known
            hooks, beside = _hooks_folder(repo), beside or Beside()
            try:
                beside.do()
                _commit(repo, paths, message, hooks, held, secrets, purpose, made, wait)
            finally:
                if not made:
                    beside.undo()
        afterwards = _hook(hooks, _AFTERWARDS)
        if afterwards:
            run_hook(repo.top, afterwards, {"GIT_INDEX_FILE": os.path.join(repo.git_dir, "index")})
    except KeyboardInterrupt:
        if made:
            to_record = purpose is not None and purpose.request
            onward = ". Repeat the command to record it." if to_record else ", and what it is about is recorded."
            raise KeyboardInterrupt(f"Commit {made[0][:12]} was made{onward}") from None
        raise
    return made[0]


def _commit(
    repo: git.Repository,
    paths: Sequence[str],
    message: str,
    hooks: str,
    held: int,
    secrets: Secrets,
    purpose: Purpose | None,
    made: list[str],
    wait: float,
) -> None:
    """Make the commit and put its hash into `made`, from where it is known also after an interruption."""
    import tempfile

    require_idle(repo)
    asked, before = _checked(repo, paths), git.head(repo)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index"), "GIT_EDITOR": "true"}
        copy_index(repo, view["GIT_INDEX_FILE"])
        try:
            _fill(repo, view, before, asked)
        except HoldfastError as error:
            raise refusal(error, "commit_failed", "git did not take the files", _status(repo)) from None
        if os.fsdecode(run(repo.top, "write-tree", env=view)[1]).strip() == tree_of(repo, before):
            ways = (*passed_over.seeing(repo, paths), _status(repo))
            raise Refused("nothing_to_commit", "nothing there differs from HEAD", remedy=ways)
        require_no_secrets(repo, view, before, message, secrets)
        with HeldBack() as signals:
            failure = None
            try:
                view["GIT_REFLOG_ACTION"] = unfinished.begin_commit(repo, before, purpose, wait)
                settings = (*_COMMITTING, *_without_afterwards(repo, hooks))
                words = ("commit", "-q", "--cleanup=whitespace", "-F", "-")
                with signals.let_through():
                    run(repo.top, *words, env=view, hooks=True, settings=settings, keep=(held,),
                        stdin=message.encode("utf-8", "surrogateescape"))  # fmt: skip
            except HoldfastError as error:
                failure = error
            finally:
                try:
                    made.extend(filter(None, (unfinished.settled(repo, held, wait),)))
                except HoldfastError as error:
                    now = git.head(repo)
                    if failure or not now or now == before:
                        raise
                    made.append(now)
                    raise error.after(f"commit {now[:12]} was made") from error.__cause__
    if not made:
        said = failure or HoldfastError("git_failed", "git commit failed: HEAD has not moved", remedy=_status(repo))
        raise refusal(said, "commit_failed", "git did not commit", _status(repo)) from None


def _checked(repo: git.Repository, paths: Sequence[str]) -> set[str]:
    """The paths without those that the user told git not to look at in the working tree."""
    for path in paths:
        if not path or "\0" in path or path != os.path.normpath(path) or path.split("/")[0] in ("", ".", ".."):
            raise UsageError("bad_path", f"{path!r} is no path of a file relative to the top", remedy=_status(repo),
                             facts={"path": path})  # fmt: skip
    listed = os.fsdecode(run(repo.top, "ls-files", "-z", "-t")[1]).split("\0")
    return set(paths).difference(row[2:] for row in listed if row.startswith("S "))


def _fill(repo: git.Repository, view: Mapping[str, str], before: str | None, paths: set[str]) -> None:
    """Make the index in `view` that of the commit `before` with these paths as they are in the working tree."""
    run(repo.top, "read-tree", *(("--empty",) if before is None else ("-i", "-m", before)), env=view)
    names = {os.fsencode(path) for path in paths}
    gone = missing(repo.top, names)
    for options, chosen in (("--force-remove",), gone), (("--add", "--remove"), names - gone):
        if chosen:
            listed = b"".join(path + b"\0" for path in sorted(chosen))
            run(repo.top, "update-index", *options, "-z", "--stdin", env=view, hooks=True, stdin=listed)


def _hook(folder: str, name: str) -> str:
    """The user's hook of this name; empty when there is none."""
    path = os.path.join(folder, name)
    return path if os.path.isfile(path) and os.access(path, os.X_OK) else ""


def _hooks_folder(repo: git.Repository) -> str:
    told = os.fsdecode(run(repo.top, "rev-parse", "--git-path", "hooks", hooks=True)[1]).rstrip("\n")
    return os.path.realpath(os.path.join(repo.top, told))


def _without_afterwards(repo: git.Repository, folder: str) -> tuple[str, ...]:
    """The setting with which git runs all hooks but the one after the commit, which has to see the new index."""
    import shlex

    if not _hook(folder, _AFTERWARDS):
        return ()
    own = os.path.join(repo.git_dir, unfinished.HOOKS)
    os.makedirs(own, 0o700, exist_ok=True)
    for name in os.listdir(folder):
        if name != _AFTERWARDS and _hook(folder, name):
            path = os.path.join(own, name)
            unfinished.write(path, f'#!/bin/sh\nexec {shlex.quote(os.path.join(folder, name))} "$@"\n'.encode())
            os.chmod(path, 0o700)
    return (f"core.hooksPath={own}",)
