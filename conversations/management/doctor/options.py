"""What the doctor was asked to do beside looking."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """*completes* allows requests that cost money. *mail_to* gets a mail. *url* is where the site is asked."""

    completes: bool = False
    mail_to: str = ""
    url: str = ""
