"""Looking after a project: damage, old workflows, documents without a journal."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core import refusals, remedies
from holdfast.errors import HoldfastError
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.call import Call
from holdfast.upkeep.findings import Finding

BROKEN = 6


def doctor(call: Call) -> int:
    from holdfast.upkeep import doctor

    report = (doctor.repair if call.args.repair else doctor.examine)(call.project)
    rows = [
        {"level": f.level, "code": f.code, "message": f.message, "remedy": call.told(f.remedies), "path": f.path}
        for f in report.findings
    ]
    broken = any(finding.level == "broken" for finding in report.findings)
    call.answer({"ok": not broken, "findings": rows}, lambda: _lines(call, report.findings))
    return BROKEN if broken else 0


def _lines(call: Call, findings: Sequence[Finding]) -> str:
    style = call.style
    marks = {"ok": style.green("✓"), "warning": style.yellow("⚠"), "broken": style.red("✗")}
    out = []
    for finding in findings:
        out.append(f"{marks[finding.level]} {escape(finding.message)}")
        if finding.remedies and finding.level != "ok":
            out.append(f"  {style.dim('→')} {escape(call.told(finding.remedies))}")
    return "\n".join(out) or call.ok("nothing is wrong")


def clean(call: Call) -> None:
    from holdfast.upkeep import clean

    project, args = call.project, call.args
    if args.active and not args.dry_run:
        if not call.is_person:
            raise refusals.person_needed("abandon all active workflows", remedies.named("clean", {"active": True}))
        about = "Every active workflow of this folder is abandoned. "
        if not call.ask(about, "Clear all state?", default=args.yes):
            raise HoldfastError("declined", "nothing was cleared", remedy=remedies.listing())
    everything = args.all or args.active
    done = clean.clean(project, now=call.now(), dry_run=args.dry_run, all=everything, active=args.active)
    rows = {"archived": done.archived, "removed": done.removed, "abandoned": done.abandoned}

    def text() -> str:
        would = "would be " if call.args.dry_run else ""
        lines = [escape(f"{would}{word}: {name}") for word, names in rows.items() for name in names]
        return "\n".join(lines) or call.ok("nothing to archive")

    call.answer({**rows, "dry_run": call.args.dry_run}, text)


def adopt(call: Call) -> None:
    project = call.project
    paths = [project.wired.place.inside(path) for path in call.args.paths]
    from holdfast.systems.seam.adoption import adopt

    found = [Workflow(project.wired, state) for state in adopt(project.wired, paths)]
    rows = [{**workflow.summary(), "ulid": workflow.ulid} for workflow in found]

    def text() -> str:
        return "\n".join(call.ok(f"adopted {w.id}") for w in found) or "nothing to adopt"

    call.answer({"workflows": rows, "total": len(rows)}, text)


def demo(call: Call) -> None:
    from holdfast.surfaces import demo

    demo.play(call.style, 0.0 if call.args.fast else 1.0)
