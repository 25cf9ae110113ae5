"""What a branch itself changes: its lines, apart from where they are, so that merging its base in changes nothing."""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.git.changes import resolve, tree_of
from holdfast.git.command import git as run
from holdfast.git.content import Changed, between
from holdfast.git.leftover import is_leftover
from holdfast.git.private import CACHES, GITLINK

LARGEST = 1 << 20
"""Of a larger file the content as a whole is compared, not its lines."""
_FORM = (
    *("-p", "-U0", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative"),
    *("--diff-algorithm=myers", "--no-indent-heuristic", "--src-prefix=a/", "--dst-prefix=b/", "--diff-filter=d"),
)


def base(repo: git.Repository, main: str | None, begun: str | None, at: str | None = None) -> str | None:
    """The newest commit of HEAD, or of `at`, that is not the branch's own: of its base, which is at `main`, or at which
    the work began.
    """
    others = [sha for sha in (main, resolve(repo, begun) if begun else None) if sha]
    head = at or git.head(repo)
    if head is None or not others:
        return None
    found = run(repo.top, "merge-base", head, *others, ok=(0, 1))[1]
    return os.fsdecode(found).strip() or None


def base_without(
    repo: git.Repository, main: str | None, begun: str | None, path: str, head: str, known: Sequence[str]
) -> str | None:
    """The same after the branch was merged into its base: by the base before the merge that brought a file of the
    branch's own, or a commit that it was compared with earlier, whichever is newer.
    """
    form = ("log", "--first-parent", "-m", "--diff-filter=A", "-1", "--format=%P", "--end-of-options")
    out = run(repo.top, *form, main, "--", f":(top,literal){path}")[1] if main else b""
    before = os.fsdecode(out).split()[:1]
    start = resolve(repo, begun) if begun else None
    others = [*before, *([start] if start else []), *known]
    found = run(repo.top, "merge-base", head, *others, ok=(0, 1))[1] if others else b""
    return os.fsdecode(found).strip() or None


def lines(repo: git.Repository, since: str | None, changed: Mapping[str, Changed]) -> dict[str, bytes]:
    """The added and removed lines of files in the working tree that differ from a commit; no numbers of lines."""
    import tempfile

    listed, chosen = _chosen(repo, changed)
    rows = b"".join(b"%s %s\t%s\0" % (one.mode.encode(), one.blob.encode(), name) for name, one in chosen.items())
    told = b""
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}  # without times, so that git reads the files
        if chosen:
            run(repo.top, "update-index", "-z", "--index-info", env=view, stdin=rows)
            told = run(repo.top, "diff-index", *_FORM, "--end-of-options", tree_of(repo, since), env=view)[1]
    return _sections(listed, _patches(told, chosen))


def committed(repo: git.Repository, since: str | None, commit: str, aside: Sequence[str]) -> dict[str, Changed]:
    """The files that a commit has otherwise than another one, some aside, which are files or folders."""
    found = between(repo, since, commit)
    return {name: one for name, one in found.items() if not any(f"{name}/".startswith(f"{own}/") for own in aside)}


def committed_lines(
    repo: git.Repository, since: str | None, commit: str, changed: Mapping[str, Changed]
) -> dict[str, bytes]:
    """The same of files as a commit has them."""
    listed, chosen = _chosen(repo, changed)
    words = ("diff-tree", "-r", *_FORM, "--end-of-options", tree_of(repo, since), tree_of(repo, commit))
    told = run(repo.top, *words)[1] if chosen else b""
    return _sections(listed, _patches(told, chosen))


def hidden(repo: git.Repository, aside: Sequence[str], since: float) -> list[str]:
    """The files that appeared or changed since a moment and are ignored in this clone alone: by `.git/info/exclude` or
    the user's own list, and not by a `.gitignore` that everybody has.
    """
    asked = ("ls-files", "-z", "-o", *(word for name in CACHES for word in ("-x", f"{name}/")))
    where = ("--", ".", *(f":(exclude,literal){path}" for path in aside))
    every = run(repo.top, *asked, "--exclude-per-directory=.gitignore", *where)[1].split(b"\0")[:-1]
    seen = {*run(repo.top, *asked, "--exclude-standard", *where)[1].split(b"\0")}
    found = [os.fsdecode(name) for name in every if name not in seen and _is_since(repo, name, since)]
    return [name for name in found if not is_leftover(os.path.basename(name))]


def taken_out(repo: git.Repository, begun: str | None, aside: Sequence[str]) -> list[str]:
    """The files that commits since one took out of git and that are still there, ignored: no other clone has them."""
    start = resolve(repo, begun) if begun else None
    if start is None or git.head(repo) is None:
        return []
    where = ("--", ".", *(f":(exclude,literal){path}" for path in aside))
    form = ("log", "-z", "-m", "--diff-filter=D", "--no-renames", "--no-relative", "--name-only", "--format=")
    told = run(repo.top, *form, "--no-show-signature", "--end-of-options", f"{start}..HEAD", *where)[1].split(b"\0")
    gone = sorted({name.lstrip(b"\n") for name in told} - {b""})
    there = [name for name in gone if os.path.lexists(os.path.join(os.fsencode(repo.top), name))]
    asked = b"".join(b"%s\0" % name for name in there)
    known = run(repo.top, "check-ignore", "-z", "--stdin", stdin=asked, ok=(0, 1))[1] if there else b""
    return [os.fsdecode(name) for name in known.split(b"\0")[:-1]]


def _is_since(repo: git.Repository, name: bytes, since: float) -> bool:
    try:
        return not name.endswith(b"/") and os.lstat(os.path.join(os.fsencode(repo.top), name)).st_ctime >= since
    except OSError:
        return False


def _chosen(repo: git.Repository, changed: Mapping[str, Changed]) -> tuple[dict[bytes, Changed], dict[bytes, Changed]]:
    """All of the files, and those of which lines are compared."""
    listed = {os.fsencode(name): one for name, one in changed.items()}
    plain = {name: one for name, one in listed.items() if one.blob and one.mode.encode() != GITLINK}
    return listed, {name: one for name, one in plain.items() if _is_small(repo, name)}


def _sections(listed: Mapping[bytes, Changed], patches: Mapping[bytes, list[bytes]]) -> dict[str, bytes]:
    return {os.fsdecode(name): _section(one, patches.get(name)) for name, one in listed.items()}


def _section(one: Changed, patch: list[bytes] | None) -> bytes:
    if not one.blob:
        return b"deleted\n"
    if patch is None:
        return f"{one.mode} {one.blob}\n".encode()
    return one.mode.encode() + b"\n" + b"\n".join(patch)


def _is_small(repo: git.Repository, name: bytes) -> bool:
    """Whether a file that is there is small enough; of one that is not, only a commit has the lines."""
    try:
        return os.lstat(os.path.join(os.fsencode(repo.top), name)).st_size <= LARGEST
    except OSError:
        return True


def _patches(told: bytes, chosen: Mapping[bytes, Changed]) -> dict[bytes, list[bytes]]:
    """The lines by file, where git compares lines: a binary file has none."""
    heads = {b"diff --git a/%s b/%s" % (name, name): name for name in chosen}
    found: dict[bytes, list[bytes]] = {}
    at: list[bytes] | None = None
    inside = False
    for line in told.split(b"\n"):
        if line.startswith(b"diff --git "):
            name, inside = heads.get(line), False
            at = found.setdefault(name, []) if name is not None else None
        elif line.startswith(b"@@"):
            inside = True
        elif inside and at is not None:
            at.append(line)
    return {name: patch for name, patch in found.items() if patch}
