"""Diagrams show the tree as it is, and no text can become part of their syntax."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import commands as cmd
from holdfast.core import lifecycle
from holdfast.core.diagram import MANY_STEPS, label, lifecycle_diagram, mermaid
from tests.story import PERSON, Story

NODE = re.compile(r'^\s*(?:subgraph )?(s\d+)\["(.*)"\]$')
ENTITY = re.compile(r"#(\d+);")


def nodes(text):
    return {match[1]: match[2] for line in text.splitlines() if (match := NODE.match(line))}


def shown(escaped):
    return ENTITY.sub(lambda found: chr(int(found[1])), escaped)


def test_branches_are_frames_prerequisites_are_arrows_and_every_step_has_the_class_of_its_status():
    story = Story(
        {"id": "plan", "name": "Plan", "step": [{"id": "scope"}, {"id": "dates"}]},
        {"id": "build", "retry": {"max": 2, "back_to": "plan/dates"}},
        {"id": "extra", "requires": ["plan"], "approval": {"by": "human"}},
    )
    story.do(cmd.Begin("plan/scope")).do(cmd.Done("plan/scope")).do(cmd.Begin("plan/dates"))
    assert mermaid(story.state).splitlines() == [
        "flowchart TD",
        '  subgraph s1["▶ Plan"]',
        '    s2["✓ scope"]',
        '    s3["▶ dates"]',
        "  end",
        '  s4["○ build"]',
        '  s5["○ extra<br/>◇ approval by a person"]',
        "  s2 --> s3",
        "  s1 --> s4",
        "  s4 -. on failure .-> s3",
        "  s1 --> s5",
        "  classDef pending fill:#eaeef2,stroke:#6e7781,color:#24292f",
        "  class s4,s5 pending",
        "  classDef active fill:#0969da,stroke:#54aeff,color:#ffffff,stroke-width:3px",
        "  class s3 active",
        "  classDef done fill:#1a7f37,stroke:#4ac26b,color:#ffffff",
        "  class s2 done",
        "  classDef branch fill:transparent,stroke:#6e7781,color:#6e7781",
        "  class s1 branch",
    ]


def test_every_gate_is_a_badge_under_the_name():
    story = Story(
        {"id": "a", "checks": ["lint", "tests"], "outputs": ["report"], "review": {}, "approval": True},
        {"id": "b", "choice": {"options": ["A", "B"]}},
        {"id": "c", "approval": {"by": "signed"}},
    )
    assert list(nodes(mermaid(story.state)).values()) == [
        "○ a<br/>◇ lint, tests<br/>◇ report<br/>◇ review<br/>◇ approval",
        "○ b<br/>◇ choice of A, B",
        "○ c<br/>◇ approval with a signature",
    ]


def test_every_status_has_a_mark_and_a_class():
    story = Story({"id": "a", "optional": True}, {"id": "b"}).do(cmd.Skip("a")).do(cmd.Begin("b"))
    story.do(cmd.Block("b", "no key"))
    assert list(nodes(mermaid(story.state)).values()) == ["↷ a", "■ b"]
    assert set(lifecycle.MARKS) == set(lifecycle.STATUSES)
    for status in lifecycle.STATUSES:
        moved = story.state.replace(progress={"a": story.state.step("a").replace(status=status)})
        text = mermaid(moved)
        assert f"  classDef {status} fill:" in text
        assert re.search(rf"^  class s1(,s2)? {status}$", text, flags=re.MULTILINE)


def test_in_a_large_tree_only_the_branches_that_are_worked_on_are_drawn_in_full():
    many = [{"id": f"t{n}", "step": [{"id": "red"}, {"id": "green"}]} for n in range(MANY_STEPS // 2)]
    story = Story({"id": "tasks", "parallel": True, "step": many})
    for part in ("red", "green"):
        story.do(cmd.Begin(f"tasks/t0/{part}")).do(cmd.Done(f"tasks/t0/{part}"))
    story.do(cmd.Begin("tasks/t1/red"))
    drawn = list(nodes(mermaid(story.state)).values())
    assert drawn[:5] == ["▶ tasks", "✓ t0<br/>2 steps", "▶ t1", "▶ red", "○ green"]
    assert len(drawn) == 1 + len(many) + 2


HOSTILE = [
    '"] --> evil[" and "more',
    "<script>alert(1)</script> & <img src=x onerror=y>",
    "#quot; #35; &amp; ; %%{init: {}}%%",
    "line one\nclass s1 done\r\n%% comment",
    "`markdown` **bold** __bold__ $$x$$",
    "1. a list, - another",
    "style x:#fff;classDef y:#000;",
    "ﬂ°°60¶ß \x1b[31m \u202e \ud800",
    "click s1 href javascript:alert(1)",
]


def test_text_of_anybody_stays_text():
    for text in HOSTILE:
        escaped = label(text)
        assert not set('"<>[](){}`#;&%|:*_$\\\n\r\x1b\u202e') & set(ENTITY.sub("", escaped)), escaped
        visible = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        assert shown(escaped) == visible


def test_what_begins_a_list_in_markdown_is_escaped_and_a_version_stays_readable():
    assert label("1. Release v1.4.0") == "1#46; Release v1.4.0"
    assert label("- sign-off") == "#45; sign-off"


def test_a_long_label_is_cut():
    assert label("x" * 500) == "x" * 79 + "…"


@given(st.text(max_size=60))
def test_a_diagram_has_the_same_shape_whatever_a_step_is_called(name):
    steps = Story({"id": "a", "name": "plain"}, {"id": "b"}).state.plan
    state = Story({"id": "a"}, {"id": "b"}).state
    odd = state.replace(plan=steps.changed("a", lambda step: step.replace(name=name or "plain")))
    lines = mermaid(odd).splitlines()
    assert len(lines) == 6
    assert len(nodes("\n".join(lines))) == 2


def test_the_life_of_a_step_is_drawn_from_the_table_with_every_move_in_it():
    text = lifecycle_diagram()
    assert text.startswith("stateDiagram-v2\n  [*] --> pending\n")
    arrows = re.findall(r"^  (\w+) --> (\w+) : (.*)$", text, flags=re.MULTILINE)
    drawn = {(source, target, move) for source, target, moves in arrows for move in moves.split(", ")}
    table = {(s, t, move) for move, targets in lifecycle.MOVES.items() for s, t in targets.items()}
    assert drawn - table == {("begun", "pending", "reset")}
    assert {move for _, _, move in table - drawn} == {"reset"}
    assert len(arrows) == len({(source, target) for source, target, _ in arrows}), "one arrow between two states"


def test_a_person_overriding_shows_as_done():
    story = Story({"id": "a", "retry": {"max": 1, "exhausted": "escalated"}})
    story.do(cmd.Begin("a")).do(cmd.Fail("a", "no"))
    assert list(nodes(mermaid(story.state)).values()) == ["▲ a"]
    story.do(cmd.Approve("a"), PERSON)
    assert list(nodes(mermaid(story.state)).values()) == ["✓ a"]
