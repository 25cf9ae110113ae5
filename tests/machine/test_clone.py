"""The key of a clone: the same for one user at one place, another one anywhere else, and never one that others made."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.errors import HoldfastError
from holdfast.machine import clone


@pytest.fixture
def data(tmp_path):
    return str(tmp_path / "data")


def secret(data: str) -> str:
    return os.path.join(data, "holdfast", "trust", ".approvals")


def test_the_key_stays_the_same_at_one_place_and_is_another_elsewhere(data, tmp_path):
    here = clone.key(data, "/a/.holdfast", make=True)
    assert clone.key(data, "/a/.holdfast") == here
    assert clone.key(data, "/b/.holdfast") != here
    assert clone.key(str(tmp_path / "other"), "/a/.holdfast", make=True) != here
    assert os.stat(secret(data)).st_mode & 0o777 == 0o600


def test_a_reader_makes_no_secret_and_recognises_nothing(data):
    assert clone.key(data, "/a/.holdfast") != clone.key(data, "/a/.holdfast")
    assert not os.path.exists(data)


def test_all_who_need_the_first_secret_at_once_get_the_same(data):
    with ThreadPoolExecutor(8) as pool:
        assert len({*pool.map(lambda _: clone.key(data, "/a/.holdfast", make=True), range(32))}) == 1


@pytest.mark.parametrize("harm", ["short", "readable", "folder"])
def test_a_secret_that_others_could_know_or_that_is_none_is_not_used(data, harm):
    before = clone.key(data, "/a/.holdfast", make=True)
    if harm == "short":
        with open(secret(data), "wb") as file:
            file.write(b"x")
    elif harm == "readable":
        os.chmod(secret(data), 0o644)
    else:
        os.unlink(secret(data))
        os.mkdir(secret(data))
    assert clone.key(data, "/a/.holdfast") != before


def test_a_folder_that_cannot_be_written_is_a_refusal(data, tmp_path):
    (tmp_path / "data").write_text("a file")
    with pytest.raises(HoldfastError):
        clone.key(data, "/a/.holdfast", make=True)
