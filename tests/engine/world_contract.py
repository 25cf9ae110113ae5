"""What every world promises. The tests of a world subclass `WorldContract` and say how to make one."""

from __future__ import annotations

import pytest

from holdfast.core import moment
from holdfast.core.needs import Needs, needs
from holdfast.engine.ports import World
from holdfast.plain.digest import digest
from tests.stores.contract import started


class WorldContract:
    """`put(path, text)` writes a file of the worktree."""

    @pytest.fixture
    def world(self) -> World:
        raise NotImplementedError

    @pytest.fixture
    def put(self):
        raise NotImplementedError

    @pytest.fixture
    def state(self):
        return started()[1]

    def test_the_clock_gives_moments_that_do_not_go_back(self, world):
        moments = [world.now() for _ in range(3)]
        assert all(map(moment.to_epoch, moments))
        assert moments == sorted(moments)

    def test_facts_cover_what_was_asked_and_have_a_clock(self, world, state):
        asked = needs(state)
        facts = world.facts(state, asked)
        assert facts.covers(asked)
        assert moment.to_epoch(facts.now)
        assert facts.boot
        assert (facts.hashes, facts.tree, facts.head, facts.past, facts.trusted) == ({}, None, None, None, True)

    def test_files_are_known_by_hash_and_size(self, world, state, put):
        put("a.txt", "one")
        facts = world.facts(state, Needs(hashes=("a.txt", "none.txt")))
        assert facts.hashes == {"a.txt": (digest(b"one"), 3), "none.txt": None}
        put("a.txt", "two!")
        assert world.facts(state, Needs(hashes=("a.txt",))).hashes == {"a.txt": (digest(b"two!"), 4)}

    def test_results_are_objects_or_nothing(self, world, state, put):
        put("good.json", '{"verdict": "PASS"}')
        put("list.json", "[1]")
        put("torn.json", '{"verd')
        asked = ("good.json", "list.json", "torn.json", "none.json")
        assert world.facts(state, Needs(results=tuple(("check", one) for one in asked))).results == {
            **dict.fromkeys(asked),
            "good.json": {"verdict": "PASS"},
        }

    def test_the_tree_changes_with_a_file(self, world, state, put):
        put("a.txt", "one")
        first = world.facts(state, Needs(tree=True)).tree
        assert first == world.facts(state, Needs(tree=True)).tree
        put("a.txt", "two!")
        assert world.facts(state, Needs(tree=True)).tree not in (None, first)

    def test_renewed_facts_have_another_clock_and_nothing_else(self, world, state, put):
        put("a.txt", "one")
        facts = world.facts(state, Needs(hashes=("a.txt",)))
        put("a.txt", "two!")
        renewed = world.renewed(facts)
        assert renewed.now >= facts.now
        assert renewed.mono >= facts.mono
        assert renewed.replace(now=facts.now, mono=facts.mono) == facts
