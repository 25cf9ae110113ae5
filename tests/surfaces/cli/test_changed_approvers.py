"""Alerts about the list of those who may approve, and what is said of a list that is damaged or empty."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdfast.core.moment import from_epoch
from holdfast.surfaces.ceremony import Ceremony
from tests.authenticator import Authenticator
from tests.workbench import Bench


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path / "app").begun()
    made.write(
        ".holdfast/workflows/asked.toml", 'name = "asked"\n[[step]]\nid = "look"\napproval = { by = "passkey" }\n'
    )
    made.start("asked", "1.4.0")
    return made


def own() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "holdfast/approvers")


def enrol(bench: Bench) -> None:
    ceremony = Ceremony()
    asked = ceremony.enrol(bench.open("human"), "ada's key")
    ceremony.enrolled(bench.open("human"), asked.nonce, Authenticator().create(asked.options))


def alerts(bench: Bench) -> list[tuple[str, str]]:
    found = bench.open().workflow().briefing().alerts
    return [(one.at, one.message) for one in found if one.code == "approvers"]


def test_an_alert_says_when_the_list_changed_and_not_when_it_is_read(bench):
    enrol(bench)
    os.utime(own(), (0, 0))
    ((at, said),) = alerts(bench)
    assert at == from_epoch(own().stat().st_ctime)
    assert said.startswith("the list of those who may approve is new (SHA-256 ")
    assert said.endswith(f"{own()}. No person has looked at it since: holdfast passkey list")


def test_a_list_that_nobody_looked_at_does_not_go_without_a_word(bench):
    enrol(bench)
    own().unlink()
    ((at, said),) = alerts(bench)
    assert (at, said.split(":")[0]) == ("", "the list of those who may approve was removed")
    assert "some time ago: the list of those who may approve was removed" in bench.agent("status").out
    assert bench.person("passkey", "list").code == 0
    assert alerts(bench) == []
    own().write_text("made by a program\n")
    assert "is new" in alerts(bench)[0][1]
    own().unlink()
    assert "was removed" in alerts(bench)[0][1]


def test_a_person_who_looks_ends_the_alert(bench):
    enrol(bench)
    assert bench.agent("passkey", "list").code == 0
    assert len(alerts(bench)) == 1
    assert bench.person("passkey", "list").code == 0
    assert alerts(bench) == []
    own().write_bytes(b"")
    assert "changed (SHA-256 " in alerts(bench)[0][1]


@pytest.mark.parametrize(("shared", "typed"), [(False, ["ls", "-l"]), (True, ["git", "log", "--"])])
def test_the_remedy_of_a_damaged_list_looks_where_it_is(bench, shared, typed):
    path = bench.root / ".holdfast/approvers" if shared else own()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("no list\n")
    error = bench.agent("passkey", "list", "--json").error
    assert error["code"] == "bad_approvers"
    assert " ".join([*typed, str(path)]) in json.dumps(error)


def test_an_empty_list_is_called_empty(bench):
    enrol(bench)
    assert "  1 line, root " in bench.agent("passkey", "list").out
    own().write_bytes(b"")
    assert "  empty: it has no key\n" in bench.agent("passkey", "list").out
