"""What the tests of the page share: a project, and one browser a module."""

from __future__ import annotations

import shutil

import pytest

from tests.surfaces.web.site import Site
from tests.tiers import need


@pytest.fixture
def site(tmp_path) -> Site:
    return Site(tmp_path / "project")


@pytest.fixture(scope="module")
def browser():
    need("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:  # ends with the module: while it runs, no other event loop can begin
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def context(browser):
    """A browser profile of its own, whose pages may say nothing to the console but what a test expects."""
    made = browser.new_context(viewport={"width": 1200, "height": 900})
    made.set_default_timeout(30_000)
    yield made
    made.close()
