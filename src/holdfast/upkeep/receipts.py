"""The proof of one approval as a file of its own: for a pull request, or for anybody who has no journal."""

from __future__ import annotations

import json
import os

from holdfast.core import remedies, statement
from holdfast.core.state import Grant, Proof
from holdfast.core.value import Any
from holdfast.engine.contents import read, sha256
from holdfast.engine.world import LARGEST_ARTIFACT
from holdfast.errors import NotFound, Refused, UsageError
from holdfast.machine.place import read_regular
from holdfast.plain.plainjson import object_in
from holdfast.project.workflow import Workflow
from holdfast.upkeep.verifying import PROVEN, WRONG, Checker, Finding

FORMAT = "holdfast receipt 1"
LARGEST = 16 << 20


def receipt(workflow: Workflow, path: str) -> bytes:
    """The statement and the proof of the approval that a step has."""
    grant = workflow.state.step(path).grant
    if grant is None or grant.proof is None:
        said = f"{path} has no approval with a proof, so there is nothing that others could check"
        raise Refused("no_proof", said, remedy=remedies.status(workflow=workflow.ulid), facts={"step": path})
    return json.dumps({"format": FORMAT, **_told(grant, grant.proof)}, indent=2).encode() + b"\n"


def _told(grant: Grant, proof: Proof) -> dict[str, Any]:
    return {"by": grant.by, "at": grant.at, "how": grant.how, "proof": {n: v for n, v in proof.items() if v}}


def check(file: str, root: str, checker: Checker) -> list[Finding]:
    """Whether a receipt holds for the files below a folder as they are there now."""
    data = read_regular(file, LARGEST)
    if data is None:
        raise NotFound("no_file", f"{file[:200]} cannot be read", remedy="name the file that holdfast receipt wrote")
    found = object_in(data) or {}
    parts = found.get("proof")
    try:
        if found.get("format") != FORMAT or not isinstance(parts, dict):
            raise TypeError
        proof = Proof(**parts)
        if any(type(value) is not str for _, value in proof.items()):
            raise TypeError
    except TypeError:
        raise UsageError("bad_receipt", f"{file[:200]} is no receipt", remedy="make it with holdfast receipt") from None
    said = statement.parse(proof.statement)
    who, note = checker.made(proof, said)
    known = {"workflow": said.id, "step": said.step, "by": who}
    findings = list(checker.pinned())
    if said.decision != statement.APPROVE:
        findings.append(Finding(WRONG, file, 0, "it is a rejection", **known))
    for name, path, expected in said.artifacts:
        inside = not os.path.isabs(path) and os.path.normpath(path).split(os.sep)[0] != os.pardir
        content = read(os.path.join(root, path), LARGEST_ARTIFACT) if inside else None
        if sha256(content) != expected or not inside:
            findings.append(Finding(WRONG, file, 0, f"{path} ({name}) is not as it was approved", **known))
    if not findings:
        many = len(said.artifacts)
        files = f"{many} file{'' if many == 1 else 's'}"
        how = f"with a {'passkey' if proof.credential else 'signature'}{note}, for {files}"
        findings.append(Finding(PROVEN, file, 0, how, **known))
    return findings
