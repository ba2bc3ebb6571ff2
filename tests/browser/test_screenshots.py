"""The pictures of the documents can be made, and the documents show each of them."""

from __future__ import annotations

from tests.faults.databases import new_database

from .screenshots import IMAGES, pictured_site, take_all


def test_every_stop_of_the_tour_is_reached_and_is_a_picture_of_the_documents(postgres, template, browser, tmp_path):
    with (
        new_database(postgres, template=template.name) as database,
        pictured_site(database, tmp_path) as site,
    ):
        taken = take_all(site, browser, tmp_path)
    assert {f"{name}.png" for name in taken} == {path.name for path in IMAGES.iterdir()}
    tour = (IMAGES.parent / "tour.md").read_text(encoding="utf-8")
    assert [name for name in taken if f"images/{name}.png" not in tour] == []
