"""Digests (SHA-256) of what was sent: they prove that what is shown again is the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any


def digest_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the SHA-256, in hexadecimal, of messages as they are sent."""
    return digest_of_text(json.dumps(messages, sort_keys=True))


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of *text*, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
