"""Ask the API at `/v1` as programs do: make keys, ask with the openai package or without, read the ledger's rows."""

from __future__ import annotations

import http.client
import json
import secrets
import uuid
from contextlib import suppress
from urllib.parse import urlsplit

import openai

from chatsite.accounts.sign_up.one_time_links import hash_token
from tests.support.patience import PATIENCE_SECONDS

STORE_KEY = """
INSERT INTO conversations_apikey (public_id, name, public_part, secret_digest, scopes, language_models,
                                  requests_per_minute, money_per_day_usd, is_bound, created_at, owner_id)
SELECT gen_random_uuid(), 'a program', %s, %s, %s, %s, %s, %s, false, now(), id FROM accounts_user WHERE email = %s
"""
ROWS = """
SELECT row.*, key.name AS key_name FROM conversations_completion row
JOIN conversations_apikey key ON key.id = row.api_key_id WHERE key.public_part = %s ORDER BY row.id
"""
HELLO = [{"role": "user", "content": "Say hello."}]
ANSWER = "Hello from the upstream."
TOOL = {
    "type": "function",
    "name": "get_time",
    "parameters": {"type": "object", "properties": {}},
    "strict": True,
    "description": None,
}


def make_key(site, *, person="", scopes=("chat",), language_models=(), per_minute=None, per_day_usd=None):
    """Store a key of *person*, or of the site's own, as the account page does, and return its text."""
    public_part, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    values = (public_part, hash_token(secret), list(scopes), list(language_models), per_minute, per_day_usd)
    site.database.rows(STORE_KEY, *values, person or site.browser.person)
    return f"wsk_{public_part}_{secret}"


def revoke(site, key):
    site.database.rows("UPDATE conversations_apikey SET revoked_at = now() WHERE public_part = %s", key.split("_")[1])


def client_of(site, key, **options):
    return openai.OpenAI(base_url=f"{site.address}/v1", api_key=key, timeout=PATIENCE_SECONDS, **options)


def rows_of(site, key):
    """Return the rows of the ledger of what *key* has asked for, the oldest first."""
    return site.database.rows(ROWS, key.split("_")[1])


def post_raw(site, key, body, path="/v1/chat/completions", **headers):
    """Send *body* as it is; return the status, what the answer says and its headers."""
    connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=PATIENCE_SECONDS)
    sent = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", **headers}
    with suppress(BrokenPipeError, ConnectionResetError):  # what is far too large is not read to its end
        connection.request("POST", path, body, sent)
    response = connection.getresponse()
    return response.status, json.loads(response.read()), response.headers


def in_conversation(conversation):
    """Return what the openai package is given to ask in a conversation."""
    return {"extra_headers": {"x-windowseat-conversation": conversation}}


def conversation_of(response):
    """Return our id of the conversation that a response is stored in."""
    return str(uuid.UUID(response.conversation.id.removeprefix("conv_")))


def sent_messages(site):
    """Return the messages of the newest request to the provider, as role and content."""
    return [(each["role"], each.get("content")) for each in site.upstream.log()[-1]["body"]["messages"]]
