"""What the result of a compliance check and the report of a validation have to say: every mistake at once."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping

from holdfast.core.value import Any

COMPLIANCE, REPORT = "fast_compliance_result", "final_validation_report"
"""The outputs that say how step 5 and step 6 of a generation went."""
PASS, FAIL = "PASS", "FAIL"
VALIDATORS = 7
"""How many validators a scene that passes was looked at by."""
BLOCKING, OTHERS = ("critical", "error", "major"), ("warning", "minor", "info")
"""The severities of what keeps a scene from passing, and of the rest."""
WORD_COUNT = "word_count"
WORDS_OFF = 10
"""By how many percent the number of words may be off before the report has to warn of it."""
SHAPES = {
    COMPLIANCE: "{status: PASS or FAIL, violations: [{check, severity, found, required, message}], retry_guidance: "
    "{emphasis_needed: []}}",
    REPORT: "{overall_status: PASS or FAIL, validators_run, validators_passed, results: [{validator, status}], "
    "blocking_issues: [], non_blocking_warnings: []}",
}
Mistake = tuple[str, str]
"""The key of a result, and what is wrong there."""


def mistakes(output: str, said: Mapping[str, Any], counted: tuple[int, int] | None = None) -> list[Mistake]:
    """What is wrong with the result of a step; `counted` are the words of the draft and those required, where the
    difference is one to warn of.
    """
    if output == COMPLIANCE:
        return list(_compliance(said))
    return list(_report(said, counted)) if output == REPORT else []


def is_off(words: int, least: int, most: int) -> bool:
    """Whether a number of words is off by more than the convention allows."""
    return 100 * words < (100 - WORDS_OFF) * least or 100 * words > (100 + WORDS_OFF) * most


def _compliance(said: Mapping[str, Any]) -> Iterator[Mistake]:
    status = said.get("status")
    yield from _word("status", status)
    violations, wrong = _objects(said, "violations")
    yield from wrong
    if status == FAIL and violations == []:
        yield "violations", "a check that fails names at least one violation"
    for number, one in enumerate(violations or ()):
        yield from _violation(f"violations[{number}]", one, passes=status == PASS)
    guidance = said.get("retry_guidance", {})
    if not isinstance(guidance, Mapping):
        yield "retry_guidance", "must be an object with emphasis_needed"
    elif not _is_texts(guidance.get("emphasis_needed", [])):
        yield "retry_guidance.emphasis_needed", "must be a list of texts"


def _violation(at: str, one: Mapping[str, Any], *, passes: bool) -> Iterator[Mistake]:
    if not (_is_text(one.get("check")) or _is_text(one.get("message"))):
        yield at, "needs a check and a message"
    severity = one.get("severity")
    if not isinstance(severity, str) or severity.lower() not in (*BLOCKING, *OTHERS):
        yield f"{at}.severity", f"is one of {', '.join((*BLOCKING, *OTHERS))}"
    elif passes and severity.lower() in BLOCKING:
        yield f"{at}.severity", f"a check does not pass with a violation that is {severity.lower()}"


def _report(said: Mapping[str, Any], counted: tuple[int, int] | None) -> Iterator[Mistake]:
    status = said.get("overall_status")
    yield from _word("overall_status", status)
    results, wrong = _objects(said, "results")
    yield from wrong
    names = [one.get("validator", one.get("name")) for one in results or ()]
    for number, (one, name) in enumerate(zip(results or (), names, strict=True)):
        if not _is_text(name):
            yield f"results[{number}].validator", "names the validator"
        elif name in names[:number]:
            yield f"results[{number}].validator", f"{name} is named twice"
        yield from _word(f"results[{number}].status", one.get("status"))
        if one.get("status") == PASS:
            yield from _passes(f"results[{number}]", one)
    passed = sum(one.get("status") == PASS for one in results or ())
    if results is not None:
        yield from _counts(said, len(results), passed)
    if status == PASS and results is not None and len(results) != VALIDATORS:
        yield "results", f"a scene passes with the results of {VALIDATORS} validators, and these are {len(results)}"
    if status == PASS and results is not None and passed < len(results):
        yield "overall_status", f"is {PASS}, and {len(results) - passed} of the validators did not pass"
    yield from _issues(said, status)
    yield from _warnings(said, counted)


def _passes(at: str, one: Mapping[str, Any]) -> Iterator[Mistake]:
    """What keeps the result of a validator from passing, wherever it lists that."""
    if one.get("blocking_issues"):
        yield f"{at}.blocking_issues", f"a validator does not say {PASS} with blocking issues"
    for key, listed in one.items():
        for number, issue in enumerate(listed if isinstance(listed, list) and key != "blocking_issues" else ()):
            severity = str(issue.get("severity", "")).lower() if isinstance(issue, Mapping) else ""
            if severity in BLOCKING:
                yield f"{at}.{key}[{number}].severity", f"a validator does not say {PASS} with what is {severity}"


def _counts(said: Mapping[str, Any], run: int, passed: int) -> Iterator[Mistake]:
    for name, count in (("validators_run", run), ("validators_passed", passed)):
        given = said.get(name)
        if not isinstance(given, int) or isinstance(given, bool):
            yield name, "must be a number"
        elif given != count:
            yield name, f"is {given}, and results has {count}"


def _issues(said: Mapping[str, Any], status: object) -> Iterator[Mistake]:
    blocking = said.get("blocking_issues")
    if not _is_list(blocking):
        yield "blocking_issues", "must be a list of texts or of objects with a message"
    elif status == PASS and blocking:
        yield "blocking_issues", f"has {len(blocking)}, and overall_status is {PASS}"
    elif status == FAIL and not blocking:
        yield "blocking_issues", "a report that fails names at least one"


def _warnings(said: Mapping[str, Any], counted: tuple[int, int] | None) -> Iterator[Mistake]:
    warnings = said.get("non_blocking_warnings")
    if not _is_list(warnings):
        yield "non_blocking_warnings", "must be a list of texts or of objects with a message"
        return
    for number, one in enumerate(warnings or ()):
        severity = str(one.get("severity", "")).lower() if isinstance(one, Mapping) else ""
        if severity in BLOCKING:
            yield f"non_blocking_warnings[{number}].severity", f"{severity} belongs to blocking_issues"
    told = [*(warnings or ()), *(said.get("blocking_issues") or () if _is_list(said.get("blocking_issues")) else ())]
    if counted and not any(_is_about_words(one) for one in told):
        words, required = counted
        off = abs(words - required) * 100 // required
        text = f"the draft has {words} words, {off} % off the {required} required: a warning with check {WORD_COUNT}"
        yield "non_blocking_warnings", f"{text} is missing"


def _is_about_words(one: object) -> bool:
    if isinstance(one, Mapping):
        return one.get("check") == WORD_COUNT
    return isinstance(one, str) and "word" in one.lower()


def _word(at: str, word: object) -> Iterator[Mistake]:
    if word not in (PASS, FAIL):
        yield at, f"is {PASS} or {FAIL}"


def _objects(said: Mapping[str, Any], key: str) -> tuple[list[Mapping[str, Any]] | None, list[Mistake]]:
    """The objects that a key lists; None where that is no such list."""
    found = said.get(key)
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        return None, [(key, "must be a list of objects")]
    return found, []


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(_is_text(one) or isinstance(one, Mapping) for one in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
