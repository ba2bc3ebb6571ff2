"""Events of webhooks and their signatures, as Standard Webhooks and the openai package read them.

    webhook-id: evt_ID            the same each time that one event is sent
    webhook-timestamp: SECONDS    when it is sent
    webhook-signature: v1,BASE64  HMAC-SHA256 of "ID.SECONDS.BODY", by the bytes that follow whsec_ in base64

Sources: https://www.standardwebhooks.com and openai 3.52's `lib/_webhooks.py`, checked 2026-11-28. An event has ids and
amounts, never words of messages.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import json
import uuid
from collections.abc import Mapping
from typing import Any, Final

SECRET_PREFIX: Final = "whsec_"  # noqa: S105  # only the beginning of each secret
SECRET_BYTES: Final = 32
SHORTEST_SECRET, LONGEST_SECRET = 24, 64  # bytes, by Standard Webhooks

COMPLETED, INCOMPLETE = "response.completed", "response.incomplete"
FAILED, CANCELLED = "response.failed", "response.cancelled"
BUDGET_REACHED, TEST = "windowseat.budget.reached", "windowseat.webhook.test"
REPLY_EVENTS: Mapping[str, str] = {
    "complete": COMPLETED,
    "stopped": CANCELLED,
    "interrupted": FAILED,
    "failed": FAILED,
}
PERCENTS: Final = (80, 100)  # of an allowance, at which its event is due
# Between an attempt and the next one: about a day in all, then it is given up.
RETRY_SECONDS: Final = (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 36_000)


def event_id(public_id: uuid.UUID) -> str:
    return f"evt_{public_id.hex}"


def write_event(public_id: uuid.UUID, event_type: str, created_at: dt.datetime, data: Mapping[str, Any]) -> bytes:
    """Return the body of an event: the same bytes each time."""
    event = {
        "id": event_id(public_id),
        "object": "event",
        "created_at": int(created_at.timestamp()),
        "type": event_type,
        "data": data,
    }
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def sign_event(public_id: uuid.UUID, body: bytes, *, secret: str, at: dt.datetime) -> dict[str, str]:
    """Return the headers with which *body* is sent at that time. Raises `ValueError` for a malformed *secret*."""
    name, seconds = event_id(public_id), str(int(at.timestamp()))
    signed = f"{name}.{seconds}.".encode() + body
    signature = base64.b64encode(hmac.new(read_secret(secret), signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": name, "webhook-timestamp": seconds, "webhook-signature": f"v1,{signature}"}


def write_secret(key: bytes) -> str:
    """Return a secret as receivers are given it."""
    return SECRET_PREFIX + base64.b64encode(key).decode()


def read_secret(secret: str) -> bytes:
    """Return the bytes of a secret. Raises `ValueError` unless it is `whsec_` with 24 to 64 bytes in base64."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except ValueError as error:
        raise ValueError("it is not whsec_ followed by base64") from error
    if not secret.startswith(SECRET_PREFIX) or not SHORTEST_SECRET <= len(key) <= LONGEST_SECRET:
        raise ValueError(f"it is not whsec_ and {SHORTEST_SECRET} to {LONGEST_SECRET} bytes in base64")
    return key


def seconds_until_retry(attempt: int) -> int | None:
    """Return how long to wait after that many attempts have failed; None if it is given up."""
    return RETRY_SECONDS[attempt - 1] if attempt <= len(RETRY_SECONDS) else None
