"""Thoughts in the content of a completion, told apart from the reply however they are split."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.providers.openai_api.think_tags import Said, ThinkTags, ThinkTagsUse, Thought, WasThought


def split_thoughts(pieces: Iterable[str], use: ThinkTagsUse = "yes") -> tuple[str, str]:
    """Return the thoughts and the reply that *pieces* of content hold."""
    tags = ThinkTags(use)
    thought, said = "", ""
    for piece in [each for text in pieces for each in tags.feed(text)] + list(tags.end()):
        match piece:
            case Said(text):
                assert text
                said += text
            case Thought(text):
                assert text
                thought += text
            case WasThought():
                thought, said = thought + said, ""
    return thought, said


CASES = {
    "no tags": ("Hello", "", "Hello"),
    "thought and reply": ("<think>secret plan</think>Hello", "secret plan", "Hello"),
    "blank lines around": ("\n<think>\nsecret\n</think>\n\nHello\n", "\nsecret\n", "Hello\n"),
    "the longer tag": ("<thinking>a</thinking>b", "a", "b"),
    "Magistral's tags": ("[THINK]a[/THINK]\nb", "a", "b"),
    "Gemini's tags": ("<thought>a</thought>b", "a", "b"),
    "tags of Seed": ("<seed:think>a</seed:think>b", "a", "b"),
    "tags of Kimi": ("◁think▷a◁/think▷b", "a", "b"),
    "empty thoughts": ("<think>\n\n</think>\n\nHello", "\n\n", "Hello"),
    "never closed": ("<think>for ever", "for ever", ""),
    "cut within the closing tag": ("<think>for ever</thi", "for ever</thi", ""),
    "cut within the opening tag": ("<thi", "", "<thi"),
    "only blank": ("  \n", "", "  \n"),
    "closed twice": ("<think>a</think>b</think>\nc", "a", "b</think>\nc"),
    "opened again later": ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
    "in the middle": ("Hello <think>not thought</think> you", "", "Hello <think>not thought</think> you"),
    "opening tag missing": ("First I add.\n</think>\n\nIt is 4.", "First I add.\n", "It is 4."),
    "opening tag missing, no line before": ("I add.</think>\nIt is 4.", "I add.", "It is 4."),
    "opening tag missing, nothing after": ("I add.\n</think>", "I add.\n", ""),
    "a closing tag that a sentence names": ("Write </think> at the end.", "", "Write </think> at the end."),
    "within a block of code": ("```\nx\n</think>\n```\ny", "", "```\nx\n</think>\n```\ny"),
    "within a span of code": ("Use `</think>`\nor `a\n", "", "Use `</think>`\nor `a\n"),
    "after a block of code": ("```\nx\n```\n</think>\ny", "```\nx\n```\n", "y"),
    "other tags": ("<table><tr></tr></table> <", "", "<table><tr></tr></table> <"),
}


@pytest.mark.parametrize(("content", "thought", "said"), CASES.values(), ids=CASES)
def test_thoughts_are_told_apart_wherever_the_content_is_split(content: str, thought: str, said: str) -> None:
    assert split_thoughts([content]) == (thought, said)
    assert split_thoughts(content) == (thought, said)
    for place in range(len(content) + 1):
        assert split_thoughts([content[:place], content[place:]]) == (thought, said)


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "/", "think", ">", "\n", " ", "a", "`", "```"]), max_size=12),
    st.data(),
)
def test_no_split_changes_the_result_and_no_character_is_lost(parts: list[str], data: st.DataObject) -> None:
    content = "".join(parts)
    places = data.draw(st.lists(st.integers(0, len(content)), max_size=6).map(sorted))
    pieces = [content[start:end] for start, end in zip([0, *places], [*places, len(content)], strict=True)]
    thought, said = whole = split_thoughts([content])
    assert split_thoughts(pieces) == whole
    lost = len("".join(content.split())) - len("".join((thought + said).split()))
    assert lost in (0, len("<think>"), len("</think>"), len("<think></think>"))  # blanks apart, only tags go


@pytest.mark.parametrize(
    ("content", "thought", "said"),
    [
        ("a\n</think>\n\nb", "a\n", "b"),
        ("a </think>b", "a ", "b"),
        ("```\na</think>b", "```\na", "b"),
        ("stopped before", "stopped before", ""),
        ("<think>a</think>b", "a", "b"),
    ],
)
def test_where_each_prompt_opens_the_tag_all_is_thought_up_to_its_end(content: str, thought: str, said: str) -> None:
    assert split_thoughts([content], "prefilled") == (thought, said)
    for place in range(len(content) + 1):
        assert split_thoughts([content[:place], content[place:]], "prefilled") == (thought, said)


def test_tags_are_text_where_there_are_none() -> None:
    assert split_thoughts(["<think>a</think>b"], "no") == ("", "<think>a</think>b")


def test_tags_are_text_where_the_provider_has_a_field_for_thoughts() -> None:
    tags = ThinkTags()
    tags.expect_none()
    assert list(tags.feed("<think>a</think>b")) == [Said("<think>a</think>b")]


def test_a_megabyte_of_thoughts_is_split() -> None:
    pieces = ["<think>", *["x<" * 50] * 10_000, "</think>", "Hello"]
    thought, said = split_thoughts(pieces)
    assert (len(thought), said) == (1_000_000, "Hello")


def test_a_megabyte_of_closing_tags_in_code_is_read() -> None:
    code = "```\n" + "x</think>\n" * 100_000
    assert split_thoughts([code]) == ("", code)
    assert split_thoughts(code[place : place + 50] for place in range(0, len(code), 50)) == ("", code)


def test_blanks_without_an_end_are_not_waited_behind() -> None:
    blanks = "a</think>" + " " * 20_000
    assert split_thoughts(blanks) == ("", blanks)
    assert split_thoughts(" " * 20_000) == ("", " " * 20_000)
