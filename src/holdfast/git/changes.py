"""What Holdfast does to a git repository when it is asked to: branch, see what changed, commit some paths, push.

A commit, a switch and a push run as the user's own would, with their hooks, signing and identity. Nothing is forced,
and nothing that was staged or edited is lost: git's refusals are passed on in its own words.
"""

from __future__ import annotations

import os
import time
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core.remedy import shell
from holdfast.core.value import Value
from holdfast.errors import HoldfastError, NotFound, Refused, UsageError
from holdfast.git.command import git as run

NAME_LIMIT = 200

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-+=#@")
_BRANCHES = "refs/heads/"
_GITLINK = b"160000"
_NOTHING = b"000000"
# Housekeeping in the background would take the index of the commit for the user's, and what they staged for garbage.
_COMMITTING = ("core.splitIndex=false", "i18n.commitEncoding=UTF-8", "gc.auto=0", "maintenance.auto=false")
_LOCK_ATTEMPTS = 20
_LOCK_WAIT_SECONDS = 0.1


class Changed(Value):
    """A path that is not as it was."""

    added: int
    """Lines, compared with then; 0 for a binary file."""
    blob: str
    """The git hash of the content now, for a submodule its commit; empty when it was deleted."""


def is_branch_name(name: str) -> bool:
    """Whether Holdfast makes a branch of this name: git's rules, in plain letters, at most NAME_LIMIT of them."""
    if not 0 < len(name) <= NAME_LIMIT or not _LETTERS.issuperset(name) or name in ("HEAD", "@"):
        return False
    if name.startswith("-") or name.endswith(".") or ".." in name or "@{" in name:
        return False
    parts = name.split("/")
    return not any(not part or part.startswith(".") or part.lower().endswith(".lock") for part in parts)


def tip(repo: git.Repository, branch: str) -> str | None:
    """The commit that a local branch stands at; None when there is no such branch."""
    return _ref(repo, _BRANCHES + branch)


def require_free(repo: git.Repository, name: str) -> None:
    """Refuses a name that `make_branch` could not use, and changes nothing."""
    import shlex

    if not is_branch_name(name):
        sentence = "a branch is named with ASCII letters, digits and ._/-+=#@, as git's own rules allow"
        raise UsageError("bad_branch_name", sentence, remedy="git check-ref-format --branch NAME",
                         facts={"branch": name})  # fmt: skip
    at, here = tip(repo, name), git.head(repo)
    if at is not None and at != here and git.branch(repo) != name:
        raise Refused("branch_exists", f"there is a branch {name} already, and it is not at HEAD",
                      remedy=f"git switch {shlex.quote(name)}, or name another one: --branch NAME",
                      facts={"branch": name, "sha": at, "head": here})  # fmt: skip


def make_branch(repo: git.Repository, name: str) -> None:
    """Create a branch at HEAD and switch to it; files and index stay as they are.

    On a branch of that name already, nothing happens; to one that stands at HEAD's commit it only switches.
    """
    require_free(repo, name)
    if git.branch(repo) == name:
        return
    require_idle(repo)
    if tip(repo, name) is not None:
        switch(repo, name)
    else:
        _switch(repo, "branch_failed", "--no-track", "-c", name)


def switch(repo: git.Repository, name: str) -> None:
    """Switch to a local branch, taking along what is edited; refused where that would overwrite something."""
    require_idle(repo)
    if name.startswith("-") or tip(repo, name) is None:
        raise Refused("cannot_switch", f"there is no branch {name!r}", remedy="git branch --list",
                      facts={"branch": name, "output": ""})  # fmt: skip
    _switch(repo, "cannot_switch", "--no-guess", name)


def changed(repo: git.Repository, since: str | None, own: Sequence[str]) -> dict[str, Changed]:
    """Every path, relative to the top, that differs in the working tree from the commit `since` (None: from nothing).

    Untracked files count; ignored ones, untracked caches, the path prefixes `own`, nested repositories that are no
    submodules and other worktrees do not. A rename is a deletion and an addition. The index does not matter, nor is it
    touched.
    """
    import tempfile

    tree = _tree(repo, since)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        place = git.staging(repo, own, scratch)
        if not git.stage(repo, place, tracked_caches=True):
            raise Refused("unreadable", "a tracked file cannot be read", remedy=_status(repo))
        form = ("--raw", "--numstat", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none")
        against = ("diff-index", "--cached", *form, "--end-of-options", tree, *place.everything)
        rows = run(repo.top, *against, env=place.view)[1].split(b"\0")
    found: dict[bytes, str] = {}
    added: dict[bytes, int] = {}
    nested: set[bytes] = set()
    fields = iter(rows[:-1])
    for field in fields:
        if field.startswith(b":"):
            before, now, _, blob, _ = field[1:].split()
            name = next(fields)
            found[name] = "" if now == _NOTHING else blob.decode()
            if (before, now) == (_NOTHING, _GITLINK):
                nested.add(name)
        else:
            count, _, name = field.split(b"\t", 2)
            added[name] = int(count) if count.isdigit() else 0
    for name in nested - _submodules(repo) if nested else ():
        del found[name]
    return {os.fsdecode(name): Changed(added=added.get(name, 0), blob=blob) for name, blob in found.items()}


def commit(repo: git.Repository, paths: Sequence[str], message: str) -> str:
    """Commit exactly these paths, relative to the top, as they are in the working tree: the full hash.

    What else is staged stays so and is not in the commit. Git commits from an index made of HEAD and these paths, so
    that a refusal leaves the user's own untouched; a hook that stages more adds it to the commit. One at a time: two
    that began at the same HEAD would take each other's work back.
    """
    with _Alone(repo):
        return _committed(repo, paths, message)


def _committed(repo: git.Repository, paths: Sequence[str], message: str) -> str:
    import tempfile

    require_idle(repo)
    asked, before = _checked(repo, paths), git.head(repo)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": git.private_index(repo, scratch)["GIT_INDEX_FILE"], "GIT_EDITOR": "true"}
        try:
            _fill(repo, view, before, asked)
        except HoldfastError as error:
            raise _refusal(error, "commit_failed", "git did not take the files", _status(repo)) from None
        if _written(repo, view) == _tree(repo, before):
            raise Refused("nothing_to_commit", "nothing there differs from HEAD", remedy=_status(repo))
        try:
            run(repo.top, "commit", "-q", "--cleanup=whitespace", "-F", "-", env=view, hooks=True, settings=_COMMITTING,
                stdin=message.encode("utf-8", "surrogateescape"))  # fmt: skip
        except HoldfastError as error:
            # A hook after the commit may have taken too long: then the commit is there, and the index has to follow.
            if not _has_made(repo, view, before):
                raise _refusal(error, "commit_failed", "git did not commit", _status(repo)) from None
    made = git.head(repo)
    assert made is not None
    _follow(repo, before, made)
    return made


class _Alone:
    """Holds the lock of the git folder, which git itself does not use; waits for whoever has it."""

    def __init__(self, repo: git.Repository) -> None:
        self._folder = repo.git_dir
        self._fd = -1

    def __enter__(self) -> None:
        import fcntl

        self._fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def catch_up(repo: git.Repository, subject: str = "") -> None:
    """Let the index have what HEAD brought, where it still has what was there before HEAD.

    So it is after a process died between a commit and this; the next commit would take the work back. With `subject`,
    only if HEAD's message begins so: then it was one of ours, and nobody staged anything back on purpose.
    """
    head = git.head(repo)
    if head is None or not _commit(repo, head).partition(b"\n\n")[2].startswith(subject.encode()):
        return
    listed = run(repo.top, "ls-files", "-z", "--stage")[1].split(b"\0")[:-1]
    staged = {name: tuple(about.split()[:2]) for about, _, name in (row.partition(b"\t") for row in listed)}
    behind = [
        (mode, blob, name)
        for old_mode, mode, old_blob, blob, name in _brought(repo, next(iter(parents(repo, head)), None), head)
        if staged.get(name, (_NOTHING, b"")) == ((_NOTHING, b"") if old_mode == _NOTHING else (old_mode, old_blob))
    ]
    if behind:
        _stage(repo, behind, head)


def in_head(repo: git.Repository, paths: Sequence[str]) -> dict[str, str]:
    """The hashes of these paths in HEAD, where it has them."""
    head = git.head(repo)
    if head is None or not paths:
        return {}
    words = ("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", head, "--")
    rows = run(repo.top, *words, *paths, env={"GIT_LITERAL_PATHSPECS": "1"})[1].split(b"\0")[:-1]
    pairs = (row.partition(b"\t") for row in rows)
    return {os.fsdecode(name): os.fsdecode(about.split()[2]) for about, _, name in pairs}


def contains(repo: git.Repository, sha: str, within: str = "") -> bool:
    """Whether HEAD, or the commit that is named, has this one in its history."""
    full, here = resolve(repo, sha), resolve(repo, within) if within else git.head(repo)
    if full is None or here is None:
        return False
    return not run(repo.top, "merge-base", "--is-ancestor", full, here, ok=(0, 1))[0]


def resolve(repo: git.Repository, word: str) -> str | None:
    """The full hash of the commit that an abbreviation, a branch, a tag or `HEAD~2` names; None when there is none."""
    if not word or word[0] in "-^:" or any(ord(char) < 32 or 127 <= ord(char) < 160 for char in word):
        return None
    asked = ("rev-parse", "-q", "--verify", "--end-of-options", f"{word}^{{commit}}")
    code, told = run(repo.top, *asked, ok=(0, 1, 128))
    return told.decode().strip() if code == 0 else None


def parents(repo: git.Repository, sha: str) -> tuple[str, ...]:
    """The commits that this one came from, the first one being the branch it was made on."""
    headers = _commit(repo, sha).partition(b"\n\n")[0].split(b"\n")
    return tuple(line[len(b"parent ") :].decode() for line in headers if line.startswith(b"parent "))


def remote(repo: git.Repository, branch: str) -> str | None:
    """The remote a branch is pushed to: as configured for it, for all, where it came from, `origin`, the only one."""
    known = _configured(repo)
    for key in (f"branch.{branch}.pushremote", "remote.pushdefault", f"branch.{branch}.remote"):
        if known.get(key, ["."])[-1] != ".":  # the repository itself, for a branch that follows another local one
            return known[key][-1]
    names = {key[len("remote.") :].rpartition(".")[0] for key in known if key.endswith(".url")} - {""}
    return "origin" if "origin" in names else names.pop() if len(names) == 1 else None


def url(repo: git.Repository, remote: str) -> str:
    """Where a remote is; empty when there is none of that name."""
    return os.fsdecode(run(repo.top, "config", "--get", f"remote.{remote}.url", ok=(0, 1))[1]).strip()


def is_pushed(repo: git.Repository, branch: str) -> bool:
    """Whether the branch on the remote, as it was when last heard of, stands where the local one does."""
    where, at = remote(repo, branch), tip(repo, branch)
    if where is None or at is None:
        return False
    full = _BRANCHES + branch
    for refspec in _configured(repo).get(f"remote.{where}.fetch", ()):
        source, _, target = refspec.removeprefix("+").partition(":")
        before, star, after = source.partition("*")
        if full == source or (star and full.startswith(before) and full.endswith(after)):
            tracking = target.replace("*", full[len(before) : len(full) - len(after)])
            if _ref(repo, tracking) == at:
                return True
    return False


def push(repo: git.Repository, branch: str) -> str:
    """Push a branch under its own name, to be followed from now on: the remote it went to."""
    where = remote(repo, branch)
    if where is None:
        raise Refused("no_remote", f"there is no remote to push {branch} to", remedy="git remote add origin URL",
                      facts={"branch": branch})  # fmt: skip
    if tip(repo, branch) is None:
        raise Refused("push_failed", f"there is no branch {branch!r}", remedy="git branch --list",
                      facts={"branch": branch, "remote": where, "output": ""})  # fmt: skip
    full = _BRANCHES + branch
    try:
        run(repo.top, "push", "-u", "--", where, f"{full}:{full}", hooks=True)
    except HoldfastError as error:
        facts = {"branch": branch, "remote": where}
        raise _refusal(error, "push_failed", f"git did not push {branch}", "git fetch", facts) from None
    return where


def default_branch(repo: git.Repository) -> str | None:
    """What `origin` calls its main branch, else `main` or `master` where there is one."""
    prefix = "refs/remotes/origin/"
    told = os.fsdecode(run(repo.top, "symbolic-ref", "-q", f"{prefix}HEAD", ok=(0, 1))[1]).rstrip("\n")
    if told.startswith(prefix):
        return told.removeprefix(prefix)
    return next((name for name in ("main", "master") if tip(repo, name)), None)


def _ref(repo: git.Repository, full: str) -> str | None:
    if "\0" in full:
        return None
    listed = run(repo.top, "for-each-ref", "--format=%(objectname) %(refname)", "--", full)[1]
    rows = (line.partition(" ") for line in os.fsdecode(listed).split("\n"))
    return next((sha for sha, _, name in rows if name == full), None)


def _tree(repo: git.Repository, sha: str | None) -> str:
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


def _written(repo: git.Repository, view: Mapping[str, str]) -> str:
    return os.fsdecode(run(repo.top, "write-tree", env=view)[1]).strip()


def _has_made(repo: git.Repository, view: Mapping[str, str], before: str | None) -> bool:
    """Whether HEAD is the commit of this index on top of `before`."""
    now = git.head(repo)
    if now is None or now == before or parents(repo, now) != ((before,) if before else ()):
        return False
    return _tree(repo, now) == _written(repo, view)


def _switch(repo: git.Repository, code: str, *words: str) -> None:
    try:
        run(repo.top, "switch", "-q", "--no-recurse-submodules", *words, hooks=True)
    except HoldfastError as error:
        if git.branch(repo) == words[-1]:
            return  # only the hook that runs afterwards was displeased
        sentence = f"git did not switch to {words[-1]}"
        raise _refusal(error, code, sentence, _status(repo), {"branch": words[-1]}) from None


def require_idle(repo: git.Repository) -> None:
    """Refuse in the middle of something that a commit or a switch would confuse."""
    operation = git.busy(repo)
    if operation is None and run(repo.top, "ls-files", "-z", "--unmerged")[1]:
        operation = "conflict"
    if operation is None and os.path.lexists(os.path.join(repo.git_dir, "index.lock")):
        operation = "change of the index"
    if operation is not None:
        raise Refused("git_busy", f"git is in the middle of a {operation}", remedy=_status(repo),
                      facts={"operation": operation})  # fmt: skip


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
    gone = {path for path in paths if _is_gone(repo, path)}
    for options, chosen in (("--force-remove",), gone), (("--add", "--remove"), paths - gone):
        if chosen:
            names = b"".join(os.fsencode(path) + b"\0" for path in sorted(chosen))
            run(repo.top, "update-index", *options, "-z", "--stdin", env=view, hooks=True, stdin=names)


def _is_gone(repo: git.Repository, path: str) -> bool:
    full = os.path.join(repo.top, path)
    folder = os.path.dirname(full)
    return not os.path.lexists(full) or os.path.realpath(folder) != folder  # git does not look behind links


def _follow(repo: git.Repository, before: str | None, made: str) -> None:
    """Let the user's index have what was committed, and stay as it is otherwise."""
    _stage(repo, [(mode, blob, name) for _, mode, _, blob, name in _brought(repo, before, made)], made)


def _brought(repo: git.Repository, before: str | None, made: str) -> list[tuple[bytes, bytes, bytes, bytes, bytes]]:
    """What differs between two commits: old mode, mode, old hash, hash and path of each."""
    form = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none")
    fields = iter(run(repo.top, "diff-tree", *form, _tree(repo, before), _tree(repo, made))[1].split(b"\0")[:-1])
    return [(*field[1:].split()[:4], next(fields)) for field in fields]  # type: ignore[misc]


def _stage(repo: git.Repository, rows: list[tuple[bytes, bytes, bytes]], made: str) -> None:
    import shlex

    rows = sorted(rows)  # deletions make room first
    entries = b"".join(b"%s %s\t%s\0" % row for row in rows)
    for attempt in range(_LOCK_ATTEMPTS):
        try:
            run(repo.top, "update-index", "-z", "--index-info", hooks=True, stdin=entries)
            break
        except HoldfastError as error:
            if "index.lock" in error.message and attempt + 1 < _LOCK_ATTEMPTS:
                time.sleep(_LOCK_WAIT_SECONDS)  # another git is at work, as editors start them
                continue
            reset = ["git", "-C", repo.top, "restore", "--staged", "--", *(os.fsdecode(name) for _, _, name in rows)]
            sentence = f"committed as {made}, but the index still has what was there before"
            raise _refusal(error, "index_behind", sentence, shlex.join(reset), {"sha": made}) from None
    run(repo.top, "update-index", "-q", "--refresh", hooks=True, ok=(0, 1, 128))


def _submodules(repo: git.Repository) -> set[bytes]:
    listed = run(repo.top, "ls-files", "-z", "--stage")[1].split(b"\0")
    return {row.partition(b"\t")[2] for row in listed if row.startswith(_GITLINK)}


def _configured(repo: git.Repository) -> dict[str, list[str]]:
    """What is configured of branches and remotes; the last value of a key is the one that counts."""
    listed = os.fsdecode(run(repo.top, "config", "-z", "--get-regexp", r"^(branch|remote)\.", ok=(0, 1))[1])
    found: dict[str, list[str]] = {}
    for entry in listed.split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        found.setdefault(key, []).append(value)
    return found


def _refusal(
    error: HoldfastError, code: str, sentence: str, remedy: str, facts: Mapping[str, object] | None = None
) -> HoldfastError:
    """Git's own refusal in our form; that it is missing or took too long is said as it is."""
    if error.code != "git_failed":
        return error
    reason = error.message.partition(" failed: ")[2]
    said = {"output": error.facts.get("output", ""), **(facts or {})}
    return Refused(code, f"{sentence}: {reason}", remedy=remedy, facts=said)


def _status(repo: git.Repository) -> str:
    import shlex

    return f"git -C {shlex.quote(repo.top)} status"
