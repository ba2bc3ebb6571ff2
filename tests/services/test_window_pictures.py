"""The pictures of a window, read from the database and counted by the language model's rule."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.errors import PicturesTooLargeForModel, PicturesTooLong, TooManyPicturesForModel
from conversations.core.prompt.messages import PromptMessage
from conversations.core.window.history import HistoryMessage
from conversations.core.window.picture_tokens import PictureSize, message_picture_tokens
from conversations.core.window.policies import SlidingWindow
from conversations.core.window.request_pictures import encoded_bytes
from conversations.models import Message, Picture
from conversations.providers.catalog.language_models import parse_language_models
from conversations.providers.catalog.picture_rules import known_pictures
from conversations.selectors.conversations.pictures import SentPicture, sent_pictures
from conversations.services.language_models.model_context import ModelContext, model_context
from conversations.services.limits.message_checks import check_message
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.windows.build_window import build_window, draft_message, stored_message
from conversations.services.windows.window_pictures import WindowPictures
from tests.support.people import begin, make_user
from tests.support.pictures import store_picture

pytestmark = pytest.mark.django_db
HOME = "http://localhost:1/v1"


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


@pytest.fixture
def model(settings):
    """Return a function that offers one language model."""
    settings.OPENAI_BASE_URL = HOME

    def use(words):
        settings.LANGUAGE_MODELS = words

    return use


def say(conversation, role, content):
    last = conversation.messages.order_by("-position").first()
    place = {"parent": last, "position": last.position + 1 if last else 0}
    counted = {"content_tokens": 3, "encoding": "as if by another model"}
    return Message.objects.create(conversation=conversation, role=role, content=content, **place, **counted)


def ask_about(conversation, *pictures, content="What is this?"):
    message = say(conversation, "user", content)
    Message.objects.filter(pk=message.pk).update(picture_ids=[picture.pk for picture in pictures])
    message.refresh_from_db()
    return message


def window_of(conversation, content="And now?"):
    context = model_context(conversation.scenario)
    position = conversation.messages.count()
    return build_window(conversation, draft_message(content, position=position, context=context))


def entry_of(window, message):
    (entry,) = [entry for entry in window.record.entries if entry.message == message.pk]
    return entry


def test_an_older_picture_is_sent_with_its_message_and_counted(conversation, model):
    model("gpt-4o context_window=8192")
    cat = store_picture(conversation)
    message = ask_about(conversation, cat)
    say(conversation, "assistant", "A cat.")
    window = window_of(conversation)
    (picture,) = window.prompt[0].pictures

    assert (picture.digest, picture.detail) == (cat.digest, "high")
    assert (entry_of(window, message).picture_tokens, entry_of(window, message).pictures) == (425, "high")
    assert window.record.picture_tokens == 425


def test_pictures_are_read_in_one_further_query_and_only_where_there_are_some(conversation, model):
    model("gpt-4o context_window=8192")
    ask_about(conversation, store_picture(conversation), store_picture(conversation, b"another"))
    say(conversation, "assistant", "A cat.")
    window_of(conversation)
    with CaptureQueriesContext(
        connection,
    ) as with_pictures:
        window_of(conversation)
    Message.objects.update(picture_ids=[])
    with CaptureQueriesContext(connection) as without:
        window_of(conversation)

    assert len(with_pictures) == len(without) + 1


def test_for_a_model_without_vision_a_line_stands_for_the_picture(conversation, model):
    model("blind context_window=4096")
    message = ask_about(conversation, store_picture(conversation))
    say(conversation, "assistant", "I see nothing.")
    window = window_of(conversation)

    assert window.prompt[0].pictures == ()
    assert window.prompt[0].content == "What is this?\n[Picture: cat.png, not shown to this model]"
    assert entry_of(window, message).pictures == "not_shown"
    assert entry_of(window, message).picture_tokens > 0


def test_a_description_goes_before_the_file_name(conversation, model):
    model("blind context_window=4096")
    message = ask_about(conversation, store_picture(conversation, alt_text="A grey cat"))
    newest = stored_message(message, model_context(conversation.scenario), conversation=conversation)

    assert newest.message.content.endswith("[Picture: A grey cat, not shown to this model]")


def test_pictures_only_with_their_question(conversation, model):
    model("gpt-4o context_window=8192")
    conversation.scenario.pictures_only_with_question = True
    conversation.scenario.save()
    message = ask_about(conversation, store_picture(conversation))
    newest = stored_message(message, model_context(conversation.scenario), conversation=conversation)
    say(conversation, "assistant", "A cat.")

    assert len(newest.message.pictures) == 1
    assert window_of(conversation).prompt[0].content == "What is this?\n[Picture: cat.png, shown with its question]"


def test_of_a_request_the_provider_takes_so_many_pictures_and_the_newest_are_sent(conversation, model):
    model("pixtral-12b context_window=131072")  # eight
    pictures = [store_picture(conversation, bytes([number])) for number in range(9)]
    first = ask_about(conversation, *pictures[:5])
    say(conversation, "assistant", "Five.")
    second = ask_about(conversation, *pictures[5:])
    window = window_of(conversation)

    assert entry_of(window, first).pictures == "shown_earlier"
    assert entry_of(window, second).pictures == "auto"
    with pytest.raises(TooManyPicturesForModel, match="at most 8 pictures"):
        check_message(conversation.owner, conversation, "Look", pictures=[*sent_pictures([first.pk])[first.pk]] * 2)


MB = 1_000_000


def test_of_a_request_the_provider_takes_so_many_bytes_and_the_newest_are_sent(conversation, model):
    model("gpt-4o context_window=8192 request_mb=8")  # seven of them for pictures: 5.25 before they are encoded
    pictures = [store_picture(conversation, bytes([number])) for number in range(4)]
    Picture.objects.update(size_bytes=2 * MB)
    first = ask_about(conversation, *pictures[:2])
    second = ask_about(conversation, pictures[2])
    third = ask_about(conversation, pictures[3])
    window = window_of(conversation)

    assert entry_of(window, first).pictures == "shown_earlier"
    assert entry_of(window, first).picture_tokens > 0  # of the lines in their place
    assert [entry_of(window, message).pictures for message in (second, third)] == ["high", "high"]
    assert window.prompt[0].content.endswith("[Picture: cat.png, shown with its question]")
    assert [len(message.pictures) for message in window.prompt] == [0, 1, 1, 0]


def test_a_message_whose_own_pictures_have_too_many_bytes_is_refused_with_the_numbers(conversation, model):
    model("gpt-4o context_window=8192 request_mb=8")
    pictures = [store_picture(conversation, bytes([number])) for number in range(3)]
    Picture.objects.update(size_bytes=2 * MB)
    message = ask_about(conversation, *pictures)

    with pytest.raises(PicturesTooLargeForModel, match=r"take 9 MB as they are sent, and .* at most 7 MB"):
        check_message(conversation.owner, conversation, "Look", pictures=sent_pictures([message.pk])[message.pk])
    assert isinstance(estimate(conversation, *pictures).error, PicturesTooLargeForModel)


SIZES = st.lists(st.lists(st.integers(min_value=1, max_value=4 * MB), min_size=1, max_size=3), min_size=1, max_size=8)


@given(SIZES, st.integers(min_value=1, max_value=40))
def test_whatever_the_sizes_the_pictures_that_are_sent_fit_the_request(sizes, request_mb):
    """The newest first: what is left out is a line, and older than all that is sent."""
    options = f"gpt-4o context_window=1000000 request_mb={request_mb}"
    [configured] = parse_language_models(options, base_url=HOME)
    context = ModelContext(configured, configured.language_model, len)
    most_bytes = configured.dialect.most_picture_bytes
    messages = [_with_sizes(number, each) for number, each in enumerate(sizes)]
    pictures = WindowPictures(context, SlidingWindow())
    try:
        newest = pictures.of_newest(*messages[0])
    except PicturesTooLargeForModel:
        assert encoded_bytes(messages[0][1]) > most_bytes
        return
    pictures.note_newest(newest)
    sent = [newest, *(pictures.of_older(*each) for each in messages[1:])]

    assert encoded_bytes(picture for each in sent for picture in each.message.pictures) <= most_bytes
    left_out = [each.pictures_sent == "shown_earlier" for each in sent[1:]]
    assert left_out == sorted(left_out)
    for each in sent:
        counted = message_picture_tokens(each.message, configured.pictures)
        counted += context.content_tokens(each.message) - each.content_tokens
        assert each.picture_tokens == counted


def _with_sizes(number, sizes):
    message = PromptMessage("user", f"Look {number}")
    pictures = [SentPicture(1, f"{size}", "image/png", 64, 64, "", "cat.png", size) for size in sizes]
    return HistoryMessage(100 - number, message, len(message.content)), pictures


def test_pictures_that_take_more_than_half_of_a_prompt_are_sent_in_low_detail(conversation, model):
    model("gpt-4o context_window=1500 reply_reserve=500")
    large = store_picture(conversation, width=2_000, height=2_000)
    window = estimate_draft(
        user=conversation.owner, conversation=conversation, content="Look", picture_ids=[large.pk]
    ).window

    assert window.record.entries[-1].pictures == "low"
    assert window.prompt[-1].pictures[0].detail == "low"
    assert window.record.picture_tokens == 85


def estimate(conversation, *pictures):
    ids = [picture.pk for picture in pictures]
    return estimate_draft(user=conversation.owner, conversation=conversation, content="Look", picture_ids=ids)


@pytest.mark.parametrize("name", ["claude-sonnet-5", "pixtral-12b", "gemini-2.5-flash", "qwen2.5-vl-7b", "my-vl"])
def test_a_picture_alone_over_the_window_is_scaled_down_to_what_is_free(conversation, model, name):
    model(f"{name} context_window=2000 reply_reserve=500")
    window = estimate(conversation, store_picture(conversation, width=2_048, height=1_900)).window
    (picture,) = window.prompt[-1].pictures
    entry = window.record.entries[-1]
    rule = known_pictures(name)

    assert entry.scaled_to == ((picture.width, picture.height),)
    assert entry.picture_tokens == rule.tokens(PictureSize(picture.width, picture.height)) <= 1_500
    assert entry.picture_tokens > 1_000
    assert picture.width < 2_048
    assert abs(picture.width / picture.height - 2_048 / 1_900) < 0.01


def test_several_pictures_are_scaled_down_alike_and_a_small_one_keeps_its_bytes(conversation, model):
    model("claude-sonnet-5 context_window=3000 reply_reserve=500")
    large, small = store_picture(conversation, width=2_000, height=2_000), store_picture(conversation, b"b", width=150)
    Picture.objects.filter(pk=small.pk).update(height=150)
    window = estimate(conversation, large, small).window

    assert window.record.entries[-1].scaled_to[1] == (150, 150)
    assert window.prompt[-1].pictures[1].digest == small.digest
    assert window.prompt[-1].pictures[0].scaled_from == large.digest


def test_a_picture_that_is_too_large_at_its_smallest_is_refused_with_numbers(conversation, model):
    model("claude-sonnet-5 context_window=550 reply_reserve=500")
    refused = estimate(conversation, store_picture(conversation, width=2_000, height=2_000)).error

    assert isinstance(refused, PicturesTooLong)
    assert "at their smallest they take 64 tokens, and 39 are free" in str(refused)


def test_low_detail_goes_before_scaling_down_and_scaling_down_before_a_refusal(conversation, model):
    # 512 × 512 pixels in patches of 32, × 1.72, are 441 tokens; 200 × 200 are 85
    model("o4-mini context_window=1500 reply_reserve=1000")
    picture = store_picture(conversation, width=2_000, height=2_000)
    low = estimate(conversation, picture).window.record.entries[-1]
    model("o4-mini context_window=1300 reply_reserve=1000")
    scaled = estimate(conversation, picture).window.record.entries[-1]

    assert (low.pictures, low.scaled_to) == ("low", ())
    assert scaled.pictures == "high"
    assert 85 < scaled.picture_tokens <= 293


def test_where_tools_can_be_called_scaled_pictures_leave_half_of_the_room_for_them(conversation, model):
    model("claude-sonnet-5 context_window=3000 reply_reserve=500")
    conversation.scenario.tools = ["calculator"]
    conversation.scenario.save()
    entry = estimate(conversation, store_picture(conversation, width=2_000, height=2_000)).window.record.entries[-1]

    assert 900 < entry.picture_tokens <= 1_250


def test_an_older_picture_of_more_than_half_a_prompt_is_scaled_down_to_half(conversation, model):
    model("claude-sonnet-5 context_window=3000 reply_reserve=500")
    message = ask_about(conversation, store_picture(conversation, width=2_000, height=2_000))
    say(conversation, "assistant", "A cat.")
    entry = entry_of(window_of(conversation), message)

    assert 1_100 < entry.picture_tokens <= 1_250
    assert entry == entry_of(window_of(conversation, "And a much longer question than that? " * 20), message)


def test_a_picture_alone_over_the_window_is_refused_with_numbers(conversation, model):
    model("seer context_window=1000 reply_reserve=500 picture_tokens=600")
    picture = store_picture(conversation)
    refused = estimate_draft(
        user=conversation.owner, conversation=conversation, content="Look", picture_ids=[picture.pk]
    ).error

    assert isinstance(refused, PicturesTooLong)
    assert str(refused).startswith("With its pictures your message is 1")
    assert "at their smallest they take 600 tokens, and 489 are free" in str(refused)


def test_a_draft_counts_its_own_pictures_and_no_others(conversation, model):
    model("gpt-4o context_window=8192")
    cat, foreign = store_picture(conversation), store_picture(begin(make_user("bob")), b"b")
    estimate = estimate_draft(
        user=conversation.owner, conversation=conversation, content="Look", picture_ids=[foreign.pk, cat.pk]
    )

    assert estimate.picture_tokens == 425
    assert [picture.digest for picture in estimate.window.prompt[-1].pictures] == [cat.digest]
