"""What Holdfast does to a git repository when it is asked to: branch, push.

A switch and a push run as the user's own would, with their hooks, signing and identity. Nothing is forced,
and nothing that was staged or edited is lost: git's refusals are passed on in its own words.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.errors import HoldfastError, NotFound, Refused, UsageError
from holdfast.git.command import git as run

NAME_LIMIT = 200

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-+=#@")
_BRANCHES = "refs/heads/"


def is_branch_name(name: str) -> bool:
    """Whether Holdfast makes a branch of this name: git's rules, in plain letters, at most NAME_LIMIT of them."""
    if not 0 < len(name) <= NAME_LIMIT or not _LETTERS.issuperset(name) or name in ("HEAD", "@"):
        return False
    if name.startswith("-") or name.endswith(".") or ".." in name or "@{" in name:
        return False
    parts = name.split("/")
    return not any(not part or part.startswith(".") or part.lower().endswith(".lock") for part in parts)


def tip(repo: git.Repository, branch: str) -> str | None:
    """The commit that a local branch is at; None when there is no such branch."""
    return at_ref(repo, _BRANCHES + branch)


def has_branch(repo: git.Repository, branch: str) -> bool:
    """Whether `git switch` finds a branch: one that is here, or that a remote had when it was last heard of."""
    if tip(repo, branch) is not None:
        return True
    listed = run(repo.top, "for-each-ref", "--format=%(refname)", "--", "refs/remotes")[1]
    return any(name.split("/", 3)[3:] == [branch] for name in os.fsdecode(listed).splitlines())


def branches(repo: git.Repository, prefix: str) -> list[str]:
    """The local branches whose names begin with these folders."""
    out = run(repo.top, "for-each-ref", "--format=%(refname)", "--", f"{_BRANCHES}{prefix}")[1]
    return [name.removeprefix(_BRANCHES) for name in os.fsdecode(out).splitlines()]


def require_free(repo: git.Repository, name: str) -> None:
    """Refuses a name that `make_branch` could not use, and changes nothing."""
    if not is_branch_name(name):
        sentence = "a branch is named with ASCII letters, digits and ._/-+=#@, as git's own rules allow"
        raise UsageError("bad_branch_name", sentence,
                         remedy=shell("git", "check-ref-format", "--branch", Blank("NAME")),
                         facts={"branch": name})  # fmt: skip
    at, here = tip(repo, name), git.head(repo)
    if at is not None and at != here and git.branch(repo) != name:
        raise Refused("branch_exists", f"there is a branch {name} already, and it is not at HEAD",
                      remedy=(shell("git", "switch", name), "name another one: --branch NAME"),
                      facts={"branch": name, "sha": at, "head": here})  # fmt: skip


def in_head(repo: git.Repository, paths: Sequence[str]) -> dict[str, str]:
    """The hashes of these paths in HEAD, where it has them."""
    head = git.head(repo)
    if head is None or not paths:
        return {}
    words = ("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", head, "--")
    rows = run(repo.top, *words, *paths, env={"GIT_LITERAL_PATHSPECS": "1"})[1].split(b"\0")[:-1]
    pairs = (row.partition(b"\t") for row in rows)
    return {os.fsdecode(name): os.fsdecode(about.split()[2]) for about, _, name in pairs}


def content_at(repo: git.Repository, sha: str, path: str) -> bytes:
    """What a file holds in a commit; nothing where it is not there."""
    code, found = run(repo.top, "cat-file", "blob", f"{sha}:{path}", ok=(0, 128))
    return found if code == 0 else b""


def has_path(repo: git.Repository, sha: str, path: str) -> bool:
    """Whether a commit has a file."""
    return run(repo.top, "cat-file", "-e", f"{sha}:{path}", ok=(0, 1, 128))[0] == 0


def contains(repo: git.Repository, sha: str, within: str = "") -> bool:
    """Whether HEAD, or the commit that is named, has this one in its history."""
    full, here = resolve(repo, sha), resolve(repo, within) if within else git.head(repo)
    if full is None or here is None:
        return False
    return not run(repo.top, "merge-base", "--is-ancestor", full, here, ok=(0, 1))[0]


def not_in(repo: git.Repository, shas: Sequence[str], branch: str = "") -> tuple[str, ...]:
    """Of these commits, those that a branch, or where there is none of that name HEAD, has not in its history."""
    tip = (resolve(repo, _BRANCHES + branch) if branch else None) or git.head(repo)
    plain = [sha for sha in shas if len(sha) >= 7 and not {*sha} - {*"0123456789abcdef"}]
    if tip is not None and plain == list(shas):
        code, listed = run(repo.top, "rev-list", *plain, "--not", tip, ok=(0, 128))
        if code == 0:
            lost = listed.decode().split()
            return tuple(sha for sha in plain if any(one.startswith(sha) for one in lost))
    return tuple(sha for sha in shas if tip is None or not contains(repo, sha, tip))


def resolve(repo: git.Repository, word: str) -> str | None:
    """The full hash of the commit that an abbreviation, a branch, a tag or `HEAD~2` names; None when there is none."""
    if not word or word[0] in "-^:" or any(ord(char) < 32 or 127 <= ord(char) < 160 for char in word):
        return None
    asked = ("rev-parse", "-q", "--verify", "--end-of-options", f"{word}^{{commit}}")
    code, told = run(repo.top, *asked, ok=(0, 1, 128))
    return told.decode().strip() if code == 0 else None


def remote(repo: git.Repository, branch: str) -> str | None:
    """The remote a branch is pushed to: as configured for it, for all, where it came from, `origin`, the only one.

    A branch that came from one of another name, as from `upstream/main`, is not pushed there while there is `origin`.
    """
    known = _configured(repo)
    followed = known.get(f"branch.{branch}.merge", [_BRANCHES + branch])[-1] == _BRANCHES + branch
    keys = (f"branch.{branch}.pushremote", "remote.pushdefault", *((f"branch.{branch}.remote",) if followed else ()))
    for key in keys:
        if known.get(key, ["."])[-1] != ".":  # the repository itself, for a branch that follows another local one
            return known[key][-1]
    names = _remotes(known)
    origin = known.get(f"branch.{branch}.remote", ["."])[-1]
    return "origin" if "origin" in names else origin if origin in names else names.pop() if len(names) == 1 else None


def upstream(repo: git.Repository) -> tuple[str, str]:
    """The remote that pull requests go to, as `gh repo set-default`, `glab` or the name `upstream` say; else empty.

    The second is `OWNER/NAME` where `gh` was told that it is another repository than the one of that remote.
    """
    known = _configured(repo)
    for key, values in known.items():
        if key.startswith("remote.") and key.endswith(".gh-resolved"):
            name = key[len("remote.") : -len(".gh-resolved")]
            return name, "" if values[-1] == "base" else values[-1]
        if key.startswith("remote.") and key.endswith(".glab-resolved") and values[-1] == "base":
            return key[len("remote.") : -len(".glab-resolved")], ""
    return ("upstream", "") if "upstream" in _remotes(known) else ("", "")


def _remotes(known: Mapping[str, list[str]]) -> set[str]:
    return {key[len("remote.") :].rpartition(".")[0] for key in known if key.endswith(".url")} - {""}


def url(repo: git.Repository, remote: str) -> str:
    """Where a remote is; empty when there is none of that name."""
    return os.fsdecode(run(repo.top, "config", "--get", f"remote.{remote}.url", ok=(0, 1))[1]).strip()


def is_pushed(repo: git.Repository, branch: str) -> bool:
    """Whether the branch on the remote, as it was when last heard of, is where the local one does."""
    where, at = remote(repo, branch), tip(repo, branch)
    if where is None or at is None:
        return False
    followed = tracking(repo, where, branch)
    return bool(followed) and at_ref(repo, followed) == at


def tracking(repo: git.Repository, remote: str, branch: str) -> str:
    """The ref that keeps what a branch of a remote was when it was last heard of; empty where none does."""
    full = _BRANCHES + branch
    for refspec in _configured(repo).get(f"remote.{remote}.fetch", ()):
        source, _, target = refspec.removeprefix("+").partition(":")
        before, star, after = source.partition("*")
        if target and (full == source or (star and full.startswith(before) and full.endswith(after))):
            return target.replace("*", full[len(before) : len(full) - len(after)])
    return ""


def is_published(repo: git.Repository, sha: str) -> bool:
    """Whether a branch of a remote that there is, as last heard of, has a commit."""
    if not _remotes(_configured(repo)):
        return False
    return bool(run(repo.top, "for-each-ref", "--count=1", f"--contains={sha}", "refs/remotes")[1].strip())


def push(repo: git.Repository, branch: str, to: str = "") -> str:
    """Push a branch under its own name, to be followed from now on, or under another one: the remote it went to."""
    where = remote(repo, branch)
    if where is None:
        raise Refused("no_remote", f"there is no remote to push {branch} to",
                      remedy=shell("git", "remote", "add", "origin", Blank("URL")),
                      facts={"branch": branch})  # fmt: skip
    if tip(repo, branch) is None:
        raise Refused("push_failed", f"there is no branch {branch!r}", remedy=shell("git", "branch", "--list"),
                      facts={"branch": branch, "remote": where, "output": ""})  # fmt: skip
    full, followed = _BRANCHES + branch, () if to else ("-u",)
    try:
        run(repo.top, "push", *followed, "--", where, f"{full}:{_BRANCHES}{to or branch}", hooks=True)
    except HoldfastError as error:
        facts = {"branch": branch, "remote": where}
        raise refusal(error, "push_failed", f"git did not push {branch}", shell("git", "fetch"), facts) from None
    return where


def default_branch(repo: git.Repository, remote: str = "origin") -> str | None:
    """What a remote calls its main branch; that of `origin` is else `main` or `master` where there is one."""
    prefix = f"refs/remotes/{remote}/"
    told = os.fsdecode(run(repo.top, "symbolic-ref", "-q", f"{prefix}HEAD", ok=(0, 1))[1]).rstrip("\n")
    if told.startswith(prefix):
        return told.removeprefix(prefix)
    if remote != "origin":
        return None
    return next((name for name in ("main", "master") if tip(repo, name)), None)


def at_ref(repo: git.Repository, full: str) -> str | None:
    """What a ref with this full name is at; None where there is none."""
    if "\0" in full:
        return None
    listed = run(repo.top, "for-each-ref", "--format=%(objectname) %(refname)", "--", full)[1]
    rows = (line.partition(" ") for line in os.fsdecode(listed).split("\n"))
    return next((sha for sha, _, name in rows if name == full), None)


def tree_of(repo: git.Repository, sha: str | None) -> str:
    """The tree of a commit; for None the empty one, in the hash of this repository."""
    if sha is None:
        return os.fsdecode(run(repo.top, "hash-object", "-t", "tree", "--stdin")[1]).strip()
    return os.fsdecode(run(repo.top, "rev-parse", "--verify", f"{_known(repo, sha)}^{{tree}}")[1]).strip()


def _known(repo: git.Repository, sha: str) -> str:
    full = resolve(repo, sha)
    if full is None:
        raise NotFound("unknown_commit", f"there is no commit {sha!r} here", remedy=shell("git", "log", "--oneline"),
                       facts={"commit": sha})  # fmt: skip
    return full


def _commit(repo: git.Repository, sha: str) -> bytes:
    return run(repo.top, "cat-file", "commit", _known(repo, sha))[1]


def unmerged(repo: git.Repository, folder: str) -> list[str]:
    """The files in a folder, from the top, that a merge left for people to resolve."""
    listed = run(repo.top, "ls-files", "-z", "--unmerged", "--", f":(top,literal){folder}")[1].split(b"\0")[:-1]
    return sorted({os.fsdecode(row.partition(b"\t")[2]) for row in listed})


def under_way(repo: git.Repository) -> Refused:
    """What is said where an operation of several steps has taken HEAD off its branch: it is ended first."""
    operation, here = git.busy(repo) or "rebase", git.find(os.getcwd())
    there = () if here is not None and here.top == repo.top else ("-C", repo.top)
    back: tuple[Remedy, ...] = (shell("git", *there, operation, "--abort", text="to take it back"),)
    on: tuple[Remedy, ...] = (
        shell("git", *there, operation, "--continue", text="resolve what conflicts, git add it, and"),
    )
    if operation == "bisect":
        back, on = (shell("git", *there, "bisect", "reset"),), ()
    said = f"git is in the middle of a {operation}{f' in {repo.top}' if there else ''}"
    return Refused("git_busy", said, remedy=(*back, *on), facts={"operation": operation})


def require_idle(repo: git.Repository) -> None:
    """Refuse in the middle of something that a commit or a switch would confuse."""
    operation = git.busy(repo)
    if operation is None and run(repo.top, "ls-files", "-z", "--unmerged")[1]:
        operation = "conflict"
    if operation is not None:
        end = shell("git", "-C", repo.top, "commit", text="resolve what conflicts, git add it, then")
        ways = (end, status(repo)) if operation in ("merge", "conflict") else (status(repo),)
        raise Refused("git_busy", f"git is in the middle of a {operation}", remedy=ways,
                      facts={"operation": operation})  # fmt: skip


def _configured(repo: git.Repository) -> dict[str, list[str]]:
    """What is configured of branches and remotes; the last value of a key is the one that counts."""
    listed = os.fsdecode(run(repo.top, "config", "-z", "--get-regexp", r"^(branch|remote)\.", ok=(0, 1))[1])
    found: dict[str, list[str]] = {}
    for entry in listed.split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        found.setdefault(key, []).append(value)
    return found


def refusal(
    error: HoldfastError, code: str, sentence: str, remedy: Remedy, facts: Mapping[str, object] | None = None
) -> HoldfastError:
    """Git's own refusal in our form; that it is missing or took too long is said as it is."""
    if error.code != "git_failed":
        return error
    reason, output = error.message.partition(" failed: ")[2], str(error.facts.get("output", ""))
    if reason.endswith(":"):  # git lists the files below
        files = [line.strip() for line in output.splitlines() if line.startswith("\t")]
        reason = f"{reason} {', '.join(files[:8])}{', …' if len(files) > 8 else ''}".rstrip()
    said = {"output": output, **(facts or {})}
    return Refused(code, f"{sentence}: {reason}", remedy=remedy, facts=said)


def status(repo: git.Repository) -> Remedy:
    return shell("git", "-C", repo.top, "status")
