"""The secret key of a local site: made at first use and kept in `VAR_DIR`."""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from pathlib import Path
from typing import Final

from django.core.exceptions import ImproperlyConfigured

_LEAST_CHARACTERS: Final = 50  # as Django's own check of a deployment asks for
FILE_NAME: Final = "secret_key"
_made_now: set[Path] = set()  # files of keys that this process has made: nothing is sealed with them yet


def local_secret_key(var_dir: Path) -> str:
    """Return the key kept in *var_dir*, made at first use and readable by its owner alone.

    Raises `ImproperlyConfigured` if the folder can't be used, or if what is kept there is no key.
    """
    path = var_dir / FILE_NAME
    try:
        var_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _create_once(path, secrets.token_urlsafe(_LEAST_CHARACTERS))
        key = path.read_text(encoding="ascii").strip()
    except PermissionError as error:
        raise ImproperlyConfigured(
            f"the secret key in {path} can't be read or made: {error.strerror}. Make the folder and the file belong to "
            "the account that the site runs as. Another key, or another folder, would be another site."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ImproperlyConfigured(
                f"the secret key can't be written: the disk of {var_dir} is full. Make room on it."
            ) from error
        raise ImproperlyConfigured(
            f"the secret key can't be kept in VAR_DIR ({error}). Set VAR_DIR to a folder of your own, or SECRET_KEY."
        ) from error
    if len(key) < _LEAST_CHARACTERS:
        raise ImproperlyConfigured(
            f"{path} holds no secret key. Put back the old one, which each backup has. If there is none, delete "
            "the file to have a new one made: it ends all sessions, and what was sealed with the old one can't be read."
        )
    return key


def kept_secret_key(var_dir: Path) -> str | None:
    """Return the key kept in *var_dir*; None where there is none, as on a site that has it in its environment."""
    try:
        return (var_dir / FILE_NAME).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None


def keep_secret_key(var_dir: Path, key: str) -> Path | None:
    """Keep *key* in *var_dir* in place of the one that is kept there, and return where that one is now.

    None if this process has made that one itself when it started: it goes.
    """
    path = var_dir / FILE_NAME
    before = None if path in _made_now else var_dir / f"{FILE_NAME}.before-{secrets.token_hex(4)}"
    if before:
        os.link(path, before)
    _write_draft(var_dir, key).replace(path)
    _made_now.discard(path)
    return before


def _create_once(path: Path, key: str) -> None:
    """Write *key* whole or not at all: of two processes that start together, one wins and both read its key."""
    draft = _write_draft(path.parent, key)
    try:
        os.link(draft, path)
        _made_now.add(path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _write_draft(folder: Path, key: str) -> Path:
    """Write *key* to a new file in *folder* and return its path.

    Its name is random: containers that share the folder have processes of the same number.
    """
    descriptor, name = tempfile.mkstemp(prefix=f"{FILE_NAME}.", dir=folder)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return Path(name)
