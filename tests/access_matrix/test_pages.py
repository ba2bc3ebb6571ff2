"""Everybody × every address × every id in it: who is shown what, and that a refusal tells and changes nothing."""

from __future__ import annotations

import pytest
from django.urls import reverse

from .asking import BEGINS_WITH_ANY_ID, answer_of, ask, ask_as, fields_of, path_of
from .cells import BODY_IDS, METHODS, ONLY_MARKS, BodyCell, PathCell, body_cells, path_cells
from .people import LET_THROUGH, Answer, Who, expected
from .routes import Door, door_of, routes, routes_with_a_door, unnamed
from .world import CANARY, fingerprint, shown_in_the_admin, unknown_ids

pytestmark = pytest.mark.django_db
READ_BY_QUERY = {f"conversations:{name}" for name in ("new", "new_scenario", "list", "commands", "search")}
OF_ONE_OBJECT = [
    route for route in routes() if door_of(route.name) is Door.OBJECT and route.name not in BEGINS_WITH_ANY_ID
]
READ_BY_ADMINS = [
    route
    for route in routes()
    if door_of(route.name) in (Door.ADMIN, Door.REVIEW) and route.name.endswith(("_changelist", "_change"))
]
SHOWN_TO_THE_OWNER = (Door.PERSON, Door.OBJECT, Door.PART_OF_ACCOUNT)


def test_every_address_has_a_door():
    assert [route.name for route in routes() if door_of(route.name) is None] == []
    assert unnamed() == []


def test_every_model_in_the_admin_has_an_example(world):
    assert shown_in_the_admin() <= set(world.for_admin)


@pytest.mark.parametrize("route", routes_with_a_door(), ids=lambda route: route.name)
def test_everybody_gets_the_answer_that_is_theirs(world, route):
    before = fingerprint()
    answers = {cell: ask_as(cell, world) for cell in path_cells(route)}
    assert [complaint for _, complaint in answers.values() if complaint] == []
    assert fingerprint() == before  # what another connection had written would still be there
    if door_of(route.name) in SHOWN_TO_THE_OWNER:  # a matrix in which no user is let through would be no test
        owners = (answer for cell, (answer, _) in answers.items() if cell.who is Who.OWNER and cell.ids == "alice's")
        assert Answer.SHOWN in owners


@pytest.mark.parametrize("route", [r for r in routes() if door_of(r.name) is Door.REVIEW], ids=lambda route: route.name)
def test_a_reviewer_reads_what_is_there_to_review(world, route):
    assert ask_as(PathCell(route, "GET", Who.REVIEWER, "alice's"), world) == (Answer.SHOWN, None)


@pytest.mark.parametrize("route", READ_BY_ADMINS, ids=lambda route: route.name)
def test_an_admin_is_shown_every_row_and_every_list(world, route):
    path = path_of(PathCell(route, "GET", Who.ADMIN, "alice's"), world)
    response = world.client_of(Who.ADMIN).get(path, follow=True)  # a list of one row leads to it
    assert response.status_code == 200
    assert response.request["PATH_INFO"].startswith(path)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("route", OF_ONE_OBJECT, ids=lambda route: route.name)
def test_another_users_looks_the_same_as_none_at_all(world, route, method):
    client = world.client_of(Who.OTHER)
    cells = (PathCell(route, method, Who.OTHER, ids) for ids in ("alice's", "unknown"))
    paths = [path_of(cell, world) for cell in cells]
    theirs, none = (ask(client, method, path, {}) for path in paths)
    assert theirs.status_code == none.status_code
    assert none.status_code in (404, 405)
    lengths = {len(answer.text.replace(path, "")) for answer, path in zip((theirs, none), paths, strict=True)}
    assert len(lengths) == 1  # the address itself stands in the page, for who changes its language


@pytest.mark.parametrize("cell", list(body_cells()), ids=lambda cell: f"{cell.route}-{cell.field}-{cell.who.name}")
def test_an_id_beside_the_address_opens_nothing(world, cell: BodyCell):
    own = unknown_ids() if cell.route in BEGINS_WITH_ANY_ID else world.own(cell.who).ids
    route = next(route for route in routes() if route.name == cell.route)
    path = reverse(cell.route, kwargs={parameter: own[parameter] for parameter in route.parameters})
    fields = fields_of(world, cell.who)
    del fields["conversation"]  # with one of their own, no other scenario is asked for
    fields[cell.field] = world.alices.ids[BODY_IDS[cell.route, cell.field]]
    response = ask(world.client_of(cell.who), "GET" if cell.route in READ_BY_QUERY else "POST", path, fields)
    assert answer_of(response) in _expected_beside(cell)
    assert cell.who is Who.OWNER or CANARY not in response.text


def _expected_beside(cell: BodyCell) -> frozenset[Answer]:
    if cell.who.is_the_owner or not cell.who.is_let_in:
        return expected(door_of(cell.route), cell.who, theirs=True)
    return LET_THROUGH if cell.field in ONLY_MARKS else frozenset({Answer.NOT_FOUND})
