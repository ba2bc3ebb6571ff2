"""Parse `SMTP_URL`, the mail server: `smtps://user:password@host` or `smtp://user:password@host:587`.

`smtps` speaks TLS from the first byte (port 465), `smtp` asks for it with STARTTLS (port 587) and refuses to go on
without. `smtp+plain` never encrypts (port 25); it is for a relay on the same machine or network.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

DEFAULT_PORTS = {"smtps": 465, "smtp": 587, "smtp+plain": 25}


@dataclass(frozen=True, slots=True)
class MailServer:
    """Django's EMAIL_* settings of one server."""

    host: str
    port: int
    user: str
    password: str
    use_ssl: bool
    use_tls: bool


def parse_smtp_url(url: str) -> MailServer:
    """Raise `ValueError` if *url* is not the address of a mail server; its message never repeats the password."""
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError("write smtps://, smtp:// or smtp+plain:// before the host")
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("write smtps://user:password@host, with special characters of the password as %XX")
    return MailServer(
        host=parts.hostname,
        port=_port(parts) or DEFAULT_PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        use_ssl=parts.scheme == "smtps",
        use_tls=parts.scheme == "smtp",
    )


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        raise ValueError("the port must be a number up to 65535") from None
