from __future__ import annotations

import asyncio
import datetime as dt
import json
import uuid
from contextlib import asynccontextmanager
from decimal import Decimal

import pytest
from django.db import DataError, connection
from django.db.models import F
from django.db.models.functions import Now

from conversations.core.errors import MoneyUsedUp
from conversations.models import Completion, Conversation, Document, Passage
from conversations.parsing import ParsedPassage
from conversations.providers.catalog.embedding_models import embedding_model
from conversations.providers.clients.client_pool import close_clients
from conversations.runs import indexer as indexing
from conversations.runs.indexer import Indexer
from conversations.services.documents import embed_document, index_document
from conversations.services.documents.documents import add_document, delete_document, read_again
from conversations.services.documents.embed_document import claim_batch, postpone
from conversations.services.documents.index_document import DocumentLost, claim_document
from tests.faults.databases import Database, server_address
from tests.support.paused_parsing import HELD_AT, held_reading
from tests.support.people import begin, make_user
from tests.support.waiting import in_thread, wait_for_lock_waits, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "# Trains\n\nThe night train leaves at ten.\n\n# Ships\n\nThe ferry waits for nobody.\n"


@asynccontextmanager
async def running():
    indexer = Indexer()
    await indexer.start()
    yield indexer
    await indexer.drain()


@pytest.fixture
async def indexer(transactional_db):
    async with running() as indexer:
        yield indexer


@pytest.fixture
async def endpoint(settings, upstream):
    """Return a function that configures the fake embeddings endpoint with one model, named after its fault."""
    upstream.reset()
    settings.OPENAI_EMBEDDING_BASE_URL = upstream.base_url

    def use(model, words="input_usd=1"):
        settings.OPENAI_EMBEDDING_MODEL = f"{model} {words}"

    yield use
    await close_clients()


def bring(name="trains.md", content=TEXT, person="alice"):
    conversation = begin(make_user(f"{person}-{uuid.uuid4().hex[:6]}"))
    return add_document(user=conversation.owner, place=conversation, name=name, content=content.encode()).document


def records(count):
    return json.dumps([{"title": f"Talk {number}", "about": f"words{number} on trains"} for number in range(count)])


async def when(document, **fields):
    """Wait until the document is as *fields* say, and return it."""
    return await wait_until(lambda: Document.objects.filter(pk=document.pk, **fields).first())


async def test_a_file_becomes_passages(indexer):
    document = await when(await in_thread(bring), state="ready")
    passages = await in_thread(list, document.passages.all())
    assert (document.kind, document.percent, document.encoding) == ("markdown", 100, "o200k_base")
    assert [passage.number for passage in passages] == list(range(document.passage_count))
    assert document.tokens == sum(passage.tokens for passage in passages) > 0
    assert (document.attempt, document.worker, document.lease_until) == (0, "", None)


async def test_a_passage_is_found_by_its_words(indexer):
    document = await when(await in_thread(bring), state="ready")
    found = document.passages.extra(where=["search @@ plainto_tsquery('english', 'leaving trains')"])
    assert await in_thread(found.exists)


async def test_many_records_are_many_passages_in_their_order(indexer):
    document = await when(await in_thread(bring, "talks.json", records(120)), state="ready")
    texts = await in_thread(list, document.passages.values_list("text", flat=True))
    assert document.passage_count == len(texts) == 120
    assert all(f"words{number} " in text for number, text in enumerate(texts))


async def test_what_cannot_be_read_says_why(indexer):
    document = await when(await in_thread(bring, "talk.pdf", "%PDF-1.7 and no more"), state="failed")
    assert (document.error_code, document.passage_count) == ("document_damaged", 0)


async def test_no_ones_many_files_hold_up_the_first_of_another_user():
    def bring_all():
        alice, bob = begin(make_user("alice")), begin(make_user("bob"))
        for owner, count in ((alice, 5), (bob, 1)):
            for number in range(count):
                add_document(user=owner.owner, place=owner, name=f"{number}.txt", content=f"text {number}".encode())
        return alice.owner_id, bob.owner_id

    alice, bob = await in_thread(bring_all)
    turns = indexing.Turns()
    served = []
    while claimed := await in_thread(claim_document, "worker", turns.all()):
        served.append(claimed[1])
        turns.give(claimed[1])
        await in_thread(Document.objects.filter(state="parsing").update, state="ready")
    assert served == [alice, bob, alice, alice, alice, alice]


async def test_documents_of_a_deleted_conversation_wait_until_it_is_restored(endpoint):
    """Nothing is paid for a document that is not wanted any more."""
    endpoint("words")
    document = await in_thread(bring)
    conversations = Conversation.objects.filter(pk=document.conversation_id)
    deleted, there = {"deleted_at": Now()}, {"deleted_at": None}
    await conversations.aupdate(**deleted)
    assert await in_thread(claim_document, "worker", []) is None
    await conversations.aupdate(**there)
    held, _ = await in_thread(claim_document, "worker", [])
    await in_thread(index_document.store_passages, held, [ParsedPassage("", "words", 1)], first_number=0)
    await in_thread(index_document.finish_document, held)
    await conversations.aupdate(**deleted)
    assert await in_thread(claim_batch, "worker", [], embedding_model()) is None
    await conversations.aupdate(**there)
    assert await in_thread(claim_batch, "worker", [], embedding_model())


async def test_two_processes_never_get_the_same_document():
    for _ in range(4):
        await in_thread(bring)
    claimed = [await in_thread(claim_document, f"worker {number % 2}", []) for number in range(5)]
    assert len({held.id for held, _ in claimed[:4]}) == 4
    assert claimed[4] is None


async def test_a_user_who_has_lost_a_document_writes_nothing_into_it():
    document = await in_thread(bring)
    late, _ = await in_thread(claim_document, "late", [])
    await in_thread(run_out, document)
    held, _ = await in_thread(claim_document, "next", [])
    with pytest.raises(DocumentLost):
        await in_thread(index_document.store_passages, late, [ParsedPassage("", "late", 1)], first_number=0)
    await in_thread(index_document.store_passages, held, [ParsedPassage("", "mine", 1)], first_number=0)
    assert await in_thread(list, document.passages.values_list("text", flat=True)) == ["mine"]


def run_out(document):
    """Let the lease of its worker be over."""
    Document.objects.filter(pk=document.pk).update(lease_until=Now() - index_document.LEASE)


async def test_what_a_reader_that_is_gone_has_left_is_read_again():
    def leave_half():
        document = bring()
        held, _ = claim_document("gone", [])
        index_document.store_passages(held, [ParsedPassage("", "half", 1)] * 3, first_number=0)
        run_out(document)
        return document

    document = await in_thread(leave_half)
    async with running():
        document = await when(document, state="ready")
    assert document.passage_count == await in_thread(document.passages.count)
    assert not await in_thread(document.passages.filter(text="half").exists)


async def test_after_three_readers_were_gone_it_is_given_up():
    document = await in_thread(bring)
    for number in range(index_document.MOST_ATTEMPTS):
        assert (await in_thread(claim_document, f"gone {number}", []))[0]
        await in_thread(run_out, document)
    assert (await in_thread(claim_document, "last", []))[0] is None
    document = await when(document, state="failed")
    assert document.error_code == "document_parsing_interrupted"


@pytest.fixture
async def begun(indexer):
    """A document of many records whose parsing is paused, and the function that resumes it."""
    with held_reading(Database(connection.settings_dict["NAME"], server_address())) as go_on:
        document = await in_thread(bring, "talks.json", records(1_000))
        await in_thread(wait_for_lock_waits, 1)
        yield await when(document, passage_count=HELD_AT), go_on


async def test_a_worker_that_is_told_to_stop_leaves_the_document_to_others(indexer, begun):
    document, go_on = begun
    draining = asyncio.create_task(indexer.drain())
    await wait_until(lambda: all(duty.cancelling() or duty.done() for duty in indexer._duties))
    go_on()
    await draining
    document = await when(document, state="waiting")
    assert (document.attempt, document.worker) == (0, "")


async def test_a_document_that_is_deleted_while_it_is_read_leaves_nothing(indexer, begun, caplog):
    document, go_on = begun
    deleting = asyncio.ensure_future(in_thread(delete_document, document))
    await in_thread(wait_for_lock_waits, 2)  # the indexer waits to go on, and who deletes it for the indexer
    go_on()
    await deleting
    next_one = await in_thread(bring)
    await when(next_one, state="ready")
    assert not await in_thread(Passage.objects.filter(document_id=document.pk).exists)
    assert [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")] == []


async def test_vectors_come_behind_and_each_request_is_paid_by_who_sent_the_document(indexer, endpoint):
    endpoint("words")
    document = await in_thread(bring, "talks.json", records(70))
    document = await when(document, embedded_count=70)
    assert (document.embedding_model, document.attempt, document.worker) == ("words", 0, "")
    rows = await in_thread(list, Completion.objects.filter(user=document.uploader_id, purpose="embedding"))
    assert [row.conversation_id for row in rows] == [document.conversation_id] * 3


async def test_without_a_model_there_are_none_and_no_one_is_asked(indexer):
    document = await when(await in_thread(bring), state="ready")
    assert (document.embedding_model, document.embedded_count) == ("", 0)
    assert not await in_thread(Completion.objects.exists)


@pytest.fixture
def hurry(monkeypatch):
    """Let what failed be tried again at once."""
    monkeypatch.setattr("conversations.services.ledger.provider_attempts.SHORTEST_BATCH_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("conversations.runs.repeated_work.POLL_SECONDS", 0.05)


@pytest.mark.parametrize(("model", "code"), [("status-401", "credentials_rejected"), ("nan", "embeddings_malformed")])
async def test_an_endpoint_that_fails_leaves_it_to_be_found_by_words(indexer, endpoint, model, code):
    endpoint(model)
    document = await when(await in_thread(bring), embedding_error_code=code)
    assert (document.state, document.embedded_count, document.attempt) == ("ready", 0, 1)
    assert document.lease_until > document.ready_at


async def test_vectors_that_the_database_does_not_take_are_put_off(indexer, endpoint, monkeypatch):
    """Or they would be asked for, and paid for, as soon as the lease has run out, again and again."""

    def refuse(batch, vectors):
        raise DataError("no vector")

    endpoint("words")
    monkeypatch.setattr(embed_document, "store_vectors", refuse)
    document = await when(await in_thread(bring), embedding_error_code="embeddings_malformed")
    assert (document.state, document.embedded_count, document.attempt) == ("ready", 0, 1)


async def test_what_is_there_stays_when_the_endpoint_fails_in_the_middle(indexer, endpoint, hurry, upstream):
    endpoint("too-few-after-1")
    document = await in_thread(bring, "talks.json", records(70))
    document = await when(document, embedding_error_code="embeddings_malformed")
    assert document.embedded_count == 32
    upstream.reset()
    await when(document, embedded_count=64)


async def test_a_length_that_changes_in_the_middle_begins_again(indexer, endpoint, hurry, upstream):
    endpoint("grows-after-1")
    document = await in_thread(bring, "talks.json", records(70))
    document = await when(document, embedded_count=70)
    lengths = await in_thread(lambda: {len(each.embedding) for each in document.passages.all()})
    assert lengths == {65}
    assert document.embedding_error_code == ""


async def test_another_model_makes_all_vectors_again(indexer, endpoint):
    endpoint("words")
    document = await when(await in_thread(bring), embedded_count=F("passage_count"), state="ready")
    endpoint("words-16")
    document = await when(document, embedding_model="words-16", embedded_count=F("passage_count"))
    assert {len(each.embedding) for each in await in_thread(list, document.passages.all())} == {16}


async def test_without_money_it_waits_and_says_so(indexer, endpoint, settings):
    settings.MONEY_PER_DAY_USD = Decimal("0.000001")
    endpoint("words", "input_usd=1000")
    document = await when(await in_thread(bring), embedding_error_code="reply_too_expensive")
    assert document.state == "ready"
    assert not await in_thread(Completion.objects.exists)


def bring_and_read():
    document = bring()
    held, _ = claim_document("reader", [])
    index_document.store_passages(held, [ParsedPassage("", "one", 1)], first_number=0)
    index_document.finish_document(held)
    return document


async def test_when_there_is_money_again_is_told_until_there_is(endpoint):
    endpoint("words")
    document = await in_thread(bring_and_read)
    batch = await in_thread(claim_batch, "one", [], embedding_model())
    refused = MoneyUsedUp(opens_at=dt.datetime(2026, 11, 22, tzinfo=dt.UTC))
    await in_thread(postpone, batch, refused)
    document = await when(document, embedding_error_code="money_used_up")
    assert document.error_params == refused.params
    await in_thread(read_again, document)
    assert (await when(document, embedding_error_code="")).error_params == {}


async def test_two_processes_never_ask_for_the_same_vectors(endpoint):
    endpoint("words")
    document = await in_thread(bring_and_read)
    batch = await in_thread(claim_batch, "one", [], embedding_model())
    assert batch.document == document
    assert await in_thread(claim_batch, "two", [], embedding_model()) is None


def bring_more(document, name, content=TEXT):
    place = document.conversation
    return add_document(user=place.owner, place=place, name=name, content=content.encode()).document


def test_a_user_has_one_document_parsed_at_a_time_and_others_are_not_kept_waiting():
    first = bring("first.md")
    second = bring_more(first, "second.md", TEXT + "more")
    other = bring("other.md", person="bob")
    assert [claim_document(lane, [])[0].id for lane in "ab"] == [first.pk, other.pk]
    assert claim_document("c", []) is None
    Document.objects.filter(pk=first.pk).update(state="ready")
    assert claim_document("c", [])[0].id == second.pk


def test_of_users_who_wait_alike_the_small_file_comes_first():
    large, small = bring("large.md"), bring("small.md", person="bob")
    Document.objects.filter(pk=large.pk).update(size_bytes=index_document.SMALL_BYTES + 1)
    assert claim_document("a", [])[0].id == small.pk
    assert claim_document("b", [])[0].id == large.pk


async def test_a_file_is_read_beside_one_that_takes_long(monkeypatch):
    parse = indexing.parse_document

    async def parse_slowly(content, **options):
        if options["name"] == "long.md":
            await asyncio.Event().wait()
        async for piece in parse(content, **options):
            yield piece

    monkeypatch.setattr(indexing, "parse_document", parse_slowly)
    async with running():
        long = await when(await in_thread(bring, "long.md"), state="parsing")
        await when(await in_thread(bring, "short.md", TEXT, "bob"), state="ready")
        assert (await in_thread(Document.objects.get, pk=long.pk)).state == "parsing"
