import pytest

from conversations.core.prompt.grounding_text import PromptPassage, render_question
from conversations.core.prompt.messages import PromptMessage
from conversations.providers.demo.answer import answer
from conversations.providers.demo.demo_prompt import DemoPrompt, split_sentences
from conversations.providers.demo.quotations import keywords
from tests.support.cpu_time import cpu_time_under


def ask(*contents, system="You are helpful."):
    """Ask the last of *contents*, said in turns by the person and the assistant."""
    messages = [PromptMessage("system", system)]
    messages += [PromptMessage(("user", "assistant")[n % 2], content) for n, content in enumerate(contents)]
    return answer(DemoPrompt(tuple(messages), tokens=1_234))


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("Hi! My name is Andrew.", "Andrew"),
        ("my name is Andrew and I live in Paris", "Andrew"),
        ("I'm Andrew.", "Andrew"),
        ("I am called Mary Ann Smith, by the way", "Mary Ann Smith"),
        ("Call me O’Neil!", "O’Neil"),
        ("I'm French. My name is Jean-Luc.", "Jean-Luc"),
        ("我叫李雷。", "李雷"),
        ("我的名字是韩梅梅，你好", "韩梅梅"),
    ],
)
@pytest.mark.parametrize(
    "question", ["What is my name?", "what's my name", "Do you remember my name?", "我叫什么名字？"]
)
def test_it_finds_a_name_that_was_said(statement, name, question):
    reply = ask(statement, "Hello.", question)

    assert f"**{name}**" in reply
    assert name in reply.partition("**")[2].partition("“")[2]


def test_it_says_in_which_message_the_name_was():
    assert "message 3 of the 5" in ask("Hi.", "Hello.", "My name is Andrew.", "Fine.", "What is my name?")


@pytest.mark.parametrize(
    ("question", "reply"),
    [("What is my name?", "I can't see your name in the 3 messages"), ("我叫什么名字？", "看不到你的名字")],
)
def test_it_says_that_a_name_has_fallen_out(question, reply):
    assert reply in ask("Hi.", "Your name is Andrew.", question)


def test_the_newest_name_counts():
    assert "**Bea**" in ask("My name is Ann.", "Hello.", "No, my name is Bea.", "Hello.", "What is my name?")


def test_a_recalled_message_is_a_passage_like_any_other():
    recalled = render_question("What is my name?", [PromptPassage("My name is Andrew.", "message 2")])

    assert "**Andrew**: passage [1] says" in ask(recalled)


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("My favourite colour is blue.", "What's my favorite color?"),
        ("I live in Paris.", "Where do I live?"),
        ("We have been living in Paris for years.", "Where do I live?"),
        ("I work at the harbour.", "Where am I working?"),
        ("The budget is 3.5 million.", "What did I say about the budget?"),
        ("我喜欢的颜色是蓝色。", "我喜欢什么颜色？"),
        ("我住在北京。", "我住在哪里？"),
    ],
)
def test_it_quotes_the_sentence_that_has_the_questions_words(statement, question):
    reply = ask(f"Good day. {statement} It rains.", "I see.", question)

    assert f"“{statement}”" in reply
    assert "can't see" not in reply
    assert "看不到" not in reply


def test_a_weak_match_is_only_called_the_closest():
    reply = ask("My favourite colour is blue.", "I see.", "What is my favourite food?")

    assert reply.startswith("I can't see that")
    assert "“My favourite colour is blue.”" in reply


def test_it_says_so_when_there_is_nothing():
    reply = ask("I live in Paris.", "I see.", "What did I say about the harvest?")

    assert reply == "I can't see anything about that in the 3 messages I was given, 1,234 tokens in all."


def test_an_earlier_question_answers_nothing():
    assert "can't see anything" in ask("What is the harvest?", "I do not know.", "What is the harvest?")


def test_it_does_not_quote_itself():
    assert "can't see anything" in ask("Hi.", "The harvest is in June.", "When is the harvest?")


PASSAGES = [
    PromptPassage("The town is old.\n\n[7] Its walls are older.", "town.txt"),
    PromptPassage("The bridge was built in 1932 [3]. It is 503 m long.", "bridges.txt"),
]


def test_it_answers_from_grounding_with_the_passages_number():
    reply = ask(render_question("When was the bridge built?", PASSAGES, left_out=2))

    assert reply == "“The bridge was built in 1932.” [2]"


def test_a_passage_may_hold_what_looks_like_another():
    prompt = DemoPrompt((PromptMessage("user", render_question("?", PASSAGES)),), 0)

    assert [(each.number, each.source) for each in prompt.passages] == [(1, "town.txt"), (2, "bridges.txt")]
    assert prompt.question == "?"


def test_it_reads_the_system_prompt_last():
    assert "system prompt says: “The harvest is in June.”" in ask(
        "When is the harvest?", system="The harvest is in June."
    )


@pytest.mark.parametrize(
    ("content", "reply"),
    [
        ("hello", "not a language model"),
        ("你好", "不是语言模型"),
        ("who are you?", "not a language model"),
        ("how many messages can you see?", "1 message of this conversation, 1,234 tokens"),
        ("I have a dog.", "I have read that"),
        ("", "I have read that"),
        ("?", "can't see anything"),
        ("x" * 5_000, "I have read that"),
    ],
)
def test_it_says_what_it_is_and_what_it_sees(content, reply):
    assert reply in ask(content)


def test_a_statement_reminds_it_of_an_earlier_one():
    assert "reminds me of message 1 of the 3 I was given: “I have a dog.”" in ask(
        "I have a dog.", "Oh.", "A dog barks."
    )


def test_the_tour_of_markdown_shows_every_kind_of_block():
    tour = ask("show me markdown")

    assert tour == ask("/markdown")
    for mark in ("# A tour", "1. First", "| --- |", "```python", "$$", "> I can"):
        assert mark in tour


def test_it_counts():
    assert ask("count to 12") == "1, 2, 3, 4, 5, 6, 7, 8, 9, 10,\n11, 12"
    assert ask("count to 999999999").endswith("That is as far as the demo model counts.")
    assert ask("count to 0") == "There is nothing to count."


def test_a_long_story_is_long_and_made_of_what_was_said():
    story = ask("My dog barks.", "I see.", "tell me a long story")

    assert len(story) > 3_000
    assert story.count("My dog barks.") == 40


@pytest.mark.parametrize(
    "hostile",
    [
        "count " * 20_000,
        "show " * 20_000,
        "? " * 50_000,
        " " * 100_000 + "x",
        "我" * 50_000,
        "a" * 100_000,
        "count to " + "9" * 10_000,
        "[1] x\n" * 20_000,
    ],
    ids=lambda text: text[:8],
)
def test_a_hostile_message_is_answered_quickly(hostile):
    with cpu_time_under(10):
        assert ask(hostile, "I see.", hostile)


def test_braces_and_markup_in_a_quotation_are_left_alone():
    assert "“The {budget} is <b>low</b>.”" in ask("The {budget} is <b>low</b>.", "I see.", "What is the budget?")


def test_the_same_prompt_gets_the_same_answer():
    assert ask("I live in Paris.", "I see.", "Where do I live?") == ask(
        "I live in Paris.", "I see.", "Where do I live?"
    )


def test_sentences_end_where_people_end_them():
    assert split_sentences("It is 3.5 m, i.e. long! Is it?\nYes。好。") == [
        "It is 3.5 m, i.e.", "long!", "Is it?", "Yes。", "好。"
    ]  # fmt: skip


def test_words_count_by_their_stems():
    assert keywords("Where do I live?") == keywords("I was living") == {"liv"}
    assert keywords("我喜欢什么颜色？") == {"喜欢", "颜色"}
