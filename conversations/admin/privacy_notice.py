"""The privacy page in the admin: the site's own words on it, and what it calls servers."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.admin.base_admin import OneRowAdmin
from conversations.models import PrivacyNotice


@admin.register(PrivacyNotice)
class PrivacyNoticeAdmin(OneRowAdmin):
    fieldsets = [
        (
            None,
            {
                "description": _(
                    "Who runs this site, what for, and whom to ask. All can read it, also without an account."
                ),
                "fields": ["content"],
            },
        ),
        (
            _("Servers that words are sent to"),
            {
                "description": _("The page says by itself where words go. Here is what it calls the servers."),
                "fields": ["names_servers", "provider_name"],
            },
        ),
    ]
