"""Pictures of steps and of time: what is drawn, where, and that no text becomes markup."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import lifecycle, moment
from holdfast.core.apply import fold
from holdfast.core.diagram import MANY_STEPS
from holdfast.core.drawing import svg
from holdfast.core.drawing.layout import Box, Layout
from holdfast.core.drawing.steps import steps
from holdfast.core.drawing.timeline import timeline
from holdfast.core.state import Actor
from tests.story import PERSON, REVIEWER, Story
from tests.tiers import examples

NAME = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "]]></title><script>alert(1)</script>",
    "\x00\x08\x1b[31mred\x7f\x9b",
    "\u202etxet desrever\u2066",
    "\ud800 alone \udfff",
    "\ufffe\uffff",
    "&amp; \" ' --> <!-- <![CDATA[",
    "x" * 10_000,
    "\u0301" * 10_000,
    "é 中文字 🧵 עברית",
]


def parsed(picture) -> ET.Element:
    whole = ET.fromstring(picture.file().encode())
    assert ET.fromstring(picture.fragment("one").encode()).tag == whole.tag == f"{NAME}svg"
    return whole


def words(root) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter(f"{NAME}text")]


def said(root) -> list[str]:
    """What a reader is told of the shapes."""
    return [one.text or "" for one in root.iter(f"{NAME}title")]


def drawn_at(story: Story, after: float = 0):
    return timeline(story.records, moment.from_epoch(story.now + after))


# Text


def hostile(text: str) -> Story:
    """A story in which this text is everywhere: as somebody might write it into a journal, past every check."""
    story = Story({"id": "a", "outputs": ["o"]}, {"id": "b", "step": [{"id": "c"}]}, title="T")
    story.do(cmd.StartAgent("coder", "a", 600)).do(cmd.Begin("a"), token=1).do(cmd.Block("a", "R"), token=1)
    first, leased, *rest, blocked = story.records
    began, lease, moved = first.events[0], leased.events[0], blocked.events[0]
    assert isinstance(began, ev.Started)
    assert isinstance(lease, ev.Leased)
    assert isinstance(moved, ev.Moved)
    named = tuple(step.replace(name=text, outputs=(text,)) for step in began.steps)
    began = began.replace(steps=named, title=text, subject=text, id=text)
    lease = lease.replace(lease=lease.lease.replace(role=text))
    moved = moved.replace(reason=text)
    events = (began, *first.events[1:]), (lease, *leased.events[1:]), (moved, *blocked.events[1:])
    changed = [one.replace(events=new) for one, new in zip((first, leased, blocked), events, strict=True)]
    story.records = [changed[0], changed[1], *rest, changed[2]]
    story._state = None
    for record in story.records:
        story._state = fold(story._state, record)
    return story


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_markup_or_breaks_it(text):
    story = hostile(text)
    for picture in (steps(story.state), drawn_at(story)):
        root = parsed(picture)
        tags = {one.tag.removeprefix(NAME) for one in root.iter()}
        assert tags <= {"svg", "title", "desc", "style", "g", "rect", "path", "circle", "text"}
        assert {name for one in root.iter() for name in one.attrib if name.startswith("on") or "href" in name} == set()
        assert all(c.isprintable() or c in "\u200c\u200d" for one in (*words(root), *said(root)) for c in one)
        assert all(len(one) <= 5000 for one in (*words(root), *said(root)))


@given(st.text(max_size=300))
@settings(max_examples=examples(300), deadline=None)
def test_any_text_is_text_of_xml(text):
    read = ET.fromstring(f"<a b='{svg.literal(text)}'>{svg.literal(text)}</a>")
    assert read.text == read.attrib["b"] or not (read.text or read.attrib["b"])


@given(st.text(max_size=300), st.floats(30, 500))
@settings(max_examples=examples(300), deadline=None)
def test_a_label_is_no_wider_than_its_room(text, room):
    assert svg.wide(svg.clipped(text, room)) <= room


# Colours


def test_every_shape_has_literal_colours_and_a_page_can_serve_the_dark_ones():
    story = Story({"id": "a", "checks": ["tests"], "retry": {"max": 3}}, {"id": "b"}).do(cmd.Begin("a"))
    for picture in (steps(story.state), drawn_at(story, 60)):
        file, fragment = picture.file(), picture.fragment("f")
        assert "var(" not in file
        assert "@media (prefers-color-scheme: dark)" in file
        assert svg.CSS in file
        assert "<style" not in fragment
        assert not re.search(r"\sstyle=", fragment)
        drawn = [
            one for one in parsed(picture).iter() if one.tag.removeprefix(NAME) in ("rect", "circle", "path", "text")
        ]
        assert all("fill" in one.attrib for one in drawn)
        classes = {one.attrib["class"] for one in drawn}
        assert all(f".{name} {{" in svg.CSS for name in classes)


def test_a_reader_who_does_not_see_it_is_told_what_it_is():
    story = Story({"id": "a", "name": "Write"}, title="Release <1.4.0>").do(cmd.Begin("a"))
    root = ET.fromstring(steps(story.state).fragment("here"))
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"] == "here-title here-description"
    title, desc = root.find(f"{NAME}title"), root.find(f"{NAME}desc")
    assert (title.attrib["id"], title.text) == ("here-title", "The steps of Release <1.4.0>")
    assert (desc.attrib["id"], desc.text) == ("here-description", "release-1: in progress, 0 of 1 steps done")


# Steps


def test_the_steps_have_their_names_gates_and_marks_and_a_failure_leads_back():
    story = Story(
        {"id": "plan", "name": "Plan it"},
        {"id": "build", "parallel": True, "step": [{"id": "wheel", "checks": ["zip"]}, {"id": "docs"}]},
        {"id": "prove", "checks": ["tests"], "retry": {"max": 2, "back_to": "build/wheel"}},
        {"id": "ask", "approval": {"by": "human"}, "review": {}},
    )
    story.do(cmd.Begin("plan")).do(cmd.Done("plan"))
    picture = steps(story.state)
    root = parsed(picture)
    there = words(root)
    for text in (
        "Plan it",
        "build",
        "wheel",
        "docs",
        "0/2",
        "zip",
        "review · approval by a person",
        "back, when it fails",
    ):
        assert text in there
    assert "plan: done" in said(root)
    dashed = [one for one in root.iter(f"{NAME}path") if "stroke-dasharray" in one.attrib]
    assert len(dashed) == 2  # the way back, and what it looks like
    arrows = [one for one in root.iter(f"{NAME}path") if one.attrib["class"] == "hf-head"]
    assert len(arrows) == 3


@pytest.mark.parametrize("status", lifecycle.STATUSES)
def test_every_status_has_a_colour_of_its_own_and_is_in_the_legend(status):
    story = Story({"id": "a"})
    state = story.state.replace(progress={"a": story.state.step("a").replace(status=status, attempt=2)})
    root = parsed(steps(state))
    assert status.replace("_", " ") in words(root)
    assert f"hf-{status.replace('_', '-')}" in {one.attrib.get("class") for one in root.iter()}


@pytest.mark.parametrize(("many", "shown"), [(MANY_STEPS, MANY_STEPS), (120, 6), (300, 6)])
def test_a_large_tree_shows_what_is_worked_on_and_folds_the_rest(many, shown):
    story = Story(*({"id": f"s{n}"} for n in range(1, many + 1)))
    for number in range(1, 10):
        story.do(cmd.Begin(f"s{number}")).do(cmd.Done(f"s{number}"))
    story.do(cmd.Begin("s10"))
    there = words(parsed(steps(story.state)))
    if shown == many:
        assert f"s{many}" in there
        return
    assert {"s1", "to s7", "7 steps", "s8", "s9", "s10", "s11", "s12", "s13", f"to s{many}"} <= set(there)
    assert "s14" not in there


def test_in_a_large_tree_a_finished_branch_is_one_box():
    story = Story(*({"id": f"p{n}", "step": [{"id": f"t{m}"} for m in range(60)]} for n in (1, 2)))
    for number in range(60):
        story.do(cmd.Begin(f"p1/t{number}")).do(cmd.Done(f"p1/t{number}"))
    story.do(cmd.Begin("p2/t0"))
    there = words(parsed(steps(story.state)))
    assert {"p1", "60 steps", "p2", "t0"} <= set(there)
    assert "t30" not in there


def boxes(layout: Layout) -> list[tuple[float, float, float, float]]:
    return [(one.x, one.y, one.x + one.width, one.bottom) for one in layout.boxes.values()]


@given(st.data())
@settings(max_examples=examples(150), deadline=None)
def test_boxes_never_overlap_and_follow_what_they_need(data):
    many = data.draw(st.integers(1, 40))
    names = [f"s{n}" for n in range(many)]
    sizes = st.tuples(st.floats(50, 500), st.floats(30, 400))
    made = [Box(name, *data.draw(sizes)) for name in names]
    pairs = st.tuples(st.integers(0, many - 1), st.integers(0, many - 1)).map(sorted)
    edges = [(names[a], names[b]) for a, b in data.draw(st.lists(pairs, max_size=60)) if a != b]
    layout = Layout(made, edges, [(b, a) for a, b in edges[:5]])
    for one, other in combinations(boxes(layout), 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    for left, top, right, bottom in boxes(layout):
        assert left >= 0
        assert top >= 0
        assert right <= layout.width + 0.001
        assert bottom <= layout.height + 0.001
    for source, target in edges:
        a, b = layout.boxes[source], layout.boxes[target]
        assert (a.column, a.y) < (b.column, b.y)
        line = layout.line(source, target)
        assert line[0] == (a.middle, a.bottom)
        assert line[-1] == (b.middle, b.y)


def test_a_way_back_leads_from_the_step_itself_to_the_step_itself():
    story = Story(
        {"id": "a", "step": [{"id": "x"}, {"id": "y"}]},
        {"id": "b", "step": [{"id": "c", "retry": {"max": 3, "back_to": "a/y"}}]},
    )
    root = parsed(steps(story.state))
    (line, _) = [one.attrib["d"] for one in root.iter(f"{NAME}path") if "stroke-dasharray" in one.attrib]
    first, last = line.removeprefix("M").partition("L")[0].split(), line.rpartition("L")[2].split()
    cards = {
        group.findtext(f"{NAME}title").partition(":")[0]: group.find(f"{NAME}rect").attrib
        for group in root.iter(f"{NAME}g")
        if group.find(f"{NAME}rect") is not None
    }
    for (x, y), card in ((first, cards["b/c"]), (last, cards["a/y"])):
        assert 0 <= float(card["x"]) - float(x) <= 6
        assert float(card["y"]) < float(y) < float(card["y"]) + float(card["height"])


# Time


def bars(root, step: str) -> list[str]:
    """What the bars and marks of a row say, in order."""
    row = next(one for one in root.iter(f"{NAME}g") if one.findtext(f"{NAME}title") == step)
    return [one.findtext(f"{NAME}title") or "" for one in row.findall(f"{NAME}g")]


def test_a_row_has_bars_by_status_and_marks_for_what_was_found_and_decided():
    story = Story(
        {"id": "a", "checks": ["tests"], "retry": {"max": 3}, "review": {"by": ["reviewer"]}},
        {"id": "b", "approval": {"by": "human"}},
        {"id": "c"},
    )
    story.do(cmd.Begin("a")).check("a", "tests", False).do(cmd.Fail("a", "two are red"))
    story.check("a", "tests", True).do(cmd.Submit("a"))
    story.do(cmd.Review("a", "needs_revision", "Shorter."), REVIEWER)
    story.check("a", "tests", True).do(cmd.Submit("a")).do(cmd.Review("a", "approved"), REVIEWER)
    story.do(cmd.Begin("b")).do(cmd.Submit("b")).do(cmd.Reject("b", "Say more."), PERSON).do(cmd.Submit("b"))
    story.do(cmd.Approve("b"), PERSON)
    root = parsed(drawn_at(story))
    told = bars(root, "a")
    assert [one for one in told if one.startswith(("active", "in review"))] == [
        "active, 2m 0s", "active, 2m 0s", "in review, 1m 0s", "active, 2m 0s", "in review, 1m 0s",
    ]  # fmt: skip
    marks = [one for one in told if not re.match(r"\w+( \w+)?, ", one)]
    assert [one.partition(":")[0] for one in marks] == [
        "check tests failed", "failed", "check tests passed", "review by agent reviewer", "check tests passed",
        "review by agent reviewer", "completed",
    ]  # fmt: skip
    asked = [one for one in bars(root, "b") if "ada" in one]
    assert asked == ["changes asked for by human ada", "approved by human ada"]
    assert "c" not in words(root)


def test_leases_are_below_and_end_with_their_holder_or_with_their_time():
    story = Story({"id": "a"}, {"id": "b"})
    story.do(cmd.StartAgent("coder", "a", 600)).do(cmd.Begin("a"), token=1)
    story.do(cmd.Done("a"), after=120, token=1).do(cmd.Begin("b"))
    story.do(cmd.StartAgent("writer", "b", 60)).do(cmd.Note("x"), after=3000)
    root = parsed(drawn_at(story, 10))
    assert "Leases" in words(root)
    assert bars(root, "lease of writer · b") == ["lease, 1m 0s"]
    (held,) = bars(root, "lease of coder · a")
    assert held.startswith("lease, ")


def test_a_stretch_in_which_nothing_happened_is_folded_and_says_how_long_it_was():
    story = Story({"id": "a"})
    story.do(cmd.Begin("a"))
    for _ in range(5):
        story.do(cmd.Note("working"), after=20)
    story.do(cmd.Note("back"), after=561)
    for _ in range(5):
        story.do(cmd.Note("working"), after=20)
    root = parsed(drawn_at(story))
    assert "9m 21s" in words(root)
    assert "nothing happened for 9m 21s" in said(root)
    even = Story({"id": "a"}).do(cmd.Begin("a"))
    for _ in range(9):
        even.do(cmd.Note("working"), after=561)
    assert "nothing happened" not in " ".join(said(parsed(drawn_at(even))))


@pytest.mark.parametrize("many", [8, 120, 400])
def test_marks_of_a_row_and_labels_of_moments_do_not_overlap(many):
    story = Story({"id": "a", "checks": ["tests"]}).do(cmd.Begin("a"))
    for _ in range(many):
        story.check("a", "tests", True)
    root = parsed(drawn_at(story))
    moved = [one.attrib["transform"] for one in root.iter(f"{NAME}g") if "transform" in one.attrib]
    at = [float(one.removeprefix("translate(").partition(" ")[0]) for one in moved]
    marks = sorted(at)[1:]  # without the one of the legend
    assert len(marks) == many
    assert all(after - before >= 18.9 for before, after in pairwise(marks))
    labels = [
        float(one.attrib["x"]) for one in root.iter(f"{NAME}text") if re.fullmatch(r"\d\d:\d\d:\d\d", one.text or "")
    ]
    assert all(after - before >= 60 for before, after in pairwise(labels))
    assert float(root.attrib["width"]) >= max(marks)


def test_only_the_newest_of_very_many_rows_are_drawn_and_the_picture_says_so():
    story = Story(*({"id": f"s{n}"} for n in range(200)))
    for number in range(200):
        story.do(cmd.Begin(f"s{number}")).do(cmd.Done(f"s{number}"))
    picture = drawn_at(story)
    there = words(parsed(picture))
    assert "s199" in there
    assert "s0" not in there
    assert "200 steps began, the first 50 are left out" in picture.description


def test_clocks_that_jump_back_draw_no_bar_to_the_left():
    story = Story({"id": "a"}).do(cmd.Begin("a")).do(cmd.Note("x"), Actor("agent"), after=-3600).do(cmd.Done("a"))
    root = parsed(drawn_at(story))
    assert all(float(one.attrib["width"]) >= 0 for one in root.iter(f"{NAME}rect"))
