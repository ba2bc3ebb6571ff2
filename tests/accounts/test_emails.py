"""Every email that allauth may send speaks with our voice: short, with the name of the site below."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import allauth
import pytest
from django.template.loader import get_template, render_to_string

from tests.support.source import PROJECT

ALLAUTH = Path(allauth.__file__).parent / "templates"
CODES = {"login_code", "password_reset_code"}  # which this site never sends
SIGNUP = {"email_confirmation_signup"}  # includes the email to confirm an address
MESSAGES = [
    path.relative_to(ALLAUTH).as_posix()
    for app in ("account", "mfa", "socialaccount")
    for path in sorted((ALLAUTH / app / "email").glob("*_message.txt"))
    if path.name != "base_message.txt" and path.name.removesuffix("_message.txt") not in CODES | SIGNUP
]
CONTEXT = {
    "current_site": SimpleNamespace(name="Windowseat", domain="chat.example.org"),
    "email": "o'neil&co@example.org",
    "activate_url": "https://chat.example.org/confirm/?a=1&b=2",
    "password_reset_url": "https://chat.example.org/reset/?a=1&b=2",
    "provider": "Example & Co",
    "ip": "192.0.2.10",
    "user_agent": "Firefox",
    "timestamp": "2026-11-22",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_each_email_is_ours(name):
    for template in (name, name.replace("_message.txt", "_subject.txt")):
        assert Path(get_template(template).origin.name).is_relative_to(PROJECT / "templates")


@pytest.mark.parametrize("name", MESSAGES)
def test_each_email_is_short_and_plain_text(name):
    text = render_to_string(name, CONTEXT)
    assert text.strip().endswith("Windowseat, chat.example.org")
    assert "&amp;" not in text
    assert "&#x27;" not in text
    assert len(text) < 500
    subject = render_to_string(name.replace("_message.txt", "_subject.txt"), CONTEXT).strip()
    assert subject
    assert "\n" not in subject
