"""What a question means finds older messages that share no word with it; without vectors nothing changes."""

from __future__ import annotations

import asyncio
import math

import pytest
from django.utils import timezone

from conversations.core.errors import ProviderUnavailable
from conversations.grounding.recall.indexed_passages import IndexedPart, IndexedPassages
from conversations.grounding.recall.meaning import MOST_NEAREST, QuestionVector, nearest_passages
from conversations.grounding.recall.recall_passages import recall_passages
from conversations.models import Conversation, Message, MessageIndex, MessagePassage, MessageVector
from conversations.services.grounding import recall as recalling
from conversations.services.grounding.recall import recall
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.portability.chat_history import ChatHistory
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread

pytestmark = pytest.mark.django_db
SECRET = "My sister Ada lives in Bergen and keeps the lighthouse."
PARAPHRASE = "Whereabouts does that female sibling dwell, tending a beacon?"
MODEL = "words"
NEAR = QuestionVector([1.0, 0.0, 0.0], MODEL, floor=0.3)


def talk(*contents, vectors=None):
    """Return an indexed conversation; *vectors* are those of passages, by ordinal, and all others are far away."""
    messages = [{"role": ("user", "assistant")[n % 2], "content": content} for n, content in enumerate(contents)]
    conversation = ChatHistory.from_openai(user=make_user("alice"), messages=messages).conversation
    index_conversation(conversation.pk)
    if vectors is not None:
        passages = MessagePassage.objects.filter(conversation=conversation).count()
        MessageVector.objects.bulk_create(
            MessageVector(conversation=conversation, ordinal=each, embedding=vectors.get(each, [0.0, 1.0, 0.0]))
            for each in range(passages)
        )
        MessageIndex.objects.filter(pk=conversation.pk).update(embedding_model=MODEL, embedded_passages=passages)
    return conversation


def filler(count=60):
    return [f"We talked about green{n} gardens, red{n} roofs and blue{n} rivers." for n in range(count)]


def find(conversation, question=PARAPHRASE, **named):
    return recall_passages(conversation.pk, question, before_position=10_000, now=timezone.now(), **named)


def test_a_paraphrase_finds_what_shares_no_word_with_it():
    conversation = talk(*filler(20), SECRET, *filler(30), vectors={20: [0.9, 0.1, 0.0]})
    assert find(conversation) == []
    best = find(conversation, vector=NEAR)[0]
    assert (best.text, best.why) == (SECRET, ("meaning",))


def test_the_nearest_passage_of_a_long_message_is_what_is_read_of_a_giant():
    sentences = [f"The city number {n} has {n} towers, a river and an old wall." for n in range(2_000)]
    sentences[1_700] = SECRET
    conversation = talk(*filler(4), " ".join(sentences), vectors={})
    ordinal = MessagePassage.objects.filter(conversation=conversation, position=4)
    wanted = next(each for each in ordinal if SECRET in sentence_of(each))
    MessageVector.objects.filter(conversation=conversation, ordinal=wanted.ordinal).update(embedding=[1.0, 0.0, 0.0])
    assert SECRET in find(conversation, vector=NEAR)[0].text


def sentence_of(passage):
    return Message.objects.get(pk=passage.message_id).content[passage.start : passage.end]


def test_what_is_excluded_since_or_never_to_be_recalled_is_not_found():
    conversation = talk(*filler(20), SECRET, *filler(30), vectors={20: [1.0, 0.0, 0.0]})
    for mark in ("excluded", "never_recalled"):
        Message.objects.filter(content=SECRET).update(**{mark: True})
        assert SECRET not in {each.text for each in find(conversation, vector=NEAR)}
        Message.objects.filter(content=SECRET).update(**{mark: False})


@pytest.mark.parametrize(
    "vector",
    [
        QuestionVector([1.0, 0.0, 0.0], "another", floor=0.3),
        QuestionVector([1.0, 0.0], MODEL, floor=0.3),
        QuestionVector([1.0, 0.0, 0.0], MODEL, floor=0.95),
    ],
)
def test_vectors_of_another_model_or_length_or_too_far_away_change_nothing(vector):
    conversation = talk(*filler(20), SECRET, *filler(30), vectors={20: [0.7, 0.7, 0.0]})
    for question in (PARAPHRASE, "Where does my sister Ada keep the lighthouse?"):
        assert find(conversation, question, vector=vector) == find(conversation, question)


def test_small_talk_recalls_nothing_however_near_it_is():
    conversation = talk(*filler(20), "thanks, great", *filler(30), vectors={20: [1.0, 0.0, 0.0]})
    assert find(conversation, "Great, thanks, help me again later!", vector=NEAR) == []


def at_similarity(similarity):
    return [similarity, math.sqrt(1 - similarity**2), 0.0]


def test_the_nearest_are_few_and_the_others_count_less():
    conversation = talk(*filler(150), vectors={n: at_similarity(1 - n / 200) for n in range(150)})
    near = nearest_passages(IndexedPassages((IndexedPart(conversation.pk, 0, 150),)), NEAR, passages=150)
    assert near.nearest == tuple(range(MOST_NEAREST))
    values = [near.value([n]) for n in range(150)]
    assert values[0] == pytest.approx(1.0)
    assert values == sorted(values, reverse=True)
    assert values[MOST_NEAREST - 1 :] == [0.0] * 51
    assert near.value([]) == 0.0


@pytest.fixture
def reply(transactional_db):
    conversation = talk(*filler(20), SECRET, *filler(30), vectors={20: [1.0, 0.0, 0.0]})
    conversation.refresh_from_db()
    posted = post(conversation, PARAPHRASE).reply
    return Message.objects.select_related("conversation__owner", "parent").get(pk=posted.pk)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("failure", [None, "late", ProviderUnavailable(), RuntimeError("broken")])
async def test_a_reply_goes_on_by_words_alone_where_the_question_gets_no_vector(settings, monkeypatch, reply, failure):
    settings.OPENAI_EMBEDDING_BASE_URL, settings.OPENAI_EMBEDDING_MODEL = "http://127.0.0.1:9/v1", MODEL
    monkeypatch.setattr(recalling, "VECTOR_SECONDS", 0.05 if failure == "late" else 60.0)
    monkeypatch.setattr(recalling, "RECALL_SECONDS", 60.0)

    async def embed(texts, *, user, conversation):
        assert (texts, user, conversation) == ([PARAPHRASE], reply.conversation.owner, reply.conversation)
        if failure == "late":
            await asyncio.Event().wait()
        elif failure:
            raise failure
        return [[1.0, 0.0, 0.0]]

    found = await recall(reply, before_position=50, embed=embed)
    assert found.error == ""
    assert [each.text for each in found.passages[:1]] == ([] if failure else [SECRET])


@pytest.mark.django_db(transaction=True)
async def test_nothing_is_asked_for_where_there_is_no_vector_to_compare_with(settings, reply):
    settings.OPENAI_EMBEDDING_BASE_URL, settings.OPENAI_EMBEDDING_MODEL = "http://127.0.0.1:9/v1", "another"

    async def embed(*_arguments, **_named):
        raise AssertionError("asked")

    assert (await recall(reply, before_position=50, embed=embed)).passages == ()
    settings.OPENAI_EMBEDDING_MODEL = ""
    assert (await recall(reply, before_position=50, embed=embed)).passages == ()
    await in_thread(reply.refresh_from_db)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", [{"kept_out_of_recall": True}, {"deleted_at": timezone.now()}])
async def test_nothing_is_asked_for_where_all_that_has_vectors_may_not_be_looked_in(settings, reply, change):
    settings.OPENAI_EMBEDDING_BASE_URL, settings.OPENAI_EMBEDDING_MODEL = "http://127.0.0.1:9/v1", MODEL
    asked = []

    async def embed(texts, **_named):
        asked.extend(texts)
        return [[1.0, 0.0, 0.0]]

    def ask_elsewhere():
        owner = reply.conversation.owner
        owner.recalls_other_conversations = True
        posted = post(begin(owner), PARAPHRASE).reply
        return Message.objects.select_related("conversation__owner", "parent").get(pk=posted.pk)

    elsewhere = await in_thread(ask_elsewhere)
    elsewhere.conversation.owner.recalls_other_conversations = True
    await recall(elsewhere, before_position=0, embed=embed)
    assert asked == [PARAPHRASE]
    await in_thread(Conversation.objects.filter(pk=reply.conversation_id).update, **change)
    await recall(elsewhere, before_position=0, embed=embed)
    assert asked == [PARAPHRASE]
