import pytest

from conversations.core.errors import CallRefused, ToolTimedOut
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.window.truncation import TRUNCATION_MARK
from conversations.providers.demo.answer import answer
from conversations.providers.demo.demo_prompt import DemoPrompt


def told(tool, text, *, question="What is it?", arguments="{}"):
    call = PromptToolCall("1", tool, arguments)
    steps = PromptMessage("assistant", "", None, (call,)), PromptMessage("tool", text, tool_call_id="1")
    return answer(DemoPrompt((PromptMessage("user", question), *steps), 9))


def test_it_says_what_the_clock_says():
    told_time = "Saturday, 10:00 UTC (2026-11-21T10:00:00+00:00)"
    assert told("current_time", told_time) == "The clock says: **Saturday, 10:00 UTC**."


def test_it_says_what_a_sum_makes():
    assert (
        told("calculator", "391", arguments='{"expression": "17 * 23"}') == "The calculator says: **17 \\* 23 = 391**."
    )


def test_it_quotes_what_a_tool_answers():
    assert told("search_conversation", "message 3: “The invoice is due.”\nmessage 9").endswith(
        "\n\n> message 3: “The invoice is due.”  \n> message 9  "
    )


def test_it_says_that_more_did_not_fit():
    assert told("search_documents", f"Herons {TRUNCATION_MARK}").endswith("the rest did not fit.")


@pytest.mark.parametrize(("question", "reply"), [("Do it.", "was not allowed"), ("做吧。", "没有得到允许")])
def test_it_says_that_a_call_was_refused(question, reply):
    assert reply in told("crm__create_ticket", CallRefused().for_the_model, question=question)


def test_it_says_that_a_tool_failed():
    reply = told("crm__create_ticket", ToolTimedOut(detail="After 30 seconds.").for_the_model)

    assert "`crm__create_ticket`, but it came to nothing" in reply
    assert "After 30 seconds." in reply


def test_it_says_that_nothing_came():
    assert "answered nothing" in told("crm__list", "")


def test_results_of_an_earlier_question_answer_no_other():
    call = PromptToolCall("1", "current_time", "{}")
    earlier = PromptMessage("assistant", "", None, (call,)), PromptMessage("tool", "10:00", tool_call_id="1")
    messages = PromptMessage("user", "?"), *earlier, PromptMessage("assistant", "10:00"), PromptMessage("user", "hello")

    assert "10:00" not in answer(DemoPrompt(messages, 9))


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("What time is it?", "scenario “With tools”"),
        ("What is 17 × 23?", "gives me a calculator"),
        ("现在几点？", "场景“带工具”里有时钟"),
        ("17 × 23 等于多少？", "场景“带工具”里有计算器"),
    ],
)
def test_without_tools_it_says_where_there_are_some(question, reply):
    assert reply in answer(DemoPrompt((PromptMessage("user", question),), 9))
