"""Mail: whether the server takes a connection and the password; a mail is sent only where one was asked for."""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Iterator

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from chatsite.checkup import Line
from chatsite.command_line import spell_command

from .options import Options

SUBJECT = "mail"
ANSWER_SECONDS = 10


def check_mail(options: Options) -> Iterator[Line]:
    if not settings.SMTP_URL:
        text = "No mail server is set: mails are printed where the site was started."
        advice = "Set SMTP_URL and MAIL_FROM, so that addresses are confirmed and passwords can be reset."
        yield Line("ok" if settings.SITE_IS_LOCAL else "look", SUBJECT, text, advice)
        return
    if settings.DEFAULT_FROM_EMAIL.endswith("@localhost"):
        text = f"Mails come from {settings.DEFAULT_FROM_EMAIL}, which most servers refuse."
        yield Line("look", SUBJECT, text, "Set MAIL_FROM to an address of yours.")
    yield _try_server(options.mail_to)


def _try_server(mail_to: str) -> Line:
    server = f"{settings.EMAIL_HOST}, port {settings.EMAIL_PORT},"
    connection = get_connection(fail_silently=False, timeout=ANSWER_SECONDS)
    try:
        connection.open()
        if not mail_to:
            return Line(
                "ok",
                SUBJECT,
                f"{server} takes the connection{' and the password' if settings.EMAIL_HOST_USER else ''}. "
                "To send a mail: --mail ADDRESS",
            )
        EmailMessage(
            f"Mail from {settings.SITE_NAME}",
            f"This mail was sent by {spell_command('doctor')}.",
            to=[mail_to],
            connection=connection,
        ).send()
        return Line("ok", SUBJECT, f"{server} took a mail to {mail_to}. See that it arrives, and not as spam.")
    except Exception as error:
        text, advice = _explain(error)
        return Line("bad", SUBJECT, f"{server} {text}", advice)
    finally:
        connection.close()


def _explain(error: Exception) -> tuple[str, str]:
    """Return what went wrong, as the end of a sentence, and what to do."""
    match error:
        case smtplib.SMTPAuthenticationError():
            return "refuses the user or password.", "Correct them in SMTP_URL, special characters as %XX."
        case smtplib.SMTPNotSupportedError():
            return (
                "has no STARTTLS, or no sign-in.",
                "Try smtps:// (port 465) in SMTP_URL; smtp+plain:// never encrypts.",
            )
        case smtplib.SMTPSenderRefused():
            return f"refuses the sender: {_said(error.smtp_error)}", "Set MAIL_FROM to an address that it lets you use."
        case smtplib.SMTPRecipientsRefused() | smtplib.SMTPDataError():
            return f"refuses the mail: {error}", "See what it says; MAIL_FROM may be no address of yours."
        case ssl.SSLCertVerificationError():
            return (
                f"has a certificate that is not trusted: {error.verify_message}.",
                "Take the host's name as in its certificate, or name its authority's file in SSL_CERT_FILE: in the "
                "environment, as .env is read too late for it.",
            )
        case ssl.SSLError() | smtplib.SMTPServerDisconnected():
            return "ends the connection.", "smtps:// is for TLS from the first byte (465), smtp:// for STARTTLS (587)."
        case socket.gaierror():
            return "has a name that can't be found.", "Correct the host in SMTP_URL."
        case TimeoutError():
            return (
                f"does not answer within {ANSWER_SECONDS} seconds.",
                "Many hosts block port 25: try 587 or 465. smtps:// is for 465, smtp:// for 587.",
            )
        case ConnectionRefusedError():
            return "takes no connection.", "Correct host and port in SMTP_URL, and see that the server runs."
    return f"can't be used ({type(error).__name__}): {error}", "See what it says, and correct SMTP_URL."


def _said(words: bytes | str) -> str:
    return words.decode(errors="replace") if isinstance(words, bytes) else words
