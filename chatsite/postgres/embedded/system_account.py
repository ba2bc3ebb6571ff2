"""The system account that runs the embedded PostgreSQL, and its access to data and programs.

PostgreSQL refuses to run as root. When the site is root, PostgreSQL runs as the first of: the owner of its data; the
owner of the folder that holds the data, if that account has a name and is not root (`sudo make run`); the account
`postgres`, if the machine has one; `nobody`. No account is created. That account must reach the data and the programs:
parent folders that it may not pass get the one bit that lets it pass (not list, not read), and each is named in the
log.
"""

from __future__ import annotations

import logging
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import PostgresDidNotStart

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SystemAccount:
    """An account of the operating system."""

    uid: int
    gid: int

    @classmethod
    def owning(cls, path: Path) -> SystemAccount:
        info = path.stat()
        return cls(info.st_uid, info.st_gid)

    def subprocess_options(self) -> dict[str, Any]:
        """Return the arguments of `subprocess` that run a program as this account; none unless root."""
        if os.geteuid() != 0:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def take_over(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid)


def choose_account(folder: Path) -> SystemAccount:
    """Return the account for a new server whose data will lie in *folder*."""
    if os.geteuid() != 0:
        return SystemAccount(os.geteuid(), os.getegid())
    owner = SystemAccount.owning(folder)
    if owner.uid != 0 and _has_name(owner.uid):
        return owner
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return SystemAccount(entry.pw_uid, entry.pw_gid)
    raise PostgresDidNotStart(
        "PostgreSQL refuses to run as root, and this machine has neither an account postgres nor nobody. "
        "Run as an ordinary user, or set DATABASE_URL."
    )


def require_usable_owner(data: Path) -> SystemAccount:
    """Return the owner of *data*; raises `PostgresDidNotStart` if the server can't run as that account."""
    owner = SystemAccount.owning(data)
    if owner.uid == 0:
        raise PostgresDidNotStart(
            f"{data} belongs to root, and PostgreSQL refuses to run as root. "
            f"Give it to another account: chown -R nobody '{data}'"
        )
    if os.geteuid() not in (0, owner.uid):
        raise PostgresDidNotStart(f"{data} belongs to uid {owner.uid}. Set VAR_DIR to a folder of your own.")
    return owner


def grant_passage(account: SystemAccount, path: Path) -> None:
    """As root, let *account* pass through every folder above *path*."""
    if os.geteuid() != 0:
        return
    for folder in path.resolve().parents:
        mode, bit = folder.stat().st_mode, _pass_bit(account, folder)
        if not mode & bit:
            folder.chmod(stat.S_IMODE(mode) | bit)
            logger.warning("%s may now be passed through, not read, by the account of PostgreSQL.", folder)


def grant_read_access(account: SystemAccount, folder: Path) -> None:
    """As root, let *account* read and run the programs in *folder* where root's umask hid them."""
    grant_passage(account, folder)
    if os.geteuid() != 0 or folder.stat().st_mode & stat.S_IROTH:
        return
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))


def _pass_bit(account: SystemAccount, folder: Path) -> int:
    info = folder.stat()
    if info.st_uid == account.uid:
        return stat.S_IXUSR
    return stat.S_IXGRP if info.st_gid == account.gid else stat.S_IXOTH


def _has_name(uid: int) -> bool:
    """Return whether the account has a name: initdb insists on one for its user id."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
