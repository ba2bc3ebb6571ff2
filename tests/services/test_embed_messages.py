"""Vectors of messages: of each passage that may be sent, of the model of today, whatever happens to the path."""

from __future__ import annotations

import pytest
from django.db.models.functions import Now

from conversations.core.errors import EmbeddingsChanged, ProviderUnavailable
from conversations.models import Message, MessageIndex, MessagePassage, MessageVector
from conversations.providers.catalog.embedding_models import parse_embedding_model
from conversations.providers.clients.embeddings import MOST_TEXTS
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.message_index.embed_messages import (
    claim_message_batch,
    forget_other_models,
    postpone_messages,
    store_message_vectors,
)
from conversations.services.message_index.index_messages import index_conversation, rebuild_index
from conversations.services.messages.forget_messages import forget_above, remember_everything
from conversations.services.messages.mark_message import exclude_message, recall_message
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.windows.active_path import leave_path
from tests.support.embeddings import embed_words
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
WORDS, OTHER = parse_embedding_model("words"), parse_embedding_model("words-32")


def talk(count=40, person="alice"):
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"Word{n} of trains."} for n in range(count)]
    conversation = ChatHistory.from_openai(user=make_user(person), messages=messages).conversation
    index_conversation(conversation.pk)
    return conversation


def embed_next(model=WORDS, dimensions=64):
    """Embed a batch, and return it; None where there is none."""
    if batch := claim_message_batch(model):
        store_message_vectors(batch, [embed_words(text, dimensions) for text in batch.texts])
    return batch


def embed_all(model=WORDS, dimensions=64):
    while embed_next(model, dimensions):
        pass


def embedded(conversation):
    return list(MessageVector.objects.filter(conversation=conversation).values_list("ordinal", flat=True))


def test_each_passage_gets_its_vector_in_batches():
    conversation = talk()
    first, second = embed_next(), embed_next()
    assert (len(first.texts), len(second.texts)) == (MOST_TEXTS, 40 - MOST_TEXTS)
    assert embed_next() is None
    assert sorted(embedded(conversation)) == list(range(40))
    stored = MessageVector.objects.get(conversation=conversation, ordinal=7).embedding
    expected = embed_words("Word7 of trains.")
    assert stored == pytest.approx([number / 2 if number > 1 else number / 3**0.5 for number in expected], abs=1e-3)
    ChatHistory(conversation).add("user", "One more.")
    index_conversation(conversation.pk)
    assert embed_next().texts == ["One more."]


def test_conversations_take_turns():
    first, second = talk(), talk(person="bob")
    one, other, *later = [embed_next().conversation.pk for _ in range(4)]
    assert {one, other} == {first.pk, second.pk}
    assert later == [one, other]


def test_what_may_not_be_sent_gets_no_vector():
    conversation = talk(4)
    messages = list(conversation.messages.order_by("position"))
    exclude_message(conversation=conversation, message_id=messages[1].pk, excluded=True)
    Message.objects.filter(pk=messages[2].pk).update(never_recalled=True)
    assert embed_next().texts == ["Word0 of trains.", "Word3 of trains."]
    assert embed_next() is None


def test_what_is_forgotten_gets_no_vector():
    conversation = talk(4)
    forget_above(conversation=conversation, message_id=conversation.messages.get(position=2).pk)
    assert embed_next().texts == ["Word2 of trains.", "Word3 of trains."]


def test_what_may_be_sent_again_gets_the_vectors_that_it_lacks_and_no_other_twice():
    conversation = talk(30)
    messages = list(conversation.messages.order_by("position"))
    forget_above(conversation=conversation, message_id=messages[4].pk)
    exclude_message(conversation=conversation, message_id=messages[9].pk, excluded=True)
    recall_message(conversation=conversation, message_id=messages[20].pk, never_recalled=True)
    embed_all()
    assert sorted(set(range(30)) - set(embedded(conversation))) == [0, 1, 2, 3, 9, 20]
    exclude_message(conversation=conversation, message_id=messages[9].pk, excluded=False)
    assert [text for batch in iter(embed_next, None) for text in batch.texts] == ["Word9 of trains."]
    recall_message(conversation=conversation, message_id=messages[20].pk, never_recalled=False)
    remember_everything(conversation=conversation)
    assert [text for batch in iter(embed_next, None) for text in batch.texts] == [
        f"Word{number} of trains." for number in (0, 1, 2, 3, 20)
    ]
    assert sorted(embedded(conversation)) == list(range(30))


def test_what_is_wanted_again_while_a_batch_is_asked_for_is_in_the_next():
    conversation = talk(MOST_TEXTS + 4)
    first = conversation.messages.get(position=0)
    exclude_message(conversation=conversation, message_id=first.pk, excluded=True)
    embed_next()
    batch = claim_message_batch(WORDS)
    exclude_message(conversation=conversation, message_id=first.pk, excluded=False)
    store_message_vectors(batch, [embed_words(text) for text in batch.texts])
    embed_all()
    assert sorted(embedded(conversation)) == list(range(MOST_TEXTS + 4))


def test_nothing_is_asked_for_in_a_deleted_conversation():
    conversation = talk(4)
    delete_conversation(conversation=conversation)
    assert claim_message_batch(WORDS) is None


def test_another_model_makes_all_vectors_again():
    conversation = talk()
    embed_all()
    forget_other_models(WORDS)
    assert embed_next() is None
    forget_other_models(OTHER)
    embed_all(OTHER, 32)
    assert len(embedded(conversation)) == 40
    assert {len(each.embedding) for each in MessageVector.objects.all()} == {32}


def test_what_leaves_the_path_loses_its_vector_and_what_comes_gets_one():
    conversation = talk()
    embed_all()
    leave_path(conversation, 10, head_id=None)
    index_conversation(conversation.pk)
    assert sorted(embedded(conversation)) == list(range(10))
    rebuild_index(conversation.pk)
    assert embedded(conversation) == []


def test_vectors_of_passages_that_are_others_by_now_are_not_stored():
    conversation = talk(6)
    batch = claim_message_batch(WORDS)
    messages = list(conversation.messages.order_by("position"))
    MessagePassage.objects.filter(conversation=conversation, ordinal=2).update(message=messages[5])
    store_message_vectors(batch, [embed_words(text) for text in batch.texts])
    assert MessageIndex.objects.get(pk=conversation.pk).embedded_passages == 0
    again = embed_next()
    assert [(passage.ordinal, passage.message) for passage in again.passages] == [(2, messages[5].pk)]
    assert sorted(embedded(conversation)) == list(range(6))


def test_a_failure_puts_a_conversation_off_longer_each_time(monkeypatch):
    conversation = talk(4)
    for attempt in (1, 2):
        postpone_messages(claim_message_batch(WORDS), ProviderUnavailable())
        assert MessageIndex.objects.get(pk=conversation.pk).embed_attempt == attempt
        assert claim_message_batch(WORDS) is None
        MessageIndex.objects.update(embed_after=Now())
    embed_next()
    assert MessageIndex.objects.get(pk=conversation.pk).embed_attempt == 0


def test_vectors_of_another_length_under_the_same_name_are_all_made_again():
    conversation = talk()
    embed_next()
    batch = claim_message_batch(WORDS)
    with pytest.raises(EmbeddingsChanged) as raised:
        store_message_vectors(batch, [embed_words(text, 65) for text in batch.texts])
    postpone_messages(batch, raised.value)
    assert embedded(conversation) == []
    MessageIndex.objects.update(embed_after=None)
    embed_all(WORDS, 65)
    assert len(embedded(conversation)) == 40
