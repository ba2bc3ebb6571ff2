"""The examples of docs/api.md are true: each piece of Python in it is run, in its order, with the openai package."""

from __future__ import annotations

import datetime as dt
import re
import types
import uuid
from pathlib import Path

from conversations.core.api.webhook_events import sign_event, write_event
from tests.support.api_clients import make_key

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECRET = "whsec_" + "c2VjcmV0IG9mIDI0IGJ5dGVzIGFuZCBtb3Jl"
MODELS = ("gpt-4o-mini", "ok")


def test_every_example_in_python_runs_as_it_is_written(site, capsys):
    site.answer_with("ok")  # other files leave another model
    key = make_key(site, scopes=("chat", "read"))
    examples = PYTHON.findall(PAGE.read_text())
    assert len(examples) >= 6
    named: dict[str, object] = {}
    for example in examples:
        text = example.replace("https://chat.example.org", site.address).replace("wsk_…", key).replace(*MODELS)
        if "webhooks" in text:
            named["request"] = event_of(named["response"].id)
        exec(text.replace("whsec_…", SECRET), named)  # words of ours
    assert "newest" in capsys.readouterr().out
    assert named["response"].id == named["event"].data.id


def event_of(response_id):
    """Return a request as a receiver gets it: signed, and told of a response that is complete."""
    public_id, now = uuid.uuid4(), dt.datetime.now(dt.UTC)
    body = write_event(public_id, "response.completed", now, {"id": response_id})
    return types.SimpleNamespace(body=body, headers=sign_event(public_id, body, secret=SECRET, at=now))
