"""Whole sites for browsers: a server, a database of its own and a shell."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.faults.databases import Database
from tests.support.ports import free_port
from tests.support.site_process import environment, serving
from tests.support.source import PROJECT

MAKE_PEOPLE = """
from chatsite.accounts.models import User
from tests.support.sockets import sign_in
for number in range({first}, {first} + {count}):
    print(sign_in(User.objects.create(email=f"person{{number}}@example.org", password="!")))
"""
PEOPLE_AT_ONCE = 200
SHELL = [sys.executable, "-m", "tests.browser.shell_process"]


class Shell:
    """The site's own shell, loaded once: for what would take too long by hand."""

    def __init__(self, settings: dict[str, object]) -> None:
        self._process = subprocess.Popen(
            SHELL,
            cwd=PROJECT,
            env=environment(DJANGO_SETTINGS_MODULE="chatsite.settings", **settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str) -> str:
        """Return what *code* prints, run in a process of its own."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(code), file=self._process.stdin, flush=True)
        outcome = json.loads(self._process.stdout.readline())
        assert not outcome["raised"], outcome["raised"]
        return str(outcome["printed"]).strip()

    def close(self) -> None:
        self._process.communicate()


@dataclass(frozen=True)
class Site:
    """A running site: its database, its address, its shell and what it printed when it was ready."""

    database: Database
    address: str
    shell: Shell
    banner: str

    @property
    def first_admin_link(self) -> str:
        link = re.search(r"\S+/first-admin/#\S+", self.banner)
        assert link, self.banner
        return link[0]

    @cached_property
    def sessions(self) -> Iterator[str]:
        """The sessions of new people, one for each test: signing all of them up by hand meets the limit on attempts."""
        return (
            session
            for first in itertools.count(step=PEOPLE_AT_ONCE)
            for session in self.run(MAKE_PEOPLE.format(first=first, count=PEOPLE_AT_ONCE)).split()
        )

    def run(self, code: str) -> str:
        return self.shell.run(code)


@contextmanager
def running_site(database: Database, folder: Path, *, host: str = "127.0.0.1", **settings: object) -> Iterator[Site]:
    """Serve a site at *host* on a free port, with its data in *database* and its files in *folder*."""
    port = free_port()
    address = f"http://{host}:{port}"
    settings = {
        "DATABASE_URL": database.url,
        "VAR_DIR": folder / "var",
        "PORT": port,
        "SITE_URL": address,
        **settings,
    }
    shell = Shell(settings)  # which is loaded while the server is
    try:
        with serving(**settings) as (_, banner):
            yield Site(database, address, shell, banner)
    finally:
        shell.close()
