"""Chat completions of programs before they are sent: what a language model does not take is refused by its name."""

from __future__ import annotations

import json

import pytest

from conversations.core.api.chat_request import read_chat_request
from conversations.core.errors import ParameterInvalid
from conversations.services.api.api_keys import make_key
from conversations.services.api.prepare_chat import prepare_chat
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


def prepare(key, model, **fields):
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}], **fields}
    return prepare_chat(key, read_chat_request(json.dumps(body).encode()))


@pytest.mark.parametrize(
    ("name", "value"), [("seed", 1), ("stop", ["x"]), ("frequency_penalty", 1), ("presence_penalty", 1)]
)
def test_what_another_interface_of_a_provider_does_not_know_is_not_left_out_silently(settings, name, value):
    settings.OPENAI_API_KEY = "x"
    settings.LANGUAGE_MODELS = "older wire=chat context_window=8192, newer wire=responses context_window=8192"
    key = make_key(make_user("alice"), name="x").key
    assert prepare(key, "older", **{name: value}).sampling == {name: value}
    with pytest.raises(ParameterInvalid) as refusal:
        prepare(key, "newer", **{name: value})
    assert refusal.value.parameter == name
    assert prepare(key, "newer", temperature=1, response_format={"type": "json_object"})
