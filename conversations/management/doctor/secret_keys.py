"""Secrets: whether they are long enough, and who may read the files that they are in."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.utils import Error

from chatsite.checkup import Line
from chatsite.command_line import spell_command
from chatsite.configuration.secret_key import FILE_NAME
from conversations.management.sealed_secrets import look_at_sealed_secrets

from . import database
from .options import Options

SUBJECT = "secrets"
SHORTEST_KEY, SHORTEST_TOKEN = 50, 16
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check_secrets(options: Options) -> Iterator[Line]:
    problems = [*_check_lengths(), *_check_files(), *_check_sealed()]
    yield from problems
    if not problems:
        yield Line("ok", SUBJECT, "The secret key is long enough, and files with secrets are for their owner alone.")


def _check_lengths() -> Iterator[Line]:
    if len(settings.SECRET_KEY) < SHORTEST_KEY:
        text = f"SECRET_KEY has {len(settings.SECRET_KEY)} characters; who guesses it can sign in as any user."
        yield Line(
            "bad",
            SUBJECT,
            text,
            'Make one: python3 -c "import secrets; print(secrets.token_urlsafe(50))". A new key ends all sessions, and '
            "second factors, webhooks and authorisations of MCP servers have to be set up again.",
        )
    if settings.METRICS_TOKEN and len(settings.METRICS_TOKEN) < SHORTEST_TOKEN:
        yield Line("look", SUBJECT, "METRICS_TOKEN is short.", f"Take {SHORTEST_TOKEN} random characters or more.")


def _check_sealed() -> Iterator[Line]:
    """Yield a line if what the database has was sealed with another key. A database that is away is told elsewhere."""
    try:
        if database.is_still_to_be_made():
            return
        secrets = look_at_sealed_secrets()
    except (OSError, Error):
        return
    if secrets.have_another_key:
        text = f"SECRET_KEY is another one than it was: it can't read the newest secrets, {secrets.describe()}."
        restore = spell_command("restore", "BACKUP", "--show-secret-key")
        advice = (
            f"Put the old key back, into SECRET_KEY or the file secret_key of VAR_DIR: {restore} prints it, with a "
            "backup from before the key changed."
        )
        yield Line("bad", SUBJECT, text, advice)
    elif secrets.unreadable:
        text = f"Some secrets were sealed with an earlier SECRET_KEY and can't be read: {secrets.describe()}."
        yield Line("look", SUBJECT, text, "Set them up again. A link of a share that can't be shown again still works.")


def _check_files() -> Iterator[Line]:
    for path in (settings.VAR_DIR / FILE_NAME, settings.ENV.file):
        if mode := _rights_of_others(path):
            text = f"{path} can be read or changed by other accounts of this machine (its mode is {mode:04o})."
            advice = shlex.join(["chmod", "600", str(path)])
            yield Line("bad" if path.name == FILE_NAME else "look", SUBJECT, text, advice)


def _rights_of_others(path: Path) -> int:
    """Return the mode of the file if others have any rights to it; 0 if they have none, or there is no file."""
    try:
        found = path.stat()
    except OSError:
        return 0
    mode = stat.S_IMODE(found.st_mode)
    return mode if stat.S_ISREG(found.st_mode) and mode & OTHERS else 0
