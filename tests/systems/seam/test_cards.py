"""The cards of the systems say what the code of the systems says."""

from __future__ import annotations

import importlib

import pytest

from holdfast.errors import Refused
from holdfast.surfaces.hooks import quick
from holdfast.systems.seam import parts, registry
from holdfast.systems.seam.system import System

cards = pytest.mark.parametrize("card", registry.systems(), ids=lambda card: card.name)


@pytest.mark.parametrize("what", registry.ASKED)
def test_every_process_asks_for_the_paths_that_the_cards_name(what):
    named = {card.name: getattr(card, what) for card in registry.systems()}
    assert registry.ASKED[what] == {name: paths for name, paths in named.items() if paths}


def test_hooks_look_for_the_traces_of_every_system():
    assert tuple(trace for card in registry.systems() for trace in card.traces) == quick._TRACES


@cards
def test_a_part_is_on_the_card_if_the_package_has_it(card: System):
    for part in parts.PARTS:
        try:
            found = importlib.import_module(f"{card.module}.{part}")
        except ModuleNotFoundError:
            found = None
        assert (part in card.parts) == hasattr(found, part.upper())


@pytest.fixture
def enabled():
    """The systems of other packages, in a thread that has none afterwards."""
    yield registry.use
    registry.use({})


def test_a_system_that_is_refused_from_now_on_has_nothing_left_of_it(enabled):
    enabled({"mine": registry.system("gated").replace(name="mine")})
    found = (registry.dialect("mine"), registry.work("mine"))
    assert found == (registry.dialect("gated"), registry.work("gated"))
    enabled({"mine": Refused("untrusted", "nobody trusts it any more", remedy="show this to a person")})
    assert registry.dialect("mine") != found[0]
    assert registry.work("mine") == parts.PARTS["work"]
