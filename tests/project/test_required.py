"""Required reading: which files are there, which are missing, and which lead out of the project."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFound, UsageError
from holdfast.machine import place
from holdfast.project import required
from holdfast.project.required import MISSING, OUTSIDE, THERE, Required


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs/a.md").write_text("a")
    (tmp_path / "secret.md").write_text("s")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "up").symlink_to(tmp_path)
    (root / "alias.md").symlink_to("docs/a.md")
    (root / "dangling.md").symlink_to("nowhere.md")
    monkeypatch.chdir(root)
    return root


def standing(entry, project):
    (one,) = required.look([entry], str(project))
    assert one.entry == entry
    return one.path, one.standing


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ("@docs/a.md", "docs/a.md"),
        ("docs/a.md", "docs/a.md"),
        (" @docs/a.md ", "docs/a.md"),
        ("@docs", "docs"),
        ("@docs/../docs/a.md", "docs/../docs/a.md"),
        ("@alias.md", "alias.md"),
    ],
)
def test_a_file_or_folder_of_the_project_is_there(project, entry, path):
    assert standing(entry, project) == (path, THERE)


def test_an_absolute_path_into_the_project_is_told_from_its_top(project):
    assert standing(f"@{project}/docs/a.md", project) == ("docs/a.md", THERE)
    assert standing(f"@{project}/docs/b.md", project) == ("docs/b.md", MISSING)


@pytest.mark.parametrize("entry", ["@docs/b.md", "@nowhere/x.md", "@docs/a.md/x", "@dangling.md", "@" + "x" * 900])
def test_a_file_that_is_not_there_is_missing(project, entry):
    assert standing(entry, project) == (entry.removeprefix("@"), MISSING)


@pytest.mark.parametrize(
    "entry",
    [
        *("@../secret.md", "@/etc/passwd", "@~/x", "@~root/x", "@out.md", "@up/secret.md", "@docs/../../secret.md"),
        *("", "@", " ", "@a\x1b[2J", "@a\nb", "@a\0b", "@\u202egnp.md"),
    ],
)
def test_what_leads_outside_or_deceives_is_told_as_outside(project, entry):
    assert standing(entry, project)[1] == OUTSIDE


def test_a_folder_beside_the_project_that_begins_alike_is_outside(project):
    (project.parent / "project-2").mkdir()
    (project.parent / "project-2/a.md").write_text("a")
    assert standing("@../project-2/a.md", project)[1] == OUTSIDE
    assert standing(f"@{project}-2/a.md", project)[1] == OUTSIDE


def test_a_project_that_is_reached_through_a_link_is_the_same(project, tmp_path):
    (tmp_path / "link").symlink_to(project)
    assert standing("@docs/a.md", tmp_path / "link") == ("docs/a.md", THERE)
    assert standing(f"@{project}/docs/a.md", tmp_path / "link") == ("docs/a.md", THERE)


def test_every_entry_is_looked_at_in_its_order(project):
    found = required.look(["@docs/b.md", "@docs/a.md", "@/etc/passwd"], str(project))
    assert found == [
        Required("@docs/b.md", "docs/b.md", MISSING),
        Required("@docs/a.md", "docs/a.md", THERE),
        Required("@/etc/passwd", "/etc/passwd", OUTSIDE),
    ]


# What somebody names


def entries(project, *paths):
    return required.entries(paths, place.find(str(project)))


def test_a_file_that_is_named_becomes_an_entry_relative_to_the_top(project, monkeypatch):
    assert entries(project, "docs/a.md", "@docs/a.md", f"{project}/docs/a.md", "docs") == (
        *("@docs/a.md",) * 3,
        "@docs",
    )
    monkeypatch.chdir(project / "docs")
    (project / ".holdfast").mkdir()
    assert entries(project, "a.md", "../docs/a.md") == ("@docs/a.md",) * 2


def test_a_file_that_is_not_there_cannot_be_named(project):
    with pytest.raises(NotFound) as caught:
        entries(project, "docs/a.md", "docs/b.md")
    assert (caught.value.code, caught.value.exit_code) == ("no_file", 4)
    assert (caught.value.remedy, caught.value.facts) == ("ls -l docs/b.md", {"path": "docs/b.md"})
    with pytest.raises(NotFound) as caught:
        entries(project, "a file; rm x")
    assert caught.value.remedy == "ls -l 'a file; rm x'"


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "out.md", "up/secret.md", ".", "", "a\nb"])
def test_a_file_outside_cannot_be_named(project, path):
    with pytest.raises(UsageError) as caught:
        entries(project, path)
    assert (caught.value.code, caught.value.exit_code) == ("outside_root", 2)
