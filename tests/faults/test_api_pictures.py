"""Pictures that programs send: opened in the sandbox, counted as the window does, named where they can't be taken."""

from __future__ import annotations

import base64
import io
import uuid

import openai
import pytest
from PIL import Image

from tests.support.sent_pictures import picture_digests

from .conftest import checked
from .sites import configured
from .test_api import client_of, in_conversation, make_key, rows_of

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


def test_a_response_that_is_not_stored_sees_pictures(site, client, key):
    shown = picture()
    url = f"data:image/png;base64,{base64.b64encode(shown).decode()}"
    image = {"type": "input_image", "image_url": url, "detail": "auto"}
    content = [{"type": "input_text", "text": "What is this?"}, image]
    asked = {"model": "ok", "input": [{"role": "user", "content": content}]}
    assert client.responses.create(**asked, store=False).output_text == "Hello from the upstream."
    assert len(picture_digests(site.upstream.log()[-1]["body"])) == 1
    counted = client.responses.input_tokens.count(**asked)
    assert counted.input_tokens == rows_of(site, key)[-1]["window"]["prompt_tokens"] > PICTURE_TOKENS
    for fields in ({}, {"model": "endless", "store": False}):
        with pytest.raises(openai.BadRequestError) as refusal:
            client.responses.create(**{**asked, **fields})
        assert refusal.value.param == "input[0].content[1]"
