"""The examples of docs/api.md are true: its Python is run in its order, with the openai package, and so is its curl."""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
import types
import uuid
from pathlib import Path

import pytest

from conversations.core.api.webhook_events import sign_event, write_event
from tests.support.api_clients import make_key

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECRET = "whsec_" + "c2VjcmV0IG9mIDI0IGJ5dGVzIGFuZCBtb3Jl"
MODELS = ("gpt-4o-mini", "ok")


def test_every_example_in_python_runs_as_it_is_written(site, capsys):
    site.answer_with("ok")  # other files leave another model
    key = make_key(site, scopes=("chat", "read"))
    examples = PYTHON.findall(PAGE.read_text())
    assert len(examples) >= 6
    named: dict[str, object] = {}
    for example in examples:
        text = filled(example, site, key)
        if "webhooks" in text:
            named["request"] = event_of(named["response"].id)
        exec(text.replace("whsec_…", SECRET), named)  # words of ours
    assert "newest" in capsys.readouterr().out
    assert named["response"].id == named["event"].data.id


@pytest.mark.curl
def test_every_example_of_curl_gets_an_answer(site):
    site.answer_with("ok")
    key = make_key(site)
    examples = SHELL.findall(PAGE.read_text())
    assert examples
    for example in examples:
        answer = subprocess.run(["sh", "-c", filled(example, site, key)], capture_output=True, text=True, check=True)
        assert json.loads(answer.stdout)["choices"][0]["message"]["content"]


def filled(example, site, key):
    """Return *example* with an address, a key and a model of *site*."""
    return example.replace("https://chat.example.org", site.address).replace("wsk_…", key).replace(*MODELS)


def event_of(response_id):
    """Return a request as a receiver gets it: signed, and told of a response that is complete."""
    public_id, now = uuid.uuid4(), dt.datetime.now(dt.UTC)
    body = write_event(public_id, "response.completed", now, {"id": response_id})
    return types.SimpleNamespace(body=body, headers=sign_event(public_id, body, secret=SECRET, at=now))
