"""What Holdfast itself does when a step with an action is handed in: make a branch, commit, open a pull request.

Every action can be repeated: after a crash between doing it and recording it, the step is handed in again.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import git
from holdfast.core import queries, refusals, remedies, tasks
from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.core.state import Evidence, State
from holdfast.errors import Conflict, HoldfastError, Refused, UsageError
from holdfast.files.locks import Locked
from holdfast.git import branches, commits
from holdfast.git import changes as git_changes
from holdfast.git import made as git_made
from holdfast.plain.digest import digest
from holdfast.systems.seam import committed, publishing, sharing
from holdfast.systems.seam.parts import Acted, Order
from holdfast.systems.seam.registry import work
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.port import Forge

PULL_REQUEST_CHECK = "pr_created"
"""A check of this name is passed by the pull request that the action made."""
_SUBJECT_LINE = 72


class Mark:
    """What says in a file of the project that a task is done, and goes with its commit. This one says nothing."""

    full = ""
    file = ""

    def words(self) -> tuple[str, ...]:
        """What the system needs to know to take it back; nothing where the file says it already."""
        return ()

    def put(self) -> tuple[str, ...]:
        """Says it; gives what the user should be told."""
        return ()


class _Marked(commits.Beside):
    """The mark of a commit, noted before it is put: whatever ends the command, the next one takes it back."""

    def __init__(self, mark: Mark, repository: git.Repository, purpose: git_made.Purpose, system: str) -> None:
        self._mark, self._repository, self._purpose, self._system = mark, repository, purpose, system
        self.said: tuple[str, ...] = ()

    def do(self) -> None:
        noted = git_made.wanted(self._repository, self._purpose.ulid, self._purpose.step)
        words = self._mark.words()
        if words or noted:
            note = (self._system, *words) if words else noted
            git_made.keep(self._repository, self._purpose, "", os.getpid(), note)
        self.said = self._mark.put()

    def undo(self) -> None:
        _unmade(self._repository, self._purpose)


def left_over(repository: git.Repository) -> list[str]:
    """Undoes what commands that are over did for commits that are not made, and tells of those not recorded."""
    said = []
    try:
        with Locked(repository.git_dir, 0):
            for purpose, sha in [] if git.is_unsettled(repository) else git_made.abandoned(repository):
                made = f"Commit {sha[:12]} for {purpose.step or 'the work'} of {purpose.workflow} was made"
                told = f"{made} but not recorded. Repeat the command to record it."
                said.append(told if sha else _unmade(repository, purpose))
    except Conflict:
        pass  # somebody commits
    except HoldfastError as failure:
        said.append(f"A commit was interrupted before it was made: {failure.message}.")
    return [one for one in said if one]


def _unmade(repository: git.Repository, purpose: git_made.Purpose) -> str:
    words = git_made.wanted(repository, purpose.ulid, purpose.step)
    return work(words[0]).unmade(repository, purpose, words[1:]) if words else ""


def require_all(wired: Wired, state: State, path: str) -> None:
    """Refuses a pull request without all of the work, also one that somebody says they made."""
    if state.plan.step(path).action == "pull_request":
        committed.require_committed(wired, state, wired.on_branch(state), path)


def _made_elsewhere(state: State, path: str, order: Order) -> str:
    """Where the pull request is that somebody says they made."""
    reported = state.step(path).evidence.get(PULL_REQUEST_CHECK)
    return order.url or (str(reported.data.get("pr_url") or "") if reported and reported.passed else "")


def perform(wired: Wired, state: State, path: str, order: Order) -> Acted:
    action = state.plan.step(path).action
    own = work(state.dialect).perform.get(action)
    if own is not None:
        return own(wired, state, path, order)
    if action == "commit":
        return commit_step(wired, state, path, order, Mark())
    repository = wired.repository(state.worktree)
    if action == "load":
        return Acted({"loaded": state.subject})
    if action == "branch":
        return _branch(repository, state, wired.settings.lock_wait)
    return _pull_request(wired, wired.on_branch(state), state, path, order)


def expected(state: State, path: str) -> Acted:
    """What would come of it, in form: enough to ask the rules before anything is done."""
    step = state.plan.step(path)
    checks = {check.name for check in step.checks} & {PULL_REQUEST_CHECK}
    return Acted({step.fact: "expected"}, {name: Evidence(True, "", 0) for name in checks})


def _branch(repository: git.Repository, state: State, wait: float) -> Acted:
    name = state.branch
    if not name:
        said = f"{state.id} has no branch to make"
        raise UsageError("no_branch", said, remedy=remedies.start(state.type, state.subject, branch=Blank("NAME")))
    made = git.branch(repository) != name
    branches.make_branch(repository, name, wait)
    return Acted({"branch": name}, said=(f"on the new branch {name}",) if made else ())


def commit_step(wired: Wired, state: State, path: str, order: Order, mark: Mark) -> Acted:
    """The commit of a step: the one that is named, or one of what belongs to it."""
    repository = wired.on_branch(state)
    own = os.path.relpath(mark.full, repository.top) if mark.full else ""
    tested = committed.Compared(wired, state, repository, path, own)
    if order.commit:
        sha = git_changes.resolve(repository, order.commit)
        if sha is None:
            raise refusals.no_commit(order.commit)
        if not git_changes.contains(repository, sha):
            message = f"{sha[:12]} is not part of {state.branch or 'HEAD'}"
            raise Refused("foreign_commit", message, remedy=shell("git", "log", "--oneline"))
        require_own(repository, state, path, sha)
        return _committed(tested, sha, mark.put())
    purpose = _purpose(state, path, str(state.step(path).attempt))
    sha = commits.made_for(repository, purpose, wired.settings.lock_wait)
    if sha:
        return _committed(tested, sha, (*mark.put(), _made_already(wired, repository, state, sha)))
    paths = _paths(wired, repository, state, path, order, own)
    if not paths:
        sha = _made_before(repository, state, path)
        return _committed(tested, sha, mark.put())
    marked = [*paths, own] if own and own not in state.dirt else paths
    message, secrets, wait = _message(state, path, mark.file), wired.engine.secrets, wired.settings.lock_wait
    beside = _Marked(mark, repository, purpose, state.dialect)
    sha = commits.commit(repository, marked, order.message or message, secrets, purpose, wait, beside)
    return _committed(tested, sha, (*beside.said, f"committed {sha[:7]}"))


def _committed(tested: committed.Compared, sha: str, said: tuple[str, ...]) -> Acted:
    """The commit of a step, with what of it is not what was tested."""
    facts = tested.facts(sha)
    return Acted({tasks.COMMIT: sha, **facts}, said=(*said, *committed.said(facts)))


def require_own(repository: git.Repository | None, state: State, path: str, sha: str) -> None:
    """Refuses a commit that cannot have the work of a step: one from before the workflow, or of another step."""
    full = (git_changes.resolve(repository, sha) if repository else None) or sha
    if repository and state.head and git_changes.contains(repository, full, state.head):
        raise refusals.not_its_commit(path, full, "was there before the workflow started")
    for one in state.plan.paths:
        known = str(state.step(one).data.get(tasks.COMMIT) or "")
        if known and one != path and (full.startswith(known) or known.startswith(full)):
            raise refusals.not_its_commit(path, full, f"is the commit of {one}", of=one)


def _purpose(state: State, path: str, request: str) -> git_made.Purpose:
    return git_made.Purpose(state.ulid, state.id, path, request)


def commit(
    wired: Wired, state: State, path: str, message: str, paths: tuple[str, ...], again: Remedy
) -> tuple[str, str]:
    """Commits the files that are named, or all that changed, with exactly these words, for a step if there is one.

    Gives the commit, and what to say where an interrupted command had made it. `again` is the command that was typed,
    without the files.
    """
    if state.bound(path):
        from holdfast.systems.seam import seen, worktrees

        made = _commit(wired, worktrees.enter(wired, state, path), path, message, paths, again)
        seen.keep(wired, state, path)
        return made
    return _commit(wired, state, path, message, paths, again)


def _commit(
    wired: Wired, state: State, path: str, message: str, paths: tuple[str, ...], again: Remedy
) -> tuple[str, str]:
    repository = git.find(wired.place.base(state.worktree))
    if repository is None:
        raise UsageError("no_repository", "there is no git repository to commit to", remedy=shell("git", "init"))
    if wired.is_elsewhere(state):
        raise wired.branch_mismatch(state)
    purpose = _purpose(state, path, digest(message.encode()))
    wait = wired.settings.lock_wait
    sha = commits.made_for(repository, purpose, wait)
    if sha:
        return sha, _made_already(wired, repository, state, sha)
    found = _paths(wired, repository, state, path or queries.current(state) or "", Order(paths=paths), "")
    split = sharing.Shared(tuple(found), {}) if paths else sharing.shared(wired, repository, state, path, found, again)
    if not split.own:
        raise _nothing(wired, repository, state, path, split.others)
    sha = commits.commit(repository, split.own, message, wired.engine.secrets, purpose, wait)
    changed = () if paths else wired.world.changed(repository, sha, wired.world.aside(state))
    left = sorted(sharing.locked(wired, state, path, list(changed)))
    said = [f"left out, as others have locked it: {_listed(left)}"] if left else []
    said += [f"left out: {told}"] if (told := _of_others(split.others)) else []
    return sha, "; ".join((f"committed {sha[:7]}: {message}", *said)) if said else ""


def _nothing(wired: Wired, repository: git.Repository, state: State, path: str, others: Mapping[str, str]) -> Refused:
    """Nothing of the work is there to commit: where was looked, and what is there of others."""
    where = ""
    ways: tuple[Remedy, ...] = (shell("git", "status"),)
    if state.bound(path):
        where = f" in the worktree of {path}, {repository.top}"
        ways = (shell("git", "-C", repository.top, "status"),)
        if os.path.realpath(wired.place.worktree) != os.path.realpath(repository.top):
            ways = (shell("cd", repository.top, text="its files are written there"), *ways)
    told = f"; others work on {_of_others(others)}" if others else ""
    said = f"nothing changed that could be committed{where}{told}"
    return Refused("nothing_to_commit", said, remedy=ways, facts={"step": path, "worktree": repository.top})


def _of_others(others: Mapping[str, str]) -> str:
    """The files that are of other steps, by these."""
    steps = sorted(set(others.values()))
    listed = ((step, [name for name, one in others.items() if one == step]) for step in steps)
    return ", ".join(f"{_listed(names)} (of {step})" for step, names in listed)


def _listed(files: list[str]) -> str:
    return f"{', '.join(files[:8])}{', …' if len(files) > 8 else ''}"


def _made_already(wired: Wired, repository: git.Repository, state: State, sha: str) -> str:
    """The sentence about a commit of an interrupted command, with what is not in it."""
    changed = wired.world.changed(repository, git.head(repository), wired.world.aside(state))
    rest = [path for path, one in changed.items() if state.dirt.get(path) != one.blob]
    listed = ", ".join(rest[:8]) + (", …" if len(rest) > 8 else "")
    return f"{sha[:7]} was committed before the interruption" + (f"; still uncommitted: {listed}" if rest else "")


def _paths(wired: Wired, repository: git.Repository, state: State, path: str, order: Order, own: str) -> list[str]:
    """What belongs to the work: what is named, else what changed, without what was already changed when the work began.

    The feature file `own`, which has the ticks of tasks, goes with the work and is none of it.
    """
    changed = wired.world.changed(repository, git.head(repository), wired.world.aside(state))
    changed.pop(own, None)
    if order.paths:
        base = wired.place.base(state.worktree)
        named = [os.path.relpath(os.path.join(base, wired.place.inside(one)), repository.top) for one in order.paths]
        found = [one for one in changed if any(one == name or one.startswith(f"{name}/") for name in named)]
        for file, (lock, hold) in sharing.locked(wired, state, path, found).items():
            raise refusals.locked(file, lock, hold)
        return found
    for file in sharing.locked(wired, state, path, list(changed)):
        del changed[file]
    in_head = git_changes.in_head(repository, list(state.dirt))
    before = {name: blob for name, blob in state.dirt.items() if in_head.get(name, "") != blob or not blob}
    mixed = [name for name, one in changed.items() if name in before and one.blob != before[name]]
    if mixed:
        said = f"{', '.join(mixed[:8])} had changes that are not of this work before it began"
        part = remedies.done(path, given={"paths": [remedies.PATH]}, text="name what belongs to it")
        whole = remedies.done(path, given={"commit": Blank("SHA")}, text="commit it and name it")
        raise Refused("mixed_changes", said, remedy=(part, whole), facts={"paths": mixed[:50]})
    return [name for name in changed if name not in before]


def _made_before(repository: git.Repository, state: State, path: str) -> str:
    """Nothing is left to commit: the commit was made with the work, or by a command that died after it."""
    known = [state.step(one).data.get(tasks.COMMIT) for one in state.plan.paths]
    head = git.head(repository)
    if head is None or head == state.head or head in known:
        said = f"nothing changed that {path} could commit"
        way = remedies.done(path, given={"commit": Blank("SHA")}, text="name the commit that has it")
        raise Refused("nothing_to_commit", said, remedy=way, facts={"step": path, "head": head})
    return head


def _message(state: State, path: str, file: str) -> str:
    """The task in its own words; a long one continues below the first line."""
    step = state.plan.step(path)
    text = step.name if step.kind == tasks.TASK else state.title or state.subject
    where = f"Task {step.id} of {file}" if file and step.kind == tasks.TASK else ""
    if len(text) <= _SUBJECT_LINE:
        return f"{text}\n\n{where}" if where else text
    cut = text.rfind(" ", 0, _SUBJECT_LINE)
    cut = cut if cut > 0 else _SUBJECT_LINE
    rest = text[cut:].strip()
    return f"{text[:cut]}\n\n{rest}" + (f"\n\n{where}" if where else "")


def _pull_request(wired: Wired, repository: git.Repository, state: State, path: str, order: Order) -> Acted:
    forge = wired.forge(state.worktree)
    url = _made_elsewhere(state, path, order)
    if url:
        from holdfast.forges.addresses import number_in

        number = number_in(url)
        if number is None:
            raise UsageError("bad_url", f"{url[:200]!r} is not the address of a pull request", remedy="--url URL")
        _require_published(repository, state, path, url)
        return _opened(wired, state, path, number, url, run_by="reported")
    branch = state.branch or git.branch(repository)
    if not branch:
        raise Refused("no_branch", "HEAD is on no branch", remedy=shell("git", "switch", "-c", Blank("NAME")))
    base = _base(forge, repository, branch)
    if forge.refusal is not None:
        said = f"{forge.refusal.message}, so the pull request is yours to make"
        facts = {"branch": branch, "base": base, "title": _title(state), "page": forge.page(branch, base)}
        ways = _by_hand(wired, forge, repository, state, path, branch)
        raise Refused(forge.refusal.code, said, remedy=ways, facts=facts)
    from holdfast.systems.seam.request import body

    if not publishing.push(forge, repository, branch):
        said = f"{branch} is the branch that pull requests go into: it is not pushed"
        ways = _as_another(wired, forge, repository, state, path, branch)
        raise Refused("head_is_base", said, remedy=ways, facts={"branch": branch})
    made = forge.open(branch, base, _title(state), body(wired, repository, state))
    return _opened(wired, state, path, made.number, made.url, run_by="engine")


def opened_by_hand(wired: Wired, state: State, path: str) -> tuple[Remedy, ...]:
    """What others type to make the pull request of a step; nothing where Holdfast makes it, or handing in says why."""
    try:
        repository, forge = wired.on_branch(state), wired.forge(state.worktree)
        committed.require_committed(wired, state, repository, path)
        branch = state.branch or git.branch(repository)
        by_hand = forge.refusal is not None or (branch and publishing.is_base(forge, repository, branch))
        return _by_hand(wired, forge, repository, state, path, branch) if branch and by_hand else ()
    except HoldfastError:
        return ()


def _require_published(repository: git.Repository, state: State, path: str, url: str) -> None:
    """Refuses the address of a pull request that cannot have the work: no branch of a remote has its last commit."""
    head, branch = git.head(repository), state.branch or git.branch(repository)
    if not head or not branch or git_changes.is_published(repository, head):
        return
    from holdfast.forges.addresses import push_command

    if git_changes.remote(repository, branch) is None:
        said = f"{branch} is not pushed: the repository has no remote, so no pull request has {head[:12]}"
        raise Refused("not_pushed", said, remedy=_without_remote(path), facts={"branch": branch, "head": head})
    said = f"{branch} is not pushed: no branch of a remote has {head[:12]}, as far as git knows here"
    push = Remedy(text=push_command(branch, git_changes.remote(repository, branch) or "origin"))
    ways = (push, remedies.done(path, given={"url": url}, text="then"))
    raise Refused("not_pushed", said, remedy=ways, facts={"branch": branch, "head": head})


def _body_file(wired: Wired, repository: git.Repository, state: State) -> str:
    """Where what the pull request says is kept for who opens it, from the top of the worktree; empty if nowhere."""
    from holdfast.checks import logs
    from holdfast.files.replace import make_directories, write_private
    from holdfast.systems.seam.request import body

    full = os.path.join(logs.folder(wired.place.home, state.ulid), "pull-request.md")
    text = body(wired, repository, state)
    try:
        if logs.read(full) != text:
            wired.require_writable()
            make_directories(os.path.dirname(full), 0o700)
            write_private(full, text.encode())
    except (HoldfastError, OSError):
        return ""
    return os.path.relpath(full, wired.place.base(state.worktree))


def _by_hand(
    wired: Wired, forge: Forge, repository: git.Repository, state: State, path: str, branch: str
) -> tuple[Remedy, ...]:
    """A branch is pushed and its pull request opened; one that has the name of the base is pushed as another."""
    made = remedies.done(path, given={"url": Blank("URL")})
    remote = git_changes.remote(repository, branch)
    if remote is None:
        return _without_remote(path, _body_file(wired, repository, state))
    if publishing.is_base(forge, repository, branch):
        return _as_another(wired, forge, repository, state, path, branch)
    text = _body_file(wired, repository, state)
    base = _base(forge, repository, branch)
    typed = Remedy(text=forge.typed(branch, _title(state), base, text))
    return typed, *_opening(forge, text), made.replace(text="then")


def _without_remote(path: str, text: str = "") -> tuple[Remedy, ...]:
    """Nothing can be pulled from a repository without a remote: it gets one, or a person does without the request."""
    add = shell("git", "remote", "add", "origin", Blank("URL"))
    kept = f"the text of the pull request is in {text}; give the repository its remote" if text else ""
    skip = remedies.skip(path, text="to do without a pull request", who="person")
    return add.replace(text=kept), remedies.done(path, text="then"), skip


def _opening(forge: Forge, text: str) -> tuple[Remedy, ...]:
    """What a person does where no command opens the pull request, as of a remote that is a folder."""
    taken = f" and take the text of {text}" if text else ""
    said = f"then open the pull request where the repository is served{taken}"
    return (Remedy(text=said),) if forge.is_served_by_path else ()


def _as_another(
    wired: Wired, forge: Forge, repository: git.Repository, state: State, path: str, branch: str
) -> tuple[Remedy, ...]:
    """What is on the base gets a branch of its own, whose pull request goes into the base."""
    name, text = Blank("NAME"), _body_file(wired, repository, state)
    remote = git_changes.remote(repository, branch) or "origin"
    push = (shell("git", "branch", name), shell("git", "push", remote, name, text="then"))
    said = ("--body-file", text) if text else ("--body", "")
    words = ("--base", branch, "--title", _title(state), *said)
    request = _opening(forge, text) or (shell("gh", "pr", "create", "--head", name, *words, text="then"),)
    return *push, *request, remedies.done(path, given={"url": Blank("URL")}, text="then")


def _title(state: State) -> str:
    return state.title or state.subject


def _base(forge: Forge, repository: git.Repository, branch: str) -> str:
    """The branch that a pull request goes into; empty where the forge has to be asked."""
    if forge.is_fork:
        return git_changes.default_branch(repository, git_changes.upstream(repository)[0]) or ""
    base = git_changes.default_branch(repository) or ""
    return "" if base == branch else base


def _opened(wired: Wired, state: State, path: str, number: int, url: str, *, run_by: str) -> Acted:
    data = {"pr_number": number, "pr_url": url}
    evidence = {}
    if state.plan.step(path).check(PULL_REQUEST_CHECK):
        evidence = {PULL_REQUEST_CHECK: Evidence(True, wired.world.now(), 0, run_by=run_by, data=data)}
    return Acted(data, evidence, (f"pull request {url}",))
