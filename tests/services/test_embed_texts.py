import asyncio
from decimal import Decimal

import pytest

from chatsite.accounts.models import Limits
from conversations.core import errors
from conversations.models import Completion, Conversation
from conversations.providers.clients import embeddings
from conversations.providers.clients.client_pool import close_clients
from conversations.services.grounding.embed_texts import embed_texts
from tests.support.embeddings import embed_words
from tests.support.people import begin, make_user
from tests.support.unknown_errors import raise_unknown_error, tracebacks
from tests.support.upstream import serve_upstream
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="session")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture
async def endpoint(settings, upstream):
    """Return a function that configures the fake endpoint with one model, named after its fault."""
    upstream.reset()
    settings.OPENAI_EMBEDDING_BASE_URL, settings.OPENAI_EMBEDDING_API_KEY = upstream.base_url, "sk-canary-1234567890"

    def use(model, words="input_usd=1 context_window=100"):
        settings.OPENAI_EMBEDDING_MODEL = f"{model} {words}"

    yield use
    await close_clients()


async def at_once(seconds):
    """Wait for no time, where the product waits before it tries again."""


def embed(*texts, user=None, **fields):
    return embed_texts(texts, user=user, sleep=at_once, **fields)


async def rows():
    return await in_thread(list, Completion.objects.order_by("id"))


async def test_each_text_gets_its_vector(endpoint):
    endpoint("words")
    assert await embed("one two", "three") == [embed_words("one two"), embed_words("three")]


async def test_a_request_is_a_row_of_the_ledger_without_words(endpoint):
    endpoint("words")
    alice = await in_thread(make_user, "alice")
    conversation = await in_thread(begin, alice)
    await embed("one two", user=alice, conversation=conversation)
    (row,) = await rows()
    assert (row.purpose, row.user_id, row.conversation_id) == ("embedding", alice.pk, conversation.pk)
    assert (row.input_tokens, row.output_tokens, row.usage_estimated) == (2, 0, False)
    assert (row.cost_usd, row.request) == (Decimal("0.000002"), {"model": "words"})
    assert (row.scenario_id, row.provider_request_id) == (conversation.scenario_id, "req_e")


async def test_without_reported_usage_our_own_count_is_paid(endpoint):
    endpoint("no-usage")
    await embed("one two")
    (row,) = await rows()
    assert (row.input_tokens, row.usage_estimated) == (2, True)


async def test_vectors_are_put_in_the_order_of_their_texts(endpoint):
    endpoint("shuffled")
    assert await embed("one", "two", "three") == [embed_words(each) for each in ("one", "two", "three")]


async def test_many_texts_take_several_requests(endpoint, upstream):
    endpoint("words")
    texts = [f"text{number}" for number in range(70)]
    assert await embed(*texts) == [embed_words(text) for text in texts]
    assert [len(each["body"]["input"]) for each in upstream.log()] == [32, 32, 6]


async def test_the_dimensions_are_asked_for(endpoint, upstream):
    endpoint("words", "input_usd=1 dimensions=16")
    assert [len(vector) for vector in await embed("one")] == [16]
    assert upstream.log()[-1]["body"]["dimensions"] == 16


async def test_a_text_above_the_context_window_is_cut(endpoint, upstream):
    endpoint("words")
    await embed("word " * 500)
    (sent,) = upstream.log()[-1]["body"]["input"]
    assert 90 < len(sent.split()) <= 100


async def test_what_is_too_long_after_all_is_cut_further(endpoint, upstream):
    endpoint("limit-64", "input_usd=1 context_window=128")
    short, long = await embed("short", "word " * 500)
    refused, answered = upstream.log()
    assert [short, long] == [embed_words(text) for text in answered["body"]["input"]]
    assert len(answered["body"]["input"][1]) < len(refused["body"]["input"][1])
    assert [row.error_code for row in await rows()] == ["context_too_long", ""]


@pytest.mark.parametrize(
    "model",
    [
        "too-few",
        "too-many",
        "uneven",
        "empty",
        "zero",
        "nan",
        "huge",
        "truths",
        "texts",
        "no-index",
        "no-data",
        "html",
        "enormous",
    ],
)
async def test_what_is_not_a_vector_for_each_text_is_refused(endpoint, model):
    endpoint(model)
    with pytest.raises(errors.MalformedEmbeddings):
        await embed("one", "two")
    (row,) = await rows()
    assert (row.error_code, row.usage_estimated, row.cost_usd > 0) == ("embeddings_malformed", True, True)


async def test_an_error_that_is_not_known_leaves_no_row_open(endpoint, monkeypatch, caplog):
    endpoint("words")
    monkeypatch.setattr(embeddings, "parse_embeddings", raise_unknown_error)
    with pytest.raises(errors.MalformedEmbeddings):
        await embed("one")
    (row,) = await rows()
    assert (row.error_code, bool(row.ended_at)) == ("embeddings_malformed", True)
    assert tracebacks(caplog) == ["BufferError"]


async def test_vectors_of_two_lengths_are_refused(endpoint):
    endpoint("grows-after-1")
    with pytest.raises(errors.EmbeddingsChanged):
        await embed(*(f"text{number}" for number in range(40)))


@pytest.mark.parametrize(
    ("model", "error", "requests"),
    [
        ("status-503", errors.ProviderUnavailable, 3),
        ("status-429", errors.RateLimited, 3),
        ("status-401", errors.CredentialsRejected, 1),
        ("status-404", errors.LanguageModelNotFound, 1),
        ("status-400", errors.ProviderRejected, 1),
    ],
)
async def test_what_may_pass_is_tried_again_and_each_attempt_is_a_row(endpoint, model, error, requests):
    endpoint(model)
    with pytest.raises(error):
        await embed("one")
    settled = await rows()
    assert [row.attempt for row in settled] == list(range(1, requests + 1))
    assert {(row.error_code, row.cost_usd) for row in settled} == {(error.code, Decimal(0))}


async def test_a_moment_of_silence_is_survived(endpoint):
    endpoint("status-503-times-2")
    assert await embed("one") == [embed_words("one")]


async def test_a_look_that_is_given_up_closes_the_connection_and_its_row(endpoint, upstream):
    endpoint("hang")
    asking = asyncio.create_task(embed("one"))
    await wait_until(lambda: len(upstream.log()) == 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    (row,) = await rows()
    assert (row.finish_reason, row.usage_estimated, row.ended_at is None) == ("stopped", True, False)
    assert upstream.wait_until_ended()["ended"] == "disconnected"


async def test_what_the_money_does_not_cover_is_never_asked(endpoint, upstream):
    endpoint("words", "input_usd=1000000")
    alice = await in_thread(make_user, "alice")
    await in_thread(Limits.objects.create, user=alice, money_per_day_usd=Decimal("0.01"))
    with pytest.raises(errors.AccessError):
        await embed("one", user=alice)
    assert (await rows(), upstream.log()) == ([], [])


async def test_a_conversation_that_is_gone_is_not_named(endpoint):
    endpoint("words")
    conversation = await in_thread(lambda: begin(make_user("alice")))
    await in_thread(Conversation.objects.all().delete)
    await embed("one", conversation=conversation)
    (row,) = await rows()
    assert (row.conversation_id, row.ended_at is None) == (None, False)


async def test_the_key_is_sent_and_never_told(endpoint, upstream):
    endpoint("words")
    await embed("one")
    assert upstream.log()[-1]["headers"]["authorization"] == "Bearer sk-canary-1234567890"
