"""Review files: what decides, what is a finding, what is a mistake, and what the creator is told."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.systems.gated import review_file
from holdfast.systems.gated.review_findings import Finding

PATH = "workflow/user-login/01-requirements/reviews/review-2.md"
REVISE = """\
# Review 2: Requirements

The document is *much* clearer than before.

## Findings

- **[MINOR]** The glossary lacks `session`.
- **[CRITICAL]** FR-3 contradicts FR-7: a token
  cannot be both permanent and short-lived.

  See section 4.
  - FR-3 says "never expires"
  - FR-7 says 15 minutes

  ```
  token.ttl = 900
  ```
- **[Major]** No requirement covers a locked account

## Checklist

- [x] Every requirement has a number

## Decision: NEEDS_REVISION

Please fix FR-3 first.
"""
APPROVE = """\
# Review 3

All of it can be tested.

**[MINOR]** The title of section 2 has a typo.

## Decision

**APPROVED**

Well done.
"""


@pytest.fixture
def file(tmp_path):
    def file(content):
        path = tmp_path / "review-2.md"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return file


@pytest.fixture
def read(file):
    return lambda content: review_file.read(file(content), PATH)


@pytest.fixture
def mistakes(read):
    def mistakes(content):
        with pytest.raises(UsageError) as refusal:
            read(content)
        assert refusal.value.code == "bad_review"
        assert f"have the reviewer fix {PATH}: " in refusal.value.remedy
        found: Any = refusal.value.facts["mistakes"]
        assert all(f"{each['where']}: {each['message']}" in refusal.value.message for each in found)
        return [(int(each["where"].removeprefix(f"{PATH}:")), each["message"]) for each in found]

    return mistakes


@pytest.fixture
def findings(read):
    """The findings of a review that asks for a revision after this body, as severity and text."""
    return lambda body: [
        (each.severity, each.text) for each in read(f"{body}\n\n## Decision: NEEDS_REVISION\n").findings
    ]


def test_a_review_that_asks_for_a_revision_is_read_whole(read):
    review = read(REVISE)
    assert review.decision == "needs_revision"
    critical = (
        "FR-3 contradicts FR-7: a token cannot be both permanent and short-lived. See section 4. "
        'FR-3 says "never expires" FR-7 says 15 minutes token.ttl = 900'
    )
    assert review.findings == (
        Finding("minor", "The glossary lacks session.", 7),
        Finding("critical", critical, 8),
        Finding("major", "No requirement covers a locked account", 18),
    )
    assert review.feedback.splitlines() == [
        f"[CRITICAL] {critical}",
        "[MAJOR] No requirement covers a locked account",
        "[MINOR] The glossary lacks session.",
        "The review also says:",
        "The document is much clearer than before.",
        "Checklist",
        "[x] Every requirement has a number",
        "Please fix FR-3 first.",
    ]


def test_an_approval_may_have_minor_findings(read):
    review = read(APPROVE)
    assert review.decision == "approved"
    assert review.findings == (Finding("minor", "The title of section 2 has a typo.", 5),)
    assert review.feedback == "[MINOR] The title of section 2 has a typo."


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_other_line_ends_and_a_byte_order_mark_make_no_difference(read, ends):
    assert read(b"\xef\xbb\xbf" + REVISE.replace("\n", ends).encode()) == read(REVISE)


def test_front_matter_is_passed_over_and_lines_keep_their_numbers(read):
    review = read("---\nreviewer: b\n---\n# Review\n\n- **[MAJOR]** a\n\n## Decision: NEEDS_REVISION\n")
    assert review.findings == (Finding("major", "a", 6),)


@pytest.mark.parametrize(
    "decision",
    [
        "# Decision: APPROVED",
        "###### decision: approved",
        "## **Decision**: **APPROVED**",
        "## Decision: `APPROVED`",
        "## Decision: ✅ APPROVED!",
        "## 5. Final decision – Approved.",
        "## Decision APPROVED",
        "Decision: APPROVED\n---",
        "## Decision\n\n`APPROVED`\n\nIt is good.",
        "## Decision:\n<!-- APPROVED or NEEDS_REVISION -->\n\n__Approved__",
        "## Decision\n\nAPPROVED\n---\n\nMore.",
        "## Decision: APPROVED\n\nText.\n\n## Decision: approved",
    ],
)
def test_an_approval_has_many_forms(read, decision):
    assert read(f"# Review\n\n{decision}\n").decision == "approved"


@pytest.mark.parametrize(
    "decision",
    [
        "## Decision: Needs Revision",
        "## Decision: ❌ **needs-revision**",
        "## Decision\n\n*NEEDS_REVISION*",
        "# Decision: `NEEDS_REVISION`",
    ],
)
def test_a_request_for_a_revision_has_many_forms(read, decision):
    assert read(f"# Review\n\n{decision}\n").decision == "needs_revision"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "```\n## Decision: APPROVED\n```",
        "    ## Decision: APPROVED",
        "<!--\n\n## Decision: APPROVED\n\n-->",
        "> ## Decision: APPROVED",
        "- ## Decision: APPROVED",
        "**Decision**: APPROVED",
        "## Decisions: APPROVED",
        "## Design decision: APPROVED",
        "## Decision log",
        "",
    ],
)
def test_what_is_no_decision_heading_decides_nothing(mistakes, read, elsewhere):
    how = "write '## Decision: APPROVED' or '## Decision: NEEDS_REVISION'"
    assert mistakes(elsewhere) == [(1, f"there is no decision: {how}")]
    assert read(f"{elsewhere}\n\n## Decision: NEEDS_REVISION\n").decision == "needs_revision"


@pytest.mark.parametrize(
    "word",
    [
        "MAYBE",
        "NOT APPROVED",
        "❌ APPROVED",
        "APPROVED with conditions",
        "APPROVED (once 3 is fixed)",
        "REJECTED",
        "…",
    ],
)
def test_any_other_decision_is_a_mistake_on_the_line_of_its_word(mistakes, word):
    for lines, line in ((f"## Decision: {word}", 3), (f"## Decision\n\n{word}", 5)):
        ((at, message),) = mistakes(f"# R\n\n{lines}\n")
        assert at == line
        assert message.startswith(f"the decision {word!r} is neither APPROVED nor NEEDS_REVISION: write '## Decision: ")


@pytest.mark.parametrize(
    "words", ["APPROVED | NEEDS_REVISION", "[NEEDS REVISION / APPROVED]", "~~APPROVED~~ NEEDS_REVISION"]
)
def test_a_template_that_was_not_filled_in_is_a_mistake(mistakes, words):
    ((line, message),) = mistakes(f"# R\n\n## Decision: {words}\n")
    assert line == 3
    assert message.startswith("the decision is still to be made, it names both: write ")


@pytest.mark.parametrize(
    "below", ["", "\n## Notes\n\nAPPROVED\n", "\n- APPROVED\n", "\n> APPROVED\n", "\n```\nAPPROVED\n```\n"]
)
def test_a_decision_heading_with_nothing_below_it_is_a_mistake(mistakes, below):
    ((line, message),) = mistakes(f"# R\n\n## Decision\n{below}")
    assert (line, message.partition(":")[0]) == (3, "there is no decision below this heading")


def test_two_different_decisions_are_a_mistake(mistakes):
    text = "## Decision: APPROVED\n\na\n\n## Decision: approved\n\n## Decision\n\nNEEDS REVISION\n"
    assert mistakes(text) == [(9, "the decision of line 1 is another one: APPROVED")]


def test_an_approval_with_a_severe_finding_is_a_mistake_on_the_line_of_each(mistakes):
    text = "## Decision: APPROVED\n\n- **[MAJOR]** a\n- **[MINOR]** b\n\nc\n**[critical]** d\n"
    assert mistakes(text) == [
        (3, "APPROVED has no MAJOR finding, and this is one: 'a'"),
        (7, "APPROVED has no CRITICAL finding, and this is one: 'd'"),
    ]


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines(mistakes):
    text = "- **[MAJOR]** a\n\n## Decision: APPROVED\n\n## Decision: perhaps\n\n## Decision\n"
    assert [line for line, _ in mistakes(text)] == [1, 5, 7]


def test_of_very_many_mistakes_the_message_names_twenty(read):
    with pytest.raises(UsageError) as refusal:
        read("## Decision: APPROVED\n\n" + "- **[MAJOR]** a\n" * 30)
    assert refusal.value.message.startswith("30 mistakes in the review: ")
    assert refusal.value.message.endswith("; and 10 more")
    found: Any = refusal.value.facts["mistakes"]
    assert len(found) == 30


@pytest.mark.parametrize(
    "body",
    [
        "**[MAJOR]** No limit",
        "__[major]__: No limit",
        "**[MAJOR]:** No limit",
        "**[MAJOR] No limit**",
        "**\\[MAJOR\\]** – No limit",
        "[**MAJOR**] No limit",
        "**`[MAJOR]`** No limit",
        "[MAJOR] No limit",
        "[MAJOR]: No limit",
        "- [ ] **[MAJOR]** No limit",
        "3. **[MAJOR]** - No limit",
        "* No limit **[MAJOR]**",
        "### **[MAJOR]** No limit",
        "### 1. **[MAJOR]** No limit",
        "No\nlimit **[MAJOR]**",
        "**[MAJOR]**\n\nNo limit",
        "### **[MAJOR]**\n\n- No limit",
        "| **[MAJOR]** | No limit |\n|---|---|",
        "<details>\n**[MAJOR]** No limit\n</details>",
        "**[MAJOR]** <!-- **[MINOR]** --> No limit",
    ],
)
def test_a_finding_has_many_forms(findings, body):
    assert findings(body) == [("major", "No limit")]


def test_a_link_definition_swallows_no_finding(findings):
    assert findings("[MAJOR]: unlimited\n\n**[MAJOR](#two)** see there") == [
        ("major", "unlimited"),
        ("major", "(#two) see there"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "```\nlevels[CRITICAL] = 1\n```",
        "```\n- [x] [CRITICAL] a\n```",
        "<!-- **[CRITICAL]** a -->",
        "<pre>\n**[CRITICAL]** a\n</pre>",
        "> - [x] **[CRITICAL]** a",
        "> The critical finding is fixed.",
        "A mark is written `**[CRITICAL]**`.",
        "The [CRITICAL] finding of review 1 is fixed.",
        "There is no **[CRITICAL]** or **[MAJOR]** finding.",
        "No further **[CRITICAL]**, **[MAJOR]** and **[MINOR]** ones.",
        "- **[CRITICAL]** None.\n- **[MAJOR]**: n/a\n- **[MINOR]** no issues found",
        "### **[CRITICAL]** Issues\n\nNone",
    ],
)
def test_what_is_no_finding_does_not_stand_against_an_approval(read, body):
    review = read(f"# R\n\n{body}\n\n## Decision: APPROVED\n")
    assert (review.findings, review.feedback) == ((), "")


def test_a_lack_of_something_is_a_finding_all_the_same(findings):
    assert findings("There is no validation **[CRITICAL]**") == [("critical", "There is no validation")]


def test_findings_on_the_lines_of_one_paragraph_are_told_apart(read):
    review = read(
        "Found:\n**[MAJOR]** a\nb **[x]**\nThe form **[MINOR]** c **[CRITICAL]** d\n\n## Decision: NEEDS_REVISION\n"
    )
    assert review.findings == (
        Finding("major", "a b [x]", 2),
        Finding("minor", "The form c", 4),
        Finding("critical", "d", 4),
    )


def test_a_row_of_a_table_is_one_finding(findings):
    head = "| Where | Severity | What |\n|---|---|---|\n"
    table = head + "| form | **[MAJOR]** | a `b` |\n| 2 | fine | c |\n| 3 | **[MINOR]** | d |\n"
    assert findings(f"{table}\nAfter it.") == [("major", "form | a b"), ("minor", "d")]


def test_the_lists_and_code_below_a_paragraph_belong_to_its_finding_and_the_next_paragraph_does_not(findings):
    body = "**[MAJOR]** a\n- Where: b.py\n- Fix: c\n\n> quoted\n\n```\ncode\n```\n\nOther.\n\n- d"
    assert findings(body) == [("major", "a Where: b.py Fix: c quoted code")]


def test_a_heading_is_a_finding_with_its_section(findings):
    body = "## One\n\n### **[MAJOR]** a\n\nb\n\n#### Fix\n\nc\n\n### d\n\ne\n\n## **[MINOR]** f\n\ng\n\n---\n\nh"
    assert findings(body) == [("major", "a b Fix c"), ("minor", "f g")]


def test_a_finding_within_a_finding_is_one_of_its_own(findings):
    body = "- **[MAJOR]** a\n  - b\n  - **[MINOR]** c\n\n    d\n  - e\n- f"
    assert findings(body) == [("major", "a b e"), ("minor", "c d")]


def test_the_decision_ends_every_finding(read):
    review = read("# **[MAJOR]** a\n\nb\n\n## Decision: NEEDS_REVISION\n\nc\n")
    assert review.findings == (Finding("major", "a b", 1),)


def test_a_request_without_findings_gives_its_whole_text_without_the_decision(read):
    review = read(
        "# Review\n\nIt is *too* long.\n\n- cut `a`\n- cut b\n\n## Decision\n\nNEEDS_REVISION\n\n<!-- c -->\nSoon.\n"
    )
    assert review.feedback == "Review\nIt is too long.\ncut a\ncut b\nSoon."


def test_an_approval_without_findings_gives_no_feedback(read):
    assert read("# Review\n\nGood.\n\n## Decision: APPROVED\n").feedback == ""


def test_feedback_keeps_to_its_length_and_drops_what_is_least_severe(read):
    review = read("- **[MINOR]** a\n- **[MAJOR]** " + "b " * 15_000 + "\n\n## Decision: NEEDS_REVISION\n")
    assert len(review.feedback) == 20_000
    assert review.feedback.startswith("[MAJOR] b b ")
    assert "[MINOR]" not in review.feedback
    assert len(review.findings[1].text) == 29_999


def test_a_severe_finding_in_a_paragraph_too_long_to_parse_is_found(mistakes):
    text = "## Decision: APPROVED\n\n" + "many words\n" * 1000 + "and **[CRITICAL]** this\n"
    ((line, message),) = mistakes(text)
    assert line == 1003
    assert message.startswith("APPROVED has no CRITICAL finding, and this is one: 'many words ")


def test_feedback_has_no_control_characters(read):
    end = "\n\n## Decision: NEEDS_REVISION\n"
    assert read(f"- **[MAJOR]** a\x1b[31m\u202eb\x85c\td{end}").feedback == "[MAJOR] a[31mb c d"
    assert read(f"a\x1b[31m\u202eb\x85\tc{end}").feedback == "a[31mb\tc"


def test_a_missing_review_asks_the_reviewer_for_it(tmp_path):
    with pytest.raises(NotFound) as refusal:
        review_file.read(str(tmp_path / "none" / "review-2.md"), PATH)
    assert refusal.value.code == "no_review"
    assert refusal.value.remedy == f"have the reviewer write {PATH}"
    assert refusal.value.facts == {"path": PATH}


def refusal_of(full, path=PATH):
    with pytest.raises(UsageError) as refusal:
        review_file.read(str(full), path)
    assert refusal.value.code == "bad_review"
    return refusal.value


def test_a_link_is_not_followed(file, tmp_path):
    os.symlink(file(APPROVE), tmp_path / "link.md")
    assert refusal_of(tmp_path / "link.md").message == f"{PATH} is a symbolic link"


def test_what_is_no_text_of_a_fair_size_is_refused(file, tmp_path):
    assert refusal_of(tmp_path).message == f"{PATH} is not a regular file"
    assert refusal_of(file(b"# R\n\xff")).message == f"{PATH} is not UTF-8 at line 2"
    assert refusal_of(file(b"# R\n\0")).facts["reason"] == "is not text: there is a NUL byte in it"
    large = refusal_of(file(APPROVE + " " * review_file.LARGEST))
    assert large.message == f"{PATH} is larger than 1048576 bytes"
    assert large.remedy == f"have the reviewer write {PATH} again, as a text of at most 1048576 bytes"


WORDS = "## Decision|: |APPROVED|NEEDS_REVISION|**[MAJOR]**|[minor]|no |<!--|-->|<b>|```|---|1. |- |> |    |](|&#91;"
PIECES = st.sampled_from([*WORDS.split("|"), "|", "|---|---|\n", "\n", "\n\n", "\t", *"#*_`[\\"])


@settings(max_examples=300)
@given(st.text() | st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join) | st.binary(max_size=200))
@example("| a |\n|---|\n| **[MAJOR]**")
@example("## Decision: APPROVED\n\n" + "- " * 200 + "**[MAJOR]** a")
def test_any_text_is_a_review_or_a_mistake(content):
    with tempfile.TemporaryDirectory() as folder:
        full = os.path.join(folder, "review-1.md")
        with open(full, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        try:
            review = review_file.read(full, "review-1.md")
        except HoldfastError:
            return
    severe = {finding.severity for finding in review.findings} - {"minor"}
    assert review.decision == "needs_revision" or (review.decision == "approved" and not severe)
    assert len(review.feedback) <= 20_000


@pytest.mark.parametrize(
    "said",
    [
        "| Severity | Finding |\n|---|---|\n| CRITICAL | keys are logged |\n",
        "| # | Severity | Finding |\n|---|---|---|\n| 1 | 🔴 Critical | keys are logged |\n",
        "- **Critical:** keys are logged\n",
        "- Critical: keys are logged\n",
        "1. **Critical** keys are logged\n",
        "Critical issue — keys are logged\n",
        "### Critical issues\n\n- keys are logged\n",
        "### 🔴 Critical (1)\n\nkeys are logged\n",
        "**[BLOCKER]** keys are logged\n",
        "### Blocking issues\n\n1. keys are logged\n",
        "## Blockers\n\n1. keys are logged\n",
        "- [ ] **Critical** – keys are logged\n",
        "1. (critical) keys are logged\n",
        "- **Severity: Critical** keys are logged\n",
        "**Severity:** Critical: keys are logged\n",
    ],
)
def test_a_severe_finding_counts_in_every_style(tmp_path, said):
    file = tmp_path / "review-1.md"
    file.write_text(f"## Decision: NEEDS_REVISION\n\n{said}")
    assert review_file.read(str(file), "review-1.md").feedback == "[CRITICAL] keys are logged"
    file.write_text(f"## Decision: APPROVED\n\n{said}")
    with pytest.raises(UsageError) as caught:
        review_file.read(str(file), "review-1.md")
    assert "APPROVED has no CRITICAL finding" in caught.value.message


@pytest.mark.parametrize(
    ("said", "severity"),
    [
        ("- [HIGH] keys are logged\n", "major"),
        ("- **[P0]** keys are logged\n", "critical"),
        ("- **P1** keys are logged\n", "major"),
        ("P0: keys are logged\n", "critical"),
        ("- **High:** keys are logged\n", "major"),
        ("**Severity**: High — keys are logged\n", "major"),
        ("| Severity | Finding |\n|---|---|\n| High | keys are logged |\n", "major"),
        ("### High\n\n- keys are logged\n", "major"),
        ("- [LOW] keys are logged\n", "minor"),
        ("- **Medium** – keys are logged\n", "minor"),
        ("#### Major: keys are logged\n", "major"),
        ("### Major - keys are logged\n", "major"),
        ("- MAJOR keys are logged\n", "major"),
        ("- `MAJOR` keys are logged\n", "major"),
        ("- <b>[MAJOR]</b> keys are logged\n", "major"),
        ("- keys are logged (major)\n", "major"),
        ("- keys are logged [CRITICAL].\n", "critical"),
        ("- keys are logged Severity: high\n", "major"),
        ("## Must fix before merge\n\n- keys are logged\n", "major"),
        ("### Must fix\n\n- keys are logged\n", "major"),
        ("- 🔴 keys are logged\n", "critical"),
        ("🟠 keys are logged\n", "major"),
    ],
)
def test_severities_of_other_projects_are_read_as_ours(tmp_path, said, severity):
    file = tmp_path / "review-1.md"
    file.write_text(f"## Decision: NEEDS_REVISION\n\n{said}")
    (line,) = review_file.read(str(file), "review-1.md").feedback.splitlines()
    assert line.startswith(f"[{severity.upper()}] ")
    assert "keys are logged" in line
    file.write_text(f"## Decision: APPROVED\n\n{said}")
    if severity == "minor":
        assert review_file.read(str(file), "review-1.md").decision == "approved"
    else:
        with pytest.raises(UsageError, match=f"APPROVED has no {severity.upper()} finding"):
            review_file.read(str(file), "review-1.md")


@pytest.mark.parametrize(
    "said",
    [
        "> ~~[HIGH] keys are logged~~\n\nThat is fixed.\n",
        "Test coverage - 'HIGH' is what it was.\n",
        "Effort: (high)\n",
        "- **High** cohesion, low coupling\n",
        "High availability is covered.\n",
        "- Low risk\n",
        "| Critical | 0 |\n|---|---|\n| Major | 0 |\n",
        "### Critical issues\n\nNone.\n\n### Major issues\n\nNo major issues found.\n",
        "Critical: none\n",
        "The major part is done. Critical paths are tested.\n",
        "- Critical paths are tested\n",
        "## Major changes since the last review\n\nThe keys are hidden now.\n",
        "## Critical path\n\nAll of it is tested.\n",
        "- No open issues (major)\n",
        "- The version number has a part (major).minor\n",
        "Logs are written only if debugging is on.\n",
        "- 🔴 none\n",
        "## Must fix\n\nNothing.\n",
    ],
)
def test_words_that_name_a_severity_and_no_finding_stop_no_approval(tmp_path, said):
    file = tmp_path / "review-1.md"
    file.write_text(f"## Decision: APPROVED\n\n{said}")
    assert review_file.read(str(file), "review-1.md").findings == ()


def test_a_verdict_is_a_decision_and_two_that_differ_are_none(tmp_path):
    file = tmp_path / "review-1.md"
    file.write_text("## Verdict: NEEDS_REVISION\n\nKeys are logged.\n")
    assert review_file.read(str(file), "review-1.md").decision == "needs_revision"
    file.write_text("## Decision: APPROVED\n\n## Verdict: NEEDS_REVISION\n")
    with pytest.raises(UsageError, match="another one"):
        review_file.read(str(file), "review-1.md")


@pytest.mark.parametrize(
    "said",
    [
        "Only if the password is removed from app.py first.\n",
        "**Provided** the password goes.\n",
        "Conditional on the removal of the password.\n",
        "But only once the password is gone.\n",
    ],
)
def test_an_approval_on_a_condition_is_none(tmp_path, said):
    file = tmp_path / "review-1.md"
    file.write_text(f"# Review\n\n## Decision: APPROVED\n\n{said}")
    with pytest.raises(UsageError, match="an approval has no condition"):
        review_file.read(str(file), "review-1.md")


def test_front_matter_that_decides_otherwise_is_noticed(tmp_path):
    file = tmp_path / "review-1.md"
    file.write_text("---\ndecision: NEEDS_REVISION\n---\n\n## Decision: APPROVED\n")
    with pytest.raises(UsageError, match="the decision of line 2 is another one"):
        review_file.read(str(file), "review-1.md")
    file.write_text("---\ndecision: approved\nstatus: draft\n---\n\n## Decision: APPROVED\n")
    assert review_file.read(str(file), "review-1.md").decision == "approved"


ALSO = "The review also says:"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "1. token is logged\n   - Severity: major\n   - File: keys.py:1\n\nissue (blocking): no test at all\n",
            ["[CRITICAL] no test at all", "[MAJOR] token is logged File: keys.py:1"],
        ),
        ("1. token is logged\n   Severity: major\n   File: keys.py:1\n", ["[MAJOR] token is logged File: keys.py:1"]),
        (
            "- token is logged\n\n  **Severity:** high\n\n  See keys.py.\n- name\n",
            ["[MAJOR] token is logged See keys.py.", ALSO, "name"],
        ),
        ("### F2: no tests\n\n**Severity:** Low\n\nAdd some.\n", ["[MINOR] F2: no tests Add some."]),
        (
            "### F1: token\n- **Severity:** Major\n- **File:** keys.py\n\n### F2: tests\n- **Severity:** Low\n",
            ["[MAJOR] F1: token File: keys.py", "[MINOR] F2: tests"],
        ),
        ("### F1: token\n**Severity:** High\n**File:** x\n\nText.\n", ["[MAJOR] F1: token File: x Text."]),
        ("### F1: token\n\nIt is logged.\n\n#### Severity: High\n", ["[MAJOR] F1: token It is logged."]),
        (
            "## Findings\n\n**Severity: Major**\n\ntoken\n\n**Severity: Minor**\n\nname\n",
            ["[MAJOR] token", "[MINOR] name"],
        ),
        (
            "### Finding 1 (High)\n\ntoken is logged\n\n- **[MINOR]** name\n",
            ["[MAJOR] Finding 1 token is logged", "[MINOR] name"],
        ),
        ("issue (blocking): token is logged\n**[MINOR]** name\n", ["[CRITICAL] token is logged", "[MINOR] name"]),
        ("token is logged\n**[MINOR]** name\n", ["[MINOR] name", ALSO, "token is logged"]),
        (
            "- **[MAJOR]** token is logged\n- The index is wrong, an off by one in get\n",
            ["[MAJOR] token is logged", ALSO, "The index is wrong, an off by one in get"],
        ),
        (
            "| Severity | What |\n|---|---|\n| High | token is logged |\n| nit | name |\n| ? | odd |\n",
            ["[MAJOR] token is logged", "[MINOR] name", ALSO, "Severity | What", "? | odd"],
        ),
        ("### token is logged\n\n**[MAJOR]**\n", ["[MAJOR] token is logged"]),
        (
            "**[MAJOR]** token\n\n## Style\n\nLong names.\n\n```\nx = 1\n```\n\n> said\n",
            ["[MAJOR] token", ALSO, "Style", "Long names.", "x = 1", "said"],
        ),
        ("**[MAJOR]** token\n\n## Tests\n\nNone.\n\n## Earlier findings\n\nNone.\n", ["[MAJOR] token"]),
        ("- **[MAJOR]** token\n\n## What was looked at\n\nAll files.\n", ["[MAJOR] token"]),
        ("- **[MINOR]** token\n  - Severity: critical\n", ["[CRITICAL] token"]),
    ],
)
def test_nothing_of_a_review_is_lost_on_its_way_to_the_creator(read, said, told):
    assert read(f"# Review\n\n## Decision: NEEDS_REVISION\n\n{said}").feedback.splitlines() == told


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*WORDS.split("|")[4:], "\n", "\n\n", "Severity: high", "# ", "    "]), max_size=12))
def test_every_word_of_a_review_is_told(pieces):
    said = "".join(f"{piece}word{number} " for number, piece in enumerate(pieces))
    if "<!--" in said:
        return
    with tempfile.TemporaryDirectory() as folder:
        full = os.path.join(folder, "review-1.md")
        with open(full, "w", encoding="utf-8") as file:
            file.write(f"## Decision: NEEDS_REVISION\n\n{said}\n")
        try:
            review = review_file.read(full, "review-1.md")
        except HoldfastError:
            return
    told = set(re.findall(r"word\d+", review.feedback))
    written = set(re.findall(r"word\d+", said))
    assert told == written or any(piece.startswith("```") for piece in pieces), review.feedback


@pytest.mark.parametrize(
    ("said", "severity", "words"),
    [
        ("issue (blocking): token is logged\n", "CRITICAL", "token is logged"),
        ("**issue (blocking):** token is logged\n", "CRITICAL", "token is logged"),
        ("- **todo (security, blocking):** token is logged\n", "CRITICAL", "token is logged"),
        (
            "_⚠️ Potential issue_ | _🔴 Critical_\n\n**token is logged**\n",
            "CRITICAL",
            "⚠️ Potential issue token is logged",
        ),
        ("⚠️ Potential issue | 🟠 Major\n\ntoken is logged\n", "MAJOR", "⚠️ Potential issue token is logged"),
        ("token is logged 🔴 Critical\n", "CRITICAL", "token is logged"),
        ("### 🔴 token is logged\n", "CRITICAL", "token is logged"),
        ("| 🔴 | token is logged |\n|---|---|\n", "CRITICAL", "token is logged"),
        ("### Finding 1 (High)\n\ntoken is logged\n", "MAJOR", "Finding 1 token is logged"),
        ("### 1. token is logged (High severity)\n", "MAJOR", "1. token is logged"),
        ("### token is logged [high]\n", "MAJOR", "token is logged"),
        ("### High severity\n\n- token is logged\n", "MAJOR", "token is logged"),
        ("### High-severity findings (1)\n\n- token is logged\n", "MAJOR", "token is logged"),
        ("High severity: token is logged\n", "MAJOR", "token is logged"),
        ("> [!CAUTION]\n> **[CRITICAL]** token is logged\n", "CRITICAL", "token is logged"),
        ("> [!WARNING]\n>\n> - **[MAJOR]** token is logged\n", "MAJOR", "token is logged"),
        ("**[MAJOR]**- token is logged\n", "MAJOR", "token is logged"),
        ("- **Major** - token is logged\n", "MAJOR", "token is logged"),
        ("![P1](https://img.shields.io/badge/P1-orange) token is logged\n", "MAJOR", "token is logged"),
        (
            "**<sub><sub>![P1 Badge](https://img.shields.io/badge/P1-red?style=flat)</sub></sub> token is logged**\n",
            "MAJOR",
            "token is logged",
        ),
        ("1. token is logged\n   - Severity: major\n", "MAJOR", "token is logged"),
        ("- token is logged\n  - **Priority:** 🟠 P1\n", "MAJOR", "token is logged"),
        ("- `[CRITICAL]` token is logged\n", "CRITICAL", "token is logged"),
        ("> - **[MAJOR]** token is logged\n\nThat is open.\n", "MAJOR", "token is logged"),
        ("> | **[MAJOR]** | token is logged |\n> |---|---|\n", "MAJOR", "token is logged"),
        ("- P1 (door.py): token is logged\n", "MAJOR", "(door.py): token is logged"),
        ("- door.py:3 token is logged [HIGH]\n", "MAJOR", "door.py:3 token is logged"),
        ("- door.py:3 token is logged - severity high\n", "MAJOR", "door.py:3 token is logged"),
        ("- token is logged (high severity)\n", "MAJOR", "token is logged"),
        ("- token is logged — HIGH\n", "MAJOR", "token is logged"),
        ("- ‘HIGH’ token is logged\n", "MAJOR", "token is logged"),
        ("> [!CAUTION]\n> token is logged\n", "MAJOR", "token is logged"),
        ("```\n[MAJOR] token is logged\n```\n", "MAJOR", "token is logged"),
        ("    **[MAJOR]** token is logged\n", "MAJOR", "** token is logged"),
        ("- **Kritisch**: token is logged\n", "CRITICAL", "token is logged"),
        ("- Hoch: token is logged\n", "MAJOR", "token is logged"),
        ("- :rotating_light: **Critical**: token is logged\n", "CRITICAL", "token is logged"),
        ("- <b>CRITICAL</b> token is logged\n", "CRITICAL", "token is logged"),
        ("- <strong>Critical</strong> token is logged\n", "CRITICAL", "token is logged"),
        ("- C1: CRITICAL token is logged\n", "CRITICAL", "C1: token is logged"),
        ("- ＭＡＪＯＲ: token is logged\n", "MAJOR", "token is logged"),
        ("- **𝐂𝐫𝐢𝐭𝐢𝐜𝐚𝐥**：token is logged\n", "CRITICAL", "token is logged"),
        ("- S1 - token is logged\n", "CRITICAL", "token is logged"),
        ("- SEV1 token is logged\n", "CRITICAL", "token is logged"),
        ("- 严重: token is logged\n", "CRITICAL", "token is logged"),
        ("- 严重：token is logged\n", "CRITICAL", "token is logged"),
    ],
)
def test_an_approval_with_a_severe_finding_is_refused_in_its_words(mistakes, said, severity, words):
    ((_, message),) = mistakes(f"## Decision: APPROVED\n\n{said}")
    assert message == f"APPROVED has no {severity} finding, and this is one: {words!r}"


@pytest.mark.parametrize(
    "said",
    [
        "- ~~**[MAJOR]** token is logged~~ fixed\n",
        "~~issue (blocking): token is logged~~\n",
        "- <del>**[MAJOR]** token is logged</del> fixed\n",
        "- ~~🔴 token is logged~~\n",
        "suggestion (non-blocking): a shorter name\n",
        "issue (not blocking): a shorter name\n",
        "🔴 0 · 🟠 0 · 🟡 2\n",
        "Legend: 🔴 Critical · 🟠 Major · 🟡 Minor\n",
        "### Test coverage (high)\n\nAll branches.\n",
        "> [!NOTE]\n> All is tested.\n",
        "> token is logged (review 1)\n\nThat is fixed.\n",
        "Approved once again, after the third round.\n",
        "The approved design is kept.\n",
    ],
)
def test_what_is_settled_or_said_of_something_else_stops_no_approval(read, said):
    assert read(f"# R\n\n## Decision: APPROVED\n\n{said}").decision == "approved"


@pytest.mark.parametrize(
    "said",
    [
        "Approved only if the token is no longer logged.\n",
        "All is well.\n\nI approve this, provided the token goes.\n",
        "## Summary\n\n- This is approved once the token is gone.\n",
        "It is conditionally approved.\n",
    ],
)
def test_a_condition_takes_an_approval_back_wherever_it_is(mistakes, read, said):
    ((_, message),) = mistakes(f"## Decision: APPROVED\n\n{said}")
    assert message.startswith("an approval has no condition, and this is one: ")
    assert read(f"## Decision: NEEDS_REVISION\n\n{said}").decision == "needs_revision"


@pytest.mark.parametrize(
    ("said", "severity"),
    [
        ("Must fix before merge: token is logged\n", "MAJOR"),
        ("- Must-fix before the next release — token is logged\n", "MAJOR"),
        ("Sev-1: token is logged\n", "CRITICAL"),
        ("- **SEV2** token is logged\n", "MAJOR"),
        ("### Severity 1\n\n- token is logged\n", "CRITICAL"),
        ("- [ ] [MAJOR] token is logged\n", "MAJOR"),
    ],
)
def test_what_blocks_a_merge_blocks_an_approval(mistakes, said, severity):
    ((_, message),) = mistakes(f"## Decision: APPROVED\n\n{said}")
    assert message == f"APPROVED has no {severity} finding, and this is one: 'token is logged'"


@pytest.mark.parametrize(
    "said",
    [
        "LGTM once the token is no longer logged.\n",
        "APPROVED WITH CONDITIONS: fix the token\n",
        "Approved, with one condition: the token goes.\n",
    ],
)
def test_a_condition_counts_in_other_words_for_an_approval_too(mistakes, said):
    ((_, message),) = mistakes(f"## Decision: APPROVED\n\n{said}")
    assert message.startswith("an approval has no condition, and this is one: ")


@pytest.mark.parametrize(
    "said", ["NEEDS_REVISION really", "- [x] NEEDS_REVISION", "## NEEDS REVISION", "Not approved."]
)
def test_a_text_that_decides_otherwise_is_a_mistake(mistakes, said):
    ((line, message),) = mistakes(f"## Decision: APPROVED\n\n{said}\n")
    assert line == 3
    assert message.startswith("the decision is APPROVED, and this is none: ")


@pytest.mark.parametrize(
    "said",
    [
        "- [x] [MAJOR] token is logged: fixed\n",
        "1. [X] **Critical:** token is logged\n",
        "- Sev-1: none\n",
        "## S1: a user signs in\n\nIt works.\n",
        "| Story | Says |\n|---|---|\n| S1 | a user signs in |\n",
        "- S3: the bucket is private\n",
        "- C1: critical paths are tested\n",
        "Must fix before merge: nothing\n",
        "LGTM once again.\n",
        "Approved with no conditions.\n",
        "- [ ] NEEDS_REVISION\n",
        "~~NEEDS_REVISION~~ settled\n",
        "NEEDS_REVISION was the decision of review 1.\n",
        "The decision of review 1 was NEEDS_REVISION.\n",
    ],
)
def test_a_finding_that_is_done_and_a_decision_that_is_past_stop_no_approval(read, said):
    assert read(f"# R\n\n## Decision: APPROVED\n\n{said}").findings == ()
