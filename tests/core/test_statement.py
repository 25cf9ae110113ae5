"""The text of an approval that is signed: one for each statement, and nothing else reads back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.statement import Statement, parse, text
from holdfast.errors import Refused

STATEMENT = Statement(
    decision="approve",
    workflow="01KDVDNA00WXYZ0123456789AB",
    id="release-1",
    step="publish/sign-off",
    attempt=2,
    waiting="2026-11-16T10:32:13.101Z",
    journal=(30, "f3" * 32),
    artifacts=(("notes", "NOTES.md", "0d" * 32),),
    shown="09" * 32,
    variant="A",
    modifications={"when": "later", "count": 2},
    feedback="",
    approvers=(3, "8c" * 32),
    nonce="mhTSpmz",
)
TEXT = f"""\
holdfast approval 2
decision "approve"
workflow "01KDVDNA00WXYZ0123456789AB"
id "release-1"
step "publish/sign-off"
attempt 2
waiting "2026-11-16T10:32:13.101Z"
journal [30,"{"f3" * 32}"]
artifact ["notes","NOTES.md","{"0d" * 32}"]
shown "{"09" * 32}"
variant "A"
modifications {{"count":2,"when":"later"}}
feedback ""
approvers [3,"{"8c" * 32}"]
nonce "mhTSpmz"
"""


def test_a_statement_has_one_field_a_line():
    assert text(STATEMENT) == TEXT
    assert parse(TEXT) == STATEMENT


WORDS = st.text(alphabet='ab"\\\n\r :,\u2028é\ud800', max_size=6)
STATEMENTS = st.builds(
    Statement,
    decision=st.sampled_from(["approve", "reject"]),
    workflow=WORDS,
    id=WORDS,
    step=WORDS,
    attempt=st.integers(0, 3),
    waiting=WORDS,
    journal=st.tuples(st.integers(0, 3), WORDS),
    artifacts=st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=2).map(tuple),
    shown=WORDS,
    variant=WORDS,
    modifications=st.dictionaries(WORDS, WORDS | st.integers() | st.booleans(), max_size=2),
    feedback=WORDS,
    approvers=st.tuples(st.integers(0, 3), WORDS),
    nonce=WORDS,
)


@given(STATEMENTS)
def test_every_statement_reads_back_from_a_text_in_which_no_value_adds_a_line(statement):
    said = text(statement)
    assert said.isascii()
    assert len(said.splitlines()) == 14 + len(statement.artifacts)
    assert text(parse(said)) == said


@given(STATEMENTS, STATEMENTS)
def test_two_statements_have_the_same_text_only_if_they_are_the_same(one, other):
    kinds: Any = [[(type(v), repr(v)) for v in sorted(s.modifications.items())] for s in (one, other)]
    assert (text(one) == text(other)) == (one == other and kinds[0] == kinds[1])


LINES = TEXT.splitlines(keepends=True)


@pytest.mark.parametrize(
    "said",
    [
        "",
        TEXT[:-1],
        TEXT + "\n",
        TEXT.replace("approval 2", "approval 1"),
        *(
            "".join(LINES[:i] + LINES[i + 1 :]) for i in range(len(LINES)) if i != 8
        ),  # without its artifacts it is another
        *("".join([*LINES[:i], LINES[i + 1], LINES[i], *LINES[i + 2 :]]) for i in range(1, len(LINES) - 1)),
        *(TEXT + line for line in LINES),
        TEXT.replace("variant", 'color "red"\nvariant'),
        TEXT.replace('"approve"', '"perhaps"'),
        TEXT.replace('"approve"', '"approv\\u0065"'),
        TEXT.replace("attempt 2", "attempt 2 "),
        TEXT.replace("attempt 2", "attempt 2.0"),
        TEXT.replace("attempt 2", "attempt true"),
        TEXT.replace("attempt 2", "attempt NaN"),
        TEXT.replace("attempt 2", "attempt " + "9" * 5000),
        TEXT.replace('{"count":2,"when":"later"}', '{"when":"later","count":2}'),
        TEXT.replace('{"count":2,"when":"later"}', '{"count":1,"count":2,"when":"later"}'),
        TEXT.replace('{"count":2,"when":"later"}', "[" * 100_000),
        TEXT.replace('journal [30,"', 'journal ["30","'),
        TEXT.replace('feedback ""', 'feedback "é"'),
        TEXT.replace("\n", "\r\n"),
    ],
)
def test_a_text_that_is_no_statement_is_refused(said):
    with pytest.raises(Refused) as caught:
        parse(said)
    assert caught.value.code == "bad_statement"
