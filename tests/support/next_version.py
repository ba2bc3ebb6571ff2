"""A made-up next version of the product: a copy of the checkout whose migrations add, fill, index and drop."""

from __future__ import annotations

import shutil
from pathlib import Path

from .source import PROJECT

VERSION = "1.2.0"
SHELF = "    shelf = models.PositiveIntegerField(null=True)\n"
MIGRATION = """
from django.db import migrations, models
from chatsite.schema.operations import *


class Migration(migrations.Migration):
    dependencies = [("conversations", "{before}")]
    atomic = {atomic}
    operations = [{operation}]
"""
# How long a batch takes is for the tests that end it.
FILL = """BackfillInBatches("shelf", table="conversations_message", batch_rows=25, update=(
    "UPDATE conversations_message SET shelf = coalesce(shelf, 0) + 1 "
    "WHERE id BETWEEN %(first)s AND %(last)s AND (SELECT pg_sleep(0.01)) IS NOT NULL"))"""
ADD, FILLED, INDEX, DROP = MIGRATIONS = ("9001_add_shelf", "9002_fill_shelf", "9003_index_shelf", "9004_drop_old_note")
OPERATIONS = {
    ADD: ('migrations.AddField("message", "shelf", models.PositiveIntegerField(null=True))', True),
    FILLED: (FILL, False),
    INDEX: ('AddIndexConcurrently("message", models.Index(fields=["shelf"], name="message_shelf"))', False),
    DROP: ('DropRetired("conversations_message", "old_note", retired_in="1.1.0")', True),
}
# What the version before has retired: its code knows nothing of it.
ADD_RETIRED_COLUMN = "ALTER TABLE conversations_message ADD COLUMN old_note text"


def make_next_version(folder: Path) -> Path:
    """Copy the checkout into *folder*, make it the next version, and return the folder."""
    for name in ("chatsite", "conversations"):
        shutil.copytree(PROJECT / name, folder / name)
    (PROJECT / "var").mkdir(exist_ok=True)
    for name in ("static", "templates", "var"):
        (folder / name).symlink_to(PROJECT / name)
    shutil.copy(PROJECT / "manage.py", folder)
    edit(folder / "pyproject.toml", PROJECT / "pyproject.toml", "\nversion = ", f'\nversion = "{VERSION}"\nformer = ')
    model = "conversations/models/message.py"
    edit(folder / model, PROJECT / model, "    position = ", f"{SHELF}    position = ")
    before = max(path.stem for path in (PROJECT / "conversations" / "migrations").glob("[0-9]*.py"))
    for name, (operation, atomic) in OPERATIONS.items():
        text = MIGRATION.format(before=before, atomic=atomic, operation=operation)
        (folder / "conversations" / "migrations" / f"{name}.py").write_text(text)
        before = name
    return folder


def edit(target: Path, source: Path, words: str, other: str) -> None:
    text = source.read_text(encoding="utf-8")
    assert words in text
    target.write_text(text.replace(words, other, 1), encoding="utf-8")
