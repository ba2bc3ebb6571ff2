"""Looking up the question of a reply: what is found, what is kept, and what happens when something is away."""

from __future__ import annotations

import asyncio

import pytest
from channels.db import database_sync_to_async

from conversations.core.errors import ProviderUnavailable
from conversations.core.window.window_record import LookUp
from conversations.grounding.retrieve import SearchTimeouts
from conversations.models import Document, Message
from conversations.services.grounding.look_up import look_up
from tests.grounding.documents import store_document
from tests.grounding.timeouts import patient_searches  # noqa: F401  # a fixture
from tests.support.people import begin, make_user, post

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("patient_searches")]
NEAR, FAR = [1.0, 0.1], [-1.0, 0.2]
in_database = database_sync_to_async


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


@pytest.fixture
def reply(conversation):
    return post(conversation, "Where do herons stand?").reply


@pytest.fixture
def embeddings(settings):
    settings.OPENAI_EMBEDDING_MODEL = "vectors floor=0.5"
    settings.OPENAI_EMBEDDING_BASE_URL = "http://127.0.0.1:9/v1"


async def vector_of(texts, **_payer):
    return [NEAR for _ in texts]


def kept(reply):
    return Message.objects.get(pk=reply.parent_id).grounding


def texts(looked_up):
    return [passage.text for passage in looked_up.passages]


async def test_without_documents_there_is_nothing_to_look_in(reply):
    assert await look_up(reply.pk) is None


async def test_what_was_found_is_kept_with_the_question_by_number(conversation, reply):
    document = await in_database(store_document)(conversation, [("Birds › Herons", "They stand in water."), "No."])
    looked_up = await look_up(reply.pk)
    [passage] = looked_up.passages
    [entry] = await in_database(kept)(reply)
    assert (passage.number, passage.source, passage.score) == (1, "guide.md › Birds › Herons", 1.0)
    assert entry == {
        "document": str(document.public_id),
        "source": passage.source,
        "text": "They stand in water.",
        "score": 1.0,
    }
    assert looked_up.look_up == LookUp(documents=1)


async def test_looking_up_again_adds_only_what_is_new_and_numbers_stay(conversation, reply):
    await in_database(store_document)(conversation, ["Herons stand in the water of the lake."])
    await look_up(reply.pk)
    await in_database(store_document)(conversation, ["Where herons stand, herons fish."], name="new.md")
    looked_up = await look_up(reply.pk)
    assert {passage.text[:6]: passage.number for passage in looked_up.passages} == {"Where ": 2, "Herons": 1}
    assert len(await in_database(kept)(reply)) == 2


async def test_documents_still_being_read_are_told(conversation, reply):
    await in_database(store_document)(conversation, ["Herons stand here."], state="waiting")
    assert await look_up(reply.pk) is not None
    assert (await look_up(reply.pk)).look_up == LookUp(documents=0, pending_documents=1)
    assert (await look_up(reply.pk)).passages == ()


async def test_documents_that_could_not_be_read_are_none(conversation, reply):
    await in_database(store_document)(conversation, ["Herons stand here."], state="failed")
    assert await look_up(reply.pk) is None


async def test_what_is_good_by_words_and_by_meaning_comes_first(conversation, reply, embeddings):
    await in_database(store_document)(
        conversation,
        ["Herons and storks stand.", "Long-legged birds wade at the shore.", "Herons stand still.", "A bus timetable."],
        vectors=[FAR, NEAR, NEAR, FAR],
        embedding_model="vectors",
        embedded_count=4,
    )
    looked_up = await look_up(reply.pk, embed=vector_of)
    assert texts(looked_up)[0] == "Herons stand still."
    assert set(texts(looked_up)[1:]) == {"Herons and storks stand.", "Long-legged birds wade at the shore."}
    assert looked_up.look_up == LookUp(documents=1, searched_by="lexical_and_semantic")


@pytest.fixture
def embedded(conversation, embeddings):
    fields = {"embedding_model": "vectors", "embedded_count": 1}
    return store_document(conversation, ["Herons stand in water."], vectors=[NEAR], **fields)


async def test_an_embeddings_model_that_fails_is_done_without(reply, embedded):
    async def fail(texts, **_payer):
        raise ProviderUnavailable

    looked_up = await look_up(reply.pk, embed=fail)
    assert texts(looked_up) == ["Herons stand in water."]
    assert looked_up.look_up == LookUp(documents=1, semantic_error="provider_unavailable")


async def test_an_embeddings_model_that_never_answers_is_given_up(reply, embedded):
    async def hang(texts, **_payer):
        await asyncio.Event().wait()

    looked_up = await look_up(reply.pk, embed=hang, timeouts=SearchTimeouts(search_seconds=60, vector_seconds=0.01))
    assert texts(looked_up) == ["Herons stand in water."]
    assert looked_up.look_up.semantic_error == "provider_timed_out"


async def test_where_no_passage_has_a_vector_no_one_is_asked_for_one(conversation, reply, embeddings):
    await in_database(store_document)(conversation, ["Herons stand."], embedding_error_code="credentials_rejected")

    async def never(texts, **_payer):
        raise AssertionError("asked for a vector")

    looked_up = await look_up(reply.pk, embed=never)
    assert looked_up.look_up == LookUp(documents=1, semantic_error="credentials_rejected")


@pytest.mark.parametrize("code", ["money_used_up", "site_money_reserved", "price_unknown"])
async def test_whose_money_for_vectors_is_used_up_is_not_told_to_who_asks(conversation, reply, embeddings, code):
    await in_database(store_document)(conversation.scenario, ["Herons stand."], embedding_error_code=code)
    assert (await look_up(reply.pk, embed=vector_of)).look_up == LookUp(documents=1)


async def test_vectors_of_another_length_or_model_are_passed_over(conversation, reply, embeddings):
    other = {"embedding_model": "vectors", "embedded_count": 1}
    await in_database(store_document)(conversation, ["Three of them."], vectors=[[1, 0, 0]], **other)
    await in_database(store_document)(conversation, ["Another model's."], vectors=[NEAR], embedding_model="other")
    looked_up = await look_up(reply.pk, embed=vector_of)
    assert looked_up == type(looked_up)((), LookUp(documents=2, searched_by="lexical_and_semantic"))


async def test_a_vector_of_nothing_finds_nothing(conversation, reply, embedded):
    async def nothing(texts, **_payer):
        return [[0.0, 0.0]]

    assert texts(await look_up(reply.pk, embed=nothing)) == ["Herons stand in water."]


async def test_passages_that_say_the_same_are_found_once(conversation, reply):
    same = "Herons stand in the shallow water of the lake and wait for fish until evening comes"
    await in_database(store_document)(conversation, [f"{same}.", f"{same.upper()}!", f"{same} again.", "Herons stand."])
    assert len((await look_up(reply.pk)).passages) == 2


async def test_an_empty_passage_of_a_deleted_document_stays_in_its_place(conversation, reply):
    document = await in_database(store_document)(conversation, ["Herons stand."])
    await look_up(reply.pk)
    gone = [{**entry, "text": ""} for entry in await in_database(kept)(reply)]
    await Message.objects.filter(pk=reply.parent_id).aupdate(grounding=gone)
    await Document.objects.filter(pk=document.pk).adelete()
    await in_database(store_document)(conversation, ["Herons stand."])
    [passage] = (await look_up(reply.pk)).passages
    assert passage.number == 2
