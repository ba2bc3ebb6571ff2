"""Fixtures for faults: real processes, a fake provider, and the oracles after every test.

site          one for all tests that leave its processes alone
mortal_site   one whose process a test may kill and start again; it is served when the test begins
parted_site   one whose web process makes no replies; a test starts the workers that it needs
new_site      a function that makes a site of one's own, with other settings
frail_server  a PostgreSQL server that a test may kill
FAULT_ROUNDS  how often the tests that kill, resend and leave are repeated; 1 unless told otherwise
FAULT_REPEATS_ALL  with 1 all tests are repeated, not only those that draw something by chance
FAULT_FIRST_SEED  the seed of the first of these rounds; 0 unless told otherwise
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.support.side_effects import NOTES_FILE, Notes
from tests.support.upstream import Upstream, serve_upstream

from .browsers import Browser
from .databases import Database, new_database
from .frail_server import FrailServer, run_frail_server
from .goals import GOALS
from .oracles import check_everything
from .pages import Page
from .sites import Site

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
REPEATS_ALL = os.environ.get("FAULT_REPEATS_ALL") == "1"
FIRST_SEED = int(os.environ.get("FAULT_FIRST_SEED", "0"))
# The server's and Django's own words about a client that sent nonsense come with a traceback; nothing else does.
UNEXPECTED = re.compile(r"^(?!.*(?:Invalid UTF-8 sequence|RequestDataTooBig)).*\n {0,2}Traceback", re.MULTILINE)
# `make clients` and `make codex` install what these need, the others take minutes; no other run waits for that.
NEEDED = {
    "test_clients.py": "WINDOWSEAT_CLIENTS",
    "test_codex.py": "WINDOWSEAT_CODEX",
    "test_full_disk.py": "WINDOWSEAT_MOUNTS",
    "test_half_open_pages.py": "WINDOWSEAT_LONG_FAULTS",
    "test_killed_backups.py": "WINDOWSEAT_REHEARSAL",
    "test_moved_databases.py": "WINDOWSEAT_MOVES",
    "test_rehearsal.py": "WINDOWSEAT_REHEARSAL",
    "test_rolling_restart.py": "WINDOWSEAT_LONG_FAULTS",
    "test_slow_redis.py": "WINDOWSEAT_LONG_FAULTS",
    "test_upgraded_postgres.py": "WINDOWSEAT_MOVES",
}
collect_ignore = [name for name, variable in NEEDED.items() if not os.environ.get(variable)]
MakeSite = Callable[..., AbstractContextManager[Site]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "chance" in metafunc.fixturenames:
        metafunc.parametrize("chance", [Random(FIRST_SEED + number) for number in range(ROUNDS)], ids=lambda _: "")
    elif REPEATS_ALL:
        metafunc.fixturenames.append("round_number")
        metafunc.parametrize("round_number", range(ROUNDS))


@pytest.fixture
def round_number() -> int:
    """Which repetition of a test this is, where all are repeated."""
    return 0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for goal in GOALS:
        if goal.measured:
            terminalreporter.write_line(str(goal))


# Of the package, not of the session: what idle sites take of the machine is for the other tests once these have ended.


@pytest.fixture(scope="package")
def upstream() -> Iterator[Upstream]:
    with serve_upstream() as running:
        yield running


@pytest.fixture(scope="package")
def make_site(
    postgres: Database, template: Database, upstream: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> MakeSite:
    """A context manager that makes a site with the settings it is given, and no process yet."""

    @contextmanager
    def make(**settings: str) -> Iterator[Site]:
        with new_database(postgres, template=template.name) as database:
            site = Site(database, upstream, tmp_path_factory.mktemp("site"), **settings)
            try:
                yield site
            finally:
                site.end()

    return make


@pytest.fixture(scope="package")
def shared_site(make_site: MakeSite) -> Iterator[Site]:
    with make_site() as site:
        site.serve()
        yield site


@pytest.fixture(scope="package")
def shared_browser(shared_site: Site) -> Browser:
    return shared_site.browser


@pytest.fixture
def site(shared_site: Site, shared_browser: Browser) -> Iterator[Site]:
    """The shared site; afterwards all that the test did to it is checked, and that nothing raised."""
    with checked(shared_site):
        before = shared_site.log.stat().st_size
        yield shared_site
    said = shared_site.log.read_text()[before:]
    assert not UNEXPECTED.search(said), said


@pytest.fixture
def page(site: Site, shared_browser: Browser) -> Page:
    """A page with a new conversation on the shared site."""
    return site.open_page(shared_browser)


@pytest.fixture(scope="package")
def notes_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tools") / "notes"


@pytest.fixture
def notes(notes_file: Path) -> Iterator[Notes]:
    """What the tools of the mortal and of the parted site write, and what keeps them from returning."""
    notes = Notes(notes_file)
    notes.clear()
    yield notes
    notes.clear()


@pytest.fixture(scope="package")
def lasting_mortal_site(make_site: MakeSite, notes_file: Path) -> Iterator[Site]:
    with make_site(**with_tools(notes_file)) as site:
        yield site


@pytest.fixture
def mortal_site(lasting_mortal_site: Site) -> Iterator[Site]:
    """A site that a test may kill: the tools of tests/support/side_effects.py are there."""
    if not lasting_mortal_site.is_served:
        lasting_mortal_site.serve()
    with checked(lasting_mortal_site):
        yield lasting_mortal_site


@pytest.fixture(scope="package")
def lasting_parted_site(make_site: MakeSite, notes_file: Path) -> Iterator[Site]:
    with make_site(RUN_WORKER="off", **with_tools(notes_file)) as site:
        site.serve()
        yield site


@pytest.fixture
def parted_site(lasting_parted_site: Site) -> Iterator[Site]:
    """A site whose replies are made by the workers that a test starts."""
    with checked(lasting_parted_site):
        yield lasting_parted_site
    lasting_parted_site.end_workers()


@pytest.fixture(scope="module")
def frail_server() -> Iterator[FrailServer]:
    with run_frail_server() as server:
        yield server


def with_tools(notes_file: Path) -> dict[str, str]:
    return {"TOOL_MODULES": "tests.support.side_effects", NOTES_FILE: str(notes_file)}


@pytest.fixture
def new_site(make_site: MakeSite) -> Iterator[Callable[..., Site]]:
    """A function that makes a site for one test, with the oracles."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(checked(stack.enter_context(make_site(**settings))))


@contextmanager
def checked(site: Site) -> Iterator[Site]:
    """Let a test use *site*, and ask the oracles once nothing streams there any more."""
    site.upstream.reset()
    site.give_tools()
    before, before_row = site.newest_message(), site.newest_row()
    yield site
    site.upstream.release()
    site.wait_until_quiet()
    check_everything(site, site.pages, after_message=before, after_row=before_row)
    for page in site.pages:
        page.drop()
    site.pages.clear()
