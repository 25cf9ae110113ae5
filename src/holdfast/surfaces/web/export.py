"""A static copy of the pages: the same functions, styles inside, no script, and nothing that a browser would fetch."""

from __future__ import annotations

import os

from holdfast.core import refusals, remedies
from holdfast.core.remedy import Blank
from holdfast.files.replace import not_written
from holdfast.project.project import Project
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.web import gathered, layout, others, overview, workflow_page
from holdfast.surfaces.web.gathered import Gathered, Seen
from holdfast.surfaces.web.layout import Shell
from holdfast.surfaces.web.markup import Markup


def write(call: Call) -> None:
    """`--export DIR`: all workflows and the pages about them together, or with `-w` one alone."""
    args, project = call.args, call.project
    folder = args.export
    running = gathered.active(project)
    named = call.named()
    chosen = [gathered.seen(call.workflow())] if named else [*running, *gathered.finished(project)]
    pages = {f"w/{one.workflow.ulid}.html": _workflow(project, one, running, contents=args.files) for one in chosen}
    if named:
        pages = {"index.html": _workflow(project, chosen[0], running, contents=args.files, depth=0)}
    else:
        shell = _shell(project, running, f"Copied from {gathered.name_of(project)} at {project.wired.world.now()}.")
        pages["index.html"] = _page(shell, "Workflows", overview.body(project, shell, _all(running)), "/")
        pages["learnings.html"] = _page(shell, "Learnings", others.learnings(project), "/learnings")
        pages["agents.html"] = _page(shell, "Agents", others.agents(running, shell), "/agents")
    _require_room(folder)
    for name, content in pages.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(content)
    where = os.path.join(folder, "index.html")
    call.answer({"files": sorted(pages), "start": where}, call.ok(f"{where} and {len(pages) - 1} more files"))


def _workflow(project: Project, one: Seen, running: list[Seen], *, contents: bool, depth: int = 1) -> str:
    from hashlib import sha256

    hashed = sha256(project.wired.store.export(one.workflow.ulid)).hexdigest()
    said = f"Copied at {project.wired.world.now()}: revision {one.brief.state.revision}, journal SHA-256 {hashed}."
    shell = _shell(project, running, said).replace(depth=depth)
    body = workflow_page.body(project, one, shell, Markup(""), contents=contents)
    return _page(shell, one.brief.title, body, "")


def _page(shell: Shell, title: str, body: Markup, here: str) -> str:
    from holdfast.surfaces.web.assets import packaged

    return layout.whole(shell, title, body, here=here, style=packaged("style.css"))


def _all(running: list[Seen]) -> Gathered:
    asked = tuple(gathered.asked(running))
    return Gathered(tuple(running), asked, waiting=len(asked))


def _shell(project: Project, running: list[Seen], said: str) -> Shell:
    waiting = len(gathered.asked(running))
    return Shell(project=gathered.name_of(project), at=project.wired.world.now(), waiting=waiting, copy_of=said)


def _require_room(folder: str) -> None:
    """Only a folder that is new or empty is written to: nothing of the user's is replaced."""
    try:
        os.makedirs(folder, exist_ok=True)
        found = os.listdir(folder)
    except OSError as failure:
        raise not_written(folder, failure) from failure
    if found:
        another = remedies.named("web", {"export": Blank("PATH")}, text="name another folder, new or empty")
        raise refusals.misused(f"{folder[:200]} is not empty", another)
