"""Row 25: where this site connects to. The canary is a server on the loopback that no request may reach."""

import aiohttp
import httpx2
import pytest

from conversations.core import errors
from conversations.providers.catalog.embedding_models import ConfiguredEmbeddingModel
from conversations.providers.clients.embeddings import EmbeddingClient, EmbeddingRequest
from conversations.providers.egress.destinations import EgressRefused, named_destination, parse_destination
from conversations.providers.egress.transport import EgressTransport
from tests.support.hostile_addresses import INSIDE, NEVER, WRITTEN, Canary, Rebinding

OUTSIDE = [
    "https://api.openai.com/v1",
    "http://93.184.216.34:8080/",
    "https://[2606:4700::1111]/v1?a=b@c#d",
    "HTTPS://EXAMPLE.org./",
    "http://[64:ff9b::808:808]/",
    "http://[::ffff:0:808:808]/",
]


@pytest.mark.parametrize("url", WRITTEN)
def test_what_could_be_read_in_two_ways_is_refused(url):
    with pytest.raises(EgressRefused):
        named_destination(url)


@pytest.mark.parametrize("address", INSIDE)
def test_inside_is_for_hosts_that_the_operator_named(address):
    with pytest.raises(EgressRefused, match="private network"):
        parse_destination(f"http://{address}/", named_hosts=["example.org"])
    assert named_destination(f"http://{address}/").is_named


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_are_never_connected_to(address):
    with pytest.raises(EgressRefused, match="never"):
        named_destination(f"http://{address}/")


@pytest.mark.parametrize("url", OUTSIDE)
def test_the_rest_of_the_world_is_let_through(url):
    assert not parse_destination(url).is_named


def test_there_are_enough_of_them():
    assert len({*WRITTEN, *INSIDE, *NEVER}) >= 60


@pytest.mark.parametrize("names", [["Models.Example.org"], ["models.example.org."]])
def test_a_named_host_is_named_however_it_is_written(names):
    assert parse_destination("http://models.example.ORG/v1", named_hosts=names).is_named


@pytest.fixture
def canary():
    canary = Canary()
    yield canary
    canary.close()
    assert canary.hits == 0


async def get(url, *addresses, named_hosts=()):
    transport = EgressTransport(
        parse_destination(url, named_hosts=named_hosts), most_bytes=1_000, resolver=Rebinding(*addresses)
    )
    async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
        return await client.get(url)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0"])
async def test_a_name_that_leads_inside_is_refused_at_the_connection(canary, address):
    with pytest.raises(aiohttp.ClientConnectorError) as raised:
        await get(f"http://rebinding.example.org:{canary.port}/", address)
    assert isinstance(raised.value.os_error, EgressRefused)


async def test_a_named_host_that_leads_to_credentials_is_refused(canary):
    with pytest.raises(aiohttp.ClientConnectorError) as raised:
        await get(f"http://models.example.org:{canary.port}/", "169.254.169.254", named_hosts=["models.example.org"])
    assert "never connects to" in str(raised.value.os_error)


async def test_no_connection_leads_anywhere_but_to_its_destination(canary):
    transport = EgressTransport(named_destination("http://models.example.org/"), most_bytes=1_000)
    async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
        with pytest.raises(EgressRefused, match="for another server than this connection’s"):
            await client.get(f"http://127.0.0.1:{canary.port}/")


async def test_a_name_of_another_alphabet_leads_where_it_is_written(upstream):
    host = "xn--bcher-kva.example"
    url = upstream.base_url.replace("127.0.0.1", host)
    upstream.reset()  # it answers with its log, which may have become too long
    assert (await get(url, "127.0.0.1", named_hosts=[host])).request.url.host == "bücher.example"


async def test_a_proxy_of_the_environment_is_not_asked(canary, monkeypatch, upstream):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    assert (await embed(upstream, "words")).vectors


async def test_a_redirect_is_not_followed(canary, upstream):
    with pytest.raises(errors.ProviderRejected):
        await embed(upstream, "redirect", f"http://127.0.0.1:{canary.port}/latest/meta-data/")


async def test_an_answer_without_an_end_is_cut_off(upstream):
    with pytest.raises(errors.MalformedEmbeddings) as raised:
        await embed(upstream, "enormous")
    assert "larger than" in raised.value.detail


def request(model, text="one"):
    return EmbeddingRequest(ConfiguredEmbeddingModel(model, "", "o200k_base"), (text,), 1)


async def embed(upstream, model, text="one"):
    client = EmbeddingClient(upstream.base_url, None, timeout_seconds=10)
    try:
        return await client.embed(request(model, text))
    finally:
        await client.aclose()
