"""What `make run` says when the site is up."""

from __future__ import annotations

from django.conf import settings

from conversations.providers.catalog.language_models import demo_is_used, language_models


def banner(*, first_admin_url: str | None) -> str:
    """Return the lines: where the site is, who answers, and how a new site gets its admin."""
    lines = [f"{settings.SITE_NAME} is ready: {settings.SITE_URL}", f"Replies come from {_answering()}."]
    if first_admin_url:
        lines += ["This site has no admin yet. The first account made through this link becomes it, once:"]
        lines += [f"  {first_admin_url}"]
    return "\n".join(["", *lines, "Stop it with Ctrl+C.", ""])


def _answering() -> str:
    if demo_is_used():
        return "the built-in demo model, which only quotes; README says how to connect a language model"
    return ", ".join(language_models())
