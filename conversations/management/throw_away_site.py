"""Settings of a site with an embedded database that lasts as long as a command: to try what the real one is spared.

What a command that was killed has left of one is deleted by the next command that makes one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chatsite.postgres.embedded.server import is_stopped, wait_until_stopped

OTHER_THAN_THE_SITE = {"SITE_URL": "http://localhost:8000", "DATABASE_URL": "", "SECRET_KEY": ""}
PREFIX, IN_USE = "windowseat-copy-", "in-use"


@contextmanager
def throw_away_site(**settings: str) -> Iterator[dict[str, str]]:
    """Yield the environment of a process of it; its data are in TMPDIR, and deleted afterwards.

    Start that process with `preexec_fn=bind_to_parent()`, so that it does not outlive a command that is killed.
    """
    _delete_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    data = folder / "var" / "postgres"
    changed = {**OTHER_THAN_THE_SITE, "VAR_DIR": str(data.parent), **settings}
    with (folder / IN_USE).open("w") as in_use:
        fcntl.flock(in_use, fcntl.LOCK_EX)
        folder.chmod(0o755)  # the embedded server has an account of its own where root starts it
        try:
            yield os.environ | changed | {f"{name}_FILE": "" for name in changed}
        finally:
            with suppress(TimeoutError):  # then the next command finds it abandoned
                wait_until_stopped(data)
                _delete(folder)


def _delete_abandoned() -> None:
    """Delete those of killed commands of this account; those of others are left alone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            with (folder / IN_USE).open("r+") as in_use:
                fcntl.flock(in_use, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if is_stopped(folder / "var" / "postgres"):
                    _delete(folder)


def _delete(folder: Path) -> None:
    """Delete it, the file that tells whether it is in use last."""
    if (folder / "var").exists():
        shutil.rmtree(folder / "var")
    shutil.rmtree(folder)
