"""What a pull request says: what the work is about, its tasks with their commits, and how each check came about."""

from __future__ import annotations

from _collections_abc import Iterable

from holdfast import git
from holdfast.core import lifecycle, provenance, record, tasks
from holdfast.core.definition import Check
from holdfast.core.state import Evidence, State
from holdfast.git import history
from holdfast.git.changes import contains, resolve
from holdfast.systems.seam.committed import uncommitted
from holdfast.systems.seam.registry import work
from holdfast.systems.seam.wired import Wired

_MOST = 60_000
"""A GitHub takes 65 536 characters."""


def body(wired: Wired, repository: git.Repository, state: State) -> str:
    own = work(state.dialect).body
    if own is not None:
        return own(state)
    about = work(state.dialect).about(wired, state)
    before = uncommitted(wired, state, repository)[1]
    shadowing = wired.shadowing(state.type, state.source)
    parts = (repository, state, about, before, wired.world.tree(state).id, shadowing)
    said = _whole(*parts, described=True)
    return said if len(said) <= _MOST else _whole(*parts, described=False)[:_MOST]


def _whole(
    repository: git.Repository,
    state: State,
    about: tuple[str, ...],
    before: list[str],
    tree: str | None,
    shadowing: str,
    *,
    described: bool,
) -> str:
    lines = [*about, ""] if about else [f"From `{_code(state.subject)}`." if state.subject else state.title, ""]
    listed = [line for path in state.plan.of_kind(tasks.TASK) for line in _task(repository, state, path, described)]
    known = {*state.plan.paths}
    removed = [f"- [ ] {_plain(said)}" for path, said in record.skipped(state).items() if path not in known]
    lines += ["## Tasks", "", *listed, *removed, ""] if listed or removed else []
    checks = [
        f"- `{_code(name)}`: {how(check, evidence)}{_of_other_files(evidence, tree)}"
        for path, name in state.plan.checked()
        if not tasks.task_of(state, path)
        and (check := state.plan.step(path).check(name)) is not None
        and (evidence := state.step(path).evidence.get(name)) is not None
    ]
    lines += ["## Checks", "", *checks, ""] if checks else []
    lines += [f"The checks were {_plain(provenance.run_with(before))}.", ""] if before else []
    around = [*([shadowing] if shadowing else ()), *provenance.around(state)]
    lines += ["## About the proof", "", *(f"- {_plain(said)}" for said in around), ""] if around else []
    return "\n".join(lines).rstrip("\n") + "\n"


def _task(repository: git.Repository, state: State, path: str, described: bool) -> Iterable[str]:
    step, progress = state.plan.step(path), state.step(path)
    done = progress.status == lifecycle.DONE
    sha = str(progress.data.get(tasks.COMMIT) or "")
    after = f" ({_commit(repository, sha)})" if sha else ""
    after += "".join(f"; {_plain(said)}" for said in provenance.of_commit(progress.data))
    if progress.status == lifecycle.SKIPPED:
        skipped = record.skipped(state)
        below = next((said for one, said in skipped.items() if one == path or one.startswith(f"{path}/")), "skipped")
        after = f" – {_plain(below)}"
    tested = bool(state.plan.children(path)) or progress.status == lifecycle.SKIPPED
    yield f"- [{'x' if done else ' '}] {_plain(step.label)}{'' if tested else ' (no tests)'}{after}"
    for line in step.description.split("\n") if described and step.description else ():
        yield f"  {line}".rstrip()
    for one in (path, *state.plan.below(path)):
        for check in state.plan.step(one).checks:
            evidence = state.step(one).evidence.get(check.name)
            if evidence is not None:
                name = check.name if one == path else state.plan.step(one).id
                yield f"  - {_plain(name)}: {how(check, evidence)}"


def how(check: Check, evidence: Evidence) -> str:
    """How a check came by its result: whether Holdfast ran it, with what and when, or somebody reported it."""
    import shlex

    test = str(evidence.data.get("test") or "")
    word = f"passed{provenance.with_figures(evidence)}" if evidence.passed else "failed"
    if check.test == "fails" and evidence.passed:
        word = "the test failed, as it must"
    named = f" (`{_code(test)}`)" if test else ""
    if evidence.claimed:
        return f"{word}{named}, only claimed by a document, not run by Holdfast"
    if evidence.run_by != "engine":
        return f"{word}{named}, reported by {_plain(evidence.by or 'somebody')}, not run by Holdfast"
    words = str(evidence.data.get(provenance.COMMAND) or shlex.join(check.run))
    command = f" `{_code(words)}`{f' in `{_code(check.folder)}`' if check.folder else ''}" if words else ""
    origin = provenance.typed(check.by) if check.run else ""
    command += f" ({_plain(origin)})" if origin else ""
    seen = provenance.how(evidence)
    only = f", {seen}" if seen else ""
    others = provenance.other_packages(evidence)
    only += f"; {_plain(others)}" if others else ""
    code = f", exit code {evidence.exit_code}" if evidence.exit_code is not None else ""
    more = "".join(f"; {_plain(said)}" for said in provenance.remarks(evidence))
    return f"{word}{named}, run by Holdfast:{command} at {evidence.at}{code}{only}{more}"


def _of_other_files(evidence: Evidence, tree: str | None) -> str:
    is_other = evidence.tree is not None and tree is not None and evidence.tree != tree
    return ", before the files changed" if is_other and evidence.run_by != "engine" else ""


def _commit(repository: git.Repository, sha: str) -> str:
    known = resolve(repository, sha)
    if known is None or not contains(repository, known):
        return f"{sha[:7]} {provenance.DROPPED}"
    subject = history.message(repository, known).partition("\n")[0] if known else ""
    return f"{sha[:7]} {_plain(subject)}".rstrip()


def _code(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


def _plain(text: str) -> str:
    """Text on one line, with no tags in it: a page would hide them."""
    return " ".join(text.split()).replace("<", "&lt;")
