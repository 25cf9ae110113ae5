"""The page in a real browser: what is seen, decided and typed there, and that it stays as things are."""

from __future__ import annotations

import re
import subprocess
import time

import pytest
from playwright.sync_api import expect

from holdfast.surfaces.waiters import is_awaited
from tests import forked
from tests.surfaces.web.site import Site

_EXPECTED = re.compile("status of (409|422)")
"""What a browser itself says of a form that is shown again, with why nothing was done."""


@pytest.fixture
def served(site):
    with site.serving() as found:
        yield found


@pytest.fixture
def page(served, context):
    """A page of a browser that was let in by the link; nothing may reach the console."""
    found = context.new_page()
    said: list[str] = []
    found.on("console", lambda one: None if _EXPECTED.search(one.text) else said.append(f"{one.text} {one.location}"))
    found.on("pageerror", lambda one: said.append(str(one)))
    found.goto(served.link)
    found.wait_for_url(f"{served.origin}/")
    yield found
    assert said == []


def test_what_waits_is_on_top_and_counted_in_the_title(site, served, page):
    site.waits()
    expect(page).to_have_title(re.compile(r"^\(1\) Workflows"))  # the page noticed by itself
    card = page.locator("#waiting a.card")
    expect(card).to_contain_text("sign-off")
    card.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("sign-off")


def test_a_person_approves_what_the_page_shows_and_the_agent_hears_of_it(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path}")
    expect(page.locator("#work .lines .file")).to_have_text(["# Notes", "", "all is well"])
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url(f"{served.origin}{path.partition('/approve')[0]}")
    expect(page.locator("#said")).to_contain_text("sign-off is approved")
    grant = site.step(id, "sign-off").grant
    assert (grant.how, grant.by) == ("page", "human ada")
    said = site.bench.ok("wait", "--for", "person", "--since", "1", "--json", "-w", id)
    assert '"how": "page"' in said.out


def test_the_page_says_whether_an_agent_waits_for_the_decision(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path}")
    expect(page.locator("#after")).to_contain_text("tell yours to continue with holdfast next")
    words = forked.command("wait", "--for", "person", "-w", id)
    with subprocess.Popen(words, cwd=site.root, stdout=subprocess.PIPE, text=True) as waiting:
        deadline = time.monotonic() + 60
        while not is_awaited(site.place, site.ulid(id)):
            assert time.monotonic() < deadline
            page.wait_for_timeout(50)
        page.reload()
        expect(page.locator("#after")).to_contain_text("An agent waits for your decision")
        page.get_by_role("button", name="Approve").click()
        expect(page.locator("#said")).to_contain_text("sign-off is approved. An agent waits for your decision")
        assert "approved by human ada" in waiting.communicate(timeout=60)[0]
    page.goto(f"{served.origin}/w/{site.ulid(id)}/approve/pick")
    expect(page.locator("#after")).to_contain_text("No agent is known to wait")


def test_the_page_shows_what_is_new_since_the_last_approval(site, served, page):
    path = site.waits("# Notes\n\nNeeds Python 3.11.\n")
    id = site.state("release").id
    site.bench.open("human").workflow(id).approve("sign-off")
    site.bench.open("human").workflow(id).reopen("sign-off", "name all versions")
    notes = site.bench.write("notes.md", "# Notes\n\nNeeds Python 3.11 or 3.12.\n")
    site.bench.open().workflow(id).done("sign-off", {"notes": str(notes)})
    page.goto(f"{served.origin}{path}")
    expect(page.locator("#work .minus")).to_have_text("- Needs Python 3.11.")
    expect(page.locator("#work .plus")).to_have_text("+ Needs Python 3.11 or 3.12.")
    expect(page.locator("#reviews")).to_contain_text("name all versions")


def test_a_step_is_not_sent_back_without_feedback(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path}")
    before = site.journal(id)
    page.get_by_role("button", name="Send back").click()
    expect(page.get_by_role("alert")).to_contain_text("what should be different")
    expect(page.get_by_label("What should be different")).to_be_focused()
    assert site.journal(id) == before
    page.get_by_label("What should be different").fill("Say what changed for users.")
    page.get_by_role("button", name="Send back").click()
    page.wait_for_url(f"{served.origin}{path.partition('/approve')[0]}")
    step = site.step(id, "sign-off")
    assert (step.status, step.feedback) == ("active", ("Say what changed for users.",))


def test_a_file_that_changes_meanwhile_is_shown_again_and_not_approved(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path}")
    page.get_by_label("What should be different").fill("mind the date")  # the form is held as it is
    notes = site.bench.write("notes.md", "# Notes\n\nnothing is well\n")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#changed")).to_contain_text("changed after you opened the page")
    expect(page.locator("#work")).to_contain_text("nothing is well")
    expect(page.get_by_label("What should be different")).to_have_value("mind the date")
    assert site.step(id, "sign-off").grant is None
    assert notes.exists()


def test_feedback_of_several_lines_comes_back_as_it_was_typed_and_arrives_so(site, served, page):
    path = site.waits()
    id = site.state("release").id
    typed = "\n- name the versions\n\n\t3.11 & <b>3.12</b> \u202eabc\u202c\nand the date"
    page.goto(f"{served.origin}{path}")
    field = page.get_by_label("What should be different")
    field.fill(typed)
    for text in ("one", "two"):
        site.bench.write("notes.md", f"{text}\n")
        page.get_by_role("button", name="Send back").click()
        expect(page.locator("#work")).to_contain_text(text)
        expect(field).to_have_value(typed)
    page.get_by_role("button", name="Send back").click()
    page.wait_for_url(f"{served.origin}{path.partition('/approve')[0]}")
    assert site.step(id, "sign-off").feedback == (typed.strip(),)


def test_what_is_decided_about_stays_as_it_was_read_until_the_person_asks_for_what_changed(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path}")
    shown = page.locator("#form-approve input[name=shown]")
    first = shown.input_value()
    site.bench.write("notes.md", "# Notes\n\nnothing is well\n")
    site.bench.ok("note", "hello", "-w", id)
    notice = page.locator("main > .notice")
    expect(notice).to_contain_text("changed while you looked")
    expect(notice).to_be_in_viewport()
    expect(page.locator("#work .lines .file")).to_have_text(["# Notes", "", "all is well"])
    assert shown.input_value() == first
    notice.get_by_role("link", name="Show what changed").click()
    expect(page.locator("#work")).to_contain_text("nothing is well")
    expect(notice).to_have_count(0)
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#said")).to_contain_text("sign-off is approved")


def test_a_note_says_nothing_on_the_page_of_a_decision_that_is_as_it_was(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path}")
    with page.expect_response(f"**{path}") as told:
        site.bench.ok("note", "hello", "-w", id)
    assert told.value.ok
    site.bench.write("notes.md", "nothing is well\n")
    site.bench.ok("note", "and more", "-w", id)
    expect(page.locator("main > .notice")).to_be_visible()
    site.bench.write("notes.md", "# Notes\n\nall is well\n")
    site.bench.ok("note", "as it was", "-w", id)
    expect(page.locator("main > .notice")).to_have_count(0)
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#said")).to_contain_text("sign-off is approved")


def test_the_page_of_a_decision_says_that_another_person_took_it_and_keeps_what_was_typed(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path}")
    field = page.get_by_label("What should be different")
    field.fill("mind the date")
    site.bench.open("human").workflow(id).approve("sign-off")
    expect(page.locator("main > .notice")).to_contain_text("Copy your text")
    expect(field).to_have_value("mind the date")
    page.get_by_role("link", name="Show what changed").click()
    expect(page.locator("#decide")).to_contain_text("It is decided")


def test_what_is_shown_again_after_a_refused_decision_stays_too(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path}")
    page.get_by_role("button", name="Send back").click()
    expect(page.get_by_role("alert")).to_contain_text("what should be different")
    site.bench.write("notes.md", "nothing is well\n")
    site.bench.ok("note", "hello", "-w", id)
    expect(page.locator("main > .notice")).to_contain_text("changed while you looked")
    expect(page.locator("#work")).to_contain_text("all is well")


def test_what_is_missing_cannot_be_approved_and_the_page_says_so(site, served, page):
    path = site.waits()
    id = site.state("release").id
    (site.root / "notes.md").unlink()
    page.goto(f"{served.origin}{path}")
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()
    expect(page.locator("#barred")).to_contain_text("notes.md is missing")
    page.get_by_label("What should be different").fill("hand in the notes")
    page.get_by_role("button", name="Send back").click()
    page.wait_for_url(f"{served.origin}{path.partition('/approve')[0]}")
    assert site.step(id, "sign-off").feedback == ("hand in the notes",)


def test_a_variant_is_chosen_by_its_radio(site, served, page):
    site.at("pick")
    state = site.state("release")
    site.bench.open().workflow(state.id).submit("pick")
    page.goto(f"{served.origin}/w/{state.ulid}/approve/pick")
    page.get_by_role("radio", name="B").check()
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url(f"{served.origin}/w/{state.ulid}")
    assert site.step(state.id, "pick").grant.variant == "B"


def test_everything_is_done_by_keyboard_alone(site, served, page):
    site.waits()
    id = site.state("release").id
    page.goto(served.origin)
    page.keyboard.press("j")
    expect(page.locator("#waiting a.card")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("sign-off")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent") == "Approve":
            break
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("approved")
    assert site.step(id, "sign-off").grant.how == "page"
    page.wait_for_load_state()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("all workflows")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.wait_for_url(f"{served.origin}/")


def test_a_change_of_another_process_shows_and_what_is_being_written_stays(site, served, page):
    path = site.waits()
    id = site.state("release").id
    page.goto(f"{served.origin}{path.partition('/approve')[0]}")
    page.locator("#do-pause summary").click()
    page.get_by_label("Why", exact=True).fill("half a sente")
    site.bench.ok("note", "the wheel is built from the tag", "-w", id)
    expect(page.locator("#notes")).to_contain_text("built from the tag")
    field = page.get_by_label("Why", exact=True)
    expect(field).to_have_value("half a sente")
    expect(field).to_be_focused()
    expect(page.locator("#form-pause .notice")).to_be_visible()


def test_eight_tabs_share_one_connection_and_come_back_after_a_restart(site, context):
    with site.serving() as served:
        first = context.new_page()
        first.goto(served.link)
        first.wait_for_url(f"{served.origin}/")
        tabs = [first, *(context.new_page() for _ in range(7))]
        for tab in tabs[1:]:
            tab.goto(served.origin)
        site.waits()
        for tab in tabs:
            expect(tab).to_have_title(re.compile(r"^\(1\)"))
        first.close()
        id = site.state("release").id
        site.bench.open("human").workflow(id).approve("sign-off")
        for tab in tabs[1:]:
            expect(tab.locator("#waiting a.card")).to_contain_text("pick")
        port = served.port
    with site.serving(port=port) as again:
        for tab in tabs[1:]:
            expect(tab.locator("#updated")).to_contain_text("no longer logged in")
        tabs[1].goto(again.link)
        tabs[1].wait_for_url(f"{again.origin}/")
        site.bench.open("human").workflow(id).approve("pick", "A")
        for tab in tabs[1:]:
            expect(tab).to_have_title(re.compile(r"^Workflows"))


HOSTILE = "<img src=x onerror=alert(1)>\u202e\x1b[31mred"


def test_hostile_texts_are_text(site, served, page):
    path = site.waits(f"{HOSTILE}\n")
    id = site.state("release").id
    workflow = site.bench.open().workflow(id)
    workflow.note(HOSTILE.replace("\x1b", ""))
    workflow.remind("<script>alert(2)</script>")
    for where in ("/", path.partition("/approve")[0], path, f"{path.partition('/approve')[0]}/journal"):
        page.goto(f"{served.origin}{where}")
        assert page.locator("main img:not([src^='/w/'])").count() == 0
    page.goto(f"{served.origin}{path}")
    expect(page.locator("#work .lines")).to_have_text("<img src=x onerror=alert(1)>\\u202e\\x1b[31mred")


def test_without_script_it_can_be_read_and_approved(site, served, browser):
    site.waits()
    id = site.state("release").id
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(served.link)
    page.wait_for_url(f"{served.origin}/")
    page.get_by_role("link", name="sign-off").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("sign-off is approved")).to_be_visible()
    assert site.step(id, "sign-off").grant.how == "page"
    context.close()


def test_a_file_that_is_not_shown_whole_needs_a_tick(site, served, page):
    path = site.waits()
    state = site.state("release")
    large = site.bench.root / "notes.md"
    large.write_bytes(b"\x00\xff" * 1000)
    site.bench.open("human").workflow(state.id).reject("sign-off", "more")
    site.bench.open().workflow(state.id).done("sign-off", {"notes": str(large)})
    page.goto(f"{served.origin}{path}")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("alert")).to_contain_text("look at it elsewhere")
    assert site.step(state.id, "sign-off").grant is None
    page.get_by_label("I looked at all of it elsewhere").check()
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url(f"{served.origin}/w/{state.ulid}")
    assert site.step(state.id, "sign-off").grant.how == "page"


def test_a_signature_is_asked_for_at_a_terminal(site: Site, served, page):
    site.bench.write(
        ".holdfast/workflows/signed.toml",
        'name = "signed"\n[[step]]\nid = "plan"\noutputs = ["plan"]\napproval = { by = "signed" }\n',
    )
    workflow = site.bench.open().start("signed", "x").begin("plan")
    workflow.done("plan", {"plan": str(site.bench.write("plan.md", "a plan\n"))})
    page.goto(f"{served.origin}/w/{workflow.ulid}/approve/plan")
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()
    expect(page.locator("#barred")).to_contain_text("signature")
    expect(page.locator("#form-approve")).to_contain_text("holdfast approve plan --sign KEY")
