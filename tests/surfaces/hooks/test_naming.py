"""Which workflow a person means by what they type."""

from __future__ import annotations

import pytest

from holdfast.surfaces.hooks.naming import TYPED, meant

ENTRIES = [
    {"ulid": "01AAAAAAAAAAAAAAAAAAAAAAAA", "id": "release-1", "title": "Release 1.4.0", "subject": "1.4.0"},
    {"ulid": "01BBBBBBBBBBBBBBBBBBBBBBBB", "id": "release-1-b", "title": "移行計画", "subject": "Grüße an alle"},
    {"ulid": "01CCCCCCCCCCCCCCCCCCCCCCCC", "id": "qa", "title": None, "subject": 5},
    {"ulid": "01DDDDDDDDDDDDDDDDDDDDDDDD", "id": "deploy-1", "title": "Deploy", "subject": "go"},
    {"ulid": "01EEEEEEEEEEEEEEEEEEEEEEEE", "id": "x-1", "title": "миграция", "subject": "데이터이전"},
    {"ulid": "01FFFFFFFFFFFFFFFFFFFFFFFF", "id": "x-2", "title": "a", "subject": "ย้ายข้อมูล"},
]


def named(prompt):
    """The letter of the workflow and how it was named; None for none."""
    ulid, by = meant(prompt, ENTRIES)
    assert bool(ulid) is bool(by)
    return f"{ulid[2]} {by}" if ulid else None


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("continue with release-1", "A"),
        ("continue with release-1, please", "A"),
        ("(01BBBBBBBBBBBBBBBBBBBBBBBB)", "B"),
        ("release-1-b", "B"),
        ("release-1 or release-1-b", "B"),
        ("release-1-b, and then qa", "B"),
        ("release-12 and release-1", "A"),
        ("qa", "C"),
        ("qaを続けて", "C"),
        ("release-12", None),
        ("x_release-1", None),
        ("Release-1", None),
        ("QA", None),
        ("qaé", None),
        ("", None),
    ],
)
def test_an_id_stands_by_itself_as_it_is_written(prompt, expected):
    assert named(prompt) == (f"{expected} id" if expected else None)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("RELEASE 1.4.0!", "A"),
        ("release 1.4.0を続けて", "A"),
        ("GRÜSSE: grüße AN alle", "B"),
        ("移行計画を続けてください", "B"),
        ("今日の移行計画", "B"),
        ("2026移行計画v3", "B"),
        ("deploy it", "D"),
        ("Миграция: дальше", "E"),
        ("데이터이전을 계속해", "E"),
        ("ช่วยย้ายข้อมูลต่อ", "F"),
        ("version 1.4.0", None),
        ("release 1.4.01", None),
        ("redeploy", None),
        ("deployé", None),
        ("re-deploy", None),
        ("иммиграция", None),
        ("移行", None),
        ("移行計画_2", None),
        ("continue", None),
    ],
)
def test_a_title_or_subject_is_a_word_of_its_own_in_its_script(prompt, expected):
    assert named(prompt) == (f"{expected} name" if expected else None)


@pytest.mark.parametrize(
    "prompt",
    [
        "take up 'go'",
        'take up "Go", please',
        "take up `go`",
        "take up «go»",
        "take up “go”",
        "the go workflow",
        "the go  Workflow.",
        "workflow go",
        "Workflow: go",
        "to go, or the go workflow",
    ],
)
def test_a_short_title_counts_where_it_is_pointed_out(prompt):
    assert named(prompt) == "D name"


@pytest.mark.parametrize(
    "prompt",
    [
        "we go",
        "go 'on'",
        "don't go",
        "'continue'",
        "workflows go",
        "myworkflow go",
        "go workflows",
        "go with a workflow",
        "start a workflow",
        "'a'",
    ],
)
def test_a_short_title_in_passing_means_nothing(prompt):
    assert named(prompt) is None


def test_an_id_counts_for_more_than_a_longer_title():
    assert named("qa, and not Release 1.4.0") == "C id"


def test_in_pasted_text_only_an_id_counts():
    filling = " x" * (TYPED // 2)
    for prompt in ("Release 1.4.0", "移行計画", "'go'"):
        assert named(prompt + filling[: TYPED - len(prompt)])
        assert named(prompt + filling) is None
    assert named("release-1" + filling) == "A id"
    assert named(filling + " 01CCCCCCCCCCCCCCCCCCCCCCCC") == "C id"


@pytest.mark.parametrize("entries", [None, 5, [], [5], [{}], [{"ulid": 5, "id": "qa"}], [{"ulid": "x", "id": ""}]])
def test_odd_entries_name_nothing(entries):
    assert meant("qa", entries) == ("", "")
