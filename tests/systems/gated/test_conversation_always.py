"""What holds of every conversation, whoever says what in it and when."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.systems.gated.conversation import Said
from tests.systems.gated.talk import ASK, BEFORE, NOW, PHASES, at, comment, hear, review, said, thread

MINUTES = st.integers(1, 4)
PEOPLE = st.sampled_from(("mona", "hubot", "eve"))
TEXTS = st.sampled_from(("", "Shorter", "Why?\nBecause."))
PATHS = st.sampled_from(
    ("", "src/door.py", "workflow/x", *(f"workflow/door/{name}/a.md" for name in ("00-feature", *PHASES)))
)
STATES = st.sampled_from(("APPROVED", "APPROVED", ASK, "COMMENTED", "DISMISSED", "PENDING"))


@st.composite
def conversations(draw, belonging, first_id=0):
    """Whole conversations with ids that are unique among their kind."""
    ids = iter(range(first_id + 1, first_id + 1000))
    insiders = st.sampled_from(belonging)

    def remark():
        return comment(draw(TEXTS), draw(MINUTES), draw(PEOPLE), draw(insiders), id=str(next(ids)))

    def one_review():
        state, commit = draw(STATES), draw(st.sampled_from((NOW, NOW, BEFORE, "")))
        return review(draw(MINUTES), state, draw(TEXTS), draw(PEOPLE), draw(insiders), commit, next(ids))

    few = st.integers(0, 3)
    threads = [
        thread(draw(PATHS), *(remark() for _ in range(draw(st.integers(1, 2)))), resolved=draw(st.booleans()))
        for _ in range(draw(few))
    ]
    return said(*(one_review() for _ in range(draw(few))), *(remark() for _ in range(draw(few))), *threads)


INSIDE = conversations(("OWNER", "MEMBER", "COLLABORATOR"))
OUTSIDE = conversations(("CONTRIBUTOR", "NONE", "FIRST_TIMER"), first_id=1000)
MIXED = conversations(("MEMBER", "NONE"))
STANDS = st.fixed_dictionaries(
    {
        "current": st.sampled_from(PHASES),
        "since": st.sampled_from(("", *map(at, range(4)))),
        "seen": st.lists(st.sampled_from([f"{kind}:{n}" for kind in ("review", "comment", "thread") for n in (1, 2)])),
    }
)


@settings(deadline=None)
@given(MIXED, STANDS)
def test_an_approval_never_sends_anything_back(whole, stand):
    found = hear(whole, **stand)
    assert not (found.approved_by and found.earliest)
    assert not (found.approved_by and found.unresolved)
    assert not any(
        PHASES.index(phase) <= PHASES.index(stand["current"]) for phase in found.feedback if not found.earliest
    )


@settings(deadline=None)
@given(INSIDE, OUTSIDE, STANDS)
def test_nothing_of_an_outsider_ever_moves_anything(inside, outside, stand):
    both = Said(*(mine + theirs for (_, mine), (_, theirs) in zip(inside.items(), outside.items(), strict=True)))
    assert hear(both, **stand).replace(aside=()) == hear(inside, **stand).replace(aside=())


@settings(deadline=None)
@given(INSIDE, OUTSIDE, STANDS)
def test_outsiders_who_join_in_threads_move_nothing_either(inside, outside, stand):
    strangers = tuple(one for each in outside.threads for one in each.comments)
    joined = inside.replace(threads=tuple(one.replace(comments=one.comments + strangers) for one in inside.threads))
    assert hear(joined, **stand).replace(aside=()) == hear(inside, **stand).replace(aside=())


@settings(deadline=None)
@given(MIXED, STANDS)
def test_nothing_is_heard_twice(whole, stand):
    found = hear(whole, **stand)
    again = hear(whole, **{**stand, "since": found.newest, "seen": found.newest_ids})
    assert (again.approved_by, again.feedback, again.earliest) == ((), {}, "")
    assert (again.newest, again.newest_ids) == (found.newest, found.newest_ids)
    assert found.newest >= stand["since"]


@settings(deadline=None)
@given(MIXED, STANDS)
def test_whatever_comes_on_top_is_heard_even_in_a_second_that_was_heard_before(whole, stand):
    found = hear(whole, **stand)
    late = comment("On top", id="late").replace(created_at=found.newest or at(1))
    more = whole.replace(comments=(*whole.comments, late))
    again = hear(more, **{**stand, "since": found.newest, "seen": found.newest_ids})
    words = [*again.feedback.values(), *again.remarks]
    assert any("On top" in text for text in words)
