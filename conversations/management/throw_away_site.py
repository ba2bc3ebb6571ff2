"""Settings of a site with an embedded database that lasts as long as a command: to try what the real one is spared."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OTHER_THAN_THE_SITE = {"SITE_URL": "http://localhost:8000", "DATABASE_URL": "", "SECRET_KEY": ""}


@contextmanager
def throw_away_site(**settings: str) -> Iterator[dict[str, str]]:
    """Yield the environment of a process of it; its data are in TMPDIR, and deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="windowseat-") as folder:
        Path(folder).chmod(0o755)  # the embedded server has an account of its own where root starts it
        changed = {**OTHER_THAN_THE_SITE, "VAR_DIR": str(Path(folder) / "var"), **settings}
        yield os.environ | changed | {f"{name}_FILE": "" for name in changed}
