"""A conversation whose beginning is forgotten gets the window of one that begins there."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conversations.core.errors import PromptError
from conversations.core.window.compute_window import Window
from tests.support.hypothesis_profile import count_cases

from .cases import Case, cases


def forget(case: Case, units: int) -> Case:
    """Return *case* without its first units, as the database is read once they are forgotten."""
    kept = case.units[units:]
    return replace(case, units=kept, forgotten_before=kept[0].position if kept else case.newest.position)


def moved_to_the_beginning(case: Case) -> Case:
    """Return a case whose first message is the first one that *case* has not forgotten."""
    by = case.forgotten_before

    def moved(message):
        return message._replace(position=message.position - by)

    return replace(
        case,
        forgotten_before=0,
        units=tuple(replace(unit, messages=tuple(map(moved, unit.messages))) for unit in case.units),
        newest=moved(case.newest),
        newest_with_less_detail=case.newest_with_less_detail and moved(case.newest_with_less_detail),
        steps=tuple(map(moved, case.steps)),
        anchor=None if case.anchor is None else max(case.anchor - by, 0),
        recalled=case.recalled and tuple(replace(each, position=each.position - by) for each in case.recalled),
    )


def window_or_error(case: Case) -> Window | str:
    try:
        return case.window()
    except PromptError as error:
        return f"{error.code} {error.params}"


@settings(max_examples=count_cases(1_000))
@given(cases(), st.integers(1, 12))
def test_it_is_the_window_of_the_conversation_that_begins_there(case, units):
    assume(len(case.units) >= units)
    forgotten = forget(case, units)
    window, expected = window_or_error(forgotten), window_or_error(moved_to_the_beginning(forgotten))
    if isinstance(window, str) or isinstance(expected, str):
        assert window == expected
        return
    assert window.prompt == expected.prompt
    assert window.record.parts == expected.record.parts
    assert window.record.first_position == expected.record.first_position + forgotten.forgotten_before
    assert window.record.recall.limit_tokens == expected.record.recall.limit_tokens
    assert (window.record.summary is None) == (expected.record.summary is None)
    if window.record.summary:
        assert window.record.summary.left_out == expected.record.summary.left_out


@settings(max_examples=count_cases(500))
@given(cases(), st.integers(1, 12))
def test_nothing_that_was_found_in_what_is_forgotten_is_recalled(case, units):
    assume(len(case.units) >= units)
    window = window_or_error(forget(case, units))
    if isinstance(window, Window):
        forgotten = case.units[units - 1].messages[-1].position
        assert all(entry.position > forgotten for entry in window.record.recall.included)
