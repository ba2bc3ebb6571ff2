"""Errors of the web search. None of them ends a reply: it is made without results, and says so."""

from __future__ import annotations

from .base import ConversationError


class WebSearchError(ConversationError):
    """*detail* is for the log, never for the page."""

    code = "web_search_failed"
    template = "The web search failed, so this was answered without it."

    def __init__(self, *, detail: str = "") -> None:
        self.detail = detail
        super().__init__()


class WebSearchUnreachable(WebSearchError):
    code = "web_search_unreachable"
    template = "The web search could not be reached, so this was answered without it."


class WebSearchTimedOut(WebSearchError):
    code = "web_search_timed_out"
    template = "The web search took too long, so this was answered without it."


class WebSearchBusy(WebSearchError):
    code = "web_search_busy"
    template = "The web search limits how often it can be asked, so this was answered without it."


class WebSearchRefused(WebSearchError):
    """Asking again will not help: JSON is not enabled, it wants credentials, it redirects, or its address is wrong."""

    code = "web_search_refused"
    template = "The web search refused the request, so this was answered without it. An admin of this site can help."


class WebSearchMalformed(WebSearchError):
    code = "web_search_malformed"
    template = "The web search sent an answer that could not be used, so this was answered without it."


class WebSearchEnginesFailed(WebSearchError):
    """It answered without any result, and named search engines behind it that did not answer."""

    code = "web_search_engines_failed"
    template = "The web search found nothing, and some of its search engines did not answer."
