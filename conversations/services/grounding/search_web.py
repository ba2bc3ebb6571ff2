"""Search the web for the question of a reply. What goes wrong is said in the record, and never ends the reply."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db.models import F

from conversations.core.documents.fusion import Candidate, Fused, fuse
from conversations.core.errors import WebSearchError, WebSearchRefused, WebSearchTimedOut
from conversations.core.text.web_query import make_web_query
from conversations.live.database_retries import retry_while_database_down
from conversations.models import Message
from conversations.providers.clients.client_pool import web_search_client
from conversations.providers.clients.web_search import WebResult
from conversations.providers.egress.destinations import EgressRefused
from conversations.selectors.conversations.web_search import searches_web

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WebFindings:
    """The pages found for a question, best first, as *passages*; *error* is the code of why there are none."""

    question_id: int
    passages: Sequence[Fused] = ()
    error: str = ""


async def search_web(reply: Message) -> WebFindings | None:
    """Search the web for the question of *reply*; None where its conversation does not want that.

    Bounded by WEB_SEARCH_SECONDS. Nothing is raised but a cancellation.
    """
    if not searches_web(reply.conversation):
        return None
    question = reply.answered_message
    try:
        async with asyncio.timeout(settings.WEB_SEARCH_SECONDS):
            return WebFindings(question.pk, await _search(question))
    except TimeoutError:
        return _failed(question, WebSearchTimedOut(detail=f"{settings.WEB_SEARCH_SECONDS} seconds"))
    except WebSearchError as error:
        return _failed(question, error)
    except EgressRefused as error:
        return _failed(question, WebSearchRefused(detail=str(error)))
    except Exception:  # a help that fails must not take the reply with it
        logger.exception("question %d: the web search failed", question.pk)
        return WebFindings(question.pk, error=WebSearchError.code)


def _failed(question: Message, error: WebSearchError) -> WebFindings:
    logger.warning("question %d: %s: %s", question.pk, error.code, error.detail)
    return WebFindings(question.pk, error=error.code)


async def _search(question: Message) -> list[Fused]:
    previous = await retry_while_database_down(partial(_previous_question, question))
    query = make_web_query(question.content, previous_question=previous)
    if not query:
        return []
    results = await web_search_client().search(query, most=settings.WEB_SEARCH_RESULTS)
    return fuse([[_candidate(rank, result) for rank, result in enumerate(results)]], most=len(results))


def _previous_question(question: Message) -> str:
    """Return what was asked before; what its owner excluded or has forgotten leaves the site no more."""
    before = Message.objects.filter(
        conversation_id=question.conversation_id,
        active=True,
        role="user",
        position__lt=question.position,
        position__gte=F("conversation__forgotten_before"),
    )
    row = before.order_by("-position").values_list("content", "excluded").first()
    return row[0] if row and not row[1] else ""


def _candidate(rank: int, result: WebResult) -> Candidate:
    """Return a result as a candidate; a page without a snippet is known by its title alone."""
    return Candidate(rank, "", result.title or result.url, result.snippet or result.title, -rank, url=result.url)
