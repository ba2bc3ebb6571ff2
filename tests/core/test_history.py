from conversations.core.window.history import Unit, group_into_units, sendable

from .languages import message, tool_call, tool_result


def units(*oldest_first, overhead_tokens=0):
    return list(group_into_units(reversed(oldest_first), overhead_tokens=overhead_tokens))


def positions(found):
    return [[member.position for member in unit.messages] for unit in found]


def test_each_message_is_a_unit_newest_first():
    assert positions(units(message(0), message(1), message(2))) == [[2], [1], [0]]


def test_a_unit_is_what_its_class_makes():
    """That of one message is made without it, which checks neither how many fields there are nor their order."""
    one = message(3, "Hello")
    [unit] = units(one, overhead_tokens=4)
    assert unit == Unit((one,), 4 + one.content_tokens, position=3)
    assert type(unit) is Unit


def test_tool_calls_and_their_results_are_one_unit_oldest_first():
    history = (message(0), tool_call(1, ids=("a", "b")), tool_result(2), tool_result(3, call_id="b"), message(4))
    assert positions(units(*history)) == [[4], [1, 2, 3], [0]]


def test_two_tool_turns_in_a_row_are_two_units():
    history = (tool_call(0), tool_result(1), tool_call(2, ids=("b",)), tool_result(3, call_id="b"))
    assert positions(units(*history)) == [[2, 3], [0, 1]]
    assert [unit.flaw for unit in units(*history)] == [None, None]


def test_a_result_without_its_call_has_a_flaw():
    lost = units(message(0, "asked"), tool_result(1, "found"), message(2, "newest"))[1]
    assert lost.flaw == "incomplete_tool_turn"
    assert units(tool_result(0, "found"))[0].flaw == "incomplete_tool_turn"


def test_a_call_without_its_result_has_a_flaw():
    assert units(tool_call(0), message(1, "next"))[1].flaw == "incomplete_tool_turn"


def test_a_result_of_another_call_has_a_flaw():
    assert units(tool_call(0), tool_result(1, call_id="b"))[0].flaw == "incomplete_tool_turn"


def test_a_unit_is_excluded_with_any_of_its_messages():
    assert units(tool_call(0), tool_result(1, "found", excluded=True))[0].flaw == "excluded"


def test_a_reply_that_came_to_nothing_is_empty():
    assert units(message(1, ""))[0].flaw == "empty"


def test_a_tool_call_or_result_without_words_is_not_empty():
    assert units(tool_call(0), tool_result(1, ""))[0].flaw is None


def test_it_reads_no_further_than_the_unit_that_is_asked_for():
    endless = (message(position, "x") for position in range(10, 0, -1))
    found = group_into_units(endless, overhead_tokens=0)
    assert [next(found).messages[0].position, next(found).messages[0].position] == [10, 9]
    assert next(endless).position == 8


def test_a_unit_counts_each_of_its_messages_with_its_overhead():
    alone, turn = units(tool_call(0), tool_result(1, "found"), message(2, "hello"), overhead_tokens=4)
    assert alone.tokens == 5 + 4
    assert turn.tokens == (1 + 1 + 2) + 4 + (1 + 5) + 4


def test_a_unit_stands_where_it_begins():
    assert [unit.position for unit in units(message(0), tool_call(1), tool_result(2))] == [1, 0]


def test_pins_keep_their_order_without_those_that_cannot_be_sent():
    pins = [message(1, "a"), message(2, "b", excluded=True), tool_call(5), message(7, ""), message(9, "c")]
    assert [pin.position for pin in sendable(pins)] == [1, 9]


def test_a_tool_turn_pinned_whole_stays_a_pin():
    pins = [message(1, "a"), tool_call(5), tool_result(6, "found")]
    assert [pin.position for pin in sendable(pins)] == [1, 5, 6]
