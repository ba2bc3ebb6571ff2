from decimal import Decimal

import pytest

from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.window.budget import ChatFormat, LanguageModel, budget_tokens, content_tokens, message_tokens

from .languages import by_character, language_model

OPENAI = ChatFormat()


def test_the_budget_is_what_the_reply_leaves():
    assert budget_tokens(language_model(1_000, reply_reserve_tokens=200)) == 800


def test_the_policys_cap_can_only_lower_the_budget():
    model = language_model(1_000, reply_reserve_tokens=200)
    assert budget_tokens(model, cap_tokens=300) == 300
    assert budget_tokens(model, cap_tokens=5_000) == 800


def test_calibration_divides_the_budget_and_rounds_down():
    model = language_model(1_000, reply_reserve_tokens=200)
    assert budget_tokens(model, calibration=Decimal("1.1")) == 727
    assert budget_tokens(model, cap_tokens=300, calibration=Decimal(3)) == 100


@pytest.mark.parametrize("calibration", ["0.999", "0", "-1"])
def test_calibration_can_never_raise_the_budget(calibration):
    with pytest.raises(ValueError, match="calibration"):
        budget_tokens(language_model(), calibration=Decimal(calibration))


@pytest.mark.parametrize("reply_reserve_tokens", [0, -1, 1_000, 1_001])
def test_a_reply_reserve_that_leaves_no_prompt_or_no_reply_is_refused(reply_reserve_tokens):
    with pytest.raises(ValueError, match="the reply reserve"):
        LanguageModel("test", 1_000, reply_reserve_tokens, "test")


def test_a_message_counts_its_content_and_the_overhead():
    message = PromptMessage("user", "hello")
    assert content_tokens(message, count_text=by_character, chat_format=OPENAI) == 5
    assert message_tokens(message, count_text=by_character, chat_format=OPENAI) == 9


def test_a_name_counts():
    named = PromptMessage("user", "hello", name="Ann")
    assert content_tokens(named, count_text=by_character, chat_format=OPENAI) == 5 + 3 + 1


def test_a_tool_call_counts_with_its_arguments():
    """A well-known fault: counting the function's name and not its arguments."""
    message = PromptMessage("assistant", "", tool_calls=(PromptToolCall("id", "find", '{"a": 1}'),) * 2)
    assert content_tokens(message, count_text=by_character, chat_format=OPENAI) == 2 * (2 + 4 + 8 + 3)


def test_a_tool_result_counts_the_call_that_it_answers():
    message = PromptMessage("tool", "found", tool_call_id="id")
    assert content_tokens(message, count_text=by_character, chat_format=OPENAI) == 5 + 2
