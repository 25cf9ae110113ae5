"""Worktrees that Holdfast makes for agents, each on a branch of its own, and removes again."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.remedy import Remedy, shell
from holdfast.errors import Refused
from holdfast.files import links
from holdfast.files.replace import durable_write
from holdfast.git.changes import tip
from holdfast.git.command import git as run
from holdfast.git.pins import QUIETLY

MADE = "holdfast-worktree"
"""The note in the git folder of a worktree that it is complete."""
PREPARED = "holdfast-prepared"
"""The note that the project's command for new worktrees has run there."""
_TRASH = ".removed-"


def found(path: str) -> git.Repository | None:
    """The worktree at a path, if it is there and complete."""
    repo = git.find(path) if os.path.lexists(os.path.join(path, ".git")) else None
    return repo if repo and repo.top == os.path.realpath(path) and has_note(repo, MADE) else None


def make(repo: git.Repository, path: str, branch: str, start: str) -> git.Repository:
    """A worktree at a path, on a branch that begins at a commit where it is not there yet.

    One that an interrupted command left is made again, or completed: nobody has been told of it.
    """
    _require_own(path)
    known = found(path)
    if known is not None:
        return known
    admin = _admin(repo, path)
    if admin and os.path.lexists(os.path.join(admin, MADE)) and os.path.isdir(path):
        run(repo.top, "worktree", "repair", path)  # somebody removed the file that leads to the repository
        known = found(path)
        if known is not None:
            return known
    elif admin:
        run(repo.top, "worktree", "remove", "--force", "--force", path)
    if os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise Refused("in_the_way", f"{path} is there already, and is no worktree of Holdfast's",
                      remedy=shell("ls", "-la", path), facts={"path": path})  # fmt: skip
    os.makedirs(os.path.dirname(path), exist_ok=True)
    at = (path, branch) if tip(repo, branch) else ("--no-track", "-b", branch, path, start)
    run(repo.top, "worktree", "add", "-q", *at, hooks=True, settings=QUIETLY)
    made = git.find(path)
    assert made is not None
    assert made.top == os.path.realpath(path)
    note(made, MADE)
    return made


def remove(repo: git.Repository, path: str, branch: str) -> None:
    """Take a worktree away, with its branch. What is to be kept of it is pinned before."""
    _require_own(path)
    above = os.path.dirname(path)
    if os.path.lexists(path):
        # Under another name first: what is half removed is not taken for somebody's work.
        os.rename(path, os.path.join(above, f"{_TRASH}{os.path.basename(path)}-{os.urandom(4).hex()}"))
    if _admin(repo, path):
        run(repo.top, "worktree", "remove", "--force", "--force", path)
    if tip(repo, branch):
        run(repo.top, "branch", "-q", "-D", "--", branch)
    clear(above)


def clear(folder: str) -> None:
    """Delete what was removed from a folder of worktrees, and the folder where nothing else is in it."""
    import shutil

    for entry in git.entries(folder):
        if entry.name.startswith(_TRASH):
            shutil.rmtree(entry.path, ignore_errors=True)
    for one in (folder, os.path.dirname(folder)):
        try:
            os.rmdir(one)
        except OSError:
            break  # others are there


def checked_out(repo: git.Repository, branch: str) -> git.Repository | None:
    """The worktree in which a branch is checked out."""
    tops = dict.fromkeys((repo.top, repo.main, *git.worktrees(repo)))
    repos = (git.find(top) for top in tops if os.path.lexists(os.path.join(top, ".git")))
    return next((one for one in repos if one and git.branch(one) == branch), None)


def there(repo: git.Repository) -> tuple[str, ...]:
    """What git is given to act in a worktree; nothing where it is typed in that one."""
    here = git.find(os.getcwd())
    return () if here is not None and here.top == repo.top else ("-C", repo.top)


def switch(repo: git.Repository, branch: str, text: str = "") -> tuple[Remedy, ...]:
    """What checks a branch out in a worktree, also where another one has it."""
    holder = checked_out(repo, branch)
    if holder is None or holder.top == repo.top:
        return (shell("git", *there(repo), "switch", branch, text=text),)
    detach = shell("git", "-C", holder.top, "switch", "--detach", text=text)
    return detach, shell("git", "-C", repo.top, "switch", branch, text="then")


def has_note(repo: git.Repository, name: str) -> bool:
    return os.path.lexists(os.path.join(repo.git_dir, name))


def note(repo: git.Repository, name: str) -> None:
    durable_write(os.path.join(repo.git_dir, name), b"\n", alone=True)


def _admin(repo: git.Repository, path: str) -> str:
    """The folder in which git keeps what it knows of the worktree at a path; empty when it knows none."""
    for entry in git.entries(os.path.join(repo.common_dir, "worktrees")):
        try:
            with open(os.path.join(entry.path, "gitdir"), "rb") as file:
                link = os.fsdecode(file.read()).rstrip("\n")
        except OSError:
            continue
        if os.path.dirname(os.path.join(entry.path, link)) == path:
            return entry.path
    return ""


def _require_own(path: str) -> None:
    """No link leads elsewhere: what is there is removed one day."""
    above = os.path.dirname(path)
    for part in (os.path.dirname(above), above, path):
        if os.path.islink(part):
            raise links.leads_out(part)
