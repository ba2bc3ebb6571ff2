"""The demo model answers from passages: it names and quotes them, and cites their numbers."""

from __future__ import annotations

import time

import pytest

from conversations.core.prompt.grounding_text import PromptPassage, render_question
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.truncation import truncate_text
from conversations.providers.demo.answer import answer
from conversations.providers.demo.demo_prompt import DemoPrompt, parse_grounding


def talk(title: str, abstract: str, *, room: str = "Room 2", start: str = "10:30") -> PromptPassage:
    return PromptPassage(f"title: {title}\nroom: {room}\nstart: {start}\nabstract: {abstract}", f"talks.json › {title}")


CACHES = talk("Faster builds with remote caches", "Why compile it again? A remote cache cuts build times in half.")
PHONES = talk("Offline first", "Mobile apps live in tunnels. They have to wait.", room="Hall", start="9:00")
FARM = talk("A farm of phones", "Builds for mobile need devices.", room="Hall", start="11:00")


def ask(question: str, *passages: PromptPassage, left_out: int = 0, before: str = "Hello.") -> str:
    asked = render_question(question, passages, left_out=left_out)
    spoken = [PromptMessage("user", before), PromptMessage("assistant", "Yes."), PromptMessage("user", asked)]
    return answer(DemoPrompt(tuple(spoken), tokens=100))


def test_a_record_is_named_with_where_and_when_and_quoted():
    assert ask("Is there a talk about build times?", PHONES, CACHES) == (
        "**Faster builds with remote caches** — 10:30, Room 2: “A remote cache cuts build times in half.” [2]"
    )


def test_others_that_fit_as_well_are_named_beside():
    assert ask("Is there anything on mobile?", PHONES, FARM) == (
        "**Offline first** — 9:00, Hall: “Mobile apps live in tunnels.” [1]\n\n"
        "Also: **A farm of phones** — 11:00, Hall [2]."
    )


def test_a_broad_question_gets_a_list_of_all_that_fit_and_hears_what_did_not():
    assert ask("What sessions are about mobile?", CACHES, PHONES, FARM, left_out=17) == (
        "2 of the passages I was sent are about that:\n\n"
        "- **Offline first** — 9:00, Hall [2]\n"
        "- **A farm of phones** — 11:00, Hall [3]\n\n"
        "17 more passages were found but did not fit. Ask more narrowly to see them."
    )


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (0, "I can't see anything about that in the 3 messages I was given"),
        (1, "may be among the 1 that were found but did not fit"),
        (5, "may be among the 5 that were found but did not fit"),
    ],
)
def test_it_says_when_the_answer_may_have_been_left_out(left_out, words):
    assert words in ask("Is there a talk about gardening?", CACHES, PHONES, left_out=left_out)


def test_what_a_person_said_answers_where_no_passage_does():
    reply = ask("Where is my garden?", CACHES, before="My garden is in Lisbon.", left_out=3)
    assert reply == "Message 1 of the 3 I was given says: “My garden is in Lisbon.”"


def test_a_text_is_quoted_under_its_last_heading():
    manual = PromptPassage("It is old. Press the red button to stop.", "manual.pdf › Safety › Stopping")
    assert ask("How do I stop it with the button?", manual) == ("**Stopping**: “Press the red button to stop.” [1]")


def test_citations_and_the_mark_of_a_cut_are_no_part_of_a_quote():
    cut = PromptPassage(truncate_text("The bridge is long [3], as they say [1, 2], and wide", 48), "bridges.txt")
    assert ask("Is the bridge long?", cut) == "“The bridge is long, as they say, and” [1]"


def test_questions_in_chinese_are_answered_in_chinese():
    record = PromptPassage("标题: 远程缓存\n房间: 二号厅\n时间: 10:30\n内容: 远程缓存让构建时间减半。", "日程.json")
    assert ask("有关于构建时间的演讲吗？", record) == "**远程缓存** — 10:30, 二号厅: “远程缓存让构建时间减半。” [1]"
    assert "另外找到 2 个段落" in ask("哪些是关于构建时间的演讲？", record, left_out=2)


def test_how_long_it_is_in_chinese_says_nothing_of_what_it_is_about():
    manual = PromptPassage("保修期为两年，从购买之日起计算。", "手册.txt")
    assert ask("保修期多长？", manual) == "“保修期为两年，从购买之日起计算。” [1]"


def test_grounding_is_read_as_it_was_rendered():
    passages = [PromptPassage("Question: what is it?\n[2] not a passage\n\n(3 more passages)", "a.txt"), CACHES]
    read = parse_grounding(render_question("So?\n\n[9] x", passages, left_out=4))
    assert (read.question, read.left_out, len(read.passages)) == ("So?\n\n[9] x", 4, 2)
    assert read.passages[0].text == "Question: what is it?\n[2] not a passage\n(3 more passages)"
    assert read.passages[1].fields["room"] == "Room 2"


@pytest.mark.parametrize("hostile", ["a: b\n" * 20_000, "x" * 100_000, "what " * 20_000, "所有" * 30_000], ids=len)
def test_hostile_passages_and_questions_are_answered_quickly(hostile):
    began = time.thread_time()
    assert ask(f"What is it? {hostile}", PromptPassage(hostile, hostile[:1_000]), left_out=1)
    assert time.thread_time() - began < 3
