"""Whether the questions of a conversation are searched for on the web: by the site, its scenario and its own switch."""

from __future__ import annotations

from django.conf import settings

from conversations.models import Conversation, Scenario
from conversations.models.scenario import WebSearch


def searches_web(conversation: Conversation) -> bool:
    """Tell whether its next question is searched for on the web."""
    if not settings.WEB_SEARCH_URL:
        return False
    choice = conversation.scenario.web_search
    return choice == WebSearch.ALWAYS or (choice == WebSearch.OFFERED and conversation.searches_web)


def web_search_choice(scenario: Scenario) -> WebSearch:
    """Return what *scenario* says of it; never, where the site has no web search."""
    return WebSearch(scenario.web_search) if settings.WEB_SEARCH_URL else WebSearch.NEVER
