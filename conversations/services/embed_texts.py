"""Vectors of texts, from the configured embeddings model."""

from __future__ import annotations

from collections.abc import Sequence

from chatsite.accounts.models import User
from conversations.models import Conversation, Scenario


async def embed_texts(
    texts: Sequence[str],
    *,
    user: User | None,
    conversation: Conversation | None = None,
    scenario: Scenario | None = None,
) -> list[list[float]]:
    """Return the vector of each of *texts*, all of one length; *user* pays, or the site.

    Every request is a row of the ledger. Raises a `CompletionError` if the endpoint fails, an `AccessError` if the
    money does not cover a request. Without an embeddings model there is nobody to ask: look at `embedding_model` first.
    """
    raise NotImplementedError
