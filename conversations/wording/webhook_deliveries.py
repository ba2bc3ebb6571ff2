"""What became of an event that is sent to a webhook, as words: its state, and what went wrong with the last attempt."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from conversations.models import WebhookDelivery
from conversations.providers.egress.destinations import INSIDE

NOT_NAMED = _("Its host has an address inside a private network, and WEBHOOK_HOSTS does not list it.")
ERRORS: dict[str, Promise] = {
    "timeout": _("It did not answer within 10 seconds."),
    "unreachable": _("No connection to it could be made."),
    "redirect": _("It redirects requests, and redirects are not followed."),
    "inside": NOT_NAMED,
    "secret_lost": _("The secret can’t be read any more, because SECRET_KEY is another one. Make a new secret."),
    "disabled": _("The receiver answered that it is gone (410), so nothing more is sent."),
    "key_over": _("The key is over or revoked, or your account is blocked: nothing more is sent."),
    "superseded": _("A newer test took its place."),
}


def delivery_state(delivery: WebhookDelivery) -> str:
    """Return whether it was delivered, waits, is tried again or was given up."""
    if delivery.delivered_at:
        return pgettext("of an event", "Delivered")
    if delivery.due_at is None:
        return pgettext("of an event", "Given up")
    if delivery.attempt:
        return pgettext("of an event", "To be tried again")
    return pgettext("of an event", "Waiting")


def delivery_error(delivery: WebhookDelivery) -> str:
    """Return a sentence for what went wrong with the last attempt; empty if nothing did."""
    if not delivery.error:
        return ""
    if delivery.error in ERRORS:
        return str(ERRORS[delivery.error])
    if delivery.status:
        return gettext("It answered with HTTP status %(status)d, not with a 2xx.") % {"status": delivery.status}
    return address_refusal(delivery.detail)


def address_refusal(reason: str) -> str:
    """Return why an address is never sent to, for the text of an `EgressRefused`."""
    if reason == INSIDE:
        return str(NOT_NAMED)
    return gettext(reason) if reason else ""
