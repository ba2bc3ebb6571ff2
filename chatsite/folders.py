"""Folders of the product: its code, templates and static files, and where the data of a site go.

In a checkout all of them stand side by side. An installed package has its templates and static files in
`chatsite/assets`, where pyproject.toml puts them, and keeps data apart from the code.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

CODE = Path(__file__).resolve().parents[1]  # of an installed package the folder `site-packages`
_ASSETS = CODE / "chatsite" / "assets"
IS_CHECKOUT = not _ASSETS.is_dir()
TEMPLATES = (CODE if IS_CHECKOUT else _ASSETS) / "templates"
STATIC = (CODE if IS_CHECKOUT else _ASSETS) / "static"


class NoDataFolder(Exception):
    """The message is one sentence, fit for the operator."""


def data_folder(environment: Mapping[str, str]) -> Path:
    """Return where an installed package keeps data and `.env`: VAR_DIR, else what is usual for the account.

    A relative VAR_DIR starts in the current folder. Raises `NoDataFolder` for an account without a home.
    """
    try:
        if named := environment.get("VAR_DIR", "").strip():
            return _expand_home(Path(named)).resolve()
        shared = Path(environment.get("XDG_DATA_HOME", "").strip())
        return (shared if shared.is_absolute() else _expand_home(Path("~/.local/share"))) / "windowseat"
    except (RuntimeError, KeyError):
        raise NoDataFolder("VAR_DIR must be a folder for data, because this account has no home.") from None


def _expand_home(path: Path) -> Path:
    """Return *path* with the account's home in place of `~`. Raises `RuntimeError` or `KeyError` if it has none.

    A blank HOME, as some service managers set it, counts as none. Python would take the root folder for it.
    """
    if path.parts[:1] != ("~",) or os.environ.get("HOME", "").strip():
        return path.expanduser()
    return Path(pwd.getpwuid(os.getuid()).pw_dir, *path.parts[1:])
