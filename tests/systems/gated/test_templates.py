"""The templates of a feature's documents: shipped, and those of a project in their place."""

from __future__ import annotations

import os
import re

import pytest

from holdfast.errors import NotFound, UsageError
from holdfast.systems.gated import review_file, templates
from holdfast.systems.seam import team_files


@pytest.mark.parametrize("name", templates.NAMES)
def test_a_template_is_headings_and_comments_and_says_nothing_by_itself(name, tmp_path):
    text = templates.template(name, str(tmp_path))
    shown = re.sub(r"(?s)<!--.*?-->", "", text)
    assert text.startswith("# ")
    assert all(line.startswith("#") for line in shown.splitlines() if line.strip()), shown


def test_every_file_of_the_folder_is_a_template():
    assert sorted(templates.NAMES) == sorted(os.path.splitext(name)[0] for name in os.listdir(templates.FOLDER))


def test_a_file_of_the_project_takes_the_place_of_the_shipped_one(tmp_path):
    own = tmp_path / ".holdfast/team/templates/plan.md"
    own.parent.mkdir(parents=True)
    own.write_bytes("﻿# Our plan\r\n\r\n## Tasks\r\n".encode())
    assert templates.template("plan", str(tmp_path)) == "# Our plan\n\n## Tasks\n"
    assert templates.template("changes", str(tmp_path)) == team_files.shipped_text(templates.FOLDER, "changes")


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"a\0b", b"x" * ((1 << 18) + 1)])
def test_a_file_of_the_project_that_is_no_text_is_refused(tmp_path, data):
    own = tmp_path / ".holdfast/team/templates/plan.md"
    own.parent.mkdir(parents=True)
    own.write_bytes(data)
    with pytest.raises(UsageError) as wrong:
        templates.template("plan", str(tmp_path))
    assert (wrong.value.code, wrong.value.facts["path"]) == ("bad_team_file", ".holdfast/team/templates/plan.md")


def test_no_link_leads_to_a_template_outside_of_the_project(tmp_path):
    (tmp_path / "secret").write_text("password")
    folder = tmp_path / "project/.holdfast/team/templates"
    folder.mkdir(parents=True)
    (folder / "plan.md").symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="symbolic link"):
        templates.template("plan", str(tmp_path / "project"))


@pytest.mark.parametrize("name", ["../plan", "", "plans", "PLAN"])
def test_only_a_template_that_there_is_can_be_asked_for(name, tmp_path):
    with pytest.raises(NotFound):
        templates.template(name, str(tmp_path))


@pytest.mark.parametrize(
    ("line", "findings", "decision"),
    [("APPROVED", "None.", "approved"), ("NEEDS_REVISION", "- **[MAJOR]** R1 has no limit.", "needs_revision")],
)
def test_a_review_in_the_shape_of_its_template_is_read(tmp_path, line, findings, decision):
    text = templates.template("review", str(tmp_path))
    text = text.replace("# Review\n", f"# Review\n\n## Decision: {line}\n", 1)
    text = text.replace("## Findings\n", f"## Findings\n\n{findings}\n", 1)
    (tmp_path / "review-1.md").write_text(text)
    found = review_file.read(str(tmp_path / "review-1.md"), "review-1.md")
    assert (found.decision, len(found.findings)) == (decision, findings.count("[MAJOR]"))


def test_the_template_of_a_review_decides_nothing(tmp_path):
    (tmp_path / "review-1.md").write_text(templates.template("review", ""))
    with pytest.raises(UsageError, match="there is no decision"):
        review_file.read(str(tmp_path / "review-1.md"), "review-1.md")
