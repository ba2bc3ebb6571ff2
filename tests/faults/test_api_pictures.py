"""Pictures that programs send: opened in the sandbox, counted as the window does, named where they can't be taken."""

from __future__ import annotations

import base64
import io
import uuid

import openai
import pytest
from PIL import Image

from tests.support.api_clients import client_of, in_conversation, make_key, rows_of
from tests.support.sent_pictures import picture_digests

from .conftest import checked
from .sites import configured

PICTURE_TOKENS = 300
URL = "messages[0].content[1].image_url.url"
SEES = f"vision=yes picture_tokens={PICTURE_TOKENS}"


@pytest.fixture(scope="module")
def seeing_site(make_site):
    """A site whose model "ok" sees pictures, and whose model "endless" does not."""
    with make_site(LANGUAGE_MODELS=f"{configured('ok')} {SEES}, {configured('endless')}") as site:
        site.serve()
        yield site


@pytest.fixture
def site(seeing_site):
    with checked(seeing_site):
        yield seeing_site


@pytest.fixture
def key(site):
    return make_key(site)


@pytest.fixture
def client(site, key):
    return client_of(site, key, max_retries=0)


def picture(colour="red", size=(64, 48)):
    written = io.BytesIO()
    Image.new("RGB", size, colour).save(written, "PNG")
    return written.getvalue()


def part(content, **fields):
    url = f"data:image/png;base64,{base64.b64encode(content).decode()}"
    return {"type": "image_url", "image_url": {"url": url, **fields}}


def asking(*parts):
    return {"role": "user", "content": [{"type": "text", "text": "What is this?"}, *parts]}


def test_a_picture_is_sent_and_counted(site, client, key):
    without = client.chat.completions.create(model="ok", messages=[asking()])
    row_without = rows_of(site, key)[-1]
    client.chat.completions.create(model="ok", messages=[asking(part(picture()))])
    row = rows_of(site, key)[-1]
    assert row["window"]["prompt_tokens"] == row_without["window"]["prompt_tokens"] + PICTURE_TOKENS
    assert without.choices
    [digest] = picture_digests(site.upstream.log()[-1]["body"])
    assert digest
    assert "base64" not in str(row)
    assert not site.database.rows("SELECT id FROM conversations_picture")


def test_older_pictures_are_sent_while_they_fit(site, client):
    answer = {"role": "assistant", "content": "A square."}
    turns = [turn for colour in ("red", "blue") for turn in (asking(part(picture(colour))), answer)]
    client.chat.completions.create(model="ok", messages=[*turns, asking(part(picture("green")))])
    assert len(picture_digests(site.upstream.log()[-1]["body"])) == 3


def test_a_picture_alone_is_a_message(site, client):
    client.chat.completions.create(model="ok", messages=[{"role": "user", "content": [part(picture())]}])
    assert len(picture_digests(site.upstream.log()[-1]["body"])) == 1


@pytest.mark.parametrize(
    ("parameter", "model", "given"),
    [
        ("messages[0].content[1]", "endless", part(picture())),
        ("messages[0].content[1]", "ok", part(b"no picture")),
        ("messages[0].content[1]", "ok", part(picture()[:60])),
        (
            URL,
            "ok",
            {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}},
        ),
        (
            URL,
            "ok",
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%"}},
        ),
        (URL, "ok", {"type": "image_url", "image_url": "x"}),
        ("messages[0].content[1].image_url.detail", "ok", part(picture(), detail="low")),
        ("messages[0].content[1].image_url.detial", "ok", part(picture(), detial="low")),
    ],
)
def test_a_picture_that_cannot_be_taken_is_named(site, client, parameter, model, given):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(model=model, messages=[asking(given)])
    assert refusal.value.param == parameter
    assert not site.upstream.log()


def test_a_system_message_has_no_pictures(client):
    system = {"role": "system", "content": [part(picture())]}
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(model="ok", messages=[system, asking()])
    assert refusal.value.param == "messages[0].content[0].type"


def test_in_a_conversation_it_is_a_picture_of_the_message(site, client):
    conversation = str(uuid.uuid4())
    client.chat.completions.create(model="ok", messages=[asking(part(picture()))], **in_conversation(conversation))
    client.chat.completions.create(model="ok", messages=[asking()], **in_conversation(conversation))
    assert len(picture_digests(site.upstream.log()[-1]["body"])) == 1
    page = site.open_page(conversation=conversation)
    assert site.database.value("SELECT sent FROM conversations_picture")
    assert page


def test_in_a_conversation_a_model_that_sees_none_says_so(client):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(
            model="endless", messages=[asking(part(picture()))], **in_conversation(str(uuid.uuid4()))
        )
    assert refusal.value.param == "messages[0].content[1]"


def image(content):
    url = f"data:image/png;base64,{base64.b64encode(content).decode()}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def showing(*contents, text="What is this?"):
    return {"role": "user", "content": [{"type": "input_text", "text": text}, *map(image, contents)]}


def test_a_response_that_is_not_stored_sees_pictures(site, client, key):
    asked = {"model": "ok", "input": [showing(picture())]}
    assert client.responses.create(**asked, store=False).output_text == "Hello from the upstream."
    assert len(picture_digests(site.upstream.log()[-1]["body"])) == 1
    counted = client.responses.input_tokens.count(**asked)
    assert counted.input_tokens == rows_of(site, key)[-1]["window"]["prompt_tokens"] > PICTURE_TOKENS


@pytest.mark.parametrize("store", [True, False])
def test_a_response_refuses_a_picture_that_its_model_does_not_see(client, store):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.responses.create(model="endless", input=[showing(picture())], store=store)
    assert refusal.value.param == "input[0].content[1]"


def test_pictures_of_a_stored_response_are_those_of_its_messages(site, client, key):
    answer = {"role": "assistant", "content": "A square."}
    items = [showing(picture("red"), text="First."), answer, showing(picture("blue"), picture("red"))]
    first = client.responses.create(model="ok", input=items)
    assert len(picture_digests(site.upstream.log()[-1]["body"])) == 3
    client.responses.create(model="ok", input="And then?", previous_response_id=first.id)
    assert len(picture_digests(site.upstream.log()[-1]["body"])) == 3
    assert rows_of(site, key)[-1]["window"]["prompt_tokens"] > 3 * PICTURE_TOKENS
    assert site.database.rows("SELECT sent FROM conversations_picture WHERE NOT sent") == []
    newest, *_, oldest = client.responses.input_items.list(first.id).data
    assert [part.type for part in newest.content] == ["input_text", "input_image", "input_image"]
    assert [part.type for part in oldest.content] == ["input_text", "input_image"]
    status, page = site.browser.request(f"/c/{uuid.UUID(first.conversation.id.removeprefix('conv_'))}/")
    assert (status, page.count("<img") >= 3) == (200, True)
    reference = {"type": "item_reference", "id": newest.id}
    with pytest.raises(openai.BadRequestError) as refusal:
        client.responses.create(model="ok", input=[reference, {"role": "user", "content": "x"}])
    assert refusal.value.param == "input[0].id"
    with pytest.raises(openai.BadRequestError) as refusal:
        client.responses.input_tokens.count(model="ok", input=[showing(picture())], previous_response_id=first.id)
    assert refusal.value.param == "input[0].content[1]"


def test_a_picture_of_a_stored_response_that_cannot_be_read_stores_nothing(site, client):
    before = site.database.value("SELECT count(*) FROM conversations_conversation")
    for contents in ((b"no picture",), (picture(),) * 30):
        with pytest.raises(openai.BadRequestError) as refusal:
            client.responses.create(model="ok", input=[showing(*contents)])
        assert refusal.value.param.startswith("input[0].content[")
    assert site.database.value("SELECT count(*) FROM conversations_conversation") == before


def test_a_stored_response_that_is_asked_for_again_keeps_its_pictures_once(site, client, key):
    asked = {"model": "ok", "input": [showing(picture())], "extra_headers": {"Idempotency-Key": uuid.uuid4().hex}}
    first = client.responses.create(**asked)
    assert client.responses.create(**asked).id == first.id
    assert len(rows_of(site, key)) == 1
    kept = (
        "SELECT count(*) FROM conversations_picture JOIN conversations_conversation c ON c.id = conversation_id "
        "WHERE c.public_id = %s"
    )
    assert site.database.value(kept, str(uuid.UUID(first.conversation.id.removeprefix("conv_")))) == 1
