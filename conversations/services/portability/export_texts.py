"""The README in an account's export, which says what each file is."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override


def read_me(language_code: str) -> str:
    """Return the text that says what each file is, in the user's language."""
    with override(language_code):
        files = [
            ("account.json", _("Your account, your ways to sign in, and your sessions. No passwords, no keys.")),
            ("conversations/", _in_conversations()),
            ("documents/", _("Your documents as you sent them. documents.csv says where each one belongs.")),
            ("pictures/", _("The pictures that you have sent. pictures.csv says where each one belongs.")),
            ("scenarios/", _("Your scenarios. Any Windowseat site can load them.")),
            ("prompts.json", _("Your saved prompts.")),
            ("usage.csv", _("Every request that was made for you: its tokens and its cost in US dollars.")),
            ("readings.csv", _("Who read your conversations, when and why, if this site shows it.")),
        ]
        described = [f"{name}\n    {words}" for name, words in files]
        return "\n\n".join([_title(), *described, _notes()]) + "\n"


def _title() -> str:
    values = {"site": settings.SITE_NAME, "address": settings.SITE_URL, "when": f"{timezone.now():%Y-%m-%d %H:%M}"}
    return _("Everything in your account on %(site)s, %(address)s, at %(when)s UTC.") % values


def _in_conversations() -> str:
    sentences = [
        _("One file per conversation, with its messages in the order in which they were stored."),
        _("What was deleted, also recently, is in none of the files, unless you restore it."),
        _("Temporary conversations are in none of the files, unless you keep them."),
        _("“follows” is the message before, so all versions are included; “shown” marks those that the page shows."),
        _("“reasoning” is what the language model thought before “content”; it is never sent again."),
        _("“grounding” lists the passages that were looked up for a message."),
        _("“calls” lists the tools that a reply called: the arguments, who allowed them, and when."),
        _("“rating” is what you think of a reply, with your remark."),
        _("Tool calls and their results come before the reply: “step_of” names it."),
        _(
            "“requests” lists the requests that made a reply: tokens, cost, and the record of what "
            "was sent and left out."
        ),
        _("“parameters” is what a program asked for with a reply; “metadata” is what it noted on the conversation."),
    ]
    return "\n    ".join(sentences)


def _notes() -> str:
    return "\n".join(
        [
            _("In tables, an apostrophe stands before text that a spreadsheet would take for a formula."),
            _("What was deleted while this file was being made may be missing or cut off."),
        ]
    )
