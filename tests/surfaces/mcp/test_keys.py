"""Secrets of a root: made once, its owner's alone, and never anything else."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp.server.request_state import InvalidRequestState

from holdfast.errors import Broken
from holdfast.machine import place as places
from holdfast.surfaces.mcp import keys


@pytest.fixture
def place(tmp_path) -> places.Place:
    return places.find(str(tmp_path))


def test_all_who_ask_at_once_get_the_same_token(place):
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: keys.token(place), range(32)))
    assert len(found) == 1
    assert os.listdir(os.path.dirname(keys.token_file(place))) == ["token"]
    assert stat.S_IMODE(os.stat(keys.token_file(place)).st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"short", b"g" * 64, b"a" * 65, b"\xff" * 64])
def test_a_secret_that_is_none_is_refused_with_what_to_do(place, content):
    keys.token(place)
    with open(keys.token_file(place), "wb") as file:
        file.write(content)
    with pytest.raises(Broken) as refused:
        keys.token(place)
    assert (refused.value.code, refused.value.remedy) == ("secret_broken", f"rm {keys.token_file(place)}")


def test_a_link_is_no_secret(place, tmp_path):
    keys.token(place)
    real = tmp_path / "elsewhere"
    os.rename(keys.token_file(place), real)
    os.symlink(real, keys.token_file(place))
    with pytest.raises(Broken):
        keys.token(place)


def test_what_one_server_sealed_the_next_one_opens_and_nothing_else(place, tmp_path):
    sealed = keys.StateCodec(place).seal(b"a question")
    assert keys.StateCodec(place).unseal(sealed) == b"a question"
    other = tmp_path / "other"
    (other / ".holdfast").mkdir(parents=True)
    with pytest.raises(InvalidRequestState):
        keys.StateCodec(places.find(str(other))).unseal(sealed)


def test_nothing_is_written_before_the_first_question(place):
    keys.StateCodec(place)
    assert not os.path.exists(place.home)
