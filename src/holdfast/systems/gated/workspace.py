"""The workspace of a feature as the work moves: old reviews archived, the journal copied, everything committed.

Only files of the workspace are committed, whatever else is staged. What cannot be committed now is committed with the
next move, or by `holdfast feature continue`.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import cycle, gates, lifecycle, moment, queries, remedies
from holdfast.core.names import fitting
from holdfast.core.refusals import unexpected
from holdfast.core.remedy import Scope, shell, typed
from holdfast.core.state import Alert, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import MOMENT
from holdfast.documents.lens.mapping import put
from holdfast.documents.reconcile import HOLDFAST
from holdfast.errors import HoldfastError, Refused, Trouble, UsageError
from holdfast.files.replace import durable_write, remove
from holdfast.git import changes as git_changes
from holdfast.git import commits, made
from holdfast.git.command import git as run
from holdfast.git.made import Purpose
from holdfast.systems.gated import central, checkout, journal_copy, journal_history, words
from holdfast.systems.gated.document import DIALECT
from holdfast.systems.seam.wired import Wired

_GITLINK = b"160000"
_KEPT = "Keep what is not handed in"


def loose(wired: Wired, state: State, phase: str, aside: tuple[str, ...] = ()) -> list[str]:
    """The code of a phase that is in no commit yet, so that nobody else sees it; `aside` are paths that are no code."""
    repository = git.find(wired.place.base(state.worktree))
    if repository is None or not state.plan.step(phase).code:
        return []
    changed = wired.world.changed(repository, git.head(repository), aside or wired.world.aside(state))
    return [path for path, one in changed.items() if state.dirt.get(path) != one.blob]


def wanted(wired: Wired, state: State, phase: str) -> tuple[str, ...]:
    """Of a phase that was handed in: the code that only is in the working tree, so that no pull request has it."""
    new = loose(wired, state, phase) if state.step(phase).status == lifecycle.IN_REVIEW else []
    if not new:
        return ()
    listed = ", ".join(new[:8]) + (", …" if len(new) > 8 else "")
    commit = remedies.named("commit", {"task": phase, "message": remedies.TEXT})
    return (f"not committed, so not reviewed: {listed} ({typed(commit, wired.scope(state.ulid))})",)


def reviewed(wired: Wired, state: State, phase: str, said: str = "") -> tuple[str, str]:
    """The verdict and the feedback of the review file. `said` is what somebody would have it say instead."""
    from holdfast.systems.gated import review_file

    base, path = wired.place.base(state.worktree), words.review_file(state, phase)
    if said:
        message = f"the reviews of {state.id} are files: {path} decides"
        facts = {"path": path}
        raise UsageError("review_file_decides", message, remedy=remedies.review(phase, from_file=True), facts=facts)
    central.is_there(base, path)  # no link on the way leads elsewhere
    _require_later(state, phase, os.path.join(base, path), path)
    found = review_file.read(os.path.join(base, path), path)
    return found.decision, fitting(found.feedback)


def _require_later(state: State, phase: str, full: str, path: str) -> None:
    """Refuses a review that is older than a hand-in by an edit of the document: nothing archived it then."""
    handed = [one for one in state.history if one.get("step") == phase and one.get("event") == "submitted"]
    by_edit = handed and str(handed[-1].get("by") or "").partition(" ")[0] == "file"
    if by_edit and os.path.isfile(full) and os.stat(full).st_mtime < moment.to_epoch(str(handed[-1]["at"])):
        said = f"{path} was written before {phase} was handed in"
        again = f"have the reviewer look at it as it was handed in, and write {path} again"
        raise Refused("review_too_old", said, remedy=again, facts={"path": path, "step": phase})


def settle(wired: Wired, before: State | None, after: State, summary: str = "") -> tuple[str, ...]:
    """Keeps the workspace in step with a move of the work, and commits it; what has to be said about it."""
    if words.is_deleted(after) or (before is not None and _shown(before) == _shown(after)):
        return ()
    if wired.is_elsewhere(after) and checkout.is_on_base(wired, after):
        return ()  # the end of the feature commits it there
    phase, what = _what(before, after)
    archived = _set_aside(wired, before, after)
    said = commit(wired, after, summary or what, phase)
    return (*archived, *(said or _sent(wired, before, after)))


def _sent(wired: Wired, before: State | None, after: State) -> tuple[str, ...]:
    """What people decided is pushed at once, where the remote has the branch; otherwise `feature continue` pushes."""
    from holdfast.systems.gated.delivery import clones, pull_request

    if not clones.decided(before, after):
        return ()
    return (*clones.send(wired, after), *pull_request.describe(wired, after))


def _set_aside(wired: Wired, before: State | None, after: State) -> tuple[str, ...]:
    """A review that is older than what was handed in decides nothing: it goes to the archive, and is told."""
    base = wired.place.base(after.worktree)
    said: tuple[str, ...] = ()
    for phase in after.plan.children("") if before else ():
        assert before is not None
        was, now = before.step(phase), after.step(phase)
        reviews = f"{words.home(after)}/{phase}/{words.REVIEWS}"
        is_new = was.status != lifecycle.IN_REVIEW or was.artifacts != now.artifacts
        if now.status == lifecycle.IN_REVIEW and is_new and central.is_there(base, reviews, folder=True):
            first = 0 if was.status == lifecycle.WAITING else max(words.iterations(after, phase), 1)
            archived = _archive(os.path.join(base, reviews), wired.world.now(), first)
            if was.status != lifecycle.WAITING and archived:
                said += (f"{', '.join(archived)} of {phase} was written before this was handed in: archived",)
    return said


def bring_back(wired: Wired, state: State) -> None:
    """Where the workspace was deleted with its document, the files that git has of it are written again.

    A file that is deleted while the document stays is an edit. Its deletion is committed with the next move where its
    phase is worked on, and not once it was handed in.
    """
    path = DIALECT.document.path(state)
    is_over = not queries.is_active(state) and not queries.to_finalize(state)
    if is_over or os.path.lexists(wired.documents.full(state, path)):
        return
    base = wired.place.base(state.worktree)
    repository = git.find(base)
    if repository is None or not wired.documents.was_lost(state, path) or wired.documents.elsewhere(state, path):
        return
    document = f"{_prefix(repository, base)}{path}".encode()
    staged = _staged(repository, f"{_prefix(repository, base)}{words.home(state)}")
    there = os.fsencode(repository.top)
    lost = [
        name
        for mode, name in staged
        if mode != _GITLINK and name != document and not os.path.lexists(os.path.join(there, name))
    ]
    if not lost:
        return
    run(repository.top, "checkout-index", "-z", "--stdin", stdin=b"".join(b"%s\0" % name for name in lost))
    said = f"{words.home(state)} was missing and is written again, with {len(lost)} files as git has them"
    wired.execute(state.ulid, cmd.Alarm(Alert(wired.world.now(), "document_restored", said, path)), HOLDFAST)


def _shown(state: State) -> tuple[Any, ...]:
    """What the documents say, apart from when."""
    document = dict(put(DIALECT.document, state.base, state))
    document.pop("updated_at", None)
    assert DIALECT.views is not None
    return document, {path: made() for path, made in DIALECT.views(state).items()}


def _tidy(wired: Wired, state: State) -> None:
    """Reviews of rounds that are over go to the archive; whether the work was given up is said where people look."""
    base = wired.place.base(state.worktree)
    for phase in state.plan.children(""):
        reviews = f"{words.home(state)}/{phase}/reviews"
        if words.iterations(state, phase) == 0 and central.is_there(base, reviews, folder=True):
            _archive(os.path.join(base, reviews), wired.world.now())
    note = os.path.join(base, words.home(state), words.CANCELLATION)
    if state.cancelled:
        reason = state.cancelled.reason or "no reason was given"
        text = f"# Cancelled\n\n{reason}\n\n- At: {MOMENT.encode(state.cancelled.at)}\n- By: {state.cancelled.by}\n"
        durable_write(note, text.encode(), mode=0o644, alone=True)
    elif os.path.lexists(note):
        remove(note)


def _archive(folder: str, now: str, first: int = 0) -> list[str]:
    """Moves the reviews from a number on into a folder of their own; their names."""
    numbered = ((name, name.removeprefix("review-").removesuffix(".md")) for name in os.listdir(folder))
    listed = sorted(
        name
        for name, number in numbered
        if name.startswith("review-") and name.endswith(".md") and (not number.isdecimal() or int(number) >= first)
    )
    if not listed:
        return []
    stamp = moment.compact(now)
    names = (f"archived-{stamp}", *(f"archived-{stamp}-{number}" for number in range(2, 1000)))
    target = next(one for one in (os.path.join(folder, name) for name in names) if not os.path.lexists(one))
    os.mkdir(target)
    for name in listed:
        os.rename(os.path.join(folder, name), os.path.join(target, name))
    return listed


def commit(wired: Wired, state: State, summary: str = "", phase: str = "") -> tuple[str, ...]:
    """Commits the workspace with the journal so far; the sentence about it when that is not possible now.

    Until it is committed a note has the subject, which a later commit takes along. Without a summary, there may be
    nothing else to say.
    """
    repository = git.find(wired.place.base(state.worktree))
    subjects = _subjects(repository, state, summary, phase) if repository else []

    def note(reason: str, pid: int) -> None:
        if repository:
            made.keep(repository, _purpose(state), "", pid, (state.dialect, reason, *subjects))

    try:
        note("the command was interrupted", os.getpid())
        committed(wired, state, summary, phase)
    except HoldfastError as refusal:
        is_elsewhere = refusal.code == "branch_mismatch"
        try:
            note("another branch was checked out" if is_elsewhere else refusal.message, 0)
        except HoldfastError:
            pass  # the disk is full: the answer says it all the same
        return (_uncommitted(_purpose(state), refusal.message),)
    base = wired.place.base(state.worktree)
    gone = deleted(repository, base, state) if repository else []
    if not gone:
        return ()
    restore = typed(shell("git", "restore", "--source=HEAD", "--", *gone[:8]), wired.scope(state.ulid))
    return (f"deleted, and the deletion is not committed: {', '.join(gone[:8])} ({restore})",)


def deleted(repository: git.Repository, base: str, state: State) -> list[str]:
    """The files of phases that were handed in, and of the feature's description, that HEAD has and the folder has not.

    Their deletion is nobody's decision, so it is not committed; paths are from the top of the project.
    """
    if words.is_deleted(state) or state.cancelled:
        return []
    home, prefix = words.home(state), _prefix(repository, base)
    steps = (state.step(path) for path in state.plan.children(""))
    handed = {one.path for step in steps if step.status in gates.HANDED_IN for one in step.artifacts.values()}
    known = (os.fsdecode(name).removeprefix(prefix) for _, name in _known(repository, f"{prefix}{home}"))
    lost = (path for path in known if path in handed or path.startswith(f"{home}/{words.FEATURE_FOLDER}/"))
    return sorted(path for path in lost if not os.path.lexists(os.path.join(base, path)))


def commit_left(wired: Wired, state: State) -> tuple[str, ...]:
    """Commits what could not be committed when the work ended, as nothing moves any more that would take it along; what
    is said about it.
    """
    repository = git.find(wired.place.base(state.worktree))
    if repository is None or not made.wanted(repository, state.ulid, ""):
        return ()
    committed(wired, state)
    return (f"committed that {state.id} is {queries.status(state)}",)


def _purpose(state: State) -> Purpose:
    return Purpose(state.ulid, state.id, "", "")


def _subjects(repository: git.Repository, state: State, summary: str, phase: str) -> list[str]:
    """The subjects of commits that were not made, and that of the next one."""
    earlier = made.wanted(repository, state.ulid, "")[2:]
    own = subject_line(phase or words.current_phase(state), summary or "Keep the state")
    return list(dict.fromkeys((*earlier, own))) if summary or not earlier else earlier


def uncommitted(repository: git.Repository, purpose: Purpose, told: Sequence[str]) -> str:
    """The sentence about a commit that is still to be made, by the reason and the subjects that are noted.

    On another branch it cannot be made, and what is done there is about something else.
    """
    is_here = git.branch(repository) == f"{words.BRANCHES}{purpose.workflow}"
    return _uncommitted(purpose, told[0]) if is_here else ""


def _uncommitted(purpose: Purpose, why: str) -> str:
    again = typed(remedies.go_on(), Scope(active={purpose.ulid: purpose.workflow}, about=purpose.ulid))
    return Trouble(f"not committed yet: {why} ({again} tries again)")


def committed(wired: Wired, state: State, summary: str = "", phase: str = "", more: tuple[str, ...] = ()) -> None:
    """Commits the workspace and `more` paths, on the feature's own branch."""
    base, repository = wired.place.base(state.worktree), wired.on_branch(state)
    home = words.home(state)
    if not words.is_deleted(state) and git.busy(repository):
        journal_copy.require_settled(wired, state.id)
    git_changes.require_idle(repository)
    if not words.is_deleted(state):
        wrong = journal_copy.take(wired, state.id, state.worktree, only_look=True)
        wrong = wrong or (None if state.cancelled else journal_history.wrong(wired, state))
        if wrong is not None:
            raise wrong
        try:
            _tidy(wired, state)
        except OSError as failure:
            raise unexpected(failure) from failure
        journal_copy.write(wired, state)
    assert DIALECT.guarded is not None
    own = tuple(path for path in DIALECT.guarded(state) if os.path.isfile(os.path.join(base, path)))
    prefix = _prefix(repository, base)
    paths = {*tracked(repository, base, home), *(f"{prefix}{path}" for path in (*more, *own))}
    paths -= {f"{prefix}{path}" for path in deleted(repository, base, state)}
    message = _message(state, _subjects(repository, state, summary, phase), phase)
    commit_changed(wired, repository, sorted(paths), message, _purpose(state))
    made.forget(repository, state.ulid, "")


def as_in(wired: Wired, state: State, commit: str) -> tuple[str, ...]:
    """Brings the workspace back as a commit has it; what was there and not committed is committed first."""
    base, repository = wired.place.base(state.worktree), wired.on_branch(state)
    git_changes.require_idle(repository)
    commit_changed(wired, repository, tracked(repository, base, words.home(state)), message(state, _KEPT))
    folder = f":(top,literal){_prefix(repository, base)}{words.home(state)}"
    run(repository.top, "restore", "-q", f"--source={commit}", "--staged", "--worktree", "--", folder)
    now = git.head(repository) or ""
    return (f"{words.home(state)} is as in commit {commit[:12]}; as it was here, it is in commit {now[:12]}",)


def commit_changed(
    wired: Wired, repository: git.Repository, paths: Sequence[str], message: str, purpose: Purpose | None = None
) -> None:
    """Commits those of the paths that differ from HEAD, if there are any."""
    try:
        if paths:
            commits.commit(repository, paths, message, wired.engine.secrets, purpose, wired.settings.lock_wait)
    except Refused as refusal:
        if refusal.code != "nothing_to_commit":
            raise


def _prefix(repository: git.Repository, base: str) -> str:
    inside = os.path.relpath(base, repository.top)
    return "" if inside == os.curdir else f"{inside}/"


def tracked(repository: git.Repository, base: str, folder: str) -> list[str]:
    """What git has in a folder, and what it would take, from the top of the repository.

    Ignored files stay out, and so do repositories of their own, which git lists as folders or as links to a commit.
    """
    folder = f"{_prefix(repository, base)}{folder}"
    new = run(repository.top, "ls-files", "-z", "--others", "--exclude-standard", "--", f":(top,literal){folder}")[1]
    staged, known = _staged(repository, folder), _known(repository, folder)
    names = dict.fromkeys((*(name for name in new.split(b"\0") if name), *(name for _, name in (*staged, *known))))
    apart = {name for mode, name in staged if mode == _GITLINK}
    return [os.fsdecode(name) for name in names if name not in apart and not name.endswith(b"/")]


def submodules(repository: git.Repository, base: str, folder: str) -> list[str]:
    """The repositories of their own in a folder that git knows of, from the top of the repository."""
    staged = _staged(repository, f"{_prefix(repository, base)}{folder}")
    return [os.fsdecode(name) for mode, name in staged if mode == _GITLINK]


def unchanged(repository: git.Repository, base: str, folder: str) -> list[str]:
    """The files in a folder that are there as HEAD has them, from the top of the repository.

    The user's index may say of a file that git shall not look at it, so an index of its own is asked.
    """
    import tempfile

    listed = _known(repository, f"{_prefix(repository, base)}{folder}")
    known = [row for row in listed if not row[0].startswith(_GITLINK)]
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view, looking = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}, ("core.ignoreStat=false",)
        rows = b"".join(b"%s\t%s\0" % row for row in known)
        run(repository.top, "update-index", "-z", "--index-info", env=view, settings=looking, stdin=rows)
        run(repository.top, "update-index", "-q", "--refresh", env=view, settings=looking, ok=(0, 1))
        differ = run(repository.top, "diff-files", "-z", "--name-only", env=view, settings=looking)[1].split(b"\0")
    return [os.fsdecode(name) for _, name in known if name not in differ]


def _staged(repository: git.Repository, folder: str) -> list[tuple[bytes, bytes]]:
    """The mode and the path of what the index has in a folder."""
    listed = run(repository.top, "ls-files", "-z", "--stage", "--", f":(top,literal){folder}")[1].split(b"\0")[:-1]
    return [(about.split()[0], name) for about, _, name in (row.partition(b"\t") for row in listed)]


def _known(repository: git.Repository, folder: str) -> list[tuple[bytes, bytes]]:
    """What HEAD has in a folder: mode, kind and hash in one, and the path."""
    head = git.head(repository)
    if head is None:
        return []
    asked = ("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", head, "--", folder)
    listed = run(repository.top, *asked, env={"GIT_LITERAL_PATHSPECS": "1"})[1].split(b"\0")[:-1]
    return [(about, name) for about, _, name in (row.partition(b"\t") for row in listed)]


def subject_line(phase: str, summary: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in summary)
    line = " ".join(plain.split())
    return f"{words.MARK}{phase}: {line[:180]}"


def message(state: State, summary: str, phase: str = "") -> str:
    """The message of a commit about a phase, with what the history alone can tell, should the files be lost."""
    return _message(state, [subject_line(phase or words.current_phase(state), summary)], phase)


def _message(state: State, subjects: Sequence[str], phase: str) -> str:
    """The last subject is that of the commit. The others are of commits that were not made."""
    phase = phase or words.current_phase(state)
    kept: dict[str, object] = {
        "Workflow": state.id,
        "Workflow-Status": words.WORKFLOW.encode(queries.status(state)),
        "Phase-Status": words.PHASE.encode(state.step(phase).status),
        "Pull-Request": state.context.get("pr_url"),
        "Last-Reviewed-At": state.context.get("last_reviewed_at"),
    }
    trailers = "".join(f"{name}: {value}\n" for name, value in kept.items() if value)
    earlier = "".join(f"{one}\n" for one in subjects[:-1])
    return "\n\n".join(filter(None, (subjects[-1], earlier.rstrip("\n"), trailers)))


def _what(before: State | None, after: State) -> tuple[str, str]:
    """The phase that a move is about, and what happened to it in a few words."""
    at = words.current_phase(after)
    if before is None:
        return at, f"Start {after.title or after.subject}"
    if bool(before.cancelled) != bool(after.cancelled):
        return at, f"Cancel: {after.cancelled.reason}" if after.cancelled else "Resume"
    if after.finalized and not before.finalized:
        return at, "Hand the result over"
    moved = [path for path in after.plan.children("") if before.step(path).status != after.step(path).status]
    for path in moved:
        said = _MOVES.get((before.step(path).status, after.step(path).status))
        if said:
            number = words.iterations(before, path) or 1
            return path, said.replace("{n}", str(number)).replace("{why}", after.step(path).reason)
    for path in after.plan.children(""):
        acts = after.step(path).acts
        said = _ACTS.get(acts[-1].action) if len(acts) > len(before.step(path).acts) else None
        if said:
            return path, said.replace("{why}", acts[-1].result)
    if before.context.get("pr_number") != after.context.get("pr_number"):
        return at, f"Open pull request {after.context.get('pr_number')}"
    return (moved or [at])[0], "Keep the state"


_ACTS = {cycle.RESET: "Start over", cycle.CRASHED: "An agent crashed: {why}"}
"""What is said of acts that leave a phase where it was, or begin it once more."""
_MOVES: Mapping[tuple[str, str], str] = {
    (lifecycle.PENDING, lifecycle.ACTIVE): "Begin",
    (lifecycle.ACTIVE, lifecycle.IN_REVIEW): "Hand in for review",
    (lifecycle.IN_REVIEW, lifecycle.ACTIVE): "Review {n} asks for a revision",
    (lifecycle.IN_REVIEW, lifecycle.WAITING): "Review {n} approves, a person decides",
    (lifecycle.IN_REVIEW, lifecycle.ESCALATED): "Escalate: {why}",
    (lifecycle.ACTIVE, lifecycle.ESCALATED): "Escalate: {why}",
    (lifecycle.WAITING, lifecycle.IN_REVIEW): "Hand in again for review",
    (lifecycle.WAITING, lifecycle.DONE): "Approved by a person",
    (lifecycle.WAITING, lifecycle.ACTIVE): "A person asks for changes",
    (lifecycle.DONE, lifecycle.ACTIVE): "Open again",
    (lifecycle.ESCALATED, lifecycle.ACTIVE): "Continue with guidance",
    (lifecycle.ESCALATED, lifecycle.DONE): "A person overrides the escalation",
    (lifecycle.ACTIVE, lifecycle.BLOCKED): "Blocked: {why}",
    (lifecycle.BLOCKED, lifecycle.ACTIVE): "Continue",
}
"""What each move of a phase is called in the history. The first phase that made one is what a commit is about."""
