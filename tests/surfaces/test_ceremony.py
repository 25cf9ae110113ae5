"""Approvals with a passkey: what a page asks for, and every answer that does not count."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast.core import gates
from holdfast.core import statement as statements
from holdfast.errors import HoldfastError
from holdfast.machine import approvers
from holdfast.machine.passkeys import decoded, encoded
from holdfast.plain.digest import digest
from holdfast.surfaces.ceremony import Ceremony
from tests.authenticator import FLAG, Authenticator
from tests.journals import rewritten
from tests.workbench import Bench

DEFINITION = """
name = "release"
[[step]]
id = "notes"
outputs = ["notes"]
approval = { by = "passkey" }
[[step]]
id = "announce"
approval = { by = ["passkey", "signed"] }
[[step]]
id = "last"
approval = { by = "human" }
"""


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path / "app").begun()
    made.write(".holdfast/workflows/release.toml", DEFINITION)
    made.write("NOTES.md", "Needs Python 3.11.\n")
    made.open().start("release", "1.4.0").begin("notes").done("notes", {"notes": "NOTES.md"})
    return made


@pytest.fixture
def clock() -> list[float]:
    return [1_790_000_000.0]


@pytest.fixture
def ceremony(clock) -> Ceremony:
    return Ceremony(seconds=lambda: clock[0])


def enrol(bench: Bench, ceremony: Ceremony, name: str = "ada's key", kind: str = "EdDSA") -> Authenticator:
    """The first key of a list."""
    made = Authenticator(kind)
    asked = ceremony.enrol(bench.open("human"), name)
    assert ceremony.enrolled(bench.open("human"), asked.nonce, made.create(asked.options)) is None
    return made


def state_of(bench: Bench):
    return bench.open().workflow().state


def journal(bench: Bench) -> bytes:
    wired = bench.open().wired
    return Path(wired.store.file_of(state_of(bench).ulid)).read_bytes()


def answers(bench: Bench, ceremony: Ceremony, nonce: str, answer: object):
    """The answer to a question, to be given later."""
    return lambda: ceremony.answer(bench.open("human"), nonce, answer)


def refused(bench: Bench, code: str, call, reason: str = "") -> HoldfastError:
    """The call is refused, the step waits as before, and the journal has no more than before."""
    before, status = journal(bench), state_of(bench).step("notes").status
    with pytest.raises(HoldfastError) as caught:
        call()
    assert (caught.value.code, reason in caught.value.message) == (code, True), caught.value.message
    assert (journal(bench), state_of(bench).step("notes").status) == (before, status)
    return caught.value


@pytest.mark.parametrize("kind", ["ES256", "EdDSA", "RS256"])
def test_a_key_approves_what_the_statement_says_and_the_journal_keeps_the_proof(bench, ceremony, kind):
    key = enrol(bench, ceremony, kind=kind)
    shown = hashlib.sha256(b"what the page showed").hexdigest()
    asked = ceremony.ask(bench.open("human").workflow(), "notes", shown=shown)
    said = statements.parse(asked.statement)
    assert decoded(asked.options["challenge"], "challenge") == hashlib.sha256(asked.statement.encode()).digest()
    assert said.artifacts == (("notes", "NOTES.md", hashlib.sha256(b"Needs Python 3.11.\n").hexdigest()),)
    assert (said.decision, said.step, said.attempt, said.shown) == ("approve", "notes", 1, shown)
    assert said.waiting == state_of(bench).step("notes").waiting_since
    assert said.journal[1] == hashlib.sha256(journal(bench)).hexdigest()

    workflow = ceremony.answer(bench.open("human"), asked.nonce, key.get(asked.options))
    grant = workflow.state.step("notes").grant
    assert grant is not None
    assert (grant.how, grant.by, workflow.state.step("notes").status) == ("passkey", "ada's key", "done")
    assert grant.proof is not None
    assert (grant.proof.statement, grant.proof.credential) == (asked.statement, encoded(key.credential))
    seen = bench.open().workflow()
    assert gates.grant_verdict(seen.state, "notes", seen.facts()) == "valid"
    assert '"word"' not in journal(bench).decode()
    (granted,) = [
        event for line in journal(bench).splitlines() for event in json.loads(line)["events"] if "grant" in event
    ]
    assert granted["grant"]["proof"]["signature"]


def test_a_person_at_a_terminal_an_agent_and_python_do_not_pass_a_passkey_gate(bench, ceremony):
    enrol(bench, ceremony)
    for kind in ("agent", "human"):
        said = refused(bench, "passkey_needed", lambda kind=kind: bench.open(kind).workflow().approve("notes"))
        assert "holdfast web" in str(said.remedies[0])
    said = refused(bench, "passkey_needed", lambda: bench.open("human").workflow().reject("notes", "no"))
    assert [one.who for one in said.remedies] == ["person"]


FORGED: dict[str, Any] = {
    "a signature of another key": (lambda key: Authenticator().get, {}, "not hold"),
    "a page on another port": (lambda key: key.get, {"client": {"origin": "http://holdfast.localhost:9000"}}, "page"),
    "a page on localhost": (lambda key: key.get, {"client": {"origin": "http://localhost:8414"}}, "page"),
    "a frame in another page": (lambda key: key.get, {"client": {"crossOrigin": True}}, "inside"),
    "the making of a key": (lambda key: key.get, {"client": {"type": "webauthn.create"}}, "type"),
    "another text": (lambda key: key.get, {"client": {"challenge": encoded(bytes(32))}}, "another text"),
    "another relying party": (lambda key: key.get, {"party": "localhost"}, "relying party"),
    "nobody who touched it": (lambda key: key.get, {"flags": FLAG.UV}, "touched"),
    "nobody who was verified": (lambda key: key.get, {"flags": FLAG.UP}, "verify"),
}


@pytest.mark.parametrize("name", FORGED)
def test_an_assertion_that_does_not_hold_is_refused(bench, ceremony, name):
    key = enrol(bench, ceremony)
    of, lies, reason = FORGED[name]
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    answer = of(key)(asked.options, **{**lies, "id": encoded(key.credential)})
    refused(bench, "bad_passkey", answers(bench, ceremony, asked.nonce, answer), reason)


@pytest.mark.parametrize("part", ["clientDataJSON", "authenticatorData", "signature"])
def test_every_byte_of_an_assertion_counts(bench, ceremony, part):
    key = enrol(bench, ceremony)
    for change in (lambda data: data[:-1] + bytes([data[-1] ^ 1]), lambda data: data[:-1], lambda data: b"x" + data):
        asked = ceremony.ask(bench.open("human").workflow(), "notes")
        answer = key.get(asked.options)
        answer["response"][part] = encoded(change(decoded(answer["response"][part], part)))
        refused(bench, "bad_passkey", answers(bench, ceremony, asked.nonce, answer))


@pytest.mark.parametrize("answer", [None, [], {}, {"id": "a"}, {"id": 3, "response": {}}, {"id": "é", "response": {}}])
def test_what_no_browser_answers_is_refused(bench, ceremony, answer):
    enrol(bench, ceremony)
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    refused(bench, "bad_passkey", answers(bench, ceremony, asked.nonce, answer))


def test_a_key_that_is_not_enrolled_is_refused_also_under_the_id_of_one_that_is(bench, ceremony):
    key, other = enrol(bench, ceremony), Authenticator()
    for lies, reason in (({}, "not in force"), ({"id": encoded(key.credential)}, "does not hold")):
        asked = ceremony.ask(bench.open("human").workflow(), "notes")
        answer = other.get(asked.options, **lies)
        refused(bench, "bad_passkey", answers(bench, ceremony, asked.nonce, answer), reason)


def test_a_file_that_changes_before_the_answer_ends_it(bench, ceremony):
    key = enrol(bench, ceremony)
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    bench.write("NOTES.md", "Needs nothing.\n")
    answer = key.get(asked.options)
    refused(
        bench, "signed_something_else", answers(bench, ceremony, asked.nonce, answer), "of the step 'notes' changed"
    )


def test_an_answer_counts_once_and_an_accepted_one_is_never_replayed(bench, ceremony):
    key = enrol(bench, ceremony)
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    answer = key.get(asked.options)
    ceremony.answer(bench.open("human"), asked.nonce, answer)
    refused(bench, "question_gone", answers(bench, ceremony, asked.nonce, answer))
    proof = state_of(bench).step("notes").grant.proof
    from holdfast.core import commands as cmd

    bench.open("human").workflow().reopen("notes", "again").done("notes", unchanged="as it was")
    replayed = cmd.Approve("notes", proof=proof)
    said = refused(bench, "stated_otherwise", lambda: bench.open("human").workflow().execute(replayed))
    assert said.facts["fields"] == ["attempt", "waiting", "nonce"]


def test_a_question_is_spent_by_a_wrong_answer_too_and_ends_after_five_minutes(bench, ceremony, clock):
    key = enrol(bench, ceremony)
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    refused(bench, "bad_passkey", answers(bench, ceremony, asked.nonce, {}))
    good = key.get(asked.options)
    refused(bench, "question_gone", answers(bench, ceremony, asked.nonce, good))
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    clock[0] += 301
    good = key.get(asked.options)
    refused(bench, "question_gone", answers(bench, ceremony, asked.nonce, good))


def test_a_step_has_one_question_at_a_time_and_they_are_counted(bench, ceremony):
    key = enrol(bench, ceremony)
    first = ceremony.ask(bench.open("human").workflow(), "notes")
    second = ceremony.ask(bench.open("human").workflow(), "notes")
    assert (first.count, second.count) == (1, 2)
    answer = key.get(first.options)
    refused(bench, "question_gone", answers(bench, ceremony, first.nonce, answer))
    assert ceremony.answer(bench.open("human"), second.nonce, key.get(second.options)).state.step("notes").grant


def test_a_signed_no_is_no_yes(bench, ceremony):
    from holdfast.core import commands as cmd
    from holdfast.core.state import Proof

    key = enrol(bench, ceremony)
    asked = ceremony.ask(bench.open("human").workflow(), "notes", "reject", feedback="Name 3.13.")
    response = key.get(asked.options)["response"]
    parts = [response[name] for name in ("clientDataJSON", "authenticatorData")]
    proof = Proof(asked.statement, response["signature"], encoded(key.credential), *parts)
    yes = cmd.Approve("notes", proof=proof)
    said = refused(bench, "stated_otherwise", lambda: bench.open("human").workflow().execute(yes))
    assert said.facts["fields"] == ["decision", "feedback"]
    otherwise = cmd.Reject("notes", "Delete everything.", proof=proof)
    refused(bench, "stated_otherwise", lambda: bench.open("human").workflow().execute(otherwise))
    other = cmd.Approve("announce", proof=proof)
    refused(bench, "signed_something_else", lambda: bench.open("human").workflow().execute(other))


def test_a_no_with_a_key_sends_the_work_back_and_the_journal_has_its_proof(bench, ceremony):
    key = enrol(bench, ceremony)
    asked = ceremony.ask(bench.open("human").workflow(), "notes", "reject", feedback="Name 3.13.")
    workflow = ceremony.answer(bench.open("human"), asked.nonce, key.get(asked.options))
    progress = workflow.state.step("notes")
    assert (progress.status, progress.feedback) == ("active", ("Name 3.13.",))
    (moved,) = [e for line in journal(bench).splitlines() for e in json.loads(line)["events"] if "proof" in e]
    assert moved["event"] == "revised"
    assert statements.parse(moved["proof"]["statement"]).feedback == "Name 3.13."


def test_a_line_that_is_appended_before_the_answer_does_not_disturb(bench, ceremony):
    key = enrol(bench, ceremony)
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    bench.open().workflow().note("By the way.")
    assert ceremony.answer(bench.open("human"), asked.nonce, key.get(asked.options)).state.step("notes").grant


def test_another_past_of_the_journal_ends_the_answer(bench, ceremony):
    key = enrol(bench, ceremony)
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    said = statements.parse(asked.statement)
    from holdfast.core import commands as cmd
    from holdfast.core.state import Proof
    from holdfast.machine import passkeys

    other = statements.text(said.replace(journal=(said.journal[0], "0" * 64)))
    options = passkeys.asking(other, [], ceremony.origin)
    response = key.get(options)["response"]
    parts = [response[name] for name in ("clientDataJSON", "authenticatorData")]
    proof = Proof(other, response["signature"], encoded(key.credential), *parts)
    forged = cmd.Approve("notes", proof=proof)
    refused(bench, "other_journal", lambda: bench.open("human").workflow().execute(forged))


def test_a_step_that_does_not_wait_is_not_asked_about(bench, ceremony):
    enrol(bench, ceremony)
    refused(bench, "wrong_status", lambda: ceremony.ask(bench.open("human").workflow(), "announce"))
    refused(bench, "wrong_status", lambda: ceremony.ask(bench.open("human").workflow(), "announce", "reject"))
    refused(bench, "bad_decision", lambda: ceremony.ask(bench.open("human").workflow(), "notes", "perhaps"))


def test_a_human_gate_is_passed_with_a_passkey_before_it_began(bench, ceremony):
    key = enrol(bench, ceremony)
    state = state_of(bench)
    for step in ("notes", "announce", "last"):
        if step == "announce":
            bench.open().workflow().begin("announce").done("announce")
        asked = ceremony.ask(bench.open("human").workflow(), step)
        state = ceremony.answer(bench.open("human"), asked.nonce, key.get(asked.options)).state
    grant = state.step("last").grant
    assert (grant.how, grant.by, grant.attempt, bool(state.finished_at)) == ("passkey", "ada's key", 1, True)


def test_a_likely_secret_in_the_feedback_is_redacted_before_it_is_signed(bench, ceremony):
    key = enrol(bench, ceremony)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    asked = ceremony.ask(bench.open("human").workflow(), "notes", "reject", feedback=f"The token is {secret}.")
    assert secret not in asked.statement
    workflow = ceremony.answer(bench.open("human"), asked.nonce, key.get(asked.options))
    assert "redacted" in workflow.state.step("notes").feedback[0]


# The list


def second(bench: Bench, ceremony: Ceremony, signer: Authenticator, name: str = "phone") -> Authenticator:
    made = Authenticator("ES256", synced=True)
    asked = ceremony.enrol(bench.open("human"), name)
    to_sign = ceremony.enrolled(bench.open("human"), asked.nonce, made.create(asked.options))
    assert to_sign is not None
    ceremony.change(bench.open("human"), to_sign.nonce, signer.get(to_sign.options))
    return made


def own() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "holdfast/approvers")


def approve(bench: Bench, ceremony: Ceremony, key: Authenticator, step: str = "notes"):
    asked = ceremony.ask(bench.open("human").workflow(), step)
    return ceremony.answer(bench.open("human"), asked.nonce, key.get(asked.options))


def test_a_second_key_is_signed_by_the_first_and_then_approves(bench, ceremony):
    first = enrol(bench, ceremony)
    phone = second(bench, ceremony, first)
    known = approvers.read(str(own()))
    assert [(key.name, key.kept) for key in known.now] == [("ada's key", "this device only"), ("phone", "synced")]
    assert own().stat().st_mode & 0o777 == 0o600
    assert approve(bench, ceremony, phone).state.step("notes").grant.by == "phone"


def test_a_key_that_no_other_signed_does_not_get_in(bench, ceremony):
    first, wrong = enrol(bench, ceremony), Authenticator()
    asked = ceremony.enrol(bench.open("human"), "wrong")
    to_sign = ceremony.enrolled(bench.open("human"), asked.nonce, wrong.create(asked.options))
    with pytest.raises(HoldfastError) as caught:
        ceremony.change(bench.open("human"), to_sign.nonce, wrong.get(to_sign.options))
    assert caught.value.code == "bad_approvers"
    asked = ceremony.enrol(bench.open("human"), "wrong")
    to_sign = ceremony.enrolled(bench.open("human"), asked.nonce, wrong.create(asked.options))
    borrowed = wrong.get(to_sign.options, id=encoded(first.credential))
    with pytest.raises(HoldfastError, match="its signature does not hold"):
        ceremony.change(bench.open("human"), to_sign.nonce, borrowed)
    before = own().read_bytes()
    line = json.loads(before)
    unsigned = {**line, "number": 2, "after": hashlib.sha256(before.strip()).hexdigest()}
    unsigned["key"] = {**line["key"], "name": "wrong", "credential": encoded(wrong.credential)}
    own().write_bytes(before + json.dumps(unsigned, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    refused(bench, "bad_approvers", lambda: ceremony.ask(bench.open("human").workflow(), "notes"), "line 2")
    own().write_bytes(before)
    assert approve(bench, ceremony, first)


def test_a_removed_key_approves_and_adds_nothing_any_more(bench, ceremony):
    first = enrol(bench, ceremony)
    phone = second(bench, ceremony, first)
    asked = ceremony.ask(bench.open("human").workflow(), "notes")
    answer = phone.get(asked.options)
    removal = ceremony.remove(bench.open("human"), "phone")
    ceremony.change(bench.open("human"), removal.nonce, first.get(removal.options))
    refused(bench, "bad_passkey", answers(bench, ceremony, asked.nonce, answer), "in force")
    asked = ceremony.enrol(bench.open("human"), "another")
    to_sign = ceremony.enrolled(bench.open("human"), asked.nonce, Authenticator().create(asked.options))
    with pytest.raises(HoldfastError, match="no key that was in force signed it"):
        ceremony.change(bench.open("human"), to_sign.nonce, phone.get(to_sign.options))
    with pytest.raises(HoldfastError, match="is the only key"):
        ceremony.remove(bench.open("human"), "ada's key")


def test_a_list_that_was_cut_or_replaced_is_refused_once_an_approval_names_it(bench, ceremony):
    first = enrol(bench, ceremony)
    second(bench, ceremony, first)
    approve(bench, ceremony, first)
    bench.open().workflow().begin("announce").done("announce")
    whole = own().read_bytes()
    own().write_bytes(whole.splitlines(keepends=True)[0])
    refused(
        bench, "approvers_replaced", lambda: ceremony.ask(bench.open("human").workflow(), "announce"), "were signed"
    )
    own().unlink()
    refused(bench, "approvers_replaced", lambda: ceremony.enrol(bench.open("human"), "wrong"))
    elsewhere = approvers.Approvers(str(own()))
    stranger = Authenticator()
    from holdfast.machine import passkeys

    options = passkeys.enrolling("ada's key", [], ceremony.origin, bytes(32), bytes(16))
    key = passkeys.enrolled(stranger.create(options), "ada's key", ceremony.origin, bytes(32), "2026-11-19T00:00:00Z")
    approvers.write(approvers.applied(elsewhere, approvers.adding(elsewhere, key), None))
    refused(bench, "approvers_replaced", lambda: ceremony.ask(bench.open("human").workflow(), "announce"))
    own().write_bytes(whole)
    assert approve(bench, ceremony, first, "announce").state.step("announce").status == "done"


def test_only_a_persons_page_changes_the_list(bench, ceremony):
    with pytest.raises(HoldfastError) as caught:
        ceremony.enrol(bench.open(), "mine")
    assert caught.value.code == "person_needed"


def test_status_tells_of_every_change_of_the_list_until_a_person_looked_at_it(bench, ceremony):
    assert bench.open().workflow().status()["alerts"] == []
    first = enrol(bench, ceremony)
    (alert,) = bench.open().workflow().status()["alerts"]
    assert "is new" in alert["message"]
    bench.person("passkey", "list")
    assert bench.open().workflow().status()["alerts"] == []
    second(bench, ceremony, first)
    assert "may approve changed" in bench.open().workflow().status()["alerts"][0]["message"]


# Elsewhere


def test_a_terminal_asks_nobody_at_a_passkey_gate(bench):
    for words in (("approve", "notes"), ("approve", "notes", "--yes"), ("reject", "notes", "--feedback", "no")):
        said = bench.person(*words)
        assert (said.code, "needs a passkey" in said.out, "Approve notes?" in said.out) == (3, True, False), said.out
    assert bench.agent("approve", "notes", "--json").error["code"] == "passkey_needed"
    assert "holdfast web" in bench.agent("next").out


def test_an_approval_holds_in_another_clone_by_the_projects_list_and_for_these_files_only(
    bench, ceremony, tmp_path, monkeypatch
):
    key = enrol(bench, ceremony)
    approve(bench, ceremony, key)
    bench.write(".holdfast/approvers", own().read_text())
    copy = Bench(Path(shutil.copytree(bench.root, tmp_path / "copy", symlinks=True)))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config of another user"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data of another user"))

    def verdict() -> str:
        seen = copy.open().workflow()
        return gates.grant_verdict(seen.state, "notes", seen.facts())

    assert verdict() == "valid"
    copy.write("NOTES.md", "Needs nothing.\n")
    assert verdict() == "stale"
    copy.write("NOTES.md", "Needs Python 3.11.\n")
    (copy.root / ".holdfast/approvers").unlink()
    assert verdict() == "claimed"
    said = copy.person("approve", "--claimed", "--yes")
    assert (said.code, "needs a passkey" in said.out) == (3, True)


def test_a_real_proof_does_not_carry_an_approval_over_to_other_files(bench, ceremony, tmp_path):
    key = enrol(bench, ceremony)
    approve(bench, ceremony, key)
    copy = Bench(tmp_path / "copy").begun()
    verdicts = []
    for text in ("Needs Python 3.11.\n", "Needs nothing.\n"):
        old, new = digest(b"Needs Python 3.11.\n"), digest(text.encode())
        there = Path(bench.open().wired.store.file_of(state_of(bench).ulid))
        path = copy.write(str(there.relative_to(bench.root)), there.read_text())
        path.write_text(path.read_text().replace(old, new))
        rewritten(path)
        copy.write("NOTES.md", text)
        seen = copy.open().workflow(there.stem)
        assert seen.state.step("notes").grant.hashes == {"notes": new}
        verdicts.append(gates.grant_verdict(seen.state, "notes", seen.facts()))
        shutil.rmtree(copy.root / ".holdfast")
        copy = Bench(tmp_path / "another copy").begun()
    assert verdicts == ["valid", "claimed"]


def test_where_the_machine_has_a_list_only_that_one_counts(bench, ceremony, tmp_path):
    enrol(bench, ceremony)
    place = bench.open().wired.place
    lists = approvers.Lists(place, os.environ["XDG_CONFIG_HOME"], str(tmp_path / "etc"))
    assert (lists.counting, lists.is_fixed) == (str(own()), False)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/approvers").write_bytes(b"")
    assert (lists.counting, lists.is_fixed) == (str(own()), False)  # this user can write it


def test_the_projects_list_counts_only_as_the_base_branch_has_it(bench, ceremony):
    enrol(bench, ceremony)
    bench.write(".holdfast/approvers", own().read_text())
    own().unlink()
    bench.save("the list")
    bench.git("switch", "-q", "-c", "change")
    assert ceremony.ask(bench.open("human").workflow(), "notes")
    bench.write(".holdfast/approvers", "")
    said = refused(bench, "approvers_changed", lambda: ceremony.ask(bench.open("human").workflow(), "notes"))
    assert said.facts["base"] == "main"
