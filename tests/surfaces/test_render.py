"""What people read. Whole screens are compared where the look matters, single facts where it does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core import answers, lifecycle, moment
from holdfast.core import commands as cmd
from holdfast.core.briefing import Briefing
from holdfast.core.metrics import metrics
from holdfast.core.packet import packet
from holdfast.core.remedy import Scope
from holdfast.core.state import Actor, Alert
from holdfast.plain.terminal import Style, columns, to_ascii
from holdfast.surfaces import render
from tests.core.stories import stories
from tests.story import NOON, PERSON, REVIEWER, Story
from tests.tiers import examples

PLAIN, COLOURED = Style(False), Style(True)
CODES = re.compile(r"\x1b\[\d+m")

RELEASE = (
    {"id": "plan", "name": "Plan the release", "step": [{"id": "scope"}, {"id": "dates"}]},
    {"id": "changelog", "name": "Write the changelog", "outputs": ["changelog"]},
    {
        "id": "verify",
        "name": "Verify everything",
        "description": "Run the whole suite.\nNothing is released with a red test.",
        "agents": ["coder", "tester"],
        "outputs": ["report"],
        "checks": [{"name": "tests", "run": ["pytest"], "run_by": "engine"}, {"name": "lint"}, {"name": "types"}],
        "review": {"by": ["reviewer"]},
        "retry": {"max": 3},
    },
    {"id": "sign-off", "name": "Sign off", "approval": {"by": "human"}},
    {"id": "publish", "name": "Publish", "parallel": True, "step": [{"id": "wheel"}, {"id": "docs"}]},
)


def release():
    story = Story(*RELEASE, bounds={"max_cost": "$10"}, title="Release 1.4.0", branch="main")
    story.world = {"hashes": {"CHANGELOG.md": ("h", 1)}, "tree": "t1"}
    story.do(cmd.Begin("plan/scope")).do(cmd.Done("plan/scope"))
    story.do(cmd.Begin("plan/dates")).do(cmd.Done("plan/dates"))
    story.do(cmd.Begin("changelog")).do(cmd.Done("changelog", {"changelog": "CHANGELOG.md"}), after=500)
    story.do(cmd.Note("Variant B loads without a script."), PERSON).do(cmd.Begin("verify"))
    story.do(cmd.StartAgent("coder", "verify")).do(cmd.Spend(7_700_000), after=0)
    story.do(cmd.Fail("verify", "the login test fails"), after=300, token=1)
    story.check("verify", "types", True, tree="t0", token=1)
    story.check("verify", "lint", True, run_by="reported", token=1)
    story.check("verify", "tests", False, exit_code=1, tail="E   assert 1 == 2\n1 failed, 312 passed\n", token=1)
    message = "an edit of release-1.json forged the approval of sign-off; the file was restored"
    story.do(cmd.Alarm(Alert(story.facts().now, "edit_refused", message, kept=".holdfast/quarantine/1.json")))
    return story


def status(story, after=0, width=80, **world):
    brief = Briefing(story.state, story.facts(after, **world))
    return render.status(brief, PLAIN, width, scope=Scope(person=True))


def test_the_whole_picture_at_eighty_columns():
    assert (
        status(release(), after=400)
        == """\
Release 1.4.0                                                        in progress
▰▰▰▰▱▱▱▱▱▱ 3/5 · 42% done · 32m 0s · $7.70 of $10.00
release-1 · release · branch main

  ✓ 1. Plan the release  2 steps                                           3m 0s
  ✓ 2. Write the changelog  → CHANGELOG.md                                8m 20s
  ▶ 3. Verify everything                                    try 2 of 3 · 16m 40s
      ○ report  output not named yet
      ✗ tests   failed, exit 1, 7m ago
      ✓ lint    passed, 8m ago, reported by agent coder
      ↻ types   stale: passed 9m ago, the tree changed since
      ○ review  needed by reviewer
  ○ 4. Sign off
  ○ 5. Publish
    ○ 1. wheel
    ○ 2. docs

Now     verify (Verify everything): the check 'tests' failed: assert 1 == 2 (and
        2 more)
        fix it, then: holdfast check tests --run

Agents  coder on verify, since 15m ago, stale: its lease ran out
Bounds  77 % of the cost is used: $7.70 of $10.00
Alerts  ⚠ 6m ago: an edit of release-1.json forged the approval of sign-off; the
        file was restored (kept in .holdfast/quarantine/1.json)
Failed  verify, attempt 1 failed: the login test fails
Notes   Variant B loads without a script. — human ada, 17m ago
"""
    )


def test_the_current_step_for_whoever_does_it():
    story = release()
    assert (
        render.next_step(Briefing(story.state, story.facts(), leased="verify"), PLAIN)
        == """\
Verify everything                                            active · try 2 of 3
verify · step 3 of 5 of Release 1.4.0

Run the whole suite.
Nothing is released with a red test.

Agents  coder, tester

It builds on
  changelog → CHANGELOG.md

It is done when these hold
  ○ report  output not named yet
  ✗ tests   failed, exit 1, 1m ago
  ✓ lint    passed, 2m ago, reported by agent coder
  ↻ types   stale: passed 3m ago, the tree changed since
  ○ review  needed by reviewer
  check tests: pytest

What failed, newest first
  ↳ verify, attempt 1 failed: the login test fails

Notes   Variant B loads without a script. — human ada, 11m ago

the check 'tests' failed: assert 1 == 2

Now
  fix it, then: holdfast check tests --run
  holdfast check types --PASSED-OR-FAILED

When the work is done
  holdfast done verify --artifact report=PATH

After it: sign-off (Sign off)
"""
    )


def test_next_names_what_must_come_first_and_promises_no_done():
    story = Story({"id": "a"}, {"id": "b"})
    said = render.next_step(Briefing(story.state, story.facts()), PLAIN)
    assert said.endswith("Now\n  holdfast begin a\n\nWhen the work is done\n  holdfast done a\n\nAfter it: b\n")
    story.do(cmd.Pause("lunch"), PERSON)
    said = render.next_step(Briefing(story.state, story.facts()), PLAIN)
    assert "\n\npaused: lunch\n\nNow\n  show this to a person and stop, or holdfast wait --for person\n\n" in said
    assert "\n\nFor a person\n  to continue: holdfast resume\n\nAfter" in said


def test_when_all_is_done_next_and_status_say_so():
    story = Story({"id": "a"}).do(cmd.Begin("a")).do(cmd.Done("a"))
    assert render.next_step(Briefing(story.state, story.facts()), PLAIN) == "✓ release-1: all steps are done\n"
    assert "completed" in status(story).splitlines()[0]
    assert "▰▰▰▰▰▰▰▰▰▰ 1/1 · 100% done · 2m 0s" in status(story, after=999)
    assert "Now     all steps are done" in status(story)


@pytest.mark.parametrize(
    ("commands", "line"),
    [
        ([cmd.Done("a")], "◐ 1. a"),
        ([cmd.Fail("a", "broke")], "✗ 1. a"),
        ([cmd.Block("a", "no key")], "■ 1. a"),
        ([cmd.Skip("a")], "↷ 1. a"),
        ([], "▶ 1. a"),
    ],
)
def test_every_status_has_its_mark(commands, line):
    step = {"id": "a", "approval": True, "optional": True, "description": "Write it."}
    story = Story(step, {"id": "b"}).do(cmd.Begin("a"))
    for command in commands:
        story.do(command)
    assert f"  {line} " in status(story)
    assert "  ○ 2. b\n" in status(story)


def test_a_step_in_review_names_its_reviewers_and_the_round():
    story = Story({"id": "a", "review": {"by": ["reviewer"], "max": 2}}).do(cmd.Begin("a")).do(cmd.Submit("a"))
    assert "◎ review  under review by reviewer, round 1 of 2" in status(story)
    story.do(cmd.Review("a", "needs_revision", "shorter\nand kinder"), REVIEWER)
    assert "○ review  agent reviewer asked for changes 0s ago; round 2 of 2 to come" in status(story)
    assert "Asked   a: shorter\n        and kinder\n" in status(story)
    story.do(cmd.Submit("a")).do(cmd.Review("a", "needs_revision", "no"), REVIEWER)
    assert "▲ 1. a" in status(story)
    assert "↳ 2 reviews asked for a revision\n" in status(story)


def test_an_approval_is_needed_then_given_then_stale_and_the_finished_step_opens_up_to_say_so():
    story = Story({"id": "a", "approval": {"by": "human"}, "outputs": ["page"]}, {"id": "b"})
    story.world = {"hashes": {"page.md": ("h1", 1)}}
    story.do(cmd.Begin("a")).do(cmd.Done("a", {"page": "page.md"}))
    assert "◐ approval  needed from a person" in status(story)
    assert "Now     a: the approval by a person is needed\n        holdfast approve a\n" in status(story)
    story.do(cmd.Approve("a"), PERSON)
    assert "approval" not in status(story)
    changed = status(story, after=60, hashes={"page.md": ("h2", 1)})
    assert "↻ page      → page.md, changed since it was named" in changed
    assert "↻ approval  stale: the work changed since human ada gave it 1m ago" in changed
    now = "Now     b: the approval of a no longer holds: the work changed since\n        holdfast approve a\n"
    assert now in changed
    assert "✗ page      → page.md, which is gone" in status(story, hashes={"page.md": None})


def test_a_choice_lists_its_options():
    story = Story({"id": "a", "choice": {"options": ["A", "B"]}}).do(cmd.Begin("a")).do(cmd.Done("a"))
    assert "◐ choice  needed: A, B" in status(story)
    asked = "the choice by a person is needed: A or B; an agent may report the\n        decision"
    assert f"{asked}\n        holdfast approve a --variant VARIANT" in status(story)


def test_evidence_of_an_earlier_try_is_stale_and_names_the_try():
    story = Story({"id": "a", "checks": ["lint"], "retry": {"max": 2}}).do(cmd.Begin("a"))
    story.check("a", "lint", True, run_by="reported").do(cmd.Fail("a", "no"))
    assert "↻ lint  stale: passed 1m ago, in try 1, reported by agent coder" in status(story)


def test_tries_used_up_are_counted_and_escalated_to_a_person():
    story = Story({"id": "a", "retry": {"max": 2, "exhausted": "escalated"}}).do(cmd.Begin("a"))
    story.do(cmd.Fail("a", "no")).do(cmd.Fail("a", "still no"))
    assert re.search(r"▲ 1\. a +try 2 of 2 · escalated · ", status(story))
    assert "holdfast unblock a --guidance TEXT · or holdfast approve a" in status(story)


def test_a_bound_that_is_reached_is_what_blocks_and_the_workflow_s_own_marks_come_with_their_reason():
    story = Story({"id": "a"}, bounds={"max_cost": "$1", "max_iterations": 2}).do(cmd.Begin("a"))
    story.do(cmd.Fail("a", "x")).do(cmd.Resume("a"), PERSON)
    assert "Bounds  a is at its last of 2 attempts" in status(story)
    story.do(cmd.Spend(1_000_000))
    assert "Now     the bound on cost is used up ($1.00 of $1.00)\n        holdfast extend --cost 5" in status(story)
    story.do(cmd.Cancel("not worth it"), PERSON)
    shown = status(story, after=120)
    assert "cancelled 2m ago by human ada\n" in shown
    assert "the workflow is cancelled: not worth it" in shown


def test_people_are_asked_for_waiting_steps_before_steps_that_are_merely_under_way():
    many = [{"id": name, "approval": True} for name in "abcdef"]
    story = Story({"id": "all", "parallel": True, "step": many})
    for name in "abcdef":
        story.do(cmd.Begin(f"all/{name}"))
    story.do(cmd.Done("all/e"))
    now = status(story).partition("Now ")[2]
    assert [line.split()[-1] for line in now.splitlines() if "holdfast" in line] == ["all/a", "all/e", "all/b"]
    assert "… 3 more open" in now


def test_notes_show_the_newest_three_and_alerts_those_of_the_last_day():
    story = Story({"id": "a"})
    for number in range(5):
        story.do(cmd.Note(f"note {number}"), PERSON)
    story.do(cmd.Alarm(Alert(story.facts().now, "edit_refused", "a forged approval")), Actor("engine"))
    said = status(story, after=3600)
    assert [word for word in ("note 4", "note 3", "note 2") if word in said] == ["note 4", "note 3", "note 2"]
    assert said.index("note 4") < said.index("note 3")
    assert "note 1" not in said
    assert "a forged approval" in said
    assert "a forged approval" not in status(story, after=25 * 3600)


def test_a_lease_that_ran_out_is_stale():
    story = Story({"id": "a"}).do(cmd.StartAgent("coder", "a", ttl=60))
    assert "Agents  coder on a, since 30s ago\n" in status(story, after=30)
    assert "stale: its lease ran out" in status(story, after=61)
    assert "stale: its lease ran out" in status(story, boot="another")


def big_tree():
    tasks = [{"id": f"t{n}", "name": f"Task {n}", "step": [{"id": "red"}, {"id": "green"}]} for n in range(30)]
    story = Story({"id": "tasks", "step": tasks}, *({"id": f"later{n}"} for n in range(20)))
    for n in range(10):
        for part in ("red", "green"):
            story.do(cmd.Begin(f"tasks/t{n}/{part}")).do(cmd.Done(f"tasks/t{n}/{part}"))
    return story.do(cmd.Begin("tasks/t10/red"))


def test_a_large_tree_folds_to_what_matters():
    tree = status(big_tree()).split("\n\n")[1]
    assert [line.strip().partition("   ")[0] for line in tree.splitlines()] == [
        "▶ 1. tasks",
        "✓ … 8 more done",
        "✓ 9. Task 8  2 steps",
        "✓ 10. Task 9  2 steps",
        "▶ 11. Task 10",
        "▶ 1. red",
        "○ 2. green",
        "○ 12. Task 11  2 steps",
        "○ 13. Task 12  2 steps",
        "○ 14. Task 13  2 steps",
        "○ … 16 more pending",
        "○ 2. later0",
        "○ 3. later1",
        "○ 4. later2",
        "○ … 17 more pending",
    ]


def test_folding_never_hides_an_approval_that_no_longer_holds():
    steps = [{"id": f"s{n}", **({"approval": True, "outputs": ["p"]} if n == 1 else {})} for n in range(60)]
    story = Story(*steps)
    story.world = {"hashes": {"p.md": ("h1", 1)}}
    story.do(cmd.Begin("s0")).do(cmd.Done("s0")).do(cmd.Begin("s1")).do(cmd.Done("s1", {"p": "p.md"}))
    story.do(cmd.Approve("s1"), PERSON)
    for n in range(2, 20):
        story.do(cmd.Begin(f"s{n}")).do(cmd.Done(f"s{n}"))
    assert "s1" not in status(story).split()
    assert "↻ approval  stale" in status(story, hashes={"p.md": ("h2", 1)})


def test_without_unicode_the_same_screen_has_ascii_marks_in_the_same_columns():
    story = release()
    rich = render.status(Briefing(story.state, story.facts()), PLAIN, 80)
    plain = to_ascii(rich)
    assert plain.isascii()
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in rich.splitlines()]
    assert "  > 3. Verify everything" in plain


def test_text_of_others_cannot_drive_the_terminal():
    evil = "\x1b]0;owned\x07\u202e\x9b2J"
    story = Story({"id": "a", "name": evil, "description": evil, "checks": ["lint"]}, title=evil, branch=evil)
    story.do(cmd.Begin("a")).check("a", "lint", False, tail=evil, run_by="reported").do(cmd.Note(evil), PERSON)
    story.do(cmd.StartAgent("coder"), Actor("agent", evil)).do(cmd.Block("a", evil), PERSON)
    facts = story.facts()
    entry = dict.fromkeys(("workflow_id", "workflow_type", "detail", "branch", "title", "current_step_name"), evil)
    screens = [
        render.status(Briefing(story.state, facts), PLAIN, 80),
        render.next_step(Briefing(story.state, facts), PLAIN),
        render.log(story.records, PLAIN, 80),
        render.metrics_table(metrics(story.records, facts.now), PLAIN),
        render.listing(
            [{**entry, "current_step": 1, "total_steps": 1, "finished_percentage": 0, "updated_at": facts.now}],
            PLAIN,
            None,
            facts.now,
        ),
    ]
    for screen in screens:
        assert "\\x1b]0;owned\\x07" in screen
        assert not set("\x1b\x07\x9b\u202e") & set(screen)


@settings(max_examples=examples(40))
@given(stories(), st.integers(40, 120))
def test_whatever_happened_every_screen_fits_and_colours_change_no_word(story, width):
    """Random workflows at random widths."""
    for scene in story.scenes[-3:]:
        state, facts = story.states[-1], scene.facts
        for screen in (render.status, render.next_step):
            plain = screen(Briefing(state, facts), PLAIN, width)
            assert CODES.sub("", screen(Briefing(state, facts), COLOURED, width)) == plain
            assert all(columns(line) <= width for line in plain.splitlines() if "holdfast " not in line), plain
    told = render.log(story.records, PLAIN, width + 20)
    assert CODES.sub("", render.log(story.records, COLOURED, width + 20)) == told
    assert all(columns(line) <= width + 20 for line in told.splitlines()), told
    render.metrics_table(metrics(story.records, story.scenes[-1].facts.now), COLOURED)


def test_the_log_groups_the_events_of_a_command_by_day():
    story = release()
    story.do(cmd.Reopen("changelog", "mention the new flag\nand its default"), PERSON, after=86_400)
    assert (
        render.log(story.records, PLAIN, 80)
        == """\
2026-01-31 UTC
 1  12:00:00  human ada    started release
 2  12:01:00  agent coder  began plan
                           began plan/scope
 3  12:02:00  agent coder  completed plan/scope
 4  12:03:00  agent coder  began plan/dates
 5  12:04:00  agent coder  completed plan/dates
                           completed plan
 6  12:05:00  agent coder  began changelog
 7  12:13:20  agent coder  changelog produced changelog → CHANGELOG.md
                           completed changelog
 8  12:14:20  human ada    noted: Variant B loads without a script.
 9  12:15:20  agent coder  began verify
10  12:16:20  agent coder  coder began work on verify (lease 1)
11  12:16:20  agent coder  spent $7.70
                           75 % of the cost used: $7.70 of $10.00
12  12:21:20  agent coder  failed verify: the login test fails
                           retried verify (try 2)
13  12:22:20  agent coder  check types of verify passed
14  12:23:20  agent coder  check lint of verify passed (reported)
15  12:24:20  agent coder  check tests of verify failed, exit 1
16  12:25:20  agent coder  alert edit_refused
                             an edit of release-1.json forged the approval of
                             sign-off; the file was restored

2026-02-01 UTC
17  12:25:20  human ada    reopened changelog (try 2)
                             mention the new flag
                             and its default
                           verify back to pending
"""
    )


def test_heartbeats_are_left_out_of_the_log():
    story = Story({"id": "a"}).do(cmd.StartAgent("coder")).do(cmd.BeatAgent(1), token=1)
    story.do(cmd.EndAgent(1, "finished"), token=1)
    assert [line.split()[0] for line in render.log(story.records, PLAIN, 80).splitlines()[1:]] == ["1", "2", "4"]
    assert "lease 1 ended: finished" in render.log(story.records, PLAIN, 80)


def entry(workflow_id, updated=240, **more):
    return {
        "workflow_id": workflow_id,
        "workflow_type": "dev",
        "status": "active",
        "detail": "in_progress",
        "current_step": 3,
        "total_steps": 7,
        "current_step_name": "Verify",
        "finished_percentage": 28,
        "updated_at": moment.from_epoch(NOON - updated),
        "branch": "main",
        "title": "Add login",
        "subject": "login",
        **more,
    }


def listing(*entries, width=80):
    return render.listing(entries, PLAIN, width, moment.from_epoch(NOON))


def test_the_list_is_a_table():
    assert (
        listing(entry("dev-ed6828a3"), entry("dev-11112222", 3 * 86_400, branch=None, detail="waiting", title=""))
        == """\
ID            TYPE  STATUS       STEP        DONE  UPDATED  BRANCH  TITLE
dev-ed6828a3  dev   in progress  3/7 Verify  28%   4m ago   main    Add login
dev-11112222  dev   waiting      3/7 Verify  28%   3d ago           login
"""
    )


def test_each_workflow_has_one_line_and_what_does_not_fit_is_left_out():
    scene = entry("generation-scene-0204-20251110-143000", workflow_type="generation")
    assert (
        listing(scene, width=90)
        == """\
ID                                     STATUS       STEP  DONE  UPDATED  BRANCH  TITLE
generation-scene-0204-20251110-143000  in progress  3/7   28%   4m ago   main    Add login
"""
    )
    assert listing(scene, width=80).splitlines()[1] == (
        "generation-scene-0204-20251110-143000  in progress  3/7   28%   Add login"
    )
    assert listing(scene, width=60).splitlines()[1] == "generation-scene-0204-20251110-143000  in progress  3/7"


@pytest.mark.parametrize("width", [30, 50, 60, 80, 100])
def test_no_width_cuts_an_id_which_is_what_commands_take(width):
    scene = entry("generation-scene-0204-20251110-143000", workflow_type="generation", title="The storm " * 9)
    (line,) = listing(scene, width=width).splitlines()[1:]
    assert line.startswith("generation-scene-0204-20251110-143000")
    assert ("in progress" in line) == (width >= 50)
    assert ("The storm" in line) == (width >= 80)


def test_without_a_width_nothing_of_the_list_is_cut():
    long = entry("x" * 80, title="A long title " * 12, branch="b" * 60, current_step_name="Step " * 10)
    (line,) = listing(long, width=None).splitlines()[1:]
    for said in ("x" * 80, ("A long title " * 12).strip(), "b" * 60, ("Step " * 10).strip()):
        assert said in line


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60), st.integers(60, 140))
def test_the_list_fits_its_width(title, branch, name, width):
    shown = listing(entry("x" * 36, title=title, branch=branch, current_step_name=name), width=width)
    assert all(columns(line) <= width for line in shown.splitlines())


def test_the_figures_are_a_table():
    story = release()
    shown = render.metrics_table(metrics(story.records, story.facts().now), PLAIN).splitlines()
    assert shown[shown.index("  Waiting for people             0s") + 1] == "  Paused                         0s"
    assert shown[:5] == [
        "release-1",
        "  Time                      25m 20s",
        "    1. Plan the release       3m 0s",
        "    2. Write the changelog   8m 20s",
        "    3. Verify everything     10m 0s",
    ]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "just now"),
        (4.9, "just now"),
        (59, "59 seconds ago"),
        (60, "1 minute ago"),
        (299, "4 minutes ago"),
        (7200, "2 hours ago"),
        (86_400, "1 day ago"),
        (8 * 86_400, "1 week ago"),
        (70 * 86_400, "2 months ago"),
        (800 * 86_400, "2 years ago"),
    ],
)
def test_a_span_back_in_words(seconds, said):
    assert moment.relative(seconds) == said


def test_every_status_of_a_workflow_and_a_step_has_a_colour():
    words = {*lifecycle.STATUSES, "in_progress", "completed", "cancelled", "paused", "finalized"}
    for word in words:
        shown = render.listing([entry("a", detail=word)], COLOURED, 80, moment.from_epoch(NOON))
        assert CODES.search(shown.splitlines()[1]), word


def test_reminders_stand_in_the_text_of_status_and_next():
    story = Story({"id": "a"}).do(cmd.Brief("reminders", add=("Never touch production", "Ask before you push")))
    shown = "Remind  Never touch production\n        Ask before you push\n"
    assert shown in status(story)
    assert shown in render.next_step(Briefing(story.state, story.facts()), PLAIN)


def test_a_step_that_was_skipped_does_not_look_done():
    story = Story({"id": "a"}, {"id": "b"}).do(cmd.Skip("a", "not for this release"), PERSON)
    brief = Briefing(story.state, story.facts())
    said = "skipped by human ada: not for this release"
    for text in (status(story), render.next_step(brief, PLAIN), packet(brief)):
        assert said in text
    for data in (answers.next_step(brief), answers.status(brief)):
        assert data["skipped"] == {"a": said}


def test_what_was_asked_for_stands_before_the_command():
    story = Story({"id": "a", "approval": {"by": "human", "rejected": "revise"}}, {"id": "b"})
    story.do(cmd.Begin("a")).do(cmd.Done("a")).do(cmd.Reject("a", "shorter, please"), PERSON)
    brief = Briefing(story.state, story.facts())
    assert (brief.ready, brief.reason) == (True, "asked for: shorter, please")
    said = answers.next_step(brief)
    assert (said["blocking_reason"], said["required_action"]) == (brief.reason, "fix it, then: holdfast done a")
    assert "\n\nChanges asked for\n  a: shorter, please\n\nNow\n  fix it, then: holdfast done a\n" in render.next_step(
        brief, PLAIN
    )


def test_what_failed_stands_before_the_check_that_is_run_again():
    story = Story({"id": "a", "checks": [{"name": "tests", "run": ["pytest"]}]}).do(cmd.Begin("a"))
    brief = Briefing(story.check("a", "tests", False, tail="E   no module x\n== 1 error ==\n").state, story.facts())
    assert brief.reason == "the check 'tests' failed: no module x"
    assert answers.next_step(brief)["required_action"] == "fix it, then: holdfast done"
    # What a command printed is data: in a packet it is between the fences.
    blockers = packet(brief).partition("Blockers:")[2].partition("\n\n")[0]
    assert "the check 'tests' failed → fix it, then: holdfast done" in blockers


def test_a_failure_that_sends_back_is_told_of_the_step_that_failed():
    story = Story({"id": "map"}, {"id": "load", "retry": {"max": 3, "back_to": "map"}})
    story.do(cmd.Begin("map")).do(cmd.Done("map")).do(cmd.Begin("load")).do(cmd.Fail("load", "no name"))
    assert Briefing(story.state, story.facts()).failures == ["load, attempt 1 failed: no name"]
