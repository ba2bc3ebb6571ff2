"""A conversation as one Markdown file: the active path, without what was thought."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from conversations.models import Conversation
from conversations.models.conversation import UNTITLED
from conversations.models.message import MessageRole
from conversations.selectors.conversations.pictures import ShownPicture
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.selectors.conversations.whole_thread import calls_of, sources_of_replies, whole_thread, written_text
from conversations.wording.error_sentences import ReaderLocale
from conversations.wording.model_labels import model_label

from .transcript import note_of

SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")
FENCE = re.compile(r"^`{3,}", re.MULTILINE)


def markdown_pieces(conversation: Conversation, reader: ReaderLocale) -> Iterator[str]:
    """Yield the file in pieces; each is made in the language and time zone of *reader*."""
    with reader.activated():
        title = conversation.title or _(UNTITLED)
    yield f"# {_escaped(title)}\n"
    for messages in whole_thread(conversation):
        with reader.activated():
            sources = sources_of_replies(messages)
            pieces = [_message(message, sources.get(message.pk, ())) for message in messages]
        yield from pieces


def _message(message: ThreadMessage, sources: tuple[str, ...]) -> str:
    parts = [f"## {_escaped(_by(message))}, {_moment(message)}", written_text(message)]
    parts += [_("*Picture: %(label)s*") % {"label": _label(picture)} for picture in message.pictures]
    parts += [_call(call.tool, call.arguments, call.result) for call in calls_of(message)]
    if note := note_of(message):
        parts.append(f"*{_escaped(note)}*")
    if sources:
        cited = "; ".join(f"[{number}] {_escaped(source)}" for number, source in enumerate(sources, start=1))
        parts.append(_("Sources: %(sources)s") % {"sources": cited})
    return "\n" + "\n\n".join(part for part in parts if part) + "\n"


def _by(message: ThreadMessage) -> str:
    if message.role == MessageRole.USER:
        return _("You")
    if message.role == MessageRole.TOOL:
        return _("Tool result")
    return model_label(message.made_by) if message.made_by else _("Reply")


def _moment(message: ThreadMessage) -> str:
    return date_format(timezone.localtime(message.created_at), "DATETIME_FORMAT")


def _label(picture: ShownPicture) -> str:
    """Return what a picture is called, on one line: a blank one would end the emphasis."""
    return _escaped(" ".join((picture.alt_text or picture.file_name).split()) or _("Picture"))


def _call(tool: str, arguments: str, result: str) -> str:
    return "\n\n".join([_("Tool call: %(tool)s") % {"tool": _escaped(tool)}, _fenced(arguments), _fenced(result)])


def _fenced(text: str) -> str:
    """Return *text* as a block of code: its fence is longer than any in it."""
    fence = max([3, *(len(found) + 1 for found in FENCE.findall(text))]) * "`"
    return f"{fence}\n{text}\n{fence}" if text else ""


def _escaped(text: str) -> str:
    """Return *text*, which is on one line, as Markdown that shows it as it is."""
    return SPECIAL.sub(r"\\\1", text)
