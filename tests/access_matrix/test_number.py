"""README says how many cells there are."""

from tests.source import PROJECT

from .cells import BODY_IDS, number_of_cells
from .routes import routes


def test_readme_has_the_number_of_cells():
    assert f"{number_of_cells():,} cells" in (PROJECT / "README.md").read_text(encoding="utf-8")


def test_ids_in_bodies_are_those_of_routes_that_are_there():
    assert {route for route, _ in BODY_IDS} <= {route.name for route in routes()}
