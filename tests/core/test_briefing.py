"""What whoever takes the work up must know: files to read, reminders, what was learned."""

from __future__ import annotations

import pytest

from holdfast.core import events as ev
from holdfast.core.commands import Begin, Brief, Cancel, Done, Fail, Learn, Resume, Start
from holdfast.core.reading import read
from holdfast.core.rules.briefing import MOST
from holdfast.core.state import Learning
from holdfast.errors import UsageError
from tests.core.play import AGENT, PERSON, Play, definition, given, step


def at_work() -> Play:
    play = given(step("a"), step("b"))
    play.do(Begin("a"))
    return play


def reminded(*texts: str) -> Play:
    play = at_work()
    play.do(Brief("reminders", add=texts))
    return play


# Lists


def test_entries_are_added_once_and_keep_their_order():
    play = at_work()
    assert play.do(Brief("reading", add=("@b.md", "@a.md", "@b.md"))) == (ev.Briefed("reading", ("@b.md", "@a.md")),)
    play.do(Brief("reading", add=("@c.md", "@a.md")))
    assert play.state.reading == ("@b.md", "@a.md", "@c.md")
    assert play.state.history[-1] == {
        "at": play.now,
        "event": "briefed",
        "by": "agent coder",
        "what": "reading",
        "count": 3,
    }


def test_reading_and_reminders_are_lists_of_their_own():
    play = reminded("run the tests")
    play.do(Brief("reading", add=("@a.md",)))
    assert (play.state.reading, play.state.reminders) == (("@a.md",), ("run the tests",))


def test_entries_are_taken_away_and_unknown_ones_are_no_news():
    play = reminded("one", "two", "three")
    play.do(Brief("reminders", remove=("two", "four")))
    assert play.state.reminders == ("one", "three")
    play.unchanged_by(Brief("reminders", remove=("two",)))
    play.unchanged_by(Brief("reminders", add=("one",)))
    play.unchanged_by(Brief("reminders"))


def test_the_whole_list_can_be_said_also_that_it_is_empty():
    play = reminded("one", "two")
    play.do(Brief("reminders", exactly=("two", "three")))
    assert play.state.reminders == ("two", "three")
    play.unchanged_by(Brief("reminders", exactly=("two", "three")))
    play.do(Brief("reminders", exactly=()))
    assert not play.state.reminders


@pytest.mark.parametrize(("what", "longest"), [("reading", 1000), ("reminders", 2000)])
def test_an_entry_is_text_of_a_bounded_length(what, longest):
    play = at_work()
    play.do(Brief(what, add=("x" * longest,)))
    for text in ("", "  ", "a\0b", "x" * (longest + 1), "\ud800"):
        play.refuses(Brief(what, add=(text,)), "bad_text")
    assert play.refuses(Brief(what, add=("x" * (longest + 1),)), "bad_text").facts["limit"] == longest


def test_a_list_has_so_many_entries_and_no_more():
    play = reminded(*(f"reminder {number}" for number in range(MOST)))
    refusal = play.refuses(Brief("reminders", add=("one more",)), "too_many")
    assert refusal.facts == {"what": "reminders", "count": MOST + 1, "limit": MOST}
    play.do(Brief("reminders", add=("one more",), remove=("reminder 0",)))
    assert play.state.reminders[-1] == "one more"


def test_what_was_given_up_is_not_briefed():
    play = at_work()
    play.do(Cancel("enough"))
    play.refuses(Brief("reminders", add=("x",)), "cancelled")
    play.refuses(Learn("x"), "cancelled")


# At the start


def test_a_definition_and_the_start_both_say_what_to_read():
    said = definition(step("a"), reading=["docs/a.md", "@docs/b.md"], reminders=["tests first"])
    play = Play()
    play.do(Start.of(said, "0" * 26, "r-1", reading=("@docs/b.md", "@c.md"), reminders=("tests first", "small steps")))
    assert play.state.reading == ("@docs/a.md", "@docs/b.md", "@c.md")
    assert play.state.reminders == ("tests first", "small steps")


def test_a_start_with_an_entry_that_cannot_be_is_refused():
    with pytest.raises(UsageError) as caught:
        Play().do(Start.of(definition(step("a")), "0" * 26, "r-1", reminders=("x" * 2001,)))
    assert caught.value.code == "bad_text"


# Lessons


def test_a_lesson_is_kept_with_its_step_and_attempt():
    play = at_work()
    play.do(Fail("a", "broke"), Resume("a"))
    play.do(Learn("mock the clock", "antipattern", "freeze time", "in tests", "a"))
    expected = Learning(play.now, "mock the clock", "antipattern", "freeze time", "in tests", "a", 2)
    assert play.state.learnings == (expected,)
    assert play.state.history[-1] == {
        "at": play.now,
        "event": "learned",
        "by": "agent coder",
        "step": "a",
        "type": "antipattern",
        "lesson": "mock the clock",
    }


def test_a_lesson_is_an_insight_unless_somebody_says_more():
    play = at_work()
    play.do(Learn("it is slow"))
    assert play.state.learnings == (Learning(play.now, "it is slow"),)


def test_a_lesson_can_be_told_by_anybody_and_after_the_work():
    play = at_work()
    play.do(Done("a"))
    play.finish("b")
    play.do(Learn("one"), by=PERSON)
    play.do(Learn("two", step="a"), by=AGENT)
    assert [one.lesson for one in play.state.learnings] == ["one", "two"]


def test_the_newest_hundred_lessons_are_kept_and_all_are_counted():
    play = at_work()
    for number in range(105):
        play.do(Learn(f"lesson {number}"))
    assert (len(play.state.learnings), play.state.learnings_count) == (100, 105)
    assert play.state.learnings[0].lesson == "lesson 5"


def test_a_lesson_of_another_kind_or_without_words_is_refused():
    play = at_work()
    assert play.refuses(Learn("x", "wisdom"), "bad_usage").remedy == "holdfast learn --help"
    play.refuses(Learn("x", step="nowhere"), "no_step")
    for wrong in (Learn(""), Learn("x" * 4001), Learn("x", pattern="y" * 4001), Learn("x", context="a\0b")):
        play.refuses(wrong, "bad_text")


# Definitions


def mistakes(*steps, **keys) -> list[tuple[str, str]]:
    with pytest.raises(UsageError) as caught:
        read({"name": "release", "step": [step("a"), *steps], **keys})
    assert caught.value.code == "bad_definition"
    listed = caught.value.facts["mistakes"]
    assert isinstance(listed, list)
    return [(one["where"], one["message"]) for one in listed]


def test_a_definition_says_what_to_read_heed_and_leave_alone():
    said = definition(
        step("a", deny=["WebFetch", "Bash(git push*)"]),
        reading=["a.md", "@docs/b c.md"],
        reminders=["tests first"],
        keep_going=True,
        require_ack=True,
    )
    assert (said.reading, said.reminders) == (("@a.md", "@docs/b c.md"), ("tests first",))
    assert (said.keep_going, said.require_ack) == (True, True)
    assert said.steps[0].deny == ("WebFetch", "Bash(git push*)")


def test_without_them_nothing_is_asked():
    said = definition(step("a"))
    assert (said.reading, said.reminders, said.keep_going, said.require_ack) == ((), (), False, False)
    assert said.steps[0].deny == ()


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "@", "@/etc/passwd", "a\x1b[2J", "a\nb"])
def test_reading_leads_to_a_file_inside_the_project(path):
    (one,) = mistakes(reading=["fine.md", path])
    assert one[0] == "reading"
    assert one[1].endswith("is not the path of a file inside the project")


@pytest.mark.parametrize("rule", ["Bash(", "Bash()", "Bash(git", "(git push)", " ", "Bash(a\nb)", "x" * 501])
def test_what_a_step_denies_is_a_tool(rule):
    ((where, message),) = mistakes(step("b", deny=["Edit", rule]))
    assert where.endswith("deny")
    assert 'is not a tool such as "WebFetch" or "Bash(git push*)"' in message


@pytest.mark.parametrize("key", ["reading", "reminders"])
@pytest.mark.parametrize("value", ["text", 3, [""], [1], {"a": 1}])
def test_lists_are_lists_of_words(key, value):
    assert mistakes(**{key: value}) == [(key, f"{key} must be a list of words")]


@pytest.mark.parametrize("key", ["keep_going", "require_ack"])
@pytest.mark.parametrize("value", ["yes", 1, []])
def test_flags_are_true_or_false(key, value):
    assert mistakes(**{key: value}) == [(key, f"{key} is true or false")]


def test_every_mistake_is_told_at_once():
    found = mistakes(
        step("b", deny="Bash"), keep_going="y", require_ack=0, reading=["/x"], reminders=[0], remindrs=["typo"]
    )
    assert len(found) == 6
    assert any("did you mean 'reminders'?" in message for _, message in found)
