"""The secret key of a local site: made at first use and kept in `VAR_DIR`."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def local_secret_key(var_dir: Path) -> str:
    """Return the key kept in *var_dir*, made at first use and readable by its owner alone."""
    var_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = var_dir / "secret_key"
    if not path.exists():
        _create_once(path, secrets.token_urlsafe(50))
    return path.read_text(encoding="ascii")


def _create_once(path: Path, key: str) -> None:
    """Write *key* whole or not at all: of two processes that start together, one wins and both read its key."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(key, encoding="ascii")
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
