"""The arguments of a call on one line."""

from __future__ import annotations

import json

import pytest

from conversations.wording.tool_labels import LONGEST_SHORT_CHARACTERS, built_in_labels, short_arguments


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("", ""),
        ("{}", ""),
        ('{"query": "the invoice"}', "the invoice"),
        ('{"query": "two\\nlines"}', "two lines"),
        ('{"a": 1, "b": [true, null]}', "a: 1, b: [true, null]"),
        ('{"a": {"b": "é"}}', '{"b": "é"}'),
        ("not JSON", "not JSON"),
        ('["a"]', '["a"]'),
        ("[" * 50_000, "[" * LONGEST_SHORT_CHARACTERS + "…"),
        (json.dumps({"q": "x" * 200_000}), None),
    ],
)
def test_arguments_are_shown_in_short(arguments, line):
    shown = short_arguments(arguments)
    assert len(shown) <= LONGEST_SHORT_CHARACTERS + 1
    assert line is None or shown == line


@pytest.mark.parametrize(
    ("sum_", "line"), [("17 * 23", "17 × 23"), ("17*23", "17×23"), ("9**9", "9**9"), ("2 * 3**2", "2 × 3**2")]
)
def test_a_product_is_written_as_people_do(sum_, line):
    assert short_arguments(json.dumps({"expression": sum_}), are_sums=True) == line


def test_only_a_built_in_tool_has_words_of_its_own():
    assert built_in_labels("calculator", "built-in")
    assert built_in_labels("calculator", "own") is None
    assert built_in_labels("crm__calculator", "crm (crm.example.org)") is None
