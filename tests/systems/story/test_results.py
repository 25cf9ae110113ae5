"""The files that say how a scene was checked: a result that contradicts itself decides nothing."""

from __future__ import annotations

import json

import pytest

from holdfast.systems.story import project as stories
from holdfast.systems.story import results
from tests.systems.story.writing import CONSTRAINED, PASS, REPORT, VALIDATORS, Writer, failing

MINOR = {"check": "tone", "severity": "warning", "message": "a little dry"}
CRITICAL = {**MINOR, "severity": "critical"}
THREE = [{"validator": name, "status": "PASS"} for name in VALIDATORS[:3]]
COUNTED = {"results": THREE, "validators_run": 3, "validators_passed": 3}
LAST_FAILS = [*REPORT["results"][:-1], {"validator": "length", "status": "FAIL"}]
FIRST, *REST = REPORT["results"]


def keys(output: str, said: dict, **more) -> list[str]:
    return [key for key, _ in results.mistakes(output, said, **more)]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (PASS, []),
        ({**PASS, "violations": [MINOR]}, []),
        ({**PASS, "violations": [{**MINOR, "severity": "Warning"}]}, []),
        (failing("it rains", "weather"), []),
        ({"status": "FAIL", "violations": [MINOR]}, []),
        ({"status": "PASS"}, ["violations"]),
        ({**PASS, "violations": [CRITICAL]}, ["violations[0].severity"]),
        ({**PASS, "violations": [MINOR, {**MINOR, "severity": "ERROR"}]}, ["violations[1].severity"]),
        ({**PASS, "violations": [{**MINOR, "severity": "grave"}]}, ["violations[0].severity"]),
        ({**PASS, "violations": [{"severity": "warning"}]}, ["violations[0]"]),
        ({**PASS, "violations": ["dry"]}, ["violations"]),
        ({"status": "FAIL", "violations": []}, ["violations"]),
        ({"status": "passed", "violations": "none"}, ["status", "violations"]),
        ({**PASS, "retry_guidance": []}, ["retry_guidance"]),
        ({**PASS, "retry_guidance": {"emphasis_needed": "more"}}, ["retry_guidance.emphasis_needed"]),
    ],
)
def test_what_is_wrong_with_the_result_of_a_compliance_check(said, wrong):
    assert keys("fast_compliance_result", said) == wrong


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, []),
        ({"non_blocking_warnings": ["a little long", MINOR]}, []),
        ({"results": [{"name": name, "status": "PASS"} for name in VALIDATORS]}, []),
        ({"overall_status": "FAIL", "blocking_issues": ["she knows"]}, []),
        ({"overall_status": "FAIL", **COUNTED}, ["blocking_issues"]),
        ({"blocking_issues": ["she knows too early"]}, ["blocking_issues"]),
        ({"results": [{**FIRST, "blocking_issues": ["x"]}, *REST]}, ["results[0].blocking_issues"]),
        ({"results": [{**FIRST, "issues": [MINOR, CRITICAL]}, *REST]}, ["results[0].issues[1].severity"]),
        ({"results": [{**FIRST, "issues": [MINOR], "blocking_issues": []}, *REST]}, []),
        (COUNTED, ["results"]),
        ({"results": THREE}, ["validators_run", "validators_passed", "results"]),
        ({"results": [], "validators_run": 0, "validators_passed": 0}, ["results"]),
        ({"results": []}, ["validators_run", "validators_passed", "results"]),
        ({"results": None}, ["results"]),
        ({"results": LAST_FAILS}, ["validators_passed", "overall_status"]),
        ({"results": [*REPORT["results"][:-1], REPORT["results"][0]]}, ["results[6].validator"]),
        ({"results": [*REPORT["results"][:-1], {"status": "PASS"}]}, ["results[6].validator"]),
        ({"validators_run": "7", "validators_passed": True}, ["validators_run", "validators_passed"]),
        ({"non_blocking_warnings": [CRITICAL]}, ["non_blocking_warnings[0].severity"]),
        ({"non_blocking_warnings": None, "blocking_issues": "none"}, ["blocking_issues", "non_blocking_warnings"]),
    ],
)
def test_what_is_wrong_with_a_report(changes, wrong):
    assert keys("final_validation_report", {**REPORT, **changes}) == wrong


def test_words_that_are_off_by_more_than_a_tenth_have_to_be_in_the_report():
    off = {"counted": (700, 1000)}
    assert keys("final_validation_report", REPORT, **off) == ["non_blocking_warnings"]
    for told in ({"check": "word_count", "message": "700 words"}, "700 words, 1000 required"):
        assert keys("final_validation_report", {**REPORT, "non_blocking_warnings": [told]}, **off) == []


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("900 to 1100 words", 900, 1100),
        ("1,000 words", 1000, 1000),
        ("Length: 800–1,200 words.", 800, 1200),
        ("about 500 Words", 500, 500),
        ("at most 800 words", 0, 800),
    ],
)
def test_how_many_words_a_constraint_asks_for(text, least, most):
    assert stories.required_words(["no rain", text]) == (least, most)


def test_constraints_that_do_not_count_words():
    assert stories.required_words(["no rain", "3 people", "in other words, short"]) is None
    assert (stories.required_words(["at least 800 words"]) or (0, 0))[0] == 800


@pytest.mark.parametrize(
    ("words", "is_off"), [(900, False), (899, True), (1100, False), (1101, True), (0, True)], ids=str
)
def test_a_tenth_is_not_too_much(words, is_off):
    assert results.is_off(words, 1000, 1000) is is_off


@pytest.fixture
def writer(tmp_path) -> Writer:
    return Writer(tmp_path / "novel").begin_scene()


def test_every_mistake_of_a_result_is_told_at_once_with_its_file_and_key(writer):
    refusal = writer.until(6).refused_hand_in(6, {"overall_status": "PASS", "results": THREE, "blocking_issues": ["x"]})
    assert refusal.code == "bad_result"
    places = [one["where"] for one in refusal.facts["mistakes"]]
    file = f"workspace/runs/{writer.id}/final_validation_report"
    wrong = ("validators_run", "validators_passed", "results", "blocking_issues", "non_blocking_warnings")
    assert places == [f"{file}: {key}" for key in wrong]
    assert all(one["message"] in refusal.message for one in refusal.facts["mistakes"])
    assert refusal.remedy.endswith(f"holdfast done full-validation --artifact final_validation_report={file}")
    writer.handed_in(6, REPORT)


def test_step_five_never_passes_with_a_critical_violation(writer):
    refusal = writer.until(5).refused_hand_in(5, {**PASS, "violations": [CRITICAL]})
    assert "does not pass with a violation that is critical" in refusal.message
    assert writer.tool("get_workflow_status")["current_step"] == 5


def test_a_result_that_an_edit_of_the_document_hands_in_is_read_too(writer):
    writer.until(5)
    files = writer.made(5, {**PASS, "violations": [CRITICAL]})
    writer.tool("update_workflow_state", step=5, status="in_progress", artifacts=files)
    path = f"workspace/workflow-state/{writer.id}.json"
    document = json.loads(writer.read(path))
    document["generation"]["steps"][4]["status"] = "completed"
    writer.write(path, json.dumps(document))
    assert "is no result of fast-compliance-check" in str(writer.tool("get_next_step")["notice"])
    assert writer.tool("get_workflow_status")["current_step"] == 5


def test_the_report_warns_of_a_draft_that_is_too_short(writer):
    writer.write("acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md", CONSTRAINED.replace("4 to 6", "90"))
    writer.until(6)
    refusal = writer.refused_hand_in(6, REPORT)
    assert "the draft has 5 words, 94 % off the 90 required" in refusal.message
    writer.handed_in(6, {**REPORT, "non_blocking_warnings": [{"check": "word_count", "message": "5 of 90 words"}]})


def test_the_next_step_says_what_the_result_looks_like(writer):
    assert "violations" in str(writer.until(5).tool("get_next_step")["task"]["criteria"])
    writer.handed_in(5, PASS)
    assert "validators_passed" in str(writer.tool("get_next_step")["task"]["criteria"])


@pytest.mark.parametrize("step", [5, 6])
def test_a_key_that_a_result_has_twice_is_no_answer(writer, step):
    writer.until(step)
    whole = json.dumps({5: PASS, 6: REPORT}[step])
    word = "status" if step == 5 else "overall_status"
    refusal = writer.refused_hand_in(step, f'{{"{word}": "FAIL", {whole[1:]}')
    assert (refusal.code, f"{word}: is there twice" in refusal.message) == ("bad_result", True)


def test_a_result_that_begins_with_a_byte_order_mark_is_read(writer):
    writer.until(6)
    writer.handed_in(6, f"\ufeff{json.dumps(REPORT)}")
    assert writer.tool("inspect_workflow", view="metrics")["workflow_metrics"]["parallel_executions"] == 7
