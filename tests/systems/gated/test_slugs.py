"""The slug of a feature: how a title becomes one, and that every command acts on the one that is named."""

from __future__ import annotations

import json

import pytest

from holdfast.systems.gated.slugs import slug_of
from holdfast.systems.gated.words import is_slug
from tests.acceptance.feature import BRANCH, FIRST, HOME, SLUG, TITLE, House

OTHER, OTHERS = "Open windows", "open-windows"


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Ünïcode Fëature", "unicode-feature"),
        ("Straße nach Łódź", "strasse-nach-lodz"),
        ("Войти по ключу", "voiti-po-klyuchu"),
        ("Σύνδεση με κλειδί", "syndesi-me-kleidi"),
        ("Đăng nhập", "dang-nhap"),
        ("ｆｕｌｌ width", "full-width"),
        ("Add 🎉 to it", "add-to-it"),
    ],
)
def test_a_title_is_spelled_in_plain_letters(title, slug):
    assert slug_of(title) == slug


def test_a_script_without_a_spelling_gets_a_stable_name_of_its_own():
    assert slug_of("登录") == slug_of("登录") != slug_of("登出")
    assert slug_of("登录 API").startswith("api-")
    assert all(map(is_slug, (slug_of("登录"), slug_of("登" * 100), slug_of("x" * 100 + "登"))))


@pytest.mark.parametrize("title", ["?!", "a", "01 requirements", "all"])
def test_what_cannot_be_a_slug_is_none(title):
    assert slug_of(title) == ""


@pytest.fixture
def two(tmp_path) -> House:
    """Two features, each on a branch of its own; that of the first is checked out."""
    house = House(tmp_path / "house").started()
    house.git("switch", "-q", "main")
    house.ok("start", "feature", OTHER)
    house.git("switch", "-q", BRANCH)
    return house


def statuses(house: House) -> dict[str, str]:
    return {entry.id: entry.status for entry in house.project().wired.store.entries()}


def test_the_feature_that_is_named_is_cancelled_whatever_is_checked_out(two):
    two.ok("cancel", OTHERS, "--reason", "not now")
    assert statuses(two) == {SLUG: "in_progress", OTHERS: "cancelled"}
    two.ok("cancel", SLUG)
    assert set(statuses(two).values()) == {"cancelled"}


@pytest.mark.parametrize("words", [("feature", "continue"), ("feature", "finalize")])
def test_a_feature_of_another_branch_says_what_to_check_out(two, words):
    error = two.refused(*words, OTHERS)
    if words[1] == "continue":
        assert (error["code"], error["remedy"]) == ("branch_mismatch", f"git switch feature/{OTHERS}")
    assert statuses(two) == {SLUG: "in_progress", OTHERS: "in_progress"}
    two.git("switch", "-q", f"feature/{OTHERS}")
    assert two.refused(*words, SLUG)["facts"]["workflow"] == SLUG
    two.agent("feature", "continue", OTHERS)


def test_a_person_resets_the_phase_of_the_feature_that_is_named(two):
    two.make(FIRST)
    two.reviewed(FIRST, 1)
    error = two.refused("feature", "reset", SLUG, "1")
    assert error["code"] == "person_needed"
    assert two.person("feature", "reset", SLUG, "1", "--yes").code == 0
    assert two.phase(FIRST)["status"] == "in_progress"
    two.reviewed(FIRST, 1)
    assert two.person("feature", "reset", "01-requirements", "--yes").code == 0
    assert two.person("feature", "reset", "--yes").code == 0
    assert two.phase(FIRST)["status"] == "in_progress"


@pytest.mark.parametrize("words", [("cancel",), ("feature", "continue"), ("feature", "finalize"), ("feature", "reset")])
def test_a_slug_that_is_unknown_or_only_begins_like_one_is_refused(two, words):
    for unknown in ("no-such-feature", "sign-in"):
        assert two.refused(*words, unknown, code=4)["code"] == "no_workflow"
    error = two.refused(*words, SLUG, "-w", OTHERS, code=2)
    assert error["code"] == "bad_usage"
    assert two.refused(*words, SLUG, "1", "and", code=2)["code"] == "bad_usage"
    assert set(statuses(two).values()) == {"in_progress"}


def test_a_feature_that_only_its_branch_knows_is_looked_for_there(two, tmp_path):
    two.publish()
    two.git("push", "-q", "--all", "origin")
    other = two.clone(tmp_path / "other")
    for words in (("cancel", SLUG), ("feature", "continue", SLUG), ("status", "-w", SLUG)):
        error = other.refused(*words, code=4)
        assert f"git switch {BRANCH}" in error["remedy"], error
    other.git("switch", "-q", BRANCH)
    other.ok("feature", "continue", SLUG)


def test_a_command_that_moved_below_feature_is_named(two):
    for old in ("continue", "finalize", "recover"):
        assert f"holdfast feature {old}" in two.refused(old, code=2)["message"]
    assert "init, continue, reset, finalize, recover" in two.refused("feature", code=2)["message"]


def test_a_feature_is_not_begun_on_the_branch_of_another_one(two):
    error = two.refused("start", "feature", "Close doors")
    assert (error["code"], error["facts"]["feature"]) == ("on_another_feature", SLUG)
    asked, beside = (one["command"] for one in reversed(error["remedies"]))
    assert (beside, asked) == ("git switch main", "git switch -c feature/close-doors")
    two.git("switch", "-q", "-c", "feature/close-doors")
    two.ok("start", "feature", "Close doors")
    assert two.git("merge-base", "HEAD", BRANCH) == two.git("rev-parse", BRANCH)
    two.git("switch", "-q", "main")
    two.ok("start", "feature", "Close windows")
    assert two.git("merge-base", "HEAD", BRANCH) == two.git("rev-parse", "main")


def test_a_branch_that_is_gone_is_made_again(two):
    two.git("branch", "-q", "-D", f"feature/{OTHERS}")
    error = two.refused("feature", "continue", OTHERS)
    assert error["remedy"].startswith(f"git switch -c feature/{OTHERS} ")
    assert "cancel" not in json.dumps(error)


def test_a_cancelled_feature_is_taken_up_again_by_its_document(tmp_path):
    house = House(tmp_path / "house").started()
    house.ok("cancel", SLUG)
    cancelled = house.state()
    house.write(f"{HOME}/workflow-state.json", json.dumps({**cancelled, "status": "in_progress"}, indent=2))
    assert house.ok("status", "--json").json["workflow_id"] == SLUG
    assert statuses(house) == {SLUG: "in_progress"}
    house.make(FIRST)
    house.ok("done", FIRST)
    assert "cancelled_at" not in house.state()
    assert not (house.root / HOME / "cancellation.md").exists()
    assert house.status() == []


def test_the_document_of_an_older_commit_takes_nothing_back(tmp_path):
    house = House(tmp_path / "house").started()
    house.ok("cancel", SLUG)
    house.git("checkout", "-q", "HEAD~1")
    house.agent("status")
    assert statuses(house) == {SLUG: "cancelled"}


def test_nothing_of_what_others_noted_is_lost_on_adoption(tmp_path):
    """Whatever an entry calls its time, and also where it is only a text."""
    house = House(tmp_path / "house").started()
    document, detail = house.state(), house.status_of(FIRST)
    document["escalations"] = [
        {"phase": FIRST, "reason": "No keys.", "timestamp": "2026-02-27T10:00:00Z", "severity": "high"},
        {"phase": FIRST, "reason": "No doors.", "raised": "2026-02-27T11:00:00Z", "resolved": "2026-02-27T12:00:00Z"},
        {"phase": FIRST, "reason": "No time."},
        "Nobody answered.",
    ]
    detail["history"] = ["Began with the keys.", {"action": "created", "at": "2026-02-27T10:30:00Z"}, {"result": "OK"}]
    house.git("switch", "-q", "-c", "elsewhere", "main")
    other = House(tmp_path / "other")
    other.git("switch", "-q", "-c", BRANCH)
    other.write(f"{HOME}/00-feature/description.md", f"# {TITLE}\n")
    other.write(f"{HOME}/workflow-state.json", json.dumps(document))
    other.write(f"{HOME}/{FIRST}/status.json", json.dumps(detail))
    other.ok("adopt")
    other.ok("note", "Continuing.", "-w", SLUG)
    other.ok("block", FIRST, "--reason", "wait")
    said, kept = json.dumps(other.state()["escalations"]), json.dumps(other.status_of(FIRST)["history"])
    for words in ("No keys.", "high", "2026-02-27T10:00:00Z", "No doors.", "11:00:00Z", "12:00:00Z", "No time."):
        assert words in said, words
    assert "Nobody answered." in said
    for words in ("Began with the keys.", "2026-02-27T10:30:00Z", "OK"):
        assert words in kept, words
    assert other.ok("doctor", "--json").code == 0


def ways(house: House, *words: str) -> tuple[str, list[str]]:
    error = house.agent(*words, "--json").error
    return error["message"], [one["command"].replace(" --json", "") for one in error["remedies"]]


@pytest.mark.parametrize("words", [("status",), ("next",), ("resume",), ("done", FIRST), ("log",)])
def test_a_slug_where_a_command_takes_a_step_or_nothing_is_said_to_go_behind_w(two, words):
    message, typed = ways(two, words[0], SLUG, *words[1:])
    assert (f"{SLUG!r} is a workflow" in message, typed) == (True, [f"holdfast {' '.join(words)} -w {SLUG}"])


def test_a_reset_that_names_a_feature_is_the_one_below_feature(two):
    assert ways(two, "reset", SLUG, "1")[1] == [f"holdfast feature reset {SLUG} 1"]
    message, typed = ways(two, "reset", SLUG)
    assert (f"{SLUG} is a workflow" in message, typed) == (True, [f"holdfast feature reset {SLUG}"])
    assert "no workflow has that name" in ways(two, "reset", "nosuch")[0]


@pytest.mark.parametrize(
    ("words", "way"),
    [
        (("cancel", SLUG, "because", "of", "rain"), f"holdfast cancel {SLUG} --reason 'because of rain'"),
        (("cancel", "because", "of", "rain"), "holdfast cancel --reason 'because of rain'"),
        (("reject", "1", "too", "long"), "holdfast reject 1 --feedback 'too long'"),
    ],
)
def test_a_reason_without_its_option_is_said_to_go_behind_it(two, words, way):
    message, typed = ways(two, *words)
    assert (f", which goes behind {way.split(' --')[1].split()[0]}" in message.replace("--", ""), typed) == (
        True,
        [way],
    )


def test_of_several_features_the_refusal_names_each_as_it_is_typed(two):
    two.git("switch", "-q", "main")
    message, typed = ways(two, "feature", "continue")
    assert message == f"several workflows are active: {OTHERS}, {SLUG}"
    assert sorted(typed) == [f"holdfast feature continue {OTHERS}", f"holdfast feature continue {SLUG}"]


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("status", "'status' is a reserved word, which cannot be the slug of a feature"),
        ("01-Requirements", "'01-requirements' is a reserved word, which cannot be the slug of a feature"),
        ("??? !!!", "no slug can be made of this title"),
        ("all", "the title has 3 characters (one line, 5 to 500 characters)"),
        ("a key\x07", "the title has characters that cannot be printed (one line, 5 to 500 characters)"),
    ],
)
def test_a_title_that_gives_no_slug_is_told_why(tmp_path, title, said):
    house = House(tmp_path / "house")
    assert house.agent("start", "feature", title, "--json").error["message"].startswith(said)
    assert "reserved" in house.agent("start", "feature", TITLE, "--set", "slug=list", "--json").error["message"]
