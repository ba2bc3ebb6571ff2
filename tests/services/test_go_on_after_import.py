"""Going on in what was imported: a message can be sent whatever is odd, counts are right, and recall finds it."""

from __future__ import annotations

import pytest

from conversations.core.prompt.openai_messages import ToolTurns
from conversations.models import Conversation, Message, Picture, ToolCall
from conversations.services.language_models.model_context import conversation_context
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.parsing.pictures import drawing, encoded
from tests.support.exports import (
    as_json,
    as_zip,
    chatgpt,
    chatgpt_files,
    chatgpt_line,
    claude,
    librechat,
    node,
    odd_chatgpt,
    open_webui,
)
from tests.support.imports import import_files
from tests.support.people import make_user, path_of, post

pytestmark = pytest.mark.django_db
NAVY = encoded(drawing())


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def model(settings):
    """Return a function that offers one language model, to which tools are offered too."""
    settings.OPENAI_BASE_URL = "http://localhost:1/v1"

    def use(words):
        settings.LANGUAGE_MODELS = words

    return use


def with_tools(user):
    Conversation.objects.filter(owner=user).first().scenario.__class__.objects.update(tools=["calculator"])


def asking(number, *, calls):
    """Return a conversation of ChatGPT in which each question has *calls* calls of tools with results."""
    nodes, last = [], "root"
    for turn in range(number):
        key = f"q{turn}"
        nodes.append(node(key, last, "user", f"Question {turn} about the harbour. " * 4))
        last = key
        for place in range(calls):
            called, answered = f"c{turn}-{place}", f"r{turn}-{place}"
            asked = {"content_type": "code", "text": '{"q": "tide"}'}
            nodes.append(node(called, last, "assistant", asked, recipient="web.run"))
            about = {"author": {"role": "tool", "name": "web.run"}}
            nodes.append(node(answered, called, "tool", f"Result {turn} {place}. " * 15, **about))
            last = answered
        nodes.append(node(f"a{turn}", last, "assistant", f"Answer {turn}. " * 8))
        last = f"a{turn}"
    return chatgpt("long", nodes, last)


def everything():
    tool = {"id": "1", "type": "function", "function": {"name": "sum", "arguments": "{}"}}
    rows = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": None, "tool_calls": [tool]},
        {"role": "tool", "content": "4", "tool_call_id": "1"},
        {"role": "assistant", "content": "Four."},
    ]
    drawn = {"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00ab",
         "metadata": {"dalle": {"prompt": "The sea at\ndusk"}}}]}  # fmt: skip
    made = chatgpt("made", [
        node("q", "root", "user", "Draw it"),
        node("c", "q", "assistant", {"content_type": "code", "text": '{"prompt": "x"}'}, recipient="dalle.text2im"),
        node("r", "c", "tool", drawn, author={"role": "tool", "name": "dalle.text2im"}),
    ], "r")  # fmt: skip
    alone = chatgpt(
        "alone", [node("a", "root", "assistant", "Not asked yet."), node("q", "a", "user", "Now I do")], "q"
    )
    return (
        as_zip(chatgpt_files(odd_chatgpt(), made, alone, asking(3, calls=2), picture=NAVY)),
        as_json([claude()]), as_json([open_webui()]), as_json(librechat()), as_json(rows),
    )  # fmt: skip


@pytest.mark.parametrize("words", ["gpt-4o context_window=8192", "blind context_window=4096"])
@pytest.mark.parametrize("tools", [False, True])
def test_a_message_can_be_sent_in_each_and_its_window_counts_what_is_sent(alice, model, words, tools):
    model(words)
    import_files(alice, *everything())
    if tools:
        with_tools(alice)
    conversations = list(Conversation.objects.filter(owner=alice))
    assert len(conversations) == 8
    for conversation in conversations:
        estimated = estimate_draft(user=alice, conversation=conversation, content="And now?")
        assert estimated.error is None, conversation.title
        reply = post(conversation, "And now?").reply
        window = prepare_reply(reply.pk).window
        turns = ToolTurns()
        for message in window.prompt:
            turns.take(message)
        turns.end()
        for message in window.prompt:
            assert message.role == "user" or not message.pictures
        context = conversation_context(conversation)
        counted = sum(context.content_tokens(message._replace(pictures=())) for message in window.prompt)
        assert window.record.prompt_tokens == estimated.prompt_tokens
        assert counted + window.record.picture_tokens <= window.record.prompt_tokens
        assert window.record.prompt_tokens <= window.record.budget_tokens
        end_reply(reply.pk, COMPLETE, content="So.")
        assert path_of(conversation)[-1] == ("assistant", "complete", "So.")


def test_a_window_over_imported_calls_has_whole_pairs_whatever_its_size(alice, model):
    model("gpt-4o context_window=8192")
    import_files(alice, as_json([asking(6, calls=3)]))
    with_tools(alice)
    conversation = Conversation.objects.get()
    assert ToolCall.objects.count() == 18
    seen = set()
    for size in range(700, 5_000, 130):
        model(f"gpt-4o context_window={size} reply_reserve=200")
        window = estimate_draft(user=alice, conversation=conversation, content="And the tide?").window
        turns = ToolTurns()
        for message in window.prompt:
            turns.take(message)
        turns.end()
        seen.add(sum(1 for message in window.prompt if message.tool_calls))
    assert len(seen) > 5  # some had few of them, others all


def test_a_picture_that_was_made_there_is_shown_and_a_line_stands_for_it_in_prompts(alice, model):
    model("gpt-4o context_window=8192")
    import_files(alice, *everything())
    conversation = Conversation.objects.get(title="made")
    [picture] = Picture.objects.filter(conversation=conversation)
    assert (picture.alt_text, picture.sent) == ("The sea at dusk", True)
    assert conversation.head.picture_ids == [picture.pk]
    window = estimate_draft(user=alice, conversation=conversation, content="Bluer").window
    assert [message.content for message in window.prompt if message.role == "assistant"] == [
        "[Picture: The sea at dusk, not shown to this model]"
    ]


def test_recall_finds_what_was_said_there_long_ago(alice, model):
    model("gpt-4o context_window=1000 reply_reserve=300")
    talk = ["My sister Ann lives in Porto.", "Good."] + [f"Something else, number {n}. " * 12 for n in range(30)]
    import_files(alice, as_json([chatgpt_line("c", *talk)]))
    conversation = Conversation.objects.get()
    index_conversation(conversation.pk)
    estimated = estimate_draft(user=alice, conversation=conversation, content="Where does Ann live?", with_recall=True)
    recalled = estimated.window.record.recall.included
    assert Message.objects.get(position=0).pk in [entry.message for entry in recalled]
