"""Write the next summary that is due: claimed, written, stored. Never two at once for one conversation."""

from __future__ import annotations

import asyncio
import logging

from conversations.core.errors import CompletionError
from conversations.live.database_threads import in_indexer_thread
from conversations.providers.clients.completions import CompletionClient

from .claim_summary import claim_summary
from .store_summary import release_summary, store_written
from .write_summary import SummaryLost, summary_writing

logger = logging.getLogger(__name__)


async def write_next_summary(worker: str, client: CompletionClient) -> bool:
    """Write one summary, or note why it can't be written. Returns whether there was one to write."""
    found, claimed = await in_indexer_thread(claim_summary)(worker)
    if claimed is None:
        return found
    try:
        written = await summary_writing(claimed, client).write()
        if error := written.error:
            detail = error.detail if isinstance(error, CompletionError) else ""
            logger.warning("the summary of conversation %d: %s %s", claimed.conversation.pk, error.code, detail)
        await in_indexer_thread(store_written)(claimed, written)
    except SummaryLost:
        await in_indexer_thread(release_summary)(claimed)
    except asyncio.CancelledError:
        await in_indexer_thread(release_summary)(claimed)
        raise
    return True
