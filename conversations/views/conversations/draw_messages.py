"""The messages of a thread as the HTML of their articles, the same for a page and for a snapshot of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from conversations.models import Conversation
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.services.language_models.model_choice import offered_models
from conversations.wording.error_sentences import ReaderLocale

from .html_cache import HtmlCache
from .render_messages import RenderedMessage

TEMPLATE = "conversations/_message.html"
# That a process keeps. An opened conversation is drawn twice, as its page and as the first snapshot of its socket, and
# again whenever it is opened: each article takes longer to draw than all queries together.
ARTICLES, ARTICLE_BYTES = 1_000, 10 * 2**20

_articles = HtmlCache(most_entries=ARTICLES, most_bytes=ARTICLE_BYTES)


class DrawnMessage(NamedTuple):
    """A message, and the HTML of its article."""

    message: ThreadMessage
    html: SafeString


def draw_messages(
    conversation: Conversation,
    messages: Iterable[RenderedMessage],
    *,
    reader: ReaderLocale,
    request: HttpRequest | None = None,
) -> list[DrawnMessage]:
    """Draw *messages* for their owner, in the language and time zone of *reader*.

    The forms of a reply that awaits approval need the token of the *request*, where no script sends it.
    """
    offers_models = len(offered_models(conversation.owner)) > 1

    def draw(rendered: RenderedMessage) -> SafeString:
        message = rendered.message
        context = {"rendered": rendered, "message": message, "conversation": conversation}
        context["offers_models"] = offers_models
        if not message.has_ended:
            return render_to_string(TEMPLATE, context, request)
        made_from = (conversation.public_id, offers_models, reader.language_code, str(reader.zone), rendered)
        return _articles.get(made_from, lambda: render_to_string(TEMPLATE, context))

    with reader.activated():
        return [DrawnMessage(rendered.message, draw(rendered)) for rendered in messages]
