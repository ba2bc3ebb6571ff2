"""Conversations whose window slides, and the summaries of what has left it."""

from __future__ import annotations

from conversations.models import Conversation, Message, Summary, SummaryState
from conversations.providers.clients.completions import CompletionClient
from conversations.selectors.conversations.summary import valid_summaries
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import PreparedReply, prepare_reply
from conversations.services.summaries.store_summary import add_version
from conversations.services.summaries.write_next_summary import write_next_summary
from tests.support.people import begin, make_user, post
from tests.support.upstream import Upstream

OWN = "ok context_window=1200 reply_reserve=150 encoding=o200k_base input_usd=1 output_usd=2"
ANSWER = "The night train to Bergen leaves on day {number} at seven, and two seats are booked for Ada. " * 3


def configure(settings, upstream: Upstream, *writers: str) -> None:
    """Offer the model `ok` for conversations, and *writers*, of which the first writes summaries."""
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = upstream.base_url, "sk-test"
    others = [
        f"{each} context_window=8192 encoding=o200k_base input_usd=1 output_usd=2" for each in dict.fromkeys(writers)
    ]
    settings.LANGUAGE_MODELS = ", ".join((OWN, *others))
    settings.SUMMARY_MODEL = writers[0] if writers else ""


def begin_summarised(name: str = "alice") -> Conversation:
    conversation = begin(make_user(name))
    conversation.summarises = True
    conversation.save(update_fields=["summarises"])
    return conversation


def say(conversation: Conversation, number: int, *, question: str = "When does train {number} leave?") -> PreparedReply:
    """Ask, with the window that is sent, and be answered."""
    reply = post(conversation, question.format(number=number)).reply
    prepared = prepare_reply(reply.pk)
    end_reply(reply.pk, COMPLETE, content=ANSWER.format(number=number))
    return prepared


def slide(conversation: Conversation, number: int = 0) -> int:
    """Talk until the window has moved on; return how many messages have been asked by then."""
    before = first_position(conversation)
    while first_position(conversation) == before:
        say(conversation, number)
        number += 1
    return number


def first_position(conversation: Conversation) -> int:
    return Conversation.objects.values_list("anchor_position", flat=True).get(pk=conversation.pk) or 0


def state_of(conversation: Conversation) -> SummaryState:
    return SummaryState.objects.get(pk=conversation.pk)


def current_of(conversation: Conversation) -> Summary | None:
    return valid_summaries(conversation.pk).first()


async def write_all(settings) -> int:
    """Write what is due until nothing is; return how many attempts there were."""
    client = CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
    attempts = 0
    while await write_next_summary("test", client):
        attempts += 1
    await client.aclose()
    return attempts


def keep_summary(conversation: Conversation, text: str, last: Message, *, versions: int = 2) -> Summary:
    """Keep so many *versions* of a summary of *text*, which stand for the messages up to *last*; return the last."""
    Conversation.objects.filter(pk=conversation.pk).update(summarises=True)
    place = {"covers_before": last.position + 1, "last_message_id": last.pk, "messages": last.position + 1}
    *_, newest = [add_version(conversation, text, **place, language_model="letters") for _ in range(versions)]
    SummaryState.objects.get_or_create(pk=conversation.pk)
    return newest
