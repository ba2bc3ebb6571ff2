"""The form that sets the webhook of an API key: its address."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from conversations.providers.clients.webhooks import webhook_destination
from conversations.providers.egress.destinations import EgressRefused
from conversations.wording.webhook_deliveries import address_refusal


class WebhookForm(forms.Form):
    """An address, which is one that may be sent to."""

    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.URLInput({"autocomplete": "off", "placeholder": "https://"}),
        help_text=_(
            "It begins with https://, or with http:// at a host that the operator names in WEBHOOK_HOSTS. It is told "
            "the ids of replies that this key has asked for, never words."
        ),
    )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            webhook_destination(url, named_hosts=settings.WEBHOOK_HOSTS)
        except EgressRefused as error:
            words = _("Nothing is sent there: %(reason)s")
            raise forms.ValidationError(words, params={"reason": address_refusal(str(error))}) from error
        return url
