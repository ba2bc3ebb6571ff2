"""Conversations that a language model names, and the titles that it writes."""

from __future__ import annotations

from conversations.models import Conversation, TitleState
from conversations.providers.clients.completions import CompletionClient
from conversations.services.replies.end_reply import COMPLETE, Ending, end_reply
from conversations.services.titles.write_title import write_next_title
from tests.support.people import post
from tests.support.upstream import Upstream

OWN = "ok context_window=1200 reply_reserve=150 encoding=o200k_base input_usd=1 output_usd=2"
QUESTION = "When does the night train to Bergen leave?"


def says(text: str) -> str:
    """Return the name of a model of the fake provider that answers *text*."""
    return f"says-{text.encode().hex()}"


def configure(settings, upstream: Upstream, writer: str) -> None:
    """Offer the model `ok` for conversations, and *writer*, which writes titles."""
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = upstream.base_url, "sk-test"
    settings.LANGUAGE_MODELS = f"{OWN}, {writer} context_window=8192 encoding=o200k_base input_usd=1 output_usd=2"
    settings.TITLE_MODEL = writer


def ask(conversation: Conversation, question: str = QUESTION, *, ending: Ending = COMPLETE) -> int:
    """Ask and be answered; return the number of the reply."""
    reply = post(conversation, question).reply
    end_reply(reply.pk, ending, content="At seven, from track 3.")
    return reply.pk


def title_of(conversation: Conversation) -> str:
    return Conversation.objects.values_list("title", flat=True).get(pk=conversation.pk)


def is_due(conversation: Conversation) -> bool:
    return TitleState.objects.filter(pk=conversation.pk).exclude(due_at=None).exists()


async def write_titles(settings) -> int:
    """Write what is due until nothing is; return how many attempts there were."""
    client = CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
    attempts = 0
    while await write_next_title("test", client):
        attempts += 1
    await client.aclose()
    return attempts
