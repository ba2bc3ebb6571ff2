"""Domains of email addresses, normalized to compare them as the mail system will read them."""

from __future__ import annotations

import re
import unicodedata

from django.utils.encoding import punycode

# At least two labels of a host name; those of other scripts are in punycode by then.
DOMAIN = re.compile(r"(?!.*--$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def email_domain(email: str) -> str | None:
    """Return the domain in the form `ascii_domain` gives; a quoted local part may hold further @."""
    return ascii_domain(email.rpartition("@")[2])


def ascii_domain(written: str) -> str | None:
    """Return the one spelling of a domain that is compared, or None if it is none or could be read as two.

    Mail is sent by the old rule for other scripts (IDNA 2003, as Django does), by which straße.de is strasse.de. By the
    new one these are two, so such a domain has to be given in punycode.
    """
    domain = unicodedata.normalize("NFC", written.strip().lower()).removesuffix(".")
    try:
        spelled = punycode(domain)
        is_one = domain.isascii() or spelled.encode().decode("idna") == domain
    except UnicodeError:
        return None
    return spelled if is_one and DOMAIN.fullmatch(spelled) else None
