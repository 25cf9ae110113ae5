"""From the words of a start to a feature: its slug, its branch, and a workspace seeded from the central docs."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import moment, remedies
from holdfast.core.names import checked_text
from holdfast.core.remedy import Blank, shell
from holdfast.core.value import Any, Value
from holdfast.errors import Refused, UsageError
from holdfast.files.replace import durable_write
from holdfast.git import changes as git_changes
from holdfast.git.command import git as run
from holdfast.machine.place import Place, read_regular
from holdfast.systems.gated import central, words

SHORTEST, LONGEST = 5, 500
SEEDED = "seeded"
TITLE = Blank('"Human readable title"')
"""The value of the context that keeps what the central docs were when the workspace was seeded from them."""
_LARGEST = 1 << 20


class Described(Value):
    """What a start says of a feature."""

    subject: str
    context: Mapping[str, Any]
    branch: str


def described(subject: str, context: Mapping[str, Any]) -> Described:
    text = " ".join(subject.split())
    if not SHORTEST <= len(text) <= LONGEST or not text.isprintable():
        message = f"a feature is described in {SHORTEST} to {LONGEST} characters on one line, and this has {len(text)}"
        raise UsageError("bad_description", message, remedy=remedies.start("feature", TITLE))
    checked_text(text, "description", 4 * LONGEST)
    slug = context.get("slug", "") or words.slug_of(text)
    if not words.is_slug(slug):
        said = f"{str(slug)[:80]!r} cannot be the slug of a feature" if slug else "no slug can be made of this title"
        raise UsageError(
            "bad_slug",
            f"{said}: {words.SHORTEST_SLUG} to {words.LONGEST_SLUG} of a-z, 0-9 and single -, "
            f"not {', '.join(words.RESERVED)}",
            remedy="name one: --set slug=user-login",
            facts={"slug": str(slug)[:200]},
        )
    return Described(text, {**context, "slug": slug}, f"feature/{slug}")


def opened(place: Place, command: cmd.Start, now: str) -> cmd.Start:
    """Makes the branch and the workspace. All of it can be repeated: a start that was interrupted is made again."""
    repository = place.repository
    assert repository is not None
    home = f"{words.HOME}/{command.id}"
    _require_new(place, home)
    _require_seen(place, f"{home}/{words.FEATURE_FOLDER}/description.md")
    if command.branch:
        git_changes.make_branch(repository, command.branch)
    seeded = central.copy_in(place.worktree, command.id)
    title = command.title or command.subject
    _describe(place, f"{home}/{words.FEATURE_FOLDER}/description.md", title, command.subject)
    _enter(place, f"{home}/{words.FEATURE_FOLDER}/features.md", command, title, now)
    return command.replace(context={**command.context, SEEDED: seeded}, head=git.head(repository))


def _require_new(place: Place, home: str) -> None:
    """A workspace that phases were worked on in belongs to a feature, known here or not."""
    full = os.path.join(place.worktree, home)
    signs = [words.DOCUMENT, words.JOURNAL, *(f"{phase}/{words.STATUS_FILE}" for phase in words.PHASES)]
    if any(os.path.lexists(os.path.join(full, sign)) for sign in signs):
        slug = home.rpartition("/")[2]
        raise Refused(
            "workspace_exists",
            f"{home} is the workspace of a feature already",
            remedy=(remedies.recover(slug), "another name: --set slug=NAME"),
            facts={"path": home},
        )


def _require_seen(place: Place, path: str) -> None:
    """What git ignores is in no commit: nobody else would ever see the work, and its end would have nothing to keep."""
    code = run(place.worktree, "check-ignore", "-q", "--", path, ok=(0, 1, 128))[0]  # 128: behind a link, refused later
    if code == 0:
        raise Refused(
            "workspace_ignored",
            f"git ignores {path}, so the work on the feature would be in no commit",
            remedy=shell("git", "check-ignore", "-v", path, text="take what ignores it out of .gitignore"),
            facts={"path": path},
        )


def _describe(place: Place, path: str, title: str, description: str) -> None:
    more = f"\n{description}\n" if description != title else ""
    durable_write(os.path.join(place.worktree, path), f"# {title}\n{more}".encode(), mode=0o644, alone=True)


def _enter(place: Place, path: str, command: cmd.Start, title: str, now: str) -> None:
    """Adds the feature to the list of features, once."""
    full = os.path.join(place.worktree, path)
    known = (read_regular(full, _LARGEST) or b"# Features\n").decode("utf-8", "replace")
    mark = f"- Slug: `{command.id}`"
    if mark in known:
        return
    about = f"\n## {title}\n\n{mark}\n- Branch: `{command.branch}`\n- Started: {moment.whole(now)[:10]}\n"
    durable_write(full, (known.rstrip("\n") + "\n" + about).encode(), mode=0o644, alone=True)
