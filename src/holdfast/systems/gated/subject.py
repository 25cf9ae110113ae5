"""A description as the subject of a workflow: it becomes a slug, a branch, and a workspace with the central docs."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import moment, queries, refusals, remedies
from holdfast.core.names import checked_text
from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.core.state import State
from holdfast.errors import Refused, UsageError
from holdfast.files.replace import durable_write
from holdfast.git import branches
from holdfast.git import changes as git_changes
from holdfast.git.command import git as run
from holdfast.machine.place import Place, read_regular
from holdfast.systems.gated import base, central, words, workspace
from holdfast.systems.gated.document import DIALECT
from holdfast.systems.gated.slugs import spelled
from holdfast.systems.seam import test_command
from holdfast.systems.seam.parts import Asked, Loaded, Subject, require_repository
from holdfast.systems.seam.wired import Wired

DESCRIPTION = "description"
SHORTEST, LONGEST = 5, 500
TITLE = Blank('"TITLE"')
SEEDED = "seeded"
"""The value of the context that keeps what the central docs were when the workspace was seeded from them."""
_LARGEST = 1 << 20


def load(asked: Asked, place: Place) -> Loaded:
    if asked.definition.loads != DESCRIPTION:
        _slug(asked, asked.subject)
        return Loaded(asked.definition, asked.subject, asked.context)
    require_repository(asked.definition, place)
    refusals.require_free(asked.context, [name for name in DIALECT.reserved if name != "slug"])
    text = " ".join(asked.subject.split())
    if not SHORTEST <= len(text) <= LONGEST or not text.isprintable():
        wrong = f"has {len(text)} characters" if text.isprintable() else "has characters that cannot be printed"
        wrong = wrong if text else "is missing"
        message = f"the title {wrong} (one line, {SHORTEST} to {LONGEST} characters)"
        raise UsageError("bad_description", message, remedy=remedies.start("feature", TITLE))
    checked_text(text, "description", 4 * LONGEST)
    slug = _slug(asked, text)
    context, begun = {**asked.context, "slug": slug}, (asked.definition.steps[0].id,)
    loaded = Loaded(asked.definition, text, context, branch=f"{words.BRANCHES}{slug}", begun=begun, makes_branch=True)
    return test_command.taken(asked, loaded)


def _slug(asked: Asked, text: str) -> str:
    """What the workspace is called: it is part of the paths of all its files."""
    slug = asked.context.get("slug", "") or spelled(text)
    if not words.is_slug(slug):
        is_reserved = slug in words.RESERVED
        said = (
            f"{str(slug)[:80]!r} {'is a reserved word, which' if is_reserved else ''} cannot be the slug of a feature"
        )
        said = " ".join(said.split()) if slug else "no slug can be made of this title"
        said += f": {words.SHORTEST_SLUG} to {words.LONGEST_SLUG} of a-z, 0-9 and single -"
        said += f", not {', '.join(words.RESERVED)}"
        way = "name one: --set slug=user-login"
        raise UsageError("bad_slug", said, remedy=way, facts={"slug": str(slug)[:200]})
    return str(slug)


def identity(asked: Asked, _: Place) -> str:
    return " ".join(asked.subject.split()) if asked.definition.loads == DESCRIPTION else asked.subject


def prepare(wired: Wired, command: cmd.Start) -> cmd.Start:
    """Refuses a workspace that is there or that git ignores, and a repository where no branch can be made now."""
    if command.loads != DESCRIPTION:
        return command
    place, repository = wired.place, wired.place.repository
    assert repository is not None
    home = f"{words.HOME}/{command.id}"
    _require_new(wired, command, home)
    _require_seen(place, f"{home}/{words.DESCRIPTION}")
    if command.branch and git.branch(repository) != command.branch:
        git_changes.require_idle(repository)
        _require_unshared(repository, command)
        _require_own_ground(wired, command, git.branch(repository) or "")
    return command


def furnish(wired: Wired, command: cmd.Start) -> cmd.Start:
    """Makes the branch and the workspace. All of it can be repeated: a start that was interrupted is made again."""
    if command.loads != DESCRIPTION:
        return command
    place, repository = wired.place, wired.place.repository
    assert repository is not None
    home = f"{words.HOME}/{command.id}"
    known = base.context_of(repository, command.branch)
    if command.branch:
        branches.make_branch(repository, command.branch, wired.settings.lock_wait)
    seeded = central.copy_in(place.worktree, command.id)
    title = command.title or command.subject
    more = f"\n{command.subject}\n" if command.subject != title else ""
    described = os.path.join(place.worktree, f"{home}/{words.DESCRIPTION}")
    durable_write(described, f"# {title}\n{more}".encode(), mode=0o644, alone=True)
    _enter(place, f"{home}/{words.FEATURE_FOLDER}/features.md", command, title, wired.world.now())
    context = {**command.context, SEEDED: seeded, **known}
    return command.replace(context=context, head=git.head(repository))


def fresh_start(state: State, start: Remedy) -> Remedy:
    """The workspace of a feature stays, also of one that was given up: another feature has another name."""
    if state.loads != DESCRIPTION:
        return Subject.fresh_start(state, start)
    return _named_otherwise(start)


def _named_otherwise(start: Remedy) -> Remedy:
    values = {**start.arguments.get("values", {}), "slug": Blank("NAME")}
    return start.given(values=values).replace(text="begin another one")


def opened(wired: Wired, state: State) -> tuple[str, ...]:
    on = (f"on the branch {state.branch}",) if state.loads == DESCRIPTION and state.branch else ()
    return (*on, *workspace.settle(wired, None, state))


def _require_new(wired: Wired, command: cmd.Start, home: str) -> None:
    """A workspace that phases were worked on in belongs to a feature, known here or not."""
    full = os.path.join(wired.place.worktree, home)
    signs = [words.DOCUMENT, words.JOURNAL, *(f"{phase}/{words.STATUS_FILE}" for phase in words.PHASES)]
    if not any(os.path.lexists(os.path.join(full, sign)) for sign in signs):
        return
    known = [entry for entry in wired.store.find(command.id) if entry.id == command.id]
    last = max(known, key=lambda entry: (entry.active, entry.ulid), default=None)
    there: tuple[Remedy, ...]
    if last is None:
        there = (remedies.recover(command.id),)
    elif last.active:
        there = (remedies.next_step(workflow=last.ulid, text="continue with it"),)
    elif last.status == "cancelled":
        there = queries.revival(wired.store.load(last.ulid))
    else:
        there = (remedies.status(workflow=last.ulid, text="look at it"),)
    said = f"{home} is the workspace of a feature already"
    ways = (*there, _named_otherwise(remedies.start(command.type, command.subject)))
    raise Refused("workspace_exists", said, remedy=ways, facts={"path": home})


def _require_unshared(repository: git.Repository, command: cmd.Start) -> None:
    """What is begun beside a branch that a remote has under the same name would be a second feature in its place."""
    branch = str(command.branch)
    if git_changes.tip(repository, branch) is not None or not git_changes.has_branch(repository, branch):
        return
    said = f"a remote has {branch} already: that is the feature {command.id}, which is not checked out here"
    ways = (
        shell("git", "switch", branch, text="continue with it"),
        _named_otherwise(remedies.start(command.type, command.subject)),
    )
    raise Refused("workspace_exists", said, remedy=ways, facts={"branch": branch})


def _require_own_ground(wired: Wired, command: cmd.Start, here: str) -> None:
    """What is begun on the branch of another feature would bring that along in its pull request."""
    place, repository = wired.place, wired.place.repository
    assert repository is not None
    slug = here.removeprefix(words.BRANCHES)
    is_features = slug != here and os.path.isfile(os.path.join(place.worktree, words.HOME, slug, words.DOCUMENT))
    known = [entry.id for entry in wired.store.entries() if (entry.dialect, entry.branch) == ("gated", here)]
    other = next((id for id in (*known, *((slug,) if is_features else ())) if id != command.id), "")
    if not here or not other:
        return
    main = git_changes.default_branch(repository) or Blank("BRANCH")
    said = f"{here} is the branch of the feature {other}: what begins here would be built on it"
    ways = (
        shell("git", "switch", main, text="to start it independently"),
        shell("git", "switch", "-c", str(command.branch), text="to start it on top of that feature"),
    )
    raise Refused("on_another_feature", said, remedy=ways, facts={"branch": here, "feature": other})


def _require_seen(place: Place, path: str) -> None:
    """What git ignores is in no commit: nobody else would ever see the work, and its end would have nothing to keep."""
    code = run(place.worktree, "check-ignore", "-q", "--", path, ok=(0, 1, 128))[0]  # 128: behind a link, refused later
    if code == 0:
        said = f"git ignores {path}, so the work on the feature would be in no commit"
        way = shell("git", "check-ignore", "-v", path, text="take what ignores it out of .gitignore")
        raise Refused("workspace_ignored", said, remedy=way, facts={"path": path})


def _enter(place: Place, path: str, command: cmd.Start, title: str, now: str) -> None:
    """Adds the feature to the list of features, once."""
    full = os.path.join(place.worktree, path)
    known = (read_regular(full, _LARGEST) or b"# Features\n").decode("utf-8", "replace")
    mark = words.entry(command.id)
    if mark in known:
        return
    about = f"\n## {title}\n\n{mark}\n- Branch: `{command.branch}`\n- Started: {moment.whole(now)[:10]}\n"
    durable_write(full, (known.rstrip("\n") + "\n" + about).encode(), mode=0o644, alone=True)


SUBJECT = Subject(
    load=load, identity=identity, prepare=prepare, furnish=furnish, fresh_start=fresh_start, opened=opened
)
