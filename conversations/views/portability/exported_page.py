"""A conversation as one HTML file, which needs nothing else: its styles and pictures are in it, and no script."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from conversations.models import Conversation
from conversations.models.conversation import UNTITLED
from conversations.models.picture import PictureType
from conversations.selectors.conversations.pictures import ShownPicture, data_url, read_picture_bytes
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.selectors.conversations.whole_thread import sources_of_replies, whole_thread
from conversations.wording.error_sentences import ReaderLocale

from .transcript import TranscriptMessage, TranscriptPicture, own_message

STYLES = ("css/tokens.css", "css/base.css", "css/messages.css", "css/porthole.css", "css/transcript.css")
PNG_BEGINS = b"\x89PNG"


def page_pieces(conversation: Conversation, reader: ReaderLocale) -> Iterator[str]:
    """Yield the file in pieces; each is made in the language and time zone of *reader*."""
    with reader.activated():
        shown = conversation.messages.filter(active=True, step_of=None)
        first = shown.order_by("position").values_list("created_at", flat=True).first()
        context = {
            "title": conversation.title or _(UNTITLED),
            "styles": _styles(),
            "exported_at": timezone.now(),
            "began_at": first or conversation.created_at,
            "last_active_at": conversation.last_active_at,
            "messages_count": shown.count(),
            "site_name": settings.SITE_NAME,
            "language_code": reader.language_code,
        }
        head = render_to_string("transcripts/exported_head.html", context)
        foot = render_to_string("transcripts/exported_foot.html", context)
    yield head
    number = 0
    for messages in whole_thread(conversation):
        sources = sources_of_replies(messages)
        for message in messages:
            number += 1
            yield _article(number, message, sources.get(message.pk, ()), reader)
    yield foot


def _article(number: int, message: ThreadMessage, sources: tuple[str, ...], reader: ReaderLocale) -> str:
    """Draw one message; one at a time, as each may have many pictures in it."""
    with reader.activated():
        pictures = [each for picture in message.pictures if (each := _picture(picture)) is not None]
        shown: TranscriptMessage = own_message(number, message, sources=sources, pictures=pictures)
        return render_to_string("transcripts/_message.html", {"message": shown, "own": True})


def _picture(picture: ShownPicture) -> TranscriptPicture | None:
    if (content := read_picture_bytes(picture.id)) is None:
        return None
    media_type = PictureType.PNG if content.startswith(PNG_BEGINS) else PictureType.JPEG
    label = picture.alt_text or picture.file_name or _("Picture")
    return TranscriptPicture(data_url(media_type, content), label, picture.place_width, picture.place_height)


@cache
def _styles() -> SafeString:
    """Return the style sheets as one text. They are our own files, and none has the end of an element in it."""
    return SafeString("\n".join(Path(str(finders.find(name))).read_text(encoding="utf-8") for name in STYLES))
