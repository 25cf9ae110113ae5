"""What follows from what people said of the pull request, rule by rule."""

from __future__ import annotations

import pytest

from holdfast.errors import UsageError
from holdfast.systems.gated.conversation import LONGEST, Heard, Said
from tests.systems.gated.talk import ASK, BEFORE, CODE, DOCS, FIRST, SECOND, at, comment, hear, review, said, thread


def where(path: str) -> str:
    """The phase that a thread on a path is about, seen from the second phase."""
    (phase,) = hear(said(thread(path))).feedback
    return phase


def test_nothing_said_is_nothing_heard():
    assert hear(Said(), since=at(1), seen=["review:1"]) == Heard((), {}, "", 0, (), at(1), ("review:1",), ())


@pytest.mark.parametrize(
    ("path", "phase"),
    [
        ("workflow/door/01-requirements/requirements.md", FIRST),
        ("workflow/door/05-documentation/deep/er/api-docs.md", DOCS),
        ("workflow/door/00-feature/description.md", FIRST),
        ("workflow/door/06-more/notes.md", SECOND),
        ("workflow/door/01-requirements", SECOND),
        ("workflow/door/workflow-state.json", SECOND),
        ("workflow/window/01-requirements/requirements.md", SECOND),
        ("workflow/README.md", SECOND),
        ("workflow", CODE),
        ("workflows/door/01-requirements/a.md", CODE),
        ("src/workflow/door/01-requirements/a.md", CODE),
        ("Workflow/door/01-requirements/a.md", CODE),
        ("src/door.py", CODE),
        ("README.md", CODE),
        ("", SECOND),
    ],
)
def test_a_path_says_which_phase_is_spoken_of(path, phase):
    assert where(path) == phase


APPROVED: dict[str, tuple[object, ...]] = {
    "an approval": (review(),),
    "an approval after the same person's request": (review(4, ASK, "No"), review(5)),
    "of two people": (review(), review(6, who="hubot")),
    "with a thread that is resolved": (review(), thread("src/door.py", resolved=True)),
    "with an open thread on a later phase": (review(), thread("src/door.py")),
    "with a remark before it": (comment("Nearly", 4), review(5)),
    "with a remark of the same second": (review(5), comment("Well done", 5)),
    "with a review without words after it": (review(5), review(6, "COMMENTED", id=6)),
    "with somebody's request that was dismissed": (review(5), review(3, "DISMISSED", "No", who="hubot")),
    "with a request that is dismissed before it": (review(4, "DISMISSED"), review(5)),
    "with a request that was withdrawn by an approval that a push dismissed": (
        review(2, ASK, "No", who="hubot"),
        review(3, "DISMISSED", who="hubot"),
        review(5),
    ),
    "with somebody's draft": (review(5), review(6, "PENDING", "No", who="hubot").replace(submitted_at="")),
    "and again, of an older commit": (review(5), review(6, commit=BEFORE)),
}
NOT_APPROVED: dict[str, tuple[object, ...]] = {
    "a comment": (comment(),),
    "a review that decides nothing": (review(state="COMMENTED", body="Good"),),
    "an approval that was dismissed": (review(state="DISMISSED"),),
    "an approval before a review of the same person that was dismissed": (review(4), review(5, "DISMISSED")),
    "an approval that is not handed in": (review(state="PENDING").replace(submitted_at=""),),
    "an approval of an older commit": (review(commit=BEFORE),),
    "an approval of a commit that is gone": (review(commit=""),),
    "a request after it by the same person": (review(4), review(5, ASK, "No")),
    "a request by somebody else, before it": (review(3, ASK, "No", who="hubot"), review(5)),
    "a request by somebody else, after it": (review(5), review(6, ASK, "No", who="hubot")),
    "a request without words": (review(5), review(6, ASK, who="hubot")),
    "an open thread on this phase": (review(6), thread("workflow/door/02-architecture/a.md")),
    "an open thread on an earlier phase": (review(6), thread("workflow/door/00-feature/description.md")),
    "a remark after it": (review(5), comment("One more thing", 6)),
    "a review with words after it": (review(5), review(6, "COMMENTED", "One more thing", who="hubot")),
}


@pytest.mark.parametrize("parts", APPROVED.values(), ids=APPROVED.keys())
def test_the_phase_is_approved(parts):
    found = hear(said(*parts))
    assert found.approved_by[:1] == ("mona",)
    assert (found.earliest, found.unresolved) == ("", 0)


@pytest.mark.parametrize("parts", NOT_APPROVED.values(), ids=NOT_APPROVED.keys())
def test_the_phase_is_not_approved(parts):
    assert hear(said(*parts)).approved_by == ()


@pytest.mark.parametrize(("association", "counts"), [
    ("OWNER", True), ("MEMBER", True), ("COLLABORATOR", True), ("CONTRIBUTOR", False), ("FIRST_TIMER", False),
    ("FIRST_TIME_CONTRIBUTOR", False), ("MANNEQUIN", False), ("NONE", False), ("", False), ("owner", False),
])  # fmt: skip
def test_only_those_who_belong_to_the_project_are_heard(association, counts):
    assert bool(hear(said(review(belongs=association))).approved_by) == counts
    for part in (comment(belongs=association), thread("src/a.py", comment(belongs=association))):
        assert bool(hear(said(part)).feedback) == counts
    asked = review(6, ASK, "No", who="hubot", belongs=association)
    assert bool(hear(said(review(5), asked)).approved_by) != counts


def test_what_outsiders_say_is_counted_and_named():
    eve = {"who": "eve", "belongs": "NONE"}
    parts = (review(**eve), comment(**eve), thread("src/a.py", comment(who="eve\x1b[2J", belongs="NONE", minute=7)))
    envelope = review(7, "COMMENTED", **eve)
    found = hear(said(*parts, envelope))
    assert found.aside == (
        "3 remarks are ignored, by people who do not belong to the project: @eve, @eve[2J",
    )  # fmt: skip
    assert hear(said(*parts, envelope), since=at(7), seen=["thread:7"]).aside == ()
    many = hear(said(*(comment(who=f"eve{n}", belongs="NONE", id=str(n)) for n in range(9))))
    assert many.aside[0].endswith("@eve0, @eve1, @eve2, @eve3, @eve4, 4 more")


def test_an_outsiders_thread_blocks_nothing_until_somebody_of_the_project_takes_part():
    here = "workflow/door/02-architecture/a.md"
    eve = comment("Let me in", 3, who="eve", belongs="NONE")
    alone = hear(said(review(), thread(here, eve)))
    assert (alone.approved_by, alone.unresolved) == (("mona",), 0)
    taken_up = hear(said(review(), thread(here, eve, comment("True", 4))))
    assert (taken_up.approved_by, taken_up.unresolved) == ((), 1)
    assert taken_up.feedback == {SECOND: f"@mona on {here}:7:\nTrue"}


def test_an_approval_approves_once():
    first = hear(said(review(5)))
    assert (first.newest, first.newest_ids) == (at(5), ("review:5",))
    assert hear(said(review(5)), since=at(5), seen=first.newest_ids).approved_by == ()
    assert hear(said(review(5)), since=at(6)).approved_by == ()
    assert hear(said(review(5), review(7)), since=at(6)).approved_by == ("mona",)


def test_a_remark_of_the_same_second_is_not_lost():
    found = hear(said(comment(id="1")))
    later = said(comment(id="1"), comment("And prettier", id="2", who="hubot"))
    again = hear(later, since=found.newest, seen=found.newest_ids)
    assert again.feedback == {SECOND: "@hubot:\nAnd prettier"}
    assert again.newest_ids == ("comment:1", "comment:2")


def test_a_review_and_a_comment_of_one_number_are_two_things():
    parts = (review(5, ASK, "In a review", id=1), comment("Beside", id="1"), thread("", comment("On a line", id="1")))
    assert hear(said(*parts)).newest_ids == ("comment:1", "review:1", "thread:1")
    for seen, heard_of in (("review:1", ["Beside", "On a line"]), ("comment:1", ["In a review", "On a line"])):
        text = hear(said(*parts), since=at(5), seen=[seen]).feedback[SECOND]
        assert [line for line in text.splitlines() if line and not line.startswith("@")] == heard_of


def test_what_was_seen_of_a_second_stays_seen_when_it_is_out_of_sight():
    """A thread can be resolved and opened again: what it asked is not asked twice."""
    found = hear(said(comment("New", id="9")), since=at(5), seen=["thread:1"])
    assert found.newest_ids == ("comment:9", "thread:1")


@pytest.mark.parametrize("since", ["2026-03-01T10:05:00.999999Z", "2026-03-01T11:05:00+01:00", "2026-03-01T10:05:00"])
def test_the_last_time_may_be_written_with_a_fraction_or_an_offset(since):
    whole = said(comment("Then", 5), comment("Later", 6), comment("Before", 4))
    assert hear(whole, since=since, seen=["comment:5"]).feedback == {SECOND: "@mona:\nLater"}
    assert "Then" in hear(whole, since=since).feedback[SECOND]


def test_a_last_time_that_is_none_is_refused():
    with pytest.raises(UsageError) as caught:
        hear(Said(), since="yesterday")
    assert caught.value.code == "bad_time"


def test_a_thread_without_anything_new_blocks_and_asks_for_nothing():
    found = hear(said(review(7), thread("workflow/door/02-architecture/a.md", comment(minute=3))), since=at(5))
    assert (found.approved_by, found.feedback, found.earliest, found.unresolved) == ((), {}, "", 1)
    assert found.aside == (
        "the approval by @mona waits: 1 thread is not resolved on this phase or an earlier one",
    )  # fmt: skip


def test_an_approval_that_waits_for_a_thread_counts_when_it_is_resolved():
    old = comment(minute=3)
    path = "workflow/door/02-architecture/a.md"
    waiting = hear(said(review(7), thread(path, old)), since=at(5), seen=["comment:5"])
    assert (waiting.newest, waiting.newest_ids) == (at(5), ("comment:5",))
    then = hear(said(review(7), thread(path, old, resolved=True)), since=waiting.newest, seen=waiting.newest_ids)
    assert then.approved_by == ("mona",)


def test_an_old_request_is_open_until_its_author_approves_or_it_is_dismissed():
    asked = review(1, ASK, "No", who="hubot")
    waiting = hear(said(asked, review(5)), since=at(3))
    assert (waiting.approved_by, waiting.feedback) == ((), {})
    assert "@hubot asked for changes" in waiting.aside[0]
    for done in ([asked, review(2, who="hubot", commit=BEFORE)], [asked.replace(state="DISMISSED")]):
        assert hear(said(*done, review(5)), since=at(3)).approved_by == ("mona",)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ([review(commit=BEFORE)], "@mona approved another commit (bbbbbbbbbbbb), not what waits now"),
        ([review(commit="")], "@mona approved a commit that is gone, not what waits now"),
        ([review(4), review(5, ASK, "No")], "@mona approved and asked for changes after that"),
        ([review(4), review(5, "DISMISSED")], "@mona approved and handed in a review that was dismissed after that"),
        ([review(5), comment("But", 6)], "the approval by @mona waits: @mona said more after the approval"),
    ],
)
def test_an_approval_that_does_not_count_is_said_with_the_reason(parts, sentence):
    assert hear(said(*parts)).aside == (sentence,)


def test_an_approval_that_names_no_commit_is_not_asked_about():
    assert hear(said(review(commit="")), counts=lambda _: True).approved_by == ()


def test_what_comes_along_with_an_approval_is_a_remark():
    found = hear(
        said(
            review(3, ASK, "Too long", who="hubot"),
            review(4, "COMMENTED", "I look at it now"),
            comment("Nice", 4),
            review(5, body="Continue"),
            review(5, who="hubot", id=55),
            comment("Old", 1),
        ),
        since=at(2),
    )
    assert found.approved_by == ("mona", "hubot")
    assert found.remarks == ("@hubot:\nToo long", "@mona:\nI look at it now", "@mona:\nNice", "@mona:\nContinue")
    assert found.feedback == {}


def test_words_of_an_approval_that_does_not_suffice_are_kept_as_remarks():
    found = hear(said(review(5, body="Continue"), review(6, ASK, "No", who="hubot")))
    assert (found.remarks, found.feedback) == (("@mona:\nContinue",), {SECOND: "@hubot:\nNo"})


def test_words_of_drafts_and_of_what_was_dismissed_are_not_passed_on():
    draft = review(6, "PENDING", "Perhaps").replace(submitted_at="")
    found = hear(said(review(5), review(3, "DISMISSED", "No", who="hubot"), draft))
    assert (found.approved_by, found.remarks, found.feedback) == (("mona",), (), {})
    assert hear(said(review(3, "DISMISSED", "No"), draft)).feedback == {}


def test_a_request_that_was_taken_back_asks_for_nothing():
    found = hear(said(review(3, ASK, "Too long"), review(4), review(6, ASK, "No", who="hubot")))
    assert (found.remarks, found.feedback) == (("@mona:\nToo long",), {SECOND: "@hubot:\nNo"})


def test_feedback_is_by_phase_oldest_first_with_who_and_where():
    found = hear(
        said(
            comment("Third", 6, who="hubot"),
            review(5, ASK, "Second"),
            review(7, "COMMENTED", "Fourth"),
            review(7, "COMMENTED", " \n", id=77),
            thread("workflow/door/02-architecture/a.md", comment("First", 4), comment("Fifth", 8)),
            thread("workflow/door/01-requirements/r.md", comment("Earlier", 4), line=None),
            thread("src/door.py", comment("Later", 4), line=12),
            thread("src/door.py", comment("Done", 4), resolved=True),
        )
    )
    place = "workflow/door/02-architecture/a.md:7"
    assert list(found.feedback) == [FIRST, SECOND, CODE]
    assert found.feedback[FIRST] == "@mona on workflow/door/01-requirements/r.md:\nEarlier"
    assert found.feedback[CODE] == "@mona on src/door.py:12:\nLater"
    assert found.feedback[SECOND].split("\n\n") == [
        f"@mona on {place}:\nFirst", "@mona:\nSecond", "@hubot:\nThird", "@mona:\nFourth", f"@mona on {place}:\nFifth",
    ]  # fmt: skip
    assert (found.earliest, found.unresolved, found.newest, found.newest_ids) == (FIRST, 2, at(8), ("thread:8",))


def test_feedback_for_later_phases_is_kept_and_is_never_the_earliest():
    later = thread("src/door.py", comment("Rename it", 4))
    assert hear(said(later)).earliest == ""
    approved = hear(said(later, review(5)))
    assert (approved.approved_by, approved.feedback) == (("mona",), {CODE: "@mona on src/door.py:7:\nRename it"})
    assert (approved.earliest, hear(said(later), current=CODE).earliest) == ("", CODE)


def test_only_what_is_new_in_an_open_thread_is_feedback():
    whole = said(thread("src/door.py", comment("Then", 3), comment("Now", 6)))
    assert hear(whole, since=at(5)).feedback == {CODE: "@mona on src/door.py:7:\nNow"}


def test_what_is_hidden_or_obeyed_is_taken_out_and_lines_stay():
    body = "\r\n  a\x1b[31m\tred\x00\r\nb\u202e\u200bc\u00a0d\r\u2028e 🚪\n\n"
    found = hear(said(thread("src/do\nor\x1b.py", comment(body, who="mo\nna"))))
    assert found.feedback == {CODE: "@mo na on src/do or.py:7:\n  a[31m    red\nbc d\n\ne 🚪"}


def test_words_that_are_nothing_but_marks_are_no_feedback():
    assert hear(said(comment("\u200b\x07 \t\n"))).feedback == {}


def test_too_much_is_cut_and_says_so():
    blocks = [comment(f"{n} " + "x" * 3000, n + 1, id=str(n)) for n in range(10)]
    text = hear(said(*blocks)).feedback[SECOND]
    assert len(text) <= LONGEST == 20_000
    assert text.endswith("\n\n[Cut here: 4 of 10 remarks not shown whole; they are on the pull request.]")
    assert [f"\n{n} x" in text for n in range(10)] == [True] * 7 + [False] * 3
    one = hear(said(comment("y" * 70_000))).feedback[SECOND]
    assert LONGEST - 200 < len(one) <= LONGEST
    assert "1 of 1" in one
    whole = hear(said(comment("z" * (LONGEST - len("@mona:\n"))))).feedback[SECOND]
    assert (len(whole), whole[-1]) == (LONGEST, "z")


def test_remarks_beside_an_approval_are_cut_as_well():
    whole = said(review(50), *(comment("x" * 5000, n, id=str(n)) for n in range(1, 30)))
    assert sum(map(len, hear(whole).remarks)) <= LONGEST
