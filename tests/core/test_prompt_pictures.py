import pytest

from conversations.core.prompt.kept_reasoning import KeptReasoning
from conversations.core.prompt.messages import PromptMessage, PromptToolCall, digest_of
from conversations.core.prompt.pictures import (
    PromptPicture,
    digests_in,
    fill_in_pictures,
    with_picture_lines,
)
from conversations.core.prompt.prompt_format import PromptFormat
from conversations.core.prompt.written_prompt import write_prompt

CAT = PromptPicture("ab" * 32, "image/png", 640, 480, "high")
DOG = PromptPicture("cd" * 32, "image/jpeg", 10, 20)
URLS = {CAT.digest: "data:image/png;base64,AAAA", DOG.digest: "data:image/jpeg;base64,BBBB"}
ASKED = PromptMessage("user", "Which one?", pictures=(CAT, DOG))


def test_the_text_comes_first_and_each_picture_is_a_part_named_by_its_digest():
    assert ASKED.to_json() == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Which one?"},
            {"type": "image_url", "image_url": {"url": f"picture:image/png;{'ab' * 32}", "detail": "high"}},
            {"type": "image_url", "image_url": {"url": f"picture:image/jpeg;{'cd' * 32}"}},
        ],
    }


def test_a_message_without_pictures_is_as_it_always_was():
    assert PromptMessage("user", "Hi").to_json() == {"role": "user", "content": "Hi"}


def test_without_text_there_is_no_empty_part():
    (part,) = PromptMessage("user", "", pictures=(DOG,)).to_json()["content"]

    assert part["type"] == "image_url"


def test_the_bytes_take_the_place_of_the_digests():
    written = [ASKED.to_json()]
    _, cat, dog = fill_in_pictures(written, URLS)[0]["content"]

    assert cat["image_url"] == {"url": URLS[CAT.digest], "detail": "high"}
    assert dog["image_url"] == {"url": URLS[DOG.digest]}
    assert written == [ASKED.to_json()]


def test_a_part_of_the_responses_api_is_filled_in_too():
    item = {"role": "user", "content": [{"type": "input_image", "image_url": CAT.placeholder, "detail": "high"}]}
    (filled,) = fill_in_pictures([item], URLS)

    assert filled["content"] == [{"type": "input_image", "image_url": URLS[CAT.digest], "detail": "high"}]


def test_what_a_user_writes_is_never_taken_for_a_picture():
    written = [PromptMessage("user", CAT.placeholder).to_json(), ASKED._replace(content=CAT.placeholder).to_json()]
    plain, beside = fill_in_pictures(written, URLS)

    assert plain["content"] == beside["content"][0]["text"] == CAT.placeholder


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_reasoning_that_is_sent_back_is_never_taken_for_a_picture(wire):
    fake = {"url": "picture:image/png;deadbeef", "image_url": CAT.placeholder}
    item = {"type": "reasoning", "role": "user", "content": [{"type": "input_image", **fake}], **fake}
    content = {"fields": {"reasoning_details": [fake]}, "calls": [{"extra_content": fake}], "items": [item]}
    kept = KeptReasoning.from_content(content, language_model="m", wire=wire, tokens=5)
    step = PromptMessage("assistant", "", tool_calls=(PromptToolCall("c", "look", "{}"),), kept=kept)
    written = write_prompt((ASKED, step), PromptFormat(wire))
    question, *sent_back = fill_in_pictures(written, URLS)

    assert sent_back == written[1:]
    assert URLS[CAT.digest] in str(question)


def test_a_picture_whose_bytes_are_missing_is_an_error():
    with pytest.raises(KeyError):
        fill_in_pictures([ASKED.to_json()], {})


def test_another_picture_has_another_digest():
    changed = ASKED._replace(pictures=(CAT._replace(digest="ef" * 32), DOG))

    assert digest_of([ASKED.to_json()]) != digest_of([changed.to_json()])


def test_the_digests_of_a_prompt_are_each_named_once():
    assert digests_in([ASKED, PromptMessage("assistant", "The cat."), ASKED]) == {CAT.digest, DOG.digest}


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ("cat.png", "[Picture: cat.png, not shown to this model]"),
        ("", "[Picture, not shown to this model]"),
        ("a]\nb [c", "[Picture: a) b (c, not shown to this model]"),
    ],
)
def test_a_line_stands_for_a_picture_and_its_label_can_not_end_it(label, line):
    assert with_picture_lines("See:", [label], "not_shown") == f"See:\n{line}"
    assert with_picture_lines("", [label], "not_shown") == line


def test_a_line_says_that_a_picture_was_shown_with_its_question():
    assert with_picture_lines("", ["a cat"], "shown_earlier") == "[Picture: a cat, shown with its question]"
