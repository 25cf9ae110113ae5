"""What can be proved of approvals later, with journals and lists only."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from holdfast.machine import approvers, passkeys
from holdfast.project import wiring
from holdfast.project.project import Project
from holdfast.surfaces.ceremony import Ceremony
from tests.authenticator import FLAG, Authenticator
from tests.docs.blocks import ROOT, blocks
from tests.journals import rewritten
from tests.tiers import need
from tests.workbench import Bench

DEFINITION = """
name = "release"
[[step]]
id = "notes"
outputs = ["notes"]
approval = { by = "passkey" }
[[step]]
id = "sign"
outputs = ["final"]
approval = { by = "signed" }
[[step]]
id = "look"
approval = { by = "human" }
"""
AFTER = """
name = "after"
[[step]]
id = "write"
outputs = ["text"]
[[step]]
id = "notes"
approval = { by = "passkey" }
"""
ASKED = """
name = "asked"
[[step]]
id = "look"
approval = { by = "human" }
"""
PAGE = ROOT / "docs/how-to/verify-approvals.md"


@pytest.fixture
def bench(tmp_path) -> Bench:
    need("ssh-keygen")
    made = Bench(tmp_path / "app").begun()
    made.write(".holdfast/workflows/release.toml", DEFINITION)
    made.write("NOTES.md", "Needs Python 3.11.\n")
    made.write("final.md", "Sealed.\n")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    made.write(".holdfast/allowed_signers", f"ada@example.org {(tmp_path / 'key.pub').read_text()}")
    made.open().start("release", "1.4.0").begin("notes").done("notes", {"notes": "NOTES.md"})
    return made


def enrol(bench: Bench, ceremony: Ceremony, kind: str = "EdDSA") -> Authenticator:
    made = Authenticator(kind)
    asked = ceremony.enrol(bench.open("human"), "ada's key")
    ceremony.enrolled(bench.open("human"), asked.nonce, made.create(asked.options))
    return made


def touched(
    bench: Bench, key: Authenticator, ceremony: Ceremony, decision: str = "approve", feedback: str = ""
) -> None:
    asked = ceremony.ask(bench.open("human").workflow(), "notes", decision, feedback=feedback)
    ceremony.answer(bench.open("human"), asked.nonce, key.get(asked.options))


@pytest.fixture
def whole(bench, tmp_path) -> Bench:
    """A no and a yes with a passkey, a signature, and a person at a terminal."""
    ceremony = Ceremony()
    key = enrol(bench, ceremony)
    touched(bench, key, ceremony, "reject", "Name 3.13.")
    bench.write("NOTES.md", "Needs Python 3.13.\n")
    bench.open().workflow().done("notes", {"notes": "NOTES.md"})
    touched(bench, key, ceremony)
    bench.open().workflow().begin("sign").done("sign", {"final": "final.md"}).approve(
        "sign", sign=str(tmp_path / "key")
    )
    bench.open("human").workflow().approve("look")
    return bench


def own() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "holdfast/approvers")


def journal_of(bench: Bench) -> Path:
    (path,) = (bench.root / ".holdfast/journal").glob("*/*.jsonl")
    return path


def answers(bench: Bench, *words: str) -> list[tuple[str, str]]:
    said = json.loads(bench.agent("verify", "--json", *words).out)
    assert said["ok"] == (bench.agent("verify", *words).code == 0)
    return [(one["verdict"], one["message"]) for one in said["answers"]]


def journal_of_first(bench: Bench) -> str:
    return min(path.stem for path in (bench.root / ".holdfast/journal").glob("*/*.jsonl"))


def grant_in(bodies, step: str):
    return next(e for b in bodies for e in b["events"] if e["event"] == "granted" and e["step"] == step)["grant"]


def test_every_proof_holds_and_what_has_none_is_named(whole):
    assert answers(whole) == [
        ("proven", "with a passkey"),
        ("proven", "with a passkey"),
        ("proven", "with a signature"),
        ("without a proof", "given at a terminal"),
    ]
    said = whole.agent("verify")
    assert (said.code, said.out.count("✓"), said.out.count("○")) == (0, 3, 1)
    path = journal_of(whole)
    before = path.read_bytes(), path.stat().st_mtime_ns
    shutil.rmtree(whole.root / ".git")
    assert whole.agent("verify").code == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    ("surface", "said"),
    [
        ("web", "given on the page of holdfast web"),
        ("mcp", "given in a form of the agent's host"),
        ("cli", "given at a terminal"),
    ],
)
def test_an_approval_without_a_proof_says_where_it_was_given(bench, surface, said):
    bench.write(".holdfast/workflows/asked.toml", ASKED)
    wired = bench.open("human").wired
    actor = wired.settings.actor.replace(surface=surface)
    project = Project(wiring.wire(wired.place, wired.settings.replace(actor=actor)))
    workflow = project.start("asked", "1.5.0").approve("look")
    assert answers(bench, "-w", workflow.ulid) == [("without a proof", said)]


def test_an_earlier_line_that_was_edited_is_named_with_its_file(whole):
    path = journal_of(whole)
    rewritten(path, lambda bodies: bodies[1].update(at="2026-01-01T00:00:00.000Z"))
    found = whole.agent("verify")
    assert found.code == 6
    wrong = [one for one in found.out.splitlines() if one.startswith("✗")]
    name = str(path.relative_to(whole.root))
    assert len(wrong) == 4  # the last one is what Holdfast noted beside the journal
    assert re.search(rf"{re.escape(name)}:\d+ .* lines 1 to \d+ of this journal are not as signed", wrong[0])


def test_a_line_that_was_edited_without_new_sums_is_damage(whole):
    path = journal_of(whole)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"began"', b'"Began"')
    path.write_bytes(b"".join(lines))
    found = whole.agent("verify")
    assert found.code == 6
    assert f"{path.relative_to(whole.root)}:2" in found.out


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda g: g.update(by="eve"), "it was made by ada's key, and this line says eve"),
        (lambda g: g.update(attempt=2), "has another attempt than this line"),
        (lambda g: g.update(variant="B"), "has another variant than this line"),
        (lambda g: g.pop("proof"), "it says passkey, and has no proof"),
        (lambda g: (g.pop("proof"), g.update(how="terminal")), "it was given at a terminal, where only with a passkey"),
        (lambda g: g["proof"].update(signature="AAAA"), "its signature does not hold"),
        (lambda g: g["proof"].update(credential="AAAA"), "its key is not in force"),
        (lambda g: g["hashes"].update(more="ab"), "has another artifacts than this line"),
        (
            lambda g: g["proof"].update(statement=g["proof"]["statement"].replace("attempt 1", "attempt 2")),
            "another attempt",
        ),
    ],
)
def test_a_line_that_says_something_else_than_its_proof_is_wrong(whole, change, reason):
    path = journal_of(whole)
    rewritten(path, lambda bodies: change(grant_in(bodies, "notes")))
    found = [message for verdict, message in answers(whole) if verdict == "wrong"]
    assert any(reason in message for message in found), found


def test_a_proof_that_is_used_twice_is_wrong(whole):
    path = journal_of(whole)

    def twice(bodies):
        line = next(b for b in bodies for e in b["events"] if e["event"] == "granted" and e["step"] == "notes")
        bodies.insert(
            bodies.index(line) + 1, {**line, "events": [e for e in line["events"] if e["event"] == "granted"]}
        )

    rewritten(path, twice)
    assert any("has another" in m or "the same proof is in" in m for v, m in answers(whole) if v == "wrong")


def test_a_proof_in_two_journals_is_wrong_in_the_second(whole):
    path = journal_of(whole)
    archived = whole.write(f".holdfast/archive/{path.name}", path.read_text())
    found = [message for verdict, message in answers(whole) if verdict == "wrong"]
    assert len(found) == 3
    assert found[0].startswith(f"the same proof is in {path.relative_to(whole.root)}:")
    archived.write_text(path.read_text().replace("Name 3.13.", "Name 3.12."))
    assert any("is damaged" in message for verdict, message in answers(whole) if verdict == "wrong")


def test_a_list_that_was_replaced_or_cut_is_wrong_and_a_pin_tells_a_new_root(whole):
    known = approvers.read(str(own()))
    assert whole.agent("verify", "--pin", known.root).code == 0
    assert whole.agent("verify", "--pin", f"{known.root}:2").code == 6
    assert whole.agent("verify", "--pin", "0" * 64).code == 6
    assert whole.agent("verify", "--pin", "x").code == 2
    kept = own().read_bytes()
    own().unlink()
    enrol_stranger()
    for verdict, message in answers(whole)[:2]:
        assert (verdict, "the list of approvers that it names is missing or was replaced" in message) == ("wrong", True)
    file = whole.root / "kept"
    file.write_bytes(kept)
    assert whole.agent("verify", "--approvers", "kept").code == 0
    assert whole.agent("verify", "--approvers", "none").code == 4


def enrol_stranger() -> None:
    options = passkeys.enrolling("ada's key", [], passkeys.ORIGIN, bytes(32), bytes(16))
    made = Authenticator().create(options)
    key = passkeys.enrolled(made, "ada's key", passkeys.ORIGIN, bytes(32), "2026-11-19T00:00:00Z")
    empty = approvers.Approvers(str(own()))
    approvers.write(approvers.applied(empty, approvers.adding(empty, key), None))


def test_where_all_keys_are_lost_a_person_begins_a_new_list_and_old_approvals_still_verify(whole):
    assert whole.agent("passkey", "add", "--new-root", "--json").error["code"] == "person_needed"
    said = whole.person("passkey", "add", "--new-root", says="y")
    assert said.code == 0, said.out
    ceremony = Ceremony()
    key = Authenticator("ES256")
    asked = ceremony.enrol(whole.open("human"), "new key")
    assert ceremony.enrolled(whole.open("human"), asked.nonce, key.create(asked.options)) is None
    workflow = whole.open("human").start("release", "1.5.0")
    workflow.begin("notes").done("notes", {"notes": "NOTES.md"})
    asked = ceremony.ask(whole.open("human").workflow(workflow.ulid), "notes")
    ceremony.answer(whole.open("human"), asked.nonce, key.get(asked.options))
    found = answers(whole)
    assert [verdict for verdict, _ in found].count("proven") == 4
    assert sum("by the list that was replaced" in message for _, message in found) == 2

    pin = ("--pin", approvers.read(str(own())).root)
    (old,) = approvers.retired(str(own()))
    found = answers(whole, *pin, "-w", workflow.ulid)
    assert found == [
        ("proven", "with a passkey"),
        ("noted", "this list was replaced, and no approval here was made by it"),
    ]
    assert f"○ {old}  this list was replaced" in whole.agent("verify", *pin, "-w", workflow.ulid).out
    wrong = [message for verdict, message in answers(whole, *pin) if verdict == "wrong"]
    assert len(wrong) == 2
    assert all(f"{old}, which was replaced and has another root than was given" in message for message in wrong)
    assert "noted" not in [verdict for verdict, _ in answers(whole, *pin)]
    assert whole.agent("verify", "--pin", approvers.read(old).root).code == 6
    shutil.copy(old, whole.root / "keys.jsonl")
    by_name = answers(whole, "--approvers", "keys.jsonl", "-w", journal_of_first(whole))
    assert not any("replaced" in message for _, message in by_name)


def test_one_workflow_alone_and_a_project_without_approvals(whole):
    ulid = journal_of(whole).stem
    assert len(answers(whole, "-w", ulid)) == 4
    empty = Bench(whole.root.parent / "empty").begun()
    assert empty.agent("verify").out == "✓ no approval was given here\n"


# Receipts


@pytest.mark.parametrize("step", ["notes", "sign"])
def test_a_receipt_holds_for_the_files_it_names_and_for_no_others(whole, step):
    whole.ok("receipt", step, "--out", "receipt.json", "-w", journal_of(whole).stem)
    shutil.copy(own(), whole.root / "keys")
    given = ("--receipt", "receipt.json", "--approvers", "keys", "--signers", ".holdfast/allowed_signers")
    assert whole.agent("verify", *given).code == 0
    clone = Bench(whole.root.parent / "clone")
    for name in ("receipt.json", "keys", "NOTES.md", "final.md", ".holdfast/allowed_signers"):
        clone.write(name, whole.read(name))
    assert clone.agent("verify", *given).out.endswith(", for 1 file\n")
    clone.write("NOTES.md" if step == "notes" else "final.md", "Something else.\n")
    found = clone.agent("verify", *given)
    assert (found.code, "is not as it was approved" in found.out) == (6, True)


def test_a_receipt_of_a_step_without_files_names_the_files_before_it(bench):
    bench.write(".holdfast/workflows/after.toml", AFTER)
    bench.open().workflow().cancel("another one")
    after = bench.open().start("after", "1.4.0")
    after.begin("write").done("write", {"text": "NOTES.md"}).begin("notes").done("notes")
    ceremony = Ceremony()
    touched(bench, enrol(bench, ceremony), ceremony)
    bench.ok("receipt", "notes", "--out", "receipt.json", "-w", after.id)
    shutil.copy(own(), bench.root / "keys")
    given = ("verify", "--receipt", "receipt.json", "--approvers", "keys")
    assert bench.agent(*given).out.endswith(", for 1 file\n")
    (bench.root / "NOTES.md").rename(bench.root / "same.md")
    (bench.root / "NOTES.md").symlink_to("same.md")
    assert bench.agent(*given).code == 6  # what a link leads to can change without it


def test_a_receipt_that_was_changed_does_not_hold(whole):
    whole.ok("receipt", "notes", "--out", "receipt.json", "-w", journal_of(whole).stem)
    whole.write("NOTES.md", "Something else.\n")
    said = json.loads(whole.read("receipt.json"))
    from hashlib import sha256

    was, now = (sha256(text).hexdigest() for text in (b"Needs Python 3.13.\n", b"Something else.\n"))
    said["proof"]["statement"] = said["proof"]["statement"].replace(was, now)
    whole.write("receipt.json", json.dumps(said))
    found = whole.agent("verify", "--receipt", "receipt.json")
    assert (found.code, "it is of another text" in found.out) == (6, True)
    for text in ("{}", "[]", '{"format": "holdfast receipt 1", "proof": {"statement": 3}}'):
        whole.write("receipt.json", text)
        assert whole.agent("verify", "--receipt", "receipt.json").code == 2
    assert whole.agent("receipt", "look", "-w", journal_of(whole).stem, "--json").error["code"] == "no_proof"


def test_a_signature_is_verified_by_ssh_keygen_alone(whole):
    whole.ok("receipt", "sign", "--out", "receipt.json", "-w", journal_of(whole).stem)
    proof = json.loads(whole.read("receipt.json"))["proof"]
    whole.write("signature", proof["signature"])
    words = ["ssh-keygen", "-Y", "verify", "-n", "holdfast", "-I", "ada@example.org", "-s", "signature"]
    signers = ["-f", ".holdfast/allowed_signers"]
    told = subprocess.run([*words, *signers], cwd=whole.root, input=proof["statement"].encode(), capture_output=True)
    assert told.returncode == 0
    other = proof["statement"].replace("approve", "reject").encode()
    assert subprocess.run([*words, *signers], cwd=whole.root, input=other, capture_output=True).returncode != 0


def by_openssl(bench: Bench) -> int:
    """The exit status of the script of the page, run as the page says."""
    (script,) = (one.body for one in blocks(PAGE.read_text()) if "pkeyutl" in one.body)
    script_file = bench.write("verify.sh", script)
    return subprocess.run(["sh", script_file], cwd=bench.root, capture_output=True).returncode


@pytest.fixture
def approved_with(bench):
    """Makes a receipt and its list of approvers, from a key of a kind."""
    need("openssl")
    need("jq")

    def make(kind: str) -> tuple[Authenticator, dict]:
        ceremony = Ceremony()
        key = enrol(bench, ceremony, kind)
        touched(bench, key, ceremony)
        bench.ok("receipt", "notes", "--out", "receipt.json")
        shutil.copy(own(), bench.root / "approvers")
        return key, json.loads(bench.read("receipt.json"))

    return make


@pytest.mark.parametrize("kind", ["ES256", "EdDSA", "RS256"])
def test_openssl_alone_verifies_a_passkey_with_the_script_of_the_page(bench, approved_with, kind):
    approved_with(kind)
    assert by_openssl(bench) == 0
    bench.write("NOTES.md", "Something else.\n")
    assert by_openssl(bench) != 0
    (bench.root / "NOTES.md").unlink()
    assert by_openssl(bench) != 0


def signed_again(key: Authenticator, proof: dict, **lies) -> None:
    """Puts an answer of this key in a proof, over the statement that is there."""
    made = key.get(passkeys.asking(proof["statement"], [], passkeys.ORIGIN), **lies)["response"]
    names = {"client_data": "clientDataJSON", "authenticator_data": "authenticatorData", "signature": "signature"}
    proof.update({name: made[one] for name, one in names.items()})


def with_statement(before: str, after: str):
    """A statement that the key signed, in which something is not as it is here."""

    def forge(key: Authenticator, proof: dict) -> None:
        assert re.search(before, proof["statement"])
        proof["statement"] = re.sub(before, after, proof["statement"], count=1)
        signed_again(key, proof)

    return forge


def with_strangers_key(key: Authenticator, proof: dict) -> None:
    """A credential id that is a piece of a jq program, which would name the stranger's key."""
    stranger = Authenticator(key.kind)
    spki = passkeys.encoded(stranger.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
    signed_again(stranger, proof)
    proof["credential"] = f'x" and .op == "add").key.spki, "{spki}", select("" == "x'


NOT_SIGNED = {
    "the hash of a file": lambda _, proof: proof.update(
        statement=re.sub(r'("NOTES.md",")[0-9a-f]{8}', r"\1ffffffff", proof["statement"])
    ),
    "another attempt": lambda _, proof: proof.update(statement=proof["statement"].replace("attempt 1", "attempt 2")),
    "another signature": lambda key, proof: proof.update(signature=passkeys.encoded(key.sign(b"something else"))),
    "flags after the signature": lambda _, proof: proof.update(
        authenticator_data=passkeys.encoded(
            (data := passkeys.decoded(proof["authenticator_data"], ""))[:32] + b"\0" + data[33:]
        )
    ),
    "a piece of a program as the id": with_strangers_key,
}
SIGNED = {
    "another file": with_statement(r'("NOTES.md",")[0-9a-f]{8}', r"\1ffffffff"),
    "a file elsewhere": with_statement('"NOTES.md"', '"../app/NOTES.md"'),
    "a rejection": with_statement('decision "approve"', 'decision "reject"'),
    "another list": with_statement(r'approvers \[1,"[0-9a-f]{8}', r'approvers [1,"ffffffff'),
    "nobody there": lambda key, proof: signed_again(key, proof, flags=FLAG(0) | FLAG.UV),
    "nobody verified": lambda key, proof: signed_again(key, proof, flags=FLAG(0) | FLAG.UP),
    "another challenge": lambda key, proof: signed_again(key, proof, client={"challenge": "AAAA"}),
    "another page": lambda key, proof: signed_again(key, proof, client={"origin": "https://example.org"}),
    "inside of a page": lambda key, proof: signed_again(key, proof, client={"crossOrigin": True}),
    "a key that was made": lambda key, proof: signed_again(key, proof, client={"type": "webauthn.create"}),
    "another host": lambda key, proof: signed_again(key, proof, party="example.org"),
}


@pytest.mark.parametrize("kind", ["ES256", "EdDSA"])
def test_the_script_of_the_page_refuses_each_forged_receipt(bench, approved_with, kind):
    key, receipt = approved_with(kind)
    assert by_openssl(bench) == 0
    for name, forge in {**NOT_SIGNED, **SIGNED}.items():
        proof = dict(receipt["proof"])
        forge(key, proof)
        assert proof != receipt["proof"], name
        bench.write("receipt.json", json.dumps({**receipt, "proof": proof}))
        assert by_openssl(bench) != 0, name
    signed_again(key, receipt["proof"])
    bench.write("receipt.json", json.dumps(receipt))
    assert by_openssl(bench) == 0
