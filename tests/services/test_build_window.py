from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from conversations.core.errors import ConversationTooLong, MessageTooLong, PolicyFailed, SystemPromptTooLong
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.models import Calibration, Message, Scenario
from conversations.selectors.conversations.history import HistoryRow
from conversations.services.language_models.calibration import known
from conversations.services.language_models.model_context import model_context
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.messages.mark_message import pin_message
from conversations.services.replies.end_reply import Ending, end_reply
from conversations.services.windows.build_window import StoredCounts, build_window, draft_message, stored_message
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return begin(make_user("alice"))


def talk(conversation, *contents):
    """Post *contents* in turn, each answered with “Reply to …”."""
    for content in contents:
        posted = post(conversation, content)
        end_reply(posted.reply.pk, Ending("complete"), content=f"Reply to {content}")
    conversation.refresh_from_db()


def window_for(conversation, content="And now?"):
    position = conversation.head.position + 1 if conversation.head else 0
    return build_window(
        conversation, draft_message(content, position=position, context=model_context(conversation.scenario))
    )


def sent(window):
    return [message.content for message in window.prompt]


def test_the_active_path_is_sent_oldest_first(conversation):
    talk(conversation, "one", "two")
    assert sent(window_for(conversation)) == ["one", "Reply to one", "two", "Reply to two", "And now?"]


def test_the_system_prompt_comes_first_and_pins_after_it(conversation):
    Scenario.objects.update(system_prompt="Be kind.")
    conversation.scenario.refresh_from_db()
    talk(conversation, "one", "two")
    two = Message.objects.get(content="two")
    pin_message(conversation=conversation, message_id=two.pk, pinned=True)
    assert sent(window_for(conversation))[:3] == ["Be kind.", "two", "one"]


def test_an_excluded_message_never_leaves(conversation):
    talk(conversation, "one", "two")
    Message.objects.filter(content="one").update(excluded=True, pinned=True)
    assert "one" not in sent(window_for(conversation))


def test_a_branch_that_is_not_active_is_not_sent(conversation):
    talk(conversation, "one")
    reply = conversation.head
    Message.objects.filter(pk=reply.pk).update(active=False)
    Message.objects.create(
        conversation=conversation,
        parent=reply.parent,
        position=1,
        role="assistant",
        content="Other",
        encoding="o200k_base",
    )
    assert sent(window_for(conversation)) == ["one", "Other", "And now?"]


def test_grounding_of_older_messages_is_never_sent_again(conversation):
    talk(conversation, "one")
    Message.objects.filter(content="one").update(grounding=[{"text": "CANARY", "source": "book", "score": 1}])
    assert "CANARY" not in "".join(sent(window_for(conversation)))


def test_the_newest_stored_message_is_sent_with_its_grounding(conversation):
    message = post(conversation, "one", grounding=[{"text": "CANARY", "source": "book", "score": 1}]).message
    newest = stored_message(message, model_context(conversation.scenario), conversation=conversation)
    window = build_window(conversation, newest, grounding=[PromptPassage("CANARY", "book", 1)])
    assert "[1] book\nCANARY" in window.prompt[-1].content
    assert window.prompt[-1].content.endswith("Question:\none")


def test_counts_in_another_encoding_are_made_once_and_stored(conversation, settings):
    talk(conversation, "Antidisestablishmentarianism, 反对建制主义")
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "gpt-4 context_window=4096 encoding=cl100k_base"
    window = window_for(conversation)
    message = Message.objects.get(position=0)
    context = model_context(conversation.scenario)
    assert (message.encoding, message.content_tokens) == ("cl100k_base", context.count_text(message.content))
    assert (
        window.record.entries[0].tokens == message.content_tokens + context.language_model.chat_format.overhead_tokens
    )


def test_however_many_counts_are_made_again_they_are_stored_by_one_statement(
    conversation, settings, django_assert_num_queries
):
    talk(conversation, "one", "two", "three")
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "gpt-4 context_window=4096 encoding=cl100k_base"
    assert model_context(conversation.scenario)
    assert conversation.head
    assert conversation.owner
    for queries in (2, 1):
        with django_assert_num_queries(queries):
            window_for(conversation)


@pytest.mark.django_db(transaction=True)
def test_a_row_that_another_user_has_locked_keeps_no_window_waiting(conversation, settings):
    talk(conversation, "one")
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "gpt-4 context_window=4096 encoding=cl100k_base"

    def ask():
        try:
            return sent(window_for(conversation))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        assert Message.objects.select_for_update().get(position=0)
        assert pool.submit(ask).result(timeout=PATIENCE_SECONDS) == ["one", "Reply to one", "And now?"]
    assert list(Message.objects.values_list("encoding", flat=True)) == ["o200k_base", "cl100k_base"]


def test_counts_that_show_a_prompt_to_be_too_long_are_stored_too(conversation, settings):
    talk(conversation, "one")
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "gpt-4 context_window=4096 encoding=cl100k_base"
    Scenario.objects.update(policy_name="full", cap_tokens=12)
    conversation.scenario.refresh_from_db()
    with pytest.raises(ConversationTooLong):
        window_for(conversation)
    assert set(Message.objects.values_list("encoding", flat=True)) == {"cl100k_base"}


def test_a_reply_that_ends_while_a_draft_is_estimated_keeps_the_count_of_all_of_it(conversation):
    reply = post(conversation, "one").reply
    Message.objects.filter(pk=reply.pk).update(content="The beg")  # saved while it was written
    conversation.refresh_from_db()

    class SlowPolicy(WindowPolicy):
        def choose(self, older, room):
            end_reply(reply.pk, Ending("complete"), content="The beginning, and much more than the beginning")
            return room.take(older)

    estimate_draft(user=conversation.owner, conversation=conversation, content="two", policy=SlowPolicy())
    ended = Message.objects.get(pk=reply.pk)
    assert ended.content_tokens == model_context(conversation.scenario).count_text(ended.content)


def test_a_long_history_is_read_only_as_far_as_it_fits(conversation, django_assert_num_queries):
    talk(conversation, *(f"message {number}" for number in range(5)))
    assert conversation.scenario
    assert conversation.head
    assert conversation.owner
    with django_assert_num_queries(1):
        window_for(conversation)


def test_a_system_prompt_that_is_too_long_is_its_own_fault(conversation):
    Scenario.objects.update(system_prompt="word " * 5000)
    with pytest.raises(SystemPromptTooLong):
        post(begin(make_user("bob")), "Hello")
    assert not Message.objects.exists()


def test_the_estimate_is_what_will_be_sent(conversation):
    talk(conversation, "one", "two")
    estimate = estimate_draft(user=conversation.owner, conversation=conversation, content="three")
    assert estimate.prompt_tokens == window_for(conversation, "three").record.prompt_tokens
    assert (estimate.content_tokens, estimate.tokens_over, estimate.error) == (1, 0, None)


def test_the_estimate_says_by_how_much_a_draft_is_too_long(conversation):
    estimate = estimate_draft(user=conversation.owner, conversation=conversation, content=" word" * 5000)
    with pytest.raises(MessageTooLong) as refused:
        post(conversation, " word" * 5000)
    assert estimate.tokens_over == refused.value.tokens_over > 0
    assert str(estimate.error) == str(refused.value)


def test_the_estimate_of_a_new_conversation_stores_nothing(conversation):
    owner = conversation.owner
    conversation.delete()
    assert estimate_draft(user=owner, conversation=None, content="Hello").prompt_tokens > 0
    assert not owner.conversations.exists()


def test_a_scenarios_own_reply_reserve_gives_way_to_a_smaller_context_window_that_the_provider_named(conversation):
    language_model = model_context(conversation.scenario).language_model
    Scenario.objects.update(reply_reserve_tokens=2_000)
    conversation.scenario.refresh_from_db()
    Calibration.objects.create(language_model=language_model.name, limit_tokens=1_200)
    known.forget()
    record = window_for(conversation).record
    assert (record.context_window_tokens, record.reply_reserve_tokens, record.budget_tokens) == (1_200, 300, 900)


def test_the_estimate_tells_of_a_policy_that_cannot_be_loaded(conversation):
    Scenario.objects.update(policy_name="nowhere.Policy")
    conversation.scenario.refresh_from_db()
    estimate = estimate_draft(user=conversation.owner, conversation=conversation, content="Hello")
    assert isinstance(estimate.error, PolicyFailed)
    assert estimate.budget_tokens > 0


def test_a_row_becomes_what_the_classes_of_messages_make(conversation):
    """They are made without them, which checks neither how many fields there are nor their order."""
    call = PromptToolCall("call_1", "get_time", '{"city": "Paris"}')
    rows = [
        HistoryRow(7, 3, "assistant", "", 9, "o200k_base", json.dumps([call.to_json()]), failed=True),
        HistoryRow(8, 4, "tool", "Noon", 2, "o200k_base", None, "call_1", excluded=True),
    ]
    assert list(StoredCounts(model_context(conversation.scenario)).of(rows)) == [
        HistoryMessage(3, PromptMessage("assistant", "", tool_calls=(call,)), 9, id=7, failed=True),
        HistoryMessage(4, PromptMessage("tool", "Noon", tool_call_id="call_1"), 2, id=8, excluded=True),
    ]
