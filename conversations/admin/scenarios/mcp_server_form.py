"""Form of an MCP server. Its authorization is written only, never shown again."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldBooleanSwitchWidget

from chatsite.accounts.second_factors.secret_encryption import encrypt_secret
from conversations.models import McpServer
from conversations.providers.egress.destinations import Destination, EgressRefused, parse_destination

HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
LONGEST_AUTHORIZATION = 4_000
ELSEWHERE = _("The address leads to another server now. Enter the authorization for that one, or remove the old one.")
IN_CLEAR = _("Over http:// it could be read on the way. Use https://, or list the host in MCP_HOSTS.")


class McpServerForm(forms.ModelForm):  # type: ignore[type-arg]  # it takes no argument when the site runs
    authorization = forms.CharField(
        label=_("Authorization"),
        required=False,
        strip=True,
        max_length=LONGEST_AUTHORIZATION,
        widget=UnfoldAdminPasswordWidget(
            {"autocomplete": "new-password"}
        ),  # it writes no value back, also where the form is wrong
        help_text=_(
            "The whole value of that header, such as: Bearer abc123. It is stored encrypted and not shown again."
        ),
    )
    forget_authorization = forms.BooleanField(
        label=_("Remove the authorization"), required=False, widget=UnfoldBooleanSwitchWidget
    )

    class Meta:
        model = McpServer
        fields = ("name", "url", "timeout_seconds", "enabled", "offered", "believes_read_only")
        labels = {
            "url": _("Address"),
            "timeout_seconds": _("Timeout of a call, seconds"),
            "enabled": _("In use"),
            "offered": _("Offered to users"),
            "believes_read_only": _("Trust its read-only labels"),
        }
        help_texts = {
            "name": _("Put before the names of its tools. Scenarios refer to tools by it."),
            "url": _("Its streamable HTTP endpoint, such as https://tools.example.org/mcp."),
            "offered": _("For scenarios of their own. The site’s scenarios may use any server."),
            "believes_read_only": _(
                "Tools that it calls read-only then run at once. All others ask the user first, with the arguments."
            ),
        }

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            parse_destination(url, named_hosts=settings.MCP_HOSTS)
        except EgressRefused as error:
            words = _("Nothing is sent there: %(reason)s")
            raise forms.ValidationError(words, params={"reason": gettext(str(error))}) from error
        return url

    def clean_authorization(self) -> str:
        authorization: str = self.cleaned_data["authorization"]
        if authorization and not HEADER_VALUE.fullmatch(authorization):
            raise forms.ValidationError(_("Use letters, digits and signs of ASCII only, on one line."))
        return authorization

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if "url" not in cleaned or "authorization" not in cleaned:
            return cleaned
        is_kept = bool(self.instance.sealed_authorization) and not cleaned["forget_authorization"]
        if is_kept and not cleaned["authorization"] and self._leads_elsewhere(cleaned["url"]):
            self.add_error("authorization", ELSEWHERE)
        goes_in_clear = (is_kept or cleaned["authorization"]) and cleaned["url"].lower().startswith("http:")
        if goes_in_clear and not _destination(cleaned["url"]).is_named:
            self.add_error("authorization", IN_CLEAR)
        return cleaned

    def _leads_elsewhere(self, url: str) -> bool:
        """Return whether the stored authorization would be sent to a server that it was not entered for."""
        stored = McpServer.objects.filter(pk=self.instance.pk).values_list("url", flat=True).first()
        try:
            return stored is None or _destination(stored) != _destination(url)
        except EgressRefused:  # the stored one is not allowed any more
            return True

    def save(self, commit: bool = True) -> McpServer:
        if authorization := self.cleaned_data["authorization"]:
            self.instance.sealed_authorization = encrypt_secret(authorization)
        elif self.cleaned_data["forget_authorization"]:
            self.instance.sealed_authorization = ""
        if {"url", "name"} & set(self.changed_data):  # what was listed is not this server's, or not by its names
            self.instance.tools, self.instance.refused_tools, self.instance.listed_at = [], [], None
        server: McpServer = super().save(commit)
        return server


def _destination(url: str) -> Destination:
    return parse_destination(url, named_hosts=settings.MCP_HOSTS)
