"""A copy of the pages as files: complete without a server, and asking nobody for anything."""

from __future__ import annotations

import hashlib
import re


def test_a_copy_makes_no_request_and_says_what_it_is_a_copy_of(site, context):
    id = site.waiting("<b>well</b>\n")
    state = site.state(id)
    said = site.bench.ok("web", "--export", "copy", "--json")
    assert "index.html" in said.out
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    complaints: list[str] = []
    page.on("console", lambda one: complaints.append(one.text))
    page.goto((site.root / "copy" / "index.html").as_uri())
    page.get_by_role("link", name="Release 1.4.0").click()
    page.wait_for_url(f"**/{state.ulid}.html")
    assert [one for one in asked if not one.startswith("file:")] == []
    assert len(asked) == 2
    assert complaints == []
    hashed = hashlib.sha256(site.journal(id)).hexdigest()
    assert f"revision {state.revision}, journal SHA-256 {hashed}" in page.locator("footer").inner_text()
    text = (site.root / "copy" / "w" / f"{state.ulid}.html").read_text()
    assert not re.search(r"<(script|form|link)\b|https?://(?!www\.w3\.org)", text)


def test_the_contents_of_files_are_in_it_only_where_asked_for(site):
    state = site.state(site.waiting("the secret of the harbour\n"))
    site.bench.ok("web", "--export", "bare", "-w", state.id)
    site.bench.ok("web", "--export", "full", "-w", state.id, "--files")
    assert "secret of the harbour" not in (site.root / "bare" / "index.html").read_text()
    assert "secret of the harbour" in (site.root / "full" / "index.html").read_text()
    assert [one.name for one in (site.root / "bare").iterdir()] == ["index.html"]


def test_a_folder_that_is_not_empty_is_left_alone(site):
    site.waiting()
    site.bench.write("copy/mine.txt", "mine\n")
    refused = site.bench.agent("web", "--export", "copy")
    assert refused.code == 2
    assert "is not empty" in refused.err
    assert "name another folder, new or empty: holdfast web --export PATH" in refused.err
    assert [one.name for one in (site.root / "copy").iterdir()] == ["mine.txt"]


def test_options_of_a_copy_are_refused_without_one(site):
    assert site.bench.agent("web", "--files").code == 2
