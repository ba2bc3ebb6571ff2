"""The measurements say how many cells there are."""

import ast
from collections.abc import Iterator
from pathlib import Path

from conversations import urls
from tests.support.source import PROJECT

from .cells import BODY_IDS, number_of_cells
from .routes import routes

VIEWS = PROJECT / "conversations" / "views"


def test_the_measurements_have_the_number_of_cells():
    assert f"{number_of_cells():,} cells" in (PROJECT / "docs/measurements/safety.md").read_text(encoding="utf-8")


# What reads an id that stands beside the address, and the field that it has there.
READS = {"scenario_id": "scenario", "folder_id": "folder", "optional_unique_id": None}
# It reads one for the views that call it, and has no route itself.
LIST_AGAIN = ("conversations.views.conversation_list.listed_conversations", "current")


def test_every_view_that_reads_an_id_beside_the_address_is_in_the_table():
    """By the modules of views: each one that calls such a reader has a route with that field in `BODY_IDS`."""
    views = {pattern.name: pattern.callback.__module__ for pattern in urls.urlpatterns}
    covered = {(views[route.partition(":")[2]], field) for route, field in BODY_IDS}
    read = {call for path in VIEWS.rglob("*.py") for call in _reads_of(path)}
    assert LIST_AGAIN in read
    assert read <= covered | {LIST_AGAIN}


def _reads_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield module and field of each id that is read from a query or a form in the file at *path*."""
    module = ".".join(path.relative_to(PROJECT).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in READS:
            yield module, node.args[1].value if len(node.args) > 1 else READS[called.attr]
        elif isinstance(called, ast.Name) and called.id == "list_again":
            yield module, LIST_AGAIN[1]


def test_ids_in_bodies_are_those_of_routes_that_are_there():
    assert {route for route, _ in BODY_IDS} <= {route.name for route in routes()}
