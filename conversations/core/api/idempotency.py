"""Headers that tell a request sent again from a new one (idempotency): `Idempotency-Key`, or a count of retries.

The draft "The Idempotency-Key HTTP Header Field" of the IETF has the key as a quoted string, and most clients send it
bare: both are the same key here. The openai package sends no key; it counts its own retries from 0 in
`x-stainless-retry-count`, and sends the same body with each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from conversations.core.errors import ParameterInvalid

KEY_HEADER = "Idempotency-Key"
RETRY_HEADER = "x-stainless-retry-count"
MOST_KEY_CHARACTERS = 255
KEY = re.compile(rf"[\x21-\x7e]{{1,{MOST_KEY_CHARACTERS}}}")
RETRIES = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class IdempotencyMarks:
    """How a request can be told from others with the same body.

    *retry_number* is how often its client has sent it before; None where it does not say.
    """

    idempotency_key: str = ""
    retry_number: int | None = None

    @property
    def may_be_sent_again(self) -> bool:
        """Whether the same request may come again, and is then to be known."""
        return bool(self.idempotency_key) or self.retry_number is not None

    @property
    def may_have_come_before(self) -> bool:
        """Whether it may have come before."""
        return bool(self.idempotency_key or self.retry_number)


def read_idempotency_marks(idempotency_key: str | None, retry_count: str | None) -> IdempotencyMarks:
    """Return what the two headers say. Raises `ParameterInvalid` for a key that is none.

    A count that is no number says nothing: it is the client's own, and no one chose it.
    """
    key = (idempotency_key or "").strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if idempotency_key is not None and not KEY.fullmatch(key):
        reason = f"1 to {MOST_KEY_CHARACTERS} visible characters of ASCII, without blanks, are needed"
        raise ParameterInvalid(KEY_HEADER, reason)
    is_count = retry_count is not None and RETRIES.fullmatch(retry_count)
    return IdempotencyMarks(key, int(retry_count) if retry_count and is_count else None)
