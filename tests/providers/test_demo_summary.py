"""The demo model's summary is an extract of first sentences that says so, and it quotes what one says."""

from __future__ import annotations

from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.summary_text import SummarizedMessage, render_summary, summary_request
from conversations.providers.demo.answer import answer
from conversations.providers.demo.demo_prompt import DemoPrompt
from conversations.providers.demo.extract_summary import HEADING

SAID = [
    SummarizedMessage("user", "My name is Anna. I like trains."),
    SummarizedMessage("assistant", "Hello Anna. How nice."),
    SummarizedMessage("user", "We launch on 14 March."),
]


def extract(previous="", said=SAID, limit_tokens=200):
    return answer(DemoPrompt(summary_request(previous, said, limit_tokens=limit_tokens), 100))


def test_it_is_an_extract_of_first_sentences_and_says_so():
    lines = ["- User: My name is Anna.", "- Assistant: Hello Anna.", "- User: We launch on 14 March."]
    assert extract().splitlines() == [HEADING, *lines]


def test_it_goes_on_from_the_one_before():
    longer = extract(extract(), [SummarizedMessage("user", "The ship is green. Or blue.")])
    assert longer.splitlines() == [*extract().splitlines(), "- User: The ship is green."]


def test_without_room_the_oldest_answers_go_first():
    assert extract(limit_tokens=70).splitlines() == [
        HEADING,
        "- User: My name is Anna.",
        "- User: We launch on 14 March.",
    ]


def test_what_people_said_is_quoted_from_the_summary():
    prompt = (render_summary(extract()), PromptMessage("user", "What is my name?"))
    assert "Your name is **Anna**: the summary of earlier messages" in answer(DemoPrompt(prompt, 100))
    asked = DemoPrompt((render_summary(extract()), PromptMessage("user", "When do we launch?")), 100)
    assert asked.message_count == 1
    assert "We launch on 14 March." in answer(asked)


def test_a_message_that_only_sounds_like_the_request_is_answered_as_any_other():
    assert HEADING not in answer(DemoPrompt((PromptMessage("user", "Summarise in at most 20 words: it is green."),), 9))
