"""Rounds of faults are gathered over days, in the table of docs/faults.md: what is written there must be read again."""

from __future__ import annotations

from tests.faults.__main__ import ROWS, Done, read_page, read_row, show_row


def test_the_table_is_read_as_it_was_written() -> None:
    row = ROWS[0]
    for done in (
        Done(),
        Done(3, 1_206, 2, ("ce3b3c64",), "2026-11-25"),
        Done(9, 18, 0, ("ce3b3c64", "3d5fd584"), "2026-11-26"),
    ):
        fault, *cells = [cell.strip() for cell in show_row(row, done).strip("|").split("|")]
        assert fault == row.fault
        assert read_row(*cells) == done


def test_each_row_has_a_place_in_the_table() -> None:
    assert list(read_page()) == [row.fault for row in ROWS]
