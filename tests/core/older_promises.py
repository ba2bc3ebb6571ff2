"""What the older messages of every window promise: each policy said again, the plain way."""

from __future__ import annotations

from collections.abc import Iterator

from conversations.core.window.compute_window import Window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import LastMessages, SlidingWindow, WholeConversation

from .cases import Case, StoredUnit
from .site_policies import EveryOther
from .step_promises import least_steps_tokens

FLAWS = ("excluded", "failed", "empty", "incomplete_tool_turn")


def the_room_is_what_everything_else_leaves(case: Case, window: Window) -> None:
    record = window.record
    parts = record.parts
    more_of_results = parts["tool_steps"] - least_steps_tokens(case)
    comes_later = parts["grounding"] + more_of_results if case.policy.refuses_to_drop else 0
    room = parts["older"] + parts["free"] + parts["recall"] + comes_later - case.unused_summary_tokens(window)
    beside_recall = room - case.policy.recall_tokens(room)
    if case.policy.always_refills:
        least = sum(unit.tokens(case.chat_format) for unit in _expected(case, beside_recall))
        assert least <= record.older_limit_tokens <= room
    else:
        assert record.older_limit_tokens == (room if parts["older"] > beside_recall else beside_recall)
    assert parts["older"] <= beside_recall or record.recall.limit_tokens == 0 or case.policy.always_refills


def room_tokens(case: Case, window: Window) -> int:
    """Return what is left for older messages and recall; no policy that recalls comes before the grounding."""
    parts = window.record.parts
    return parts["older"] + parts["free"] + parts["recall"] - case.unused_summary_tokens(window)


def it_sends_what_the_policy_says(case: Case, window: Window) -> None:
    expected = sorted(_expected(case, window.record.older_limit_tokens), key=lambda unit: unit.position)
    assert older_positions(window) == [message.position for unit in expected for message in unit.messages]


def _expected(case: Case, room_tokens: int) -> list[StoredUnit]:
    units = case.sendable_units
    if isinstance(case.policy, SlidingWindow):
        return slid(case, room_tokens)
    if isinstance(case.policy, LastMessages):
        most = case.policy.last_messages - 1
        chosen = naive(case, last_messages(units, most), room_tokens, skip=False)
        return chosen if len(chosen) == len(units) else from_a_question(chosen)
    if isinstance(case.policy, EveryOther):
        return naive(case, units[::2], room_tokens, skip=False)
    assert isinstance(case.policy, WholeConversation)
    return units


def last_messages(units: list[StoredUnit], most: int) -> list[StoredUnit]:
    count = next((n for n in range(len(units) + 1) if sum(len(u.messages) for u in units[:n]) > most), len(units) + 1)
    return units[: count - 1]


def naive(case: Case, units: list[StoredUnit], room_tokens: int, *, skip: bool, above: int = 0) -> list[StoredUnit]:
    """Return the newest units until one does not fit; with *skip*, going on after one of more tokens than *above*."""
    chosen = []
    for unit in units:
        tokens = unit.tokens(case.chat_format)
        if tokens <= room_tokens:
            chosen.append(unit)
            room_tokens -= tokens
        elif not skip or tokens <= above:
            break
    return chosen


def slid(case: Case, room_tokens: int) -> list[StoredUnit]:
    """Return what there is from the anchor on if that fits and is not too little, else what fills the mark."""
    units, skip = case.sendable_units, case.policy.skip_oversized
    if case.policy.low_water_share == 1:
        return naive(case, units, room_tokens, skip=skip)
    mark_tokens = int(room_tokens * case.policy.low_water_share)
    from_anchor = [unit for unit in units if case.anchor is None or unit.position >= case.anchor]
    stays = naive(case, from_anchor, room_tokens, skip=skip, above=mark_tokens)
    missing = [unit for unit in from_anchor if unit not in stays]
    all_fit = not any(not skip or unit.tokens(case.chat_format) <= mark_tokens for unit in missing)
    is_enough = len(from_anchor) == len(units) or 2 * tokens_of(case, stays) >= mark_tokens
    if all_fit and is_enough:
        return stays
    filled = naive(case, units, mark_tokens, skip=skip, above=mark_tokens)
    stepped = from_a_question(filled) or filled
    if 2 * tokens_of(case, stepped) >= mark_tokens:
        return stepped
    return naive(case, units, room_tokens, skip=skip, above=mark_tokens)


def from_a_question(units: list[StoredUnit]) -> list[StoredUnit]:
    """Return *units*, newest first, without the oldest ones up to a question; none if there is no question."""
    questions = [number for number, unit in enumerate(units) if unit.messages[0].message.role == "user"]
    return units[: questions[-1] + 1] if questions else []


def tokens_of(case: Case, units: list[StoredUnit]) -> int:
    return sum(unit.tokens(case.chat_format) for unit in units)


def after_a_step_they_take_at_most_the_mark(case: Case, window: Window) -> None:
    """A step: the window does not begin where it did, and something was left out.

    Unless that is less than half of the mark: then all of the room is filled.
    """
    record = window.record
    if not isinstance(case.policy, SlidingWindow) or case.policy.low_water_share == 1 or not record.left_out:
        return
    began = [unit.position for unit in case.sendable_units if case.anchor is None or unit.position >= case.anchor]
    if began and oldest_position(case, window) != began[-1] and not case.policy.skip_oversized:
        mark_tokens = int(record.older_limit_tokens * case.policy.low_water_share)
        filled = naive(case, case.sendable_units, mark_tokens, skip=False)
        stepped = from_a_question(filled) or filled
        assert record.parts["older"] <= mark_tokens or 2 * tokens_of(case, stepped) < mark_tokens


def what_was_left_out_for_its_size_does_not_fit(case: Case, window: Window) -> None:
    free_tokens = window.record.older_limit_tokens - window.record.parts["older"]
    for unit, reason in left_out_units(case, window):
        fits = unit.tokens(case.chat_format) <= free_tokens
        is_before = unit.position < window.record.first_position
        never = unit.flaw or ("oversized" if unit in case.oversized_units else None)
        assert reason == (never or ("policy" if fits else "does_not_fit" if is_before else "oversized"))


def a_unit_is_sent_whole_or_not_at_all(case: Case, window: Window) -> None:
    sent = {entry.position for entry in window.record.entries}
    for unit in case.units:
        positions = {message.position for message in unit.messages}
        assert not sent & positions if unit.flaw else positions <= sent or not sent & positions


def every_message_from_the_first_on_is_accounted_for(case: Case, window: Window) -> None:
    sent = {entry.position for entry in window.record.entries}
    left_out = [out.position for out in window.record.left_out if out.position < case.newest.position]
    assert left_out == sorted(set(left_out) - sent, reverse=True)
    for position, message in case.stored.items():
        if position >= window.record.first_position:
            assert (position in sent) != (position in left_out)
            assert not (message.excluded and position in sent)


def of_what_could_be_sent_only_the_nearest_before_it_is_named(case: Case, window: Window) -> None:
    first_position = window.record.first_position
    before = [unit for unit in case.sendable_units if unit.position < first_position]
    named = [unit for unit, _ in left_out_units(case, window) if unit in case.sendable_units]
    assert [unit for unit in named if unit.position < first_position] in ([], before[:1])


def no_more_is_read_than_could_be_sent(case: Case, window: Window) -> None:
    """But for the unit by which the end is known, and the message that ends it."""
    read: list[int] = []
    assert case.window(_noting(case.newest_first(), read)) == window
    if case.policy.refuses_to_drop or case.policy.skip_oversized or isinstance(case.policy, EveryOther):
        return
    tokens = 0
    for unit in case.sendable_units:
        tokens += unit.tokens(case.chat_format)
        if tokens > room_tokens(case, window):
            assert min(read) >= unit.position - 1


def _noting(messages: Iterator[HistoryMessage], read: list[int]) -> Iterator[HistoryMessage]:
    for message in messages:
        read.append(message.position)
        yield message


def oldest_position(case: Case, window: Window) -> int:
    return min([*older_positions(window), case.newest.position])


def the_record_says_where_the_seen_part_begins(case: Case, window: Window) -> None:
    record = window.record
    assert record.anchor == case.anchor
    pinned = {pin.position for pin in case.pins}
    oversized = {message.position for unit in case.oversized_units for message in unit.messages}
    looked_at = {message.position for message in record.left_out}
    never_sent = {message.position for message in record.left_out if message.reason in FLAWS} | (oversized & looked_at)
    assert pinned | never_sent >= set(range(record.first_position, oldest_position(case, window)))
    assert record.first_position - 1 not in pinned | never_sent
    assert record.messages_before_window == len([p for p in range(record.first_position) if p not in pinned])


def older_positions(window: Window) -> list[int]:
    return [entry.position for entry in window.record.entries if entry.kind == "older"]


def left_out_units(case: Case, window: Window) -> Iterator[tuple[StoredUnit, str]]:
    """Yield the units that were looked at and left out, with the reason that all of their messages share."""
    reasons = {message.position: message.reason for message in window.record.left_out}
    for unit in case.units:
        found = {reasons.get(message.position) for message in unit.messages}
        if found != {None}:
            (reason,) = found
            yield unit, reason


PROMISES = (
    the_room_is_what_everything_else_leaves,
    it_sends_what_the_policy_says,
    after_a_step_they_take_at_most_the_mark,
    what_was_left_out_for_its_size_does_not_fit,
    a_unit_is_sent_whole_or_not_at_all,
    every_message_from_the_first_on_is_accounted_for,
    of_what_could_be_sent_only_the_nearest_before_it_is_named,
    no_more_is_read_than_could_be_sent,
    the_record_says_where_the_seen_part_begins,
)
