"""Copies by SQL: every column of a copied table is named, as copied or as given."""

from __future__ import annotations

import pytest

from conversations.services.portability import branch_conversation, continue_share
from conversations.services.portability.row_copy import RowCopy

MODULES = (branch_conversation, continue_share)
COPIES = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, RowCopy)
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_a_copy_names_every_column_once(copy):
    columns = {field.column for field in copy.model._meta.concrete_fields}
    named = [*copy.copied, *copy.given]
    assert sorted(named) == sorted(columns - ({"id"} - set(named)))


def test_all_that_is_copied_is_looked_at():
    assert sorted({copy.model.__name__ for copy in COPIES.values()}) == [
        *("DocumentFile", "Message", "Passage", "Picture", "PictureFile", "ToolCall")
    ]
