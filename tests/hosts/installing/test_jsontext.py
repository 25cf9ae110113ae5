"""JSON of somebody else is edited as text: what is not ours stays as it is written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.hosts.installing.jsontext import Document

TABS = '{\n\t"model": "opus",\n\t"env": {"A": "1"}\n}'
COMMENTED = """\
// my settings
{
    /* the one that I like */
    "model": "x/y", // not z
    "mcp": {
        "other": { "type": "remote" }, // stays
    },
}
"""


def test_a_new_key_is_indented_as_the_file_is():
    document = Document(TABS, "f").put(("hooks", "Stop"), [1])
    assert (
        document.text
        == '{\n\t"model": "opus",\n\t"env": {"A": "1"},\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t1\n\t\t]\n\t}\n}'
    )


def test_line_ends_of_another_system_stay():
    text = TABS.replace("\n", "\r\n")
    edited = Document(text, "f").put(("b",), {"c": 1}).text
    assert "\n" not in edited.replace("\r\n", "")
    assert edited.startswith(text[: text.rindex("\r\n")])


def test_a_file_on_one_line_stays_on_one_line():
    assert Document('{"a": 1}', "f").put(("b",), {"c": [2]}).text == '{"a": 1, "b": {"c": [2]}}'
    assert Document('{"a": {"b": 1}}', "f").put(("a", "b"), [1, 2]).text == '{"a": {"b": [1, 2]}}'
    assert Document('{"a":1}\n', "f").put(("b",), {"c": [2]}).text == '{"a":1,"b":{"c":[2]}}\n'


@pytest.mark.parametrize("empty", ["{}", "{ }\n", "{\n}\n", "{\n\n}"])
def test_an_empty_object_opens_up(empty):
    text = Document(empty, "f").put(("a",), 1).text
    assert text.startswith('{\n  "a": 1\n}')


def test_comments_and_trailing_commas_stay_where_they_are_allowed():
    document = Document(COMMENTED, "f", comments=True).put(("mcp", "holdfast"), {"type": "local"})
    kept = [line for line in document.text.splitlines() if line in COMMENTED.splitlines()]
    assert kept == COMMENTED.splitlines()
    assert document.value("mcp", "holdfast") == {"type": "local"}
    assert document.take(("mcp", "holdfast")).value("mcp") == {"other": {"type": "remote"}}


def test_a_comment_at_the_end_of_an_object_does_not_swallow_what_is_added():
    document = Document('{\n  "a": 1 // one\n  // nothing more\n}', "f", comments=True).put(("b",), 2)
    assert document.text == '{\n  "a": 1, // one\n  // nothing more\n  "b": 2\n}'
    alone = Document("{\n  // nothing here\n}", "f", comments=True).put(("b",), 2)
    assert alone.text == '{\n  // nothing here\n  "b": 2\n}'


def test_a_comment_is_a_mistake_where_a_host_does_not_read_it():
    with pytest.raises(UsageError) as refusal:
        Document('{\n  "a": 1 // one\n}', "settings.json")
    assert refusal.value.message.startswith("settings.json:2: ")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{\n'a': 1}", 2),
        ('{"a": 1,}', 1),
        ('{\n"a": 1\n"b": 2}', 3),
        ('{\n"a" 1}', 2),
        ('{\n"a": nope}', 2),
        ('\n{"a": [1, 2}', 2),
        ("", 1),
        ('{"a": 1', 1),
        ("{}\n{}", 2),
        ('{"a": NaN}', 1),
        ("[" * 5000, 1),
        ("{1: 2}", 1),
        ('{"a": "x\ny"}', 1),
    ],
)
def test_a_broken_file_is_named_with_the_line(text, line):
    with pytest.raises(UsageError) as refusal:
        Document(text, "f.json")
    assert refusal.value.code == "broken_file"
    assert refusal.value.message.startswith(f"f.json:{line}: ")


def test_a_comment_that_does_not_end_is_a_mistake():
    with pytest.raises(UsageError, match=r"f:2: unclosed comment"):
        Document("{}\n/* ", "f", comments=True)


def test_what_has_another_shape_is_not_written_over():
    with pytest.raises(UsageError, match=r"f:2: hooks must be an object"):
        Document('{\n"hooks": []}', "f").put(("hooks", "Stop"), [])
    with pytest.raises(UsageError, match=r"f:1: hooks must be a list"):
        Document('{"hooks": {}}', "f").append(("hooks",), 1)


def test_of_a_key_that_is_there_twice_the_last_one_counts():
    document = Document('{"a": {"b": 1}, "a": {"b": 2}}', "f").put(("a", "b"), 3)
    assert document.text == '{"a": {"b": 1}, "a": {"b": 3}}'


def test_what_is_taken_out_leaves_no_empty_shells_and_no_commas():
    text = '{\n  "a": 1,\n  "b": {\n    "c": [\n      1\n    ]\n  }\n}\n'
    assert Document(text, "f").take(("b", "c", 0)).text == '{\n  "a": 1\n}\n'
    assert Document('{"a": [1, 2, 3]}', "f").take(("a", 1)).text == '{"a": [1, 3]}'
    assert Document('{"a": 1}', "f").take(("a",)).text == "{}"
    assert Document('{"a": 1}', "f").take(("x", "y")).text == '{"a": 1}'


KEYS = st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4), KEYS, VALUES, st.sampled_from([None, 1, 2, 4, "\t"]))
def test_any_value_goes_in_and_out_again_and_nothing_else_changes(data, key, value, indent):
    data.pop(key, None)
    text = json.dumps(data, indent=indent)
    with_it = Document(text, "f").put((key,), value)
    assert json.loads(with_it.text) == {**data, key: value}
    assert json.loads(with_it.take((key,)).text) == data


@given(st.lists(VALUES, min_size=1, max_size=5), st.integers(0, 4), st.sampled_from([None, 2]))
def test_any_item_can_be_taken_out_of_a_list(items, number, indent):
    number %= len(items)
    document = Document(json.dumps({"a": items, "b": 1}, indent=indent), "f").take(("a", number))
    left = [*items[:number], *items[number + 1 :]]
    assert json.loads(document.text) == ({"a": left, "b": 1} if left else {"b": 1})
