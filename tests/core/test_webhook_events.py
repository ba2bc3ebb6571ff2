"""Events of webhooks: the openai package verifies and reads what is signed here, and nothing that was changed."""

from __future__ import annotations

import datetime as dt
import json
import uuid

import openai
import pytest

from conversations.core.api.webhook_events import (
    BUDGET_REACHED,
    COMPLETED,
    RETRY_SECONDS,
    read_secret,
    seconds_until_retry,
    sign_event,
    write_event,
    write_secret,
)

SECRET = write_secret(bytes(range(32)))
ID = uuid.UUID(int=7)
ENDED = dt.datetime(2026, 11, 28, tzinfo=dt.UTC)
CLIENT = openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9", webhook_secret=SECRET)


def event(event_type=COMPLETED, **data):
    return write_event(ID, event_type, ENDED, {"id": "resp_1", **data})


def signed(body, *, secret=SECRET, ago=dt.timedelta()):
    """Sign it now: the package takes no signature that is older than five minutes."""
    return sign_event(ID, body, secret=secret, at=dt.datetime.now(dt.UTC) - ago)


def test_the_openai_package_unwraps_a_response():
    body = event()
    unwrapped = CLIENT.webhooks.unwrap(body, signed(body))
    assert isinstance(unwrapped, openai.types.webhooks.ResponseCompletedWebhookEvent)
    assert (unwrapped.id, unwrapped.object, unwrapped.data.id) == (f"evt_{ID.hex}", "event", "resp_1")
    assert unwrapped.created_at == int(ENDED.timestamp())


def test_the_openai_package_unwraps_a_budget():
    body = event(BUDGET_REACHED, percent=80, budget="Zürich 预算")
    unwrapped = CLIENT.webhooks.unwrap(body.decode(), signed(body))
    assert unwrapped.type == BUDGET_REACHED
    assert json.loads(body)["data"]["budget"] == "Zürich 预算"


def test_what_was_changed_or_is_old_is_refused():
    body = event()
    for sent, headers in (
        (body.replace(b"resp_1", b"resp_2"), signed(body)),
        (body, signed(body) | {"webhook-id": "evt_other"}),
        (body, signed(body, ago=dt.timedelta(minutes=6))),
        (body, signed(body, secret=write_secret(bytes(32)))),
    ):
        with pytest.raises(openai.InvalidWebhookSignatureError):
            CLIENT.webhooks.unwrap(sent, headers)


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_c2hvcnQ=", "whsec_ä", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]
)
def test_a_malformed_secret_is_an_error(secret):
    with pytest.raises(ValueError, match="whsec_"):
        read_secret(secret)


def test_it_is_tried_for_about_a_day():
    assert 20 < sum(RETRY_SECONDS) / 3_600 < 28
    assert seconds_until_retry(1) == 5
    assert seconds_until_retry(len(RETRY_SECONDS) + 1) is None
