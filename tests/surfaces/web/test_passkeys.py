"""Approvals that an agent cannot make: a key of a real browser signs them, and everything else is refused."""

from __future__ import annotations

import http.server
import json
import os
import threading

import pytest
from playwright.sync_api import expect

from holdfast.machine import known_approvers

DEFINITION = """\
name = "guarded"
title = "Guarded {subject}"

[[step]]
id = "notes"
outputs = ["notes"]
approval = { by = "passkey" }

[[step]]
id = "publish"
"""
SIGNER = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def served(site):
    with site.serving() as found:
        yield found


@pytest.fixture
def page(served, context):
    found = context.new_page()
    found.goto(served.link)
    found.wait_for_url(f"{served.origin}/")
    return found


@pytest.fixture
def signer(page, context):
    """The security key of this browser: its session of the protocol, and its id."""
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    return session, session.send("WebAuthn.addVirtualAuthenticator", {"options": SIGNER})["authenticatorId"]


@pytest.fixture
def workflow(site):
    site.bench.write(".holdfast/workflows/guarded.toml", DEFINITION)
    found = site.bench.open().start("guarded", "1").begin("notes")
    return found.done("notes", {"notes": str(site.bench.write("notes.md", "Needs Python 3.11.\n"))})


def enrol(page, served, name: str = "ada on this laptop") -> None:
    page.goto(f"{served.origin}/passkeys")
    page.get_by_label("Its name").fill(name)
    page.get_by_role("button", name="Make it").click()
    expect(page.locator(".part strong", has_text=name)).to_be_visible()


def test_a_passkey_approves_and_the_journal_keeps_a_proof_that_verifies(site, served, page, signer, workflow):
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()
    expect(page.locator("#barred")).to_contain_text("none was made here yet")
    enrol(page, served)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    page.get_by_role("button", name="Approve with passkey").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")
    expect(page.locator("#said")).to_contain_text("Your passkey signed it.")
    grant = site.step(workflow.id, "notes").grant
    assert (grant.how, grant.by) == ("passkey", "ada on this laptop")
    said = site.bench.ok("verify", "--json")
    assert json.loads(said.out)["ok"] is True
    assert '"shown" not' not in grant.proof.statement
    assert '\nstep "notes"\n' in grant.proof.statement


def test_what_is_signed_names_what_the_page_showed(site, served, page, signer, workflow):
    enrol(page, served)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    shown = page.locator("input[name=shown]").get_attribute("value")
    page.get_by_role("button", name="Approve with passkey").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")
    assert f'\nshown "{shown}"\n' in site.step(workflow.id, "notes").grant.proof.statement


def test_sending_back_takes_the_key_too_and_feedback(site, served, page, signer, workflow):
    enrol(page, served)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    page.get_by_role("button", name="Send back").click()
    expect(page.locator(".told")).to_contain_text("what should be different")
    expect(page.get_by_label("What should be different")).to_be_focused()
    page.get_by_label("What should be different").fill("Name all versions.")
    page.get_by_role("button", name="Send back").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")
    step = site.step(workflow.id, "notes")
    assert (step.status, step.feedback) == ("active", ("Name all versions.",))


def test_an_approval_that_no_longer_holds_leads_to_its_own_step(site, served, page, signer, workflow):
    enrol(page, served)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    page.get_by_role("button", name="Approve with passkey").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")
    site.bench.write("notes.md", "Needs Python 3.13.\n")
    own = f"{served.origin}/w/{workflow.ulid}/approve/notes"
    page.goto(served.origin)
    expect(page.locator("a.card")).to_have_attribute("href", f"/w/{workflow.ulid}/approve/notes")
    page.locator("a.card").click()
    expect(page).to_have_url(own)
    page.goto(f"{served.origin}/w/{workflow.ulid}")
    page.get_by_role("link", name="Review and approve").click()
    expect(page).to_have_url(own)
    page.goto(f"{served.origin}/w/{workflow.ulid}")
    expect(page.locator("#now")).not_to_contain_text("holdfast web")
    page.locator("#now").get_by_role("link", name="Review notes").click()
    expect(page).to_have_url(own)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/publish")
    page.locator("#decide").get_by_role("link", name="Review notes").click()
    expect(page).to_have_url(own)
    page.get_by_role("button", name="Approve with passkey").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")
    expect(page.locator("#now")).not_to_contain_text("no longer holds")


def test_an_approval_that_no_longer_holds_can_be_sent_back_without_a_key(site, served, page, signer, workflow):
    enrol(page, served)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    page.get_by_role("button", name="Approve with passkey").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")
    site.bench.write("notes.md", "Needs Python 3.13.\n")
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    page.get_by_label("What should be different").fill("No, 3.11.")
    page.get_by_role("button", name="Send back").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")
    step = site.step(workflow.id, "notes")
    assert (step.status, step.feedback) == ("active", ("No, 3.11.",))


def test_a_change_of_the_list_is_told_until_a_person_looks_at_it_on_the_page(site, served, page, signer, workflow):
    enrol(page, served)
    assert "is new" not in site.bench.ok("status").out
    os.unlink(os.path.join(site.bench.open().wired.settings.data_dir, "holdfast", "trust", known_approvers.NAME))
    page.goto(served.origin)
    expect(page.get_by_role("alert")).to_contain_text("the list of those who may approve is new")
    page.goto(f"{served.origin}/passkeys")
    expect(page.locator("main")).to_contain_text("The list of those who may approve is new")
    page.goto(served.origin)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_list_that_is_gone_is_told_with_the_ways_out_and_there_is_no_form(site, served, page, signer, workflow):
    enrol(page, served)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    page.get_by_role("button", name="Approve with passkey").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")
    os.unlink(site.bench.open().wired.approvers[0])
    page.goto(f"{served.origin}/passkeys")
    expect(page.get_by_role("alert")).to_contain_text("is gone")
    expect(page.get_by_role("alert")).to_contain_text("restore it from a copy")
    expect(page.get_by_role("alert")).to_contain_text("holdfast passkey add --new-root")
    expect(page.get_by_role("button", name="Make it")).to_have_count(0)
    assert "--new-root" in site.bench.person("passkey", "list").out
    assert "begins a new list" in site.bench.person("passkey", "add", "--new-root", says="y").out
    enrol(page, served, "Ada’s iPhone")


def test_what_changed_before_the_key_was_asked_is_said_with_a_link_to_it(site, served, page, signer, workflow):
    enrol(page, served)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    site.bench.write("notes.md", "Needs Python 3.13.\n")
    page.get_by_role("button", name="Approve with passkey").click()
    expect(page.locator(".told")).to_contain_text("changed after you opened the page")
    expect(page.locator("#work")).to_contain_text("3.11")
    page.get_by_role("link", name="Show what changed").click()
    expect(page.locator("#work")).to_contain_text("3.13")
    page.get_by_role("button", name="Approve with passkey").click()
    page.wait_for_url(f"{served.origin}/w/{workflow.ulid}")


def test_what_is_missing_is_not_offered_to_the_key_and_can_be_sent_back(site, served, page, signer, workflow):
    enrol(page, served)
    (site.root / "notes.md").unlink()
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    expect(page.get_by_role("button", name="Send back")).to_be_enabled()
    expect(page.get_by_role("button", name="Approve with passkey")).to_be_disabled()
    expect(page.locator("#barred")).to_contain_text("notes.md is missing")


def test_a_person_who_is_not_verified_signs_nothing(site, served, page, signer, workflow):
    enrol(page, served)
    session, id = signer
    session.send("WebAuthn.setUserVerified", {"authenticatorId": id, "isUserVerified": False})
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    before = site.journal(workflow.id)
    page.get_by_role("button", name="Approve with passkey").click()
    expect(page.locator(".told")).to_contain_text("Nothing was signed")
    assert site.journal(workflow.id) == before


def test_a_cookie_alone_approves_nothing(site, served, page, signer, workflow, context):
    enrol(page, served)
    (cookie,) = [one for one in context.cookies() if one["name"].startswith("holdfast")]
    served.cookie = f"{cookie['name']}={cookie['value']}"
    home, before = f"/w/{workflow.ulid}", site.journal(workflow.id)
    form = {**served.form(f"{home}/approve/notes", "form-approve"), "decision": "approve"}
    clicked = served.post(f"{home}/do/decide", form)
    assert clicked.code == 422
    assert "passkey" in clicked.text
    asked = json.loads(served.post(f"{home}/ask", form).text)
    forged = {"id": "AAAA", "response": dict.fromkeys(("clientDataJSON", "authenticatorData", "signature"), "AAAA")}
    sent = json.dumps({"nonce": asked["nonce"], "answer": forged}).encode()
    first, second = (served.ask("POST", "/passkeys/answer", sent, Content_Type="application/json") for _ in range(2))
    assert (first.code, second.code) == (409, 409)
    assert json.loads(second.text)["code"] == "question_gone"
    assert site.journal(workflow.id) == before


def test_another_browser_with_a_key_of_its_own_is_not_let_through(site, served, page, signer, workflow, browser):
    enrol(page, served)
    other = browser.new_context()
    theirs = other.new_page()
    theirs.goto(site.bench.person("web", "--link", "--port", str(served.port)).out.split()[0])
    theirs.wait_for_url(f"{served.origin}/")
    session = other.new_cdp_session(theirs)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": SIGNER})
    theirs.goto(f"{served.origin}/passkeys")
    theirs.get_by_label("Its name").fill("ada on this laptop too")
    theirs.get_by_role("button", name="Make it").click()
    expect(theirs.locator(".told")).to_contain_text("Nothing was signed")  # a key of the list would have to sign it
    theirs.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    theirs.get_by_role("button", name="Approve with passkey").click()
    expect(theirs.locator(".told")).to_contain_text("Nothing was signed")
    assert site.step(workflow.id, "notes").grant is None
    other.close()


def test_a_second_key_is_signed_by_the_first_and_either_may_be_removed(site, served, page, signer, workflow):
    enrol(page, served)
    session, first = signer
    page.goto(f"{served.origin}/passkeys")
    expect(page.locator("#make")).to_contain_text("you are asked twice")
    touch = "WebAuthn.setAutomaticPresenceSimulation"
    session.send(touch, {"authenticatorId": first, "enabled": False})  # the new one is touched
    usb = {"options": {**SIGNER, "transport": "usb"}}
    second = session.send("WebAuthn.addVirtualAuthenticator", usb)["authenticatorId"]

    def then_the_first(route) -> None:
        session.send(touch, {"authenticatorId": second, "enabled": False})
        session.send(touch, {"authenticatorId": first, "enabled": True})
        route.continue_()

    page.route("**/passkeys/enrolled", then_the_first)
    page.get_by_label("Its name").fill("ada on the blue one")
    page.get_by_role("button", name="Make it").click()
    expect(page.locator(".part strong", has_text="the blue one")).to_be_visible()
    page.get_by_role("button", name="Remove ada on the blue one").click()
    expect(page.locator(".part strong", has_text="the blue one")).to_have_count(0)
    expect(page.locator(".part strong", has_text="this laptop")).to_be_visible()


def test_a_file_that_changes_before_the_answer_is_not_approved(site, served, page, signer, workflow):
    enrol(page, served)
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    page.get_by_label("What should be different").fill("a thought")
    page.evaluate("() => { window.EventSource = null; }")
    site.bench.write("notes.md", "Needs nothing.\n")
    page.get_by_role("button", name="Approve with passkey").click()
    expect(page.locator(".told")).to_contain_text("changed after you opened the page")
    assert site.step(workflow.id, "notes").grant is None


class _Other(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>other</title>")

    def log_message(self, *_: object) -> None:
        pass


def test_a_page_on_another_port_of_localhost_cannot_claim_the_key(site, served, page, signer, workflow):
    enrol(page, served)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page.goto(f"http://localhost:{other.server_address[1]}/")
        claim = """() => navigator.credentials.get({publicKey: {challenge: new Uint8Array(32),
            rpId: "holdfast.localhost", userVerification: "required"}}).then(() => "signed", (error) => error.name)"""
        assert page.evaluate(claim) == "SecurityError"
        other.shutdown()


def test_without_script_a_passkey_step_says_what_it_needs(site, served, page, signer, workflow, browser):
    enrol(page, served)
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(site.bench.person("web", "--link", "--port", str(served.port)).out.split()[0])
    plain.wait_for_url(f"{served.origin}/")
    plain.goto(f"{served.origin}/w/{workflow.ulid}/approve/notes")
    expect(plain.get_by_role("button", name="Approve with passkey")).to_be_disabled()
    expect(plain.locator(".needs-script")).to_be_visible()
    context.close()
