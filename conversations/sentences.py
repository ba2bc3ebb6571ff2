"""The sentences of errors in the language of whoever reads them.

Pages are English until they are translated as a whole, but what is refused, and why a reply failed, people read in
their own language. That is the one their browser asks for, if `LANGUAGES` has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.translation import get_language_from_request, gettext, override

from conversations.core.errors import ConversationError, sentence_for


def sentence_of(error: ConversationError, language_code: str) -> str:
    """Return what the person reads."""
    return stored_sentence(error.code, error.params, language_code)


def stored_sentence(code: str, params: Mapping[str, object], language_code: str) -> str:
    """Return the sentence of an error of which only *code* and *params* are kept, as with a reply that failed."""
    with override(language_code):
        return sentence_for(code, params, translate=gettext)


def language_code_of(scope: Mapping[str, Any]) -> str:
    """Return the language of a socket's page: found in its handshake as in every other request."""
    handshake = HttpRequest()
    handshake.COOKIES = scope["cookies"]
    handshake.META["HTTP_ACCEPT_LANGUAGE"] = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    return get_language_from_request(handshake)
