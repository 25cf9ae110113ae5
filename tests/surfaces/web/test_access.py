"""Everybody can use the page: audited by axe, at the width of a phone, in light and dark."""

from __future__ import annotations

import subprocess

import pytest

from tests.docs.blocks import ROOT
from tests.tiers import lack, need

SIZES = (1200, 390)
AUDIT = """() => axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => violations.map(
  (one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ")}`))"""
OTHER = """\
name = "other"

[bounds]
max_cost = "$10"
max_time = "1h"

[[step]]
id = "one"
retry = { max = 2 }

[[step]]
id = "two"
"""
WIDER = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.fixture(scope="module")
def axe() -> str:
    need("npm")
    found = subprocess.run(
        [ROOT / "tools" / "node-packages", "--where", ROOT / ".venv"], capture_output=True, text=True
    )
    if found.returncode:
        lack("the Node packages of the tests")
    return f"{found.stdout.strip()}/node_modules/axe-core/axe.min.js"


@pytest.fixture
def pages(site):
    """Every page, of a project where each of its parts has something to show."""
    path = site.waits("# Notes\n\n" + "a long line without an end " * 20 + "\n")
    state = site.state("release")
    bench = site.bench
    bench.ok("note", "x" * 300, "-w", state.id)
    bench.ok("learn", "Read the notes first.", "--type", "pattern", "-w", state.id)
    bench.ok("agent", "start", "writer", "-w", state.id)
    bench.ok("lock", "notes.md", "--agent", "writer", "-w", state.id)
    bench.write(
        ".holdfast/workflows/other.toml",
        OTHER,
    )
    other = bench.open().start("other", "1").begin("one").fail("one", "it broke").resume("one")
    stuck = bench.open().start("other", "2").begin("one").block("one", "no key")
    bench.open("human").start("other", "3").cancel("not needed")
    home = path.partition("/approve")[0]
    return ["/", home, path, f"{home}/journal", f"{home}/journal?only=failures", "/learnings", "/agents", "/passkeys",
            f"/w/{other.ulid}", f"/w/{stuck.ulid}"]  # fmt: skip


def test_no_page_has_anything_that_axe_objects_to(site, browser, axe, pages):
    with site.serving() as served:
        context = browser.new_context(bypass_csp=True)  # the audit is a script of another origin
        page = context.new_page()
        page.goto(f"{served.origin}/login")
        page.add_script_tag(path=axe)
        assert page.evaluate(AUDIT) == []
        page.goto(served.link)
        page.wait_for_url(f"{served.origin}/")
        for width in SIZES:
            for scheme in ("light", "dark"):
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                for path in pages:
                    page.goto(f"{served.origin}{path}")
                    page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
                    page.add_script_tag(path=axe)
                    assert (path, width, scheme, page.evaluate(AUDIT)) == (path, width, scheme, [])
        context.close()


def test_nothing_scrolls_sideways_on_the_smallest_phone(site, context, pages):
    with site.serving() as served:
        page = context.new_page()
        page.set_viewport_size({"width": 320, "height": 640})
        page.goto(served.link)
        page.wait_for_url(f"{served.origin}/")
        for path in pages:
            page.goto(f"{served.origin}{path}")
            page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
            wide, room = page.evaluate(WIDER)
            assert (path, wide) == (path, room)


def test_on_a_phone_the_buttons_are_at_the_bottom_of_the_window(site, context):
    path = site.waits("line\n" * 300)
    with site.serving() as served:
        page = context.new_page()
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(served.link)
        page.wait_for_url(f"{served.origin}/")
        page.goto(f"{served.origin}{path}")
        box = page.get_by_role("button", name="Approve").bounding_box()
        assert 844 - 80 < box["y"] + box["height"] <= 844
