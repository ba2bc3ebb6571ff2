"""The tool `search_documents` finds passages of its conversation and scenario, and of no other."""

from __future__ import annotations

from decimal import Decimal

import pytest

from chatsite.accounts.models import Limits
from conversations.core.errors import LookUpTooCostly, ToolTimedOut
from conversations.core.window.window_record import LookUp
from conversations.grounding import retrieve
from conversations.grounding.retrieve import Retrieval, SearchTimeouts
from conversations.models import Completion, Document
from conversations.providers.clients.client_pool import close_clients
from conversations.services.grounding.embed_texts import embed_texts
from conversations.tools.built_in.search_documents import (
    BY_MEANING_ALONE,
    BY_WORDS_ALONE,
    LONGEST_PASSAGE,
    MOST_PASSAGES,
    NOTHING,
    TOO_MUCH,
    describe_retrieval,
)
from conversations.tools.tool import ToolContext
from tests.grounding.documents import store_document
from tests.grounding.timeouts import patient_searches  # noqa: F401  # a fixture
from tests.support.embeddings import embed_words
from tests.support.people import begin, make_user, post
from tests.support.upstream import serve_upstream
from tests.support.waiting import in_thread
from tests.tools.calls import call

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("patient_searches")]
PASSAGE = ("Fees", "The invoice of the caterer is due in March.")
NO_WORD_OF_IT = "The bill for food is due in spring."


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


async def searched(conversation, words: str = "invoice caterer") -> str:
    reply = (await in_thread(post, conversation, "What is due?")).reply
    context = ToolContext(conversation.owner_id, conversation.pk, reply.pk, embed=embed_texts)
    return await call("search_documents", context, words=words)


async def test_a_passage_is_told_with_its_source(conversation):
    document = await in_thread(store_document, conversation, [PASSAGE])
    assert await searched(conversation) == f"[{document.name} › Fees]\n{PASSAGE[1]}"


async def test_without_documents_that_is_said(conversation):
    assert await searched(conversation) == "There are no documents here."


async def test_what_is_not_there_is_not_made_up(conversation):
    await in_thread(store_document, conversation, [PASSAGE])
    assert await searched(conversation, "helicopters") == NOTHING


async def test_documents_that_are_still_read_are_spoken_of(conversation):
    document = await in_thread(store_document, conversation, [PASSAGE])
    await in_thread(Document.objects.filter(pk=document.pk).update, state="waiting")
    assert await searched(conversation) == f"{NOTHING} 1 documents are still being read."


async def test_documents_of_other_people_and_conversations_are_not_searched(conversation):
    bobs = await in_thread(lambda: begin(make_user("bob")))
    another = await in_thread(begin, conversation.owner)
    for place in (bobs, another):
        await in_thread(store_document, place, [PASSAGE])
    assert await searched(conversation) == "There are no documents here."


async def test_what_is_found_is_bounded(conversation):
    parts = [(f"Part {n}", f"invoice {n} " + f"caterer{n} caterer " * 500) for n in range(MOST_PASSAGES + 2)]
    await in_thread(store_document, conversation, parts)
    found = (await searched(conversation)).split("\n\n")
    assert len(found) == MOST_PASSAGES
    assert all(len(passage) < LONGEST_PASSAGE + 100 and passage.endswith("…") for passage in found)


async def test_what_says_the_same_is_told_once(conversation):
    await in_thread(store_document, conversation, [PASSAGE, PASSAGE])
    assert (await searched(conversation)).count(PASSAGE[1]) == 1


@pytest.fixture(scope="session")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture
async def embedded(settings, upstream, conversation):
    """Return a function that configures an embeddings model, named after its fault, and stores texts with vectors."""
    upstream.reset()
    settings.OPENAI_EMBEDDING_BASE_URL, settings.OPENAI_EMBEDDING_API_KEY = upstream.base_url, "sk-test"

    async def use(model: str, *texts: str, near: str) -> None:
        settings.OPENAI_EMBEDDING_MODEL = f"{model} input_usd=1 context_window=100 floor=0.5"
        vectors = [embed_words(near) for _ in texts]
        fields = {"embedding_model": model, "embedded_count": len(texts)}
        await in_thread(lambda: store_document(conversation, texts, vectors=vectors, **fields))

    yield use
    await close_clients()


async def test_what_shares_no_word_is_found_by_its_meaning(conversation, embedded):
    await embedded("words", NO_WORD_OF_IT, near="invoice caterer")
    assert await searched(conversation) == f"[guide.md]\n{NO_WORD_OF_IT}"


async def test_what_both_searches_find_comes_first(conversation, embedded):
    await embedded("words", "An invoice, and a caterer.", near="nothing of it")
    await embedded("words", NO_WORD_OF_IT, PASSAGE[1], near="invoice caterer")
    assert (await searched(conversation)).startswith(f"[guide.md]\n{PASSAGE[1]}")


async def test_the_vector_of_its_words_is_a_row_of_the_ledger(conversation, embedded):
    await embedded("words", NO_WORD_OF_IT, near="invoice caterer")
    await searched(conversation)
    row = await in_thread(Completion.objects.get, purpose="embedding")
    assert (row.user_id, row.conversation_id) == (conversation.owner_id, conversation.pk)
    assert row.cost_usd == Decimal("0.000002")
    assert row.reserved_usd >= row.cost_usd


async def test_money_that_does_not_cover_the_vector_leaves_the_words(conversation, embedded, upstream):
    await embedded("words", PASSAGE[1], near="invoice caterer")
    await in_thread(Limits.objects.create, user=conversation.owner, money_per_day_usd=Decimal("0.000001"))
    assert await searched(conversation) == f"[guide.md]\n{PASSAGE[1]}\n\n{BY_WORDS_ALONE}"
    assert upstream.log() == []


@pytest.mark.parametrize("model", ["status-400", "too-few", "html"])
async def test_an_embeddings_model_that_fails_leaves_the_words_and_is_told(conversation, embedded, model):
    await embedded(model, PASSAGE[1], near="invoice caterer")
    assert await searched(conversation) == f"[guide.md]\n{PASSAGE[1]}\n\n{BY_WORDS_ALONE}"


async def test_an_embeddings_model_that_never_answers_is_given_up(conversation, embedded, monkeypatch):
    monkeypatch.setattr(retrieve, "VECTOR_SECONDS", 0.5)
    await embedded("hang", PASSAGE[1], near="invoice caterer")
    assert await searched(conversation) == f"[guide.md]\n{PASSAGE[1]}\n\n{BY_WORDS_ALONE}"


async def test_words_that_take_too_long_leave_the_meaning(conversation, embedded, monkeypatch):
    def lexical_search(*_args, **_kwargs):
        raise LookUpTooCostly

    monkeypatch.setattr(retrieve, "lexical_search", lexical_search)
    await embedded("words", NO_WORD_OF_IT, near="invoice caterer")
    assert await searched(conversation) == f"[guide.md]\n{NO_WORD_OF_IT}\n\n{BY_MEANING_ALONE}"


@pytest.mark.parametrize("seconds", [1, 20, 600])
def test_all_that_takes_too_long_is_given_up_before_the_call_is(seconds):
    timeouts = SearchTimeouts.within(seconds)
    assert 2 * timeouts.search_seconds + timeouts.vector_seconds < seconds


def test_where_every_search_took_too_long_the_call_has_failed():
    with pytest.raises(ToolTimedOut) as raised:
        describe_retrieval(Retrieval(None, [], LookUp(documents=1, lexical_error="look_up_too_costly")))
    assert TOO_MUCH in raised.value.for_the_model
