"""Who may approve with a passkey, and what can be proved of the approvals that were given."""

from __future__ import annotations

import os
import sys

from holdfast.core import refusals, remedies
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, UsageError
from holdfast.plain.terminal import escape
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.machine.approvers import Approvers
    from holdfast.upkeep.verifying import Checker, Finding, Pin

UNPROVEN = 6


def passkeys(call: Call) -> None:
    """The keys of each list; a person who looks at them has seen every change."""
    from holdfast.machine import approvers
    from holdfast.machine.known_approvers import looked

    wired = call.project.wired
    lists = approvers.Lists(wired.place, wired.settings.config_dir)
    counting, every = lists.counting, (lists.own, lists.shared, lists.system)
    rows: list[dict[str, Any]] = []
    for path in every:
        rows += [_row(approvers.read(path), counts=path == counting)] if os.path.lexists(path) else []
    if call.is_person:
        looked(every, wired.settings.data_dir)

    def text() -> str:
        lost = None if rows else _lost(call)
        nothing = (
            f"no passkeys: {lost.message} ({call.told(lost.remedies)})"
            if lost
            else "no passkeys yet; add one in holdfast web"
        )
        return "\n".join(_lines(call, row) for row in rows) or escape(nothing)

    call.answer({"lists": rows}, text)


def _lost(call: Call) -> HoldfastError | None:
    """Why the list that counts is not the one that earlier approvals name."""
    from holdfast.project import wiring

    wired = call.project.wired
    try:
        wiring.prover(wired.place, wired.settings, wired.store).list()
    except HoldfastError as wrong:
        return wrong
    return None


def _row(found: Approvers, *, counts: bool) -> dict[str, Any]:
    keys = [{name: value for name, value in key.items() if name not in ("cose", "spki")} for key in found.now]
    return {"path": found.path, "counts": counts, "root": found.root, "length": found.at[0], "keys": keys}


def _lines(call: Call, row: dict[str, Any]) -> str:
    counts = "" if row["counts"] else call.style.dim("  another list counts here")
    lines = f"{row['length']} line{'s' if row['length'] > 1 else ''}, root {row['root']}"
    out = [f"{escape(row['path'])}  {lines if row['length'] else 'empty: it has no key'}{counts}"]
    shown = ([key[name] for name in ("name", "kept", "since", "origin")] for key in row["keys"])
    return "\n".join((*out, *(f"  {escape('  '.join(one))}" for one in shown)))


def add(call: Call) -> None:
    """A browser makes a key. Where all keys of the list are lost, a person begins a new one."""
    from holdfast.machine import approvers
    from holdfast.machine.known_approvers import KnownApprovers

    if not call.args.new_root:
        raise refusals.browser_needed("make a passkey")
    wired = call.project.wired
    again = remedies.named("passkey add", {"new_root": True})
    if not call.is_person:
        raise refusals.person_needed("put another list in the place of the one that counts", again)
    lists = approvers.Lists(wired.place, wired.settings.config_dir)
    found = approvers.read(lists.counting)
    lost = _lost(call) if not (lists.is_fixed or found.lines) else None
    gone = [str(one) for one in lost.facts.get("lost", ())] if lost else []  # type: ignore[attr-defined]
    if lists.is_fixed or not (found.lines or gone):
        why = "only its owner changes it" if lists.is_fixed else "there is none, and the first key begins it"
        said = f"{found.path} is not replaced: {why}"
        raise UsageError("nothing_to_replace", said, remedy=remedies.named("passkey list"), facts={"path": found.path})
    shown = _lines(call, _row(found, counts=True)) if found.lines else escape(f"{found.path}: it is gone")
    picture = f"{shown}\nNone of these keys approves anything any more.\n"
    if not call.ask(picture, "Put another list in its place?", default=False):
        raise HoldfastError("declined", "the list is as it was", remedy=remedies.named("passkey list"))
    mine = KnownApprovers(wired.settings.data_dir)
    for one in gone or [found.at[1]]:
        mine.replaced(one, call.now())
    if gone:
        call.answer({"kept": "", "after": gone[-1]}, call.ok("the next key that the page makes begins a new list"))
        return
    kept = approvers.retire(found)
    text = f"the old list is kept in {escape(kept)}; the next key that the page makes begins a new one"
    call.answer({"kept": kept, "after": found.at[1]}, call.ok(text))


def remove(call: Call) -> None:
    """Another key has to sign it, so it is done where a browser is."""
    from holdfast.machine import approvers

    wired = call.project.wired
    lists = approvers.Lists(wired.place, wired.settings.config_dir)
    approvers.removing(approvers.read(lists.counting), call.args.name)
    raise refusals.browser_needed(f"remove the passkey {call.args.name}, which another key has to sign")


def receipt(call: Call) -> None:
    from holdfast.upkeep.receipts import receipt

    workflow, path = call.step()
    data = receipt(workflow, path)
    if not call.args.out:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    from holdfast.files.replace import durable_write
    from holdfast.surfaces.cli.outputs import require_place

    require_place(call.args.out, call.project.wired.place, ".json", lambda begins: begins[:40] == data[:40])
    durable_write(call.args.out, data, mode=0o644)
    call.answer({"step": path, "file": call.args.out}, call.ok(f"the proof of {path} is in {escape(call.args.out)}"))


def verify(call: Call) -> int:
    from holdfast.upkeep import receipts, verifying

    checker = _checker(call)
    wired = call.project.wired
    if call.args.receipt:
        try:
            findings = receipts.check(call.args.receipt, wired.place.root, checker)
        except HoldfastError as refusal:
            if refusal.exit_code in (2, 4):
                raise
            findings = [verifying.Finding(verifying.WRONG, call.args.receipt, 0, refusal.message)]
    else:
        ulids = [call.workflow().ulid] if call.args.workflow else []
        findings = verifying.project(wired, checker, ulids)
    holds = all(one.verdict != verifying.WRONG for one in findings)
    call.answer({"ok": holds, "answers": [dict(one.items()) for one in findings]}, lambda: _told(call, findings))
    return 0 if holds else UNPROVEN


def _checker(call: Call) -> Checker:
    from holdfast.machine import approvers, signing
    from holdfast.upkeep.verifying import Checker

    wired, args = call.project.wired, call.args
    signers: str | HoldfastError
    try:
        signers = args.signers or signing.signers(wired.place, wired.settings.config_dir)
    except HoldfastError as refusal:
        signers = refusal
    lists = approvers.Lists(wired.place, wired.settings.config_dir)
    if args.approvers and not os.path.isfile(args.approvers):
        from holdfast.errors import NotFound

        raise NotFound("no_file", f"{args.approvers[:200]} cannot be read", remedy="name a list of approvers")
    if args.approvers:
        return Checker([approvers.read(args.approvers)], signers, _pin(args.pin))
    found = lists.every()
    replaced = [one for one in found if approvers.is_retired(one.path)]
    return Checker([one for one in found if one not in replaced], signers, _pin(args.pin), replaced)


def _pin(said: str) -> Pin | None:
    import re

    from holdfast.upkeep.verifying import Pin

    if not said:
        return None
    found = re.fullmatch(r"([0-9a-f]{64})(?::([1-9][0-9]{0,5}))?", said)
    if found is None:
        text = f"{said[:80]!r} is no pin: the hash of the first line, or HASH:LENGTH"
        raise UsageError("bad_pin", text, remedy=remedies.named("passkey list"))
    return Pin(found[1], int(found[2] or 1))


def _told(call: Call, findings: list[Finding]) -> str:
    from holdfast.upkeep.verifying import BARE, NOTED, PROVEN

    style = call.style
    marks = {PROVEN: style.green("✓"), BARE: style.yellow("○"), NOTED: style.yellow("○")}
    out = []
    for one in findings:
        where = f"{one.path}:{one.line}" if one.line else one.path
        about = f"{one.step} of {one.workflow}, {one.by}: " if one.step else ""
        bare = f"{BARE}, " if one.verdict == BARE else ""
        out.append(f"{marks.get(one.verdict, style.red('✗'))} {escape(f'{where}  {about}{bare}{one.message}')}")
    return "\n".join(out) or call.ok("no approval was given here")
