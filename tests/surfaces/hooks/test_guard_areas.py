"""Roles and the files they may write: reviewers nothing but the review that is due, creators no review."""

from __future__ import annotations

import pytest

from holdfast.surfaces.hooks import guard
from holdfast.surfaces.tools.sets import TOOLS
from tests.surfaces.hooks.conftest import Project
from tests.surfaces.hooks.test_guard_roles import HOME, asked, feature  # noqa: F401
from tests.workbench import Bench

DOCUMENT = f"{HOME}/01-requirements/requirements.md"
REVIEW = f"{HOME}/01-requirements/reviews/review-1.md"
CREATORS = ["requirements-creator", "creator", "holdfast:testing-creator", "feature-orchestrator"]
REVIEWERS = ["requirements-reviewer", "reviewer", "holdfast:testing-reviewer"]


def written(project: Project, path: str, agent: str) -> list[str]:
    """What is said of each way to write a file: a tool of each host, a patch, a shell."""
    patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"
    calls = [
        ("Write", {"file_path": str(project.root / path)}),
        ("edit", {"filePath": path}),
        ("apply_patch", {"input": patch}),
        ("Bash", {"command": f"echo x > {path}"}),
        ("bash", {"command": f"cp /etc/hostname {path}"}),
    ]
    return [asked(project, tool, given, agent_type=agent) for tool, given in calls]


@pytest.mark.parametrize("agent", CREATORS)
def test_a_creator_writes_documents_and_code_and_no_review(feature, agent):  # noqa: F811
    for path in (DOCUMENT, "src/app.py", f"{HOME}/01-requirements/answers.md"):
        assert written(feature, path, agent) == [""] * 5
    for path in (REVIEW, f"{HOME}/03-implementation/reviews/review-2.md", f"{HOME}/01-requirements/reviews/x/y.md"):
        assert all("writes no reviews of dark-mode" in said for said in written(feature, path, agent)), path


@pytest.mark.parametrize("agent", REVIEWERS)
def test_a_reviewer_writes_the_review_that_is_due_and_nothing_else(feature, agent):  # noqa: F811
    assert written(feature, REVIEW, agent) == [""] * 5
    for path in (DOCUMENT, "src/app.py", f"{HOME}/01-requirements/reviews/review-2.md", f"{HOME}/00-feature/x.md"):
        assert all("changes nothing but its review" in said for said in written(feature, path, agent)), path


@pytest.mark.parametrize("agent", ["", "lead", "Explore", "reviewers"])
def test_others_write_as_before(feature, agent):  # noqa: F811
    for path in (DOCUMENT, REVIEW, "src/app.py"):
        assert written(feature, path, agent) == [""] * 5


@pytest.mark.parametrize(
    "line",
    [
        *("git checkout .", "git stash", "git commit -am x", "git push", "git merge main", "rm -r docs"),
        *("sed -i s/a/b/ src/app.py", "touch x", "git reset --hard", f"rm {DOCUMENT}", "cd src && echo x > $FILE"),
    ],
)
def test_a_reviewers_shell_changes_nothing(feature, line):  # noqa: F811
    assert "changes nothing but its review" in asked(feature, "Bash", {"command": line}, agent_type=REVIEWERS[0])


@pytest.mark.parametrize(
    "line",
    [
        *("git diff main", "git log -3", "pytest -q > /dev/null", "ls", f"mkdir -p {HOME}/01-requirements/reviews"),
        *("holdfast next", "git commit --help", "cat x > /tmp/holdfast-seen", f"rm {REVIEW}"),
    ],
)
def test_a_reviewer_looks_and_runs_what_it_needs(feature, line):  # noqa: F811
    assert asked(feature, "Bash", {"command": line}, agent_type=REVIEWERS[0]) == ""


def test_a_creator_does_not_take_reviews_away(feature):  # noqa: F811
    for line in (f"rm -r {HOME}", f"mv {HOME}/01-requirements /tmp/x", f"git rm -r {HOME}/01-requirements/reviews"):
        assert asked(feature, "Bash", {"command": line}, agent_type=CREATORS[0]), line
    (feature.root / "notes").symlink_to(feature.root / f"{HOME}/01-requirements/reviews")
    assert all(written(feature, "notes/review-1.md", CREATORS[0]))


def test_the_next_round_has_another_file(feature):  # noqa: F811
    bench = Bench(feature.root)
    (feature.root / DOCUMENT).write_text("# Requirements\n\nR1. It is dark.\n")
    bench.agent("done", "1")
    review = feature.root / REVIEW
    review.parent.mkdir(exist_ok=True)
    review.write_text("## Decision: NEEDS_REVISION\n- **[MAJOR]** When?\n")
    bench.agent("review", "1")
    assert all("review-2.md" in said for said in written(feature, REVIEW, REVIEWERS[0]))
    assert written(feature, REVIEW.replace("-1.md", "-2.md"), REVIEWERS[0]) == [""] * 5


@pytest.mark.parametrize("server", ["mcp__holdfast__", "mcp__plugin_holdfast_holdfast__", "holdfast_"])
@pytest.mark.parametrize("agent", [CREATORS[0], REVIEWERS[0]])
def test_the_tools_of_the_server_only_look_for_them(feature, server, agent):  # noqa: F811
    for name in TOOLS:
        for given in ({"workflow_id": "dark-mode"}, {}):
            said = asked(feature, server + name, given, agent_type=agent)
            assert bool(said) == (name not in guard._LOOKING_TOOLS), name
            assert not said or "the lead agent" in said
    assert asked(feature, f"{server}approve_step", {"workflow_id": "dark-mode"}) == ""
    assert asked(feature, "mcp__other__approve_step", {"workflow_id": "dark-mode"}, agent_type=agent) == ""


def test_the_tools_that_look_are_those_that_change_nothing():
    reading = {tool.name for tool in TOOLS.values() if tool.reads}
    assert reading | {"get_resume_packet"} == guard._LOOKING_TOOLS


@pytest.mark.parametrize(
    "path",
    [
        ".claude/agents/testing-reviewer.md",
        ".opencode/agents/testing-creator.md",
        ".codex/agents/testing-reviewer.toml",
    ],
)
@pytest.mark.parametrize("agent", ["", *REVIEWERS, *CREATORS])
def test_no_agent_rewrites_what_the_team_is_told(feature, path, agent):  # noqa: F811
    assert all(written(feature, path, agent))
    assert asked(feature, "Bash", {"command": f"rm -r {path.rpartition('/')[0]}"}, agent_type=agent)
    assert asked(feature, "Write", {"file_path": ".claude/agents/mine.md"}) == ""
