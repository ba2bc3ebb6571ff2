import json

import pytest

from conversations.core.prompt.grounding_text import PromptPassage, render_question
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.providers.demo.choose_tools import choose_tools
from conversations.providers.demo.demo_prompt import DemoPrompt
from tests.support.cpu_time import cpu_time_under


def function(name, *arguments):
    properties = {each: {"type": "string"} for each in arguments}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(arguments)}}


TOOLS = {
    each["name"]: each
    for each in (
        function("calculator", "expression"),
        function("search_conversation", "query"),
        function("search_documents", "query"),
        function("crm__create_ticket", "title"),
        function("current_time") | {"parameters": {"type": "object", "properties": {"time_zone": {"type": "string"}}}},
    )
}


def called(question, *, tools=TOOLS, after=()):
    calls = choose_tools(DemoPrompt((PromptMessage("user", question), *after), 9, tools))
    return [(call.name, json.loads(call.arguments)) for call in calls]


@pytest.mark.parametrize(
    "question",
    [
        *("What time is it?", "what's the time", "What is the current time, please?", "What day is it?"),
        *("What's today's date?", "what is the time now", "现在几点了？", "今天几号？", "今天是星期几？", "几点了"),
    ],
)
def test_it_looks_at_the_clock(question):
    assert called(question) == [("current_time", {})]


@pytest.mark.parametrize(
    "question", ["What time does the talk begin?", "会议几点开始？", "What is the date of the fair?"]
)
def test_other_times_are_no_clocks(question):
    assert called(question) == []


def test_it_asks_for_the_time_somewhere():
    assert called("What time is it in Asia/Tokyo?") == [("current_time", {"time_zone": "Asia/Tokyo"})]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is 17 × 23?", "17 * 23"),
        ("17 x 23", "17 * 23"),
        ("what's 1,200 divided by 3?", "1200 / 3"),
        ("Calculate (3 + 4) * 2.", "(3 + 4) * 2"),
        ("How much is 12% of 480?", "12 / 100 * 480"),
        ("17 乘以 23 等于多少？", "17 * 23"),
        ("计算 2^10。", "2**10"),
        ("What is -3 + 5?", "-3 + 5"),
    ],
)
def test_it_has_sums_calculated(question, asked):
    assert called(question) == [("calculator", {"expression": asked})]


@pytest.mark.parametrize(
    "question", ["Call me on 555-1234", "What is the 24/7 hotline?", "What is 5?", "I am 3-4 years old"]
)
def test_other_numbers_are_no_sums(question):
    assert called(question) == []


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What did I say about the invoice?", "invoice"),
        ("Did I mention my sister's birthday?", "sister's birthday"),
        ("what have we said about lamps in the hall", "lamps in the hall"),
        ("我说过关于发票的什么？", "发票"),
        ("我之前提到过发票吗？", "发票"),
    ],
)
def test_it_searches_what_was_said(question, subject):
    assert called(question) == [("search_conversation", {"query": subject})]


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What do my documents say about herons?", "herons"),
        ("Search my documents for herons", "herons"),
        ("我的文档里关于苍鹭说了什么？", "苍鹭"),
    ],
)
def test_it_searches_the_documents(question, subject):
    assert called(question) == [("search_documents", {"query": subject})]


def test_passages_that_answer_make_a_search_needless():
    passages = [PromptPassage("Herons stand in the water. My documents say so.", "birds.txt")]

    assert called(render_question("What do my documents say about herons?", passages)) == []


def test_two_questions_are_two_calls():
    names = [name for name, _ in called("What time is it? And what is 17 × 23?")]

    assert names == ["current_time", "calculator"]


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ('Call crm__create_ticket with {"title": "Lamp {1}"}, please', '{"title": "Lamp {1}"}'),
        ("call crm__create_ticket", "{}"),
        ('调用 crm__create_ticket {"title": "灯"}', '{"title": "灯"}'),
        ("use `crm__create_ticket` with {broken", "{broken"),
    ],
)
def test_a_tool_that_is_named_is_called_with_what_is_written(question, arguments):
    [call] = choose_tools(DemoPrompt((PromptMessage("user", question),), 9, TOOLS))

    assert (call.name, call.arguments) == ("crm__create_ticket", arguments)


@pytest.mark.parametrize("question", ["Call me Ann", "call crm__delete_all with {}", "Run!", "use it"])
def test_what_is_no_tool_is_not_called(question):
    assert called(question) == []


@pytest.mark.parametrize("question", ["What time is it?", "what is 2 + 2?", "What did I say about tea?"])
def test_nothing_is_called_that_is_not_offered(question):
    assert called(question, tools={}) == []


def test_it_never_calls_again():
    call = PromptToolCall("1", "calculator", '{"expression": "1 + 1"}')
    steps = PromptMessage("assistant", "", None, (call,)), PromptMessage("tool", "2", tool_call_id="1")

    assert called("What is 1 + 1?", after=steps) == []


def test_ids_are_the_calls_own():
    first, second = (choose_tools(DemoPrompt((PromptMessage("user", q),), 9, TOOLS)) for q in ("1+1? 2+2?", "1+1?"))

    assert len({call.id for call in (*first, *second)}) == 3


@pytest.mark.parametrize(
    "bomb", ["(", "1", "1 ", "what is 1+", "1,", "what time ", "我说过", "call x", "我之前", "documents ", "find ", "{"]
)
def test_no_question_takes_long(bomb):
    question = f"= call crm__create_ticket {(bomb * 20_000)[:20_000]}"
    with cpu_time_under(20):  # what is quadratic here takes minutes
        choose_tools(DemoPrompt((PromptMessage("user", question),), 9, TOOLS))
