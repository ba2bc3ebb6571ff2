"""What the next page is told of a mail that could not be sent: it must not say that one is on its way."""

from __future__ import annotations

from django.contrib.messages import get_messages
from django.http import HttpRequest

MAIL_FAILED = "mail-failed"  # the tag of the message that says so


def did_mail_fail(request: HttpRequest) -> bool:
    """Only for pages that show the messages: whoever looks at them has them shown."""
    return any(message.extra_tags == MAIL_FAILED for message in get_messages(request))
