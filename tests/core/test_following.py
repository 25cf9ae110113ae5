"""What follows from the progress of steps: asked again only of those that moved, and always as if asked of all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.lifecycle import OPEN, STATUSES
from holdfast.core.state import Following, Progress, moved

CHANGES = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(("", *STATUSES)), max_size=4))


def lives(changes):
    """The progress after each change: steps that come, move, stay as they are and go."""
    progress: dict[str, Progress] = {}
    yield progress
    for change in changes:
        changed = {path: Progress(status=status) for path, status in change.items() if status}
        progress = {path: one for path, one in progress.items() if change.get(path) != ""} | changed
        yield progress


@given(CHANGES)
def test_what_follows_from_each_step_is_the_same_as_if_all_were_asked(changes):
    following = Following(lambda one: one.status if one.status in OPEN else "")
    seen = list(lives(changes))
    for progress in (*seen, *reversed(seen), *seen[::3]):
        expected = {path: one.status for path, one in progress.items() if one.status in OPEN}
        assert following.of(progress) == expected


@given(CHANGES)
def test_a_step_has_moved_where_its_progress_is_another_one(changes):
    seen = list(lives(changes))
    for before in seen:
        for after in seen:
            expected = {path for path in {**before, **after} if before.get(path) is not after.get(path)}
            assert set(moved(before, after)) == expected


def test_only_steps_that_moved_are_asked():
    asked: list[Progress] = []
    following = Following(asked.append)
    before = {path: Progress() for path in "abcdefgh"}
    following.of(before)
    asked.clear()
    new = Progress(status="active")
    following.of({**before, "c": new})
    assert asked == [new]
