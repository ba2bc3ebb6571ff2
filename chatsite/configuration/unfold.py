"""The admin's look and navigation: django-unfold's settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# The same slate and the same horizon as static/css/tokens.css. Unfold writes with 600 by day and with 500 by night.
SLATE = {
    "50": "#f9fbfc",
    "100": "#e4ebee",
    "200": "#d7e0e5",
    "300": "#b3c1cb",
    "400": "#93a4b0",
    "500": "#62737f",
    "600": "#3f505d",
    "700": "#2f3f4b",
    "800": "#22303a",
    "900": "#111b22",
    "950": "#080e12",
}
HORIZON = {
    "50": "#fdf5ef",
    "100": "#fcece3",
    "200": "#f9d6c1",
    "300": "#ffc79d",
    "400": "#ffb582",
    "500": "#ff9d5c",
    "600": "#b23a0a",
    "700": "#8f2d05",
    "800": "#732405",
    "900": "#4c1b08",
    "950": "#2f2015",
}
# Bars of the charts: a canvas keeps its colours when the theme changes, so these read on both.
CHART = {"cost": "#d9622b", "input": "#3d87ab", "cached": "#8fbdd2", "output": "#d9622b"}
INK = {
    "subtle-light": "#546572",
    "subtle-dark": "#93a4b0",
    "default-light": "#3f505d",
    "default-dark": "#b3c1cb",
    "important-light": "#13212b",
    "important-dark": "#e7eef2",
}


def site_name(request: HttpRequest) -> str:
    from django.conf import settings  # this module is imported while the settings are being made

    return settings.SITE_NAME


def stylesheet(path: str) -> Callable[[HttpRequest], str]:
    """Return what Unfold asks for the address of a static file, once static files are known."""
    return lambda request: static(path)


def _page(title: Promise, icon: str, model: str) -> dict[str, Any]:
    """A line of the navigation, for users who may view *model* (`app.name`)."""
    app_label, model_name = model.split(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app_label}_{model_name}_changelist"),
        "permission": lambda request: request.user.has_perm(f"{app_label}.view_{model_name}"),
    }


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": site_name,
    "SITE_HEADER": site_name,
    "SITE_SUBHEADER": _("Review and costs"),
    "SITE_URL": "/",
    "SITE_ICON": stylesheet("icon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": stylesheet("icon.svg")}],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "8px",
    "COLORS": {"base": SLATE, "primary": HORIZON, "font": INK, "chart": CHART},
    "STYLES": [
        stylesheet("css/tokens.css"),
        stylesheet("admin/page.css"),
        stylesheet("admin/dashboard.css"),
        stylesheet("admin/thread.css"),
        stylesheet("admin/gate.css"),
    ],
    "DASHBOARD_CALLBACK": "conversations.admin.dashboard.page.dashboard",
    "SIDEBAR": {
        "show_search": False,
        "navigation": [
            {
                "items": [
                    {"title": _("Overview"), "icon": "monitoring", "link": reverse_lazy("admin:index")},
                ]
            },
            {
                "title": _("Review"),
                "separator": True,
                "items": [
                    _page(_("Conversations"), "forum", "conversations.conversation"),
                    _page(_("Messages"), "chat_bubble", "conversations.message"),
                    _page(_("Documents"), "description", "conversations.document"),
                    _page(_("Tool calls"), "build", "conversations.toolcall"),
                    _page(_("Requests"), "receipt_long", "conversations.completion"),
                    _page(_("Shares"), "share", "conversations.share"),
                    _page(_("API keys"), "key", "conversations.apikey"),
                    _page(_("Webhooks"), "webhook", "conversations.webhook"),
                    _page(_("Who read what"), "visibility", "conversations.reading"),
                    {
                        "title": _("Search messages"),
                        "icon": "manage_search",
                        "link": reverse_lazy("admin:conversations_reading_search"),
                        "permission": lambda request: request.user.has_perm("conversations.view_reading"),
                    },
                    _page(_("Legal holds"), "gavel", "conversations.legalhold"),
                    _page(_("Changes to accounts"), "manage_accounts", "accounts.accountchange"),
                    _page(_("Security events"), "shield", "accounts.securityevent"),
                    _page(_("Jobs"), "cycle", "conversations.run"),
                    _page(_("Calibration"), "straighten", "conversations.calibration"),
                ],
            },
            {
                "title": _("Set up"),
                "separator": True,
                "items": [
                    _page(_("Scenarios"), "tune", "conversations.scenario"),
                    _page(_("MCP servers"), "hub", "conversations.mcpserver"),
                    _page(_("Prices"), "sell", "conversations.price"),
                    _page(_("Users"), "group", "accounts.user"),
                    _page(_("Invitations"), "mail", "accounts.invitation"),
                    _page(_("Limits"), "speed", "accounts.limits"),
                    _page(_("Site budget"), "savings", "accounts.sitebudget"),
                    _page(_("Retention rules"), "auto_delete", "conversations.retentionrule"),
                    _page(_("Privacy page"), "policy", "conversations.privacynotice"),
                    _page(_("Gate"), "key", "accounts.gate"),
                ],
            },
            {
                "separator": True,
                "items": [{"title": _("Back to the chat"), "icon": "arrow_back", "link": "/", "active": False}],
            },
        ],
    },
}
