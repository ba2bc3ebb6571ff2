"""What a database holds, as a backup notes it and a restored database is compared with: counts, triggers, samples.

The samples are of what rows alone don't show: secrets that can be unsealed, and windows of replies as their page shows
them. It takes no more than reading each table once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import connection
from psycopg import sql

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret_or_none, encrypt_secret
from chatsite.schema.history import MigrationHistory, read_migration_history
from chatsite.schema.problems import encoding_problem, history_problem, table_names
from conversations.core.errors import ConversationNotFound
from conversations.models import McpServer, Message, Webhook
from conversations.selectors.conversations.window import sent_window
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from conversations.services.ledger.recompute_rolled_up_sums import recompute_rolled_up_sums
from conversations.services.ledger.recompute_spending import recompute_spending

SAMPLES = 20
SEALED = "windowseat"
TABLES = """
SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
ORDER BY relname
"""
TRIGGERS = """
SELECT tgrelid::regclass || '.' || tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D' ORDER BY 1
"""


def describe_contents(*, has_models: bool = True) -> dict[str, Any]:
    """Return what the database holds now, by the present transaction; samples only if it *has_models* of this code."""
    return {
        **read_migration_history(_raw_connection()).as_json(),
        "database_bytes": database_bytes(),
        "tables": rows_by_table(),
        "triggers": _column(TRIGGERS),
        "windows": {str(reply): digest for reply, digest in _windows()} if has_models else {},
        "secrets": [list(place) for place in _secrets()] if has_models else [],
        "sealed": encrypt_secret(SEALED),
    }


def database_bytes() -> int:
    """Return how much room the database takes on the server's disk, with its indexes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def rows_by_table() -> dict[str, int]:
    """Return table → number of its rows."""
    return {name: _count(name) for name in _column(TABLES)}


def is_empty_database() -> bool:
    """Tell whether there is no table yet."""
    return not table_names(_raw_connection())


def find_other_encoding() -> str:
    """Return a sentence if the new database can't store all languages."""
    return encoding_problem(_raw_connection())


def find_other_schema(contents: Mapping[str, Any]) -> str:
    """Return a sentence if this version of the code can't bring the database of the backup up to date."""
    return history_problem(MigrationHistory.from_json(contents), what="The backup's database", will_migrate=True)


def was_migrated_since(contents: Mapping[str, Any]) -> bool:
    """Tell whether the database has other migrations than *contents* say."""
    return read_migration_history(_raw_connection()) != MigrationHistory.from_json(contents)


def find_missing_rows(contents: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each table and trigger that is not as *contents* says, before anything is migrated."""
    there = set(_column(TABLES))
    found = [f"the table {name} is missing" for name in sorted(contents["tables"].keys() - there)]
    for name in sorted(contents["tables"].keys() & there):
        if (count := _count(name)) != contents["tables"][name]:
            found.append(f"{name} has {count:,} rows and had {contents['tables'][name]:,}")
    found += [f"the trigger {name} is missing" for name in sorted({*contents["triggers"]} - {*_column(TRIGGERS)})]
    return found


def find_damage(contents: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each sample that is not as *contents* says, and for each sum that is not the ledger's."""
    windows = dict(_windows(int(reply) for reply in contents["windows"]))
    found = [
        f"the window of reply {reply} is another one"
        for reply, digest in contents["windows"].items()
        if windows.get(int(reply)) != digest
    ]
    if decrypt_secret_or_none(contents["sealed"]) != SEALED:
        found.append("SECRET_KEY is another one than the site's was, so what was sealed with it can't be read")
    else:
        readable = set(_secrets())
        found += [
            f"a secret in {table} can't be read" for table, pk in contents["secrets"] if (table, pk) not in readable
        ]
    return found + [f"a sum does not match the ledger: {each}" for each in find_wrong_sums()]


def _column(query: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [value for (value,) in cursor.fetchall()]


def _count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
        return int(cursor.fetchone()[0])


def _windows(replies: Iterator[int] | None = None) -> Iterator[tuple[int, str]]:
    """Yield (reply, digest of its window as the page shows it) of *replies*, or of the newest that have one."""
    chosen = Message.objects.filter(role="assistant", completions__window__isnull=False).distinct()
    chosen = chosen.order_by("-pk")[:SAMPLES] if replies is None else chosen.filter(pk__in=list(replies))
    for reply in chosen:
        try:
            view = sent_window(reply).view
        except ConversationNotFound:
            continue
        yield reply.pk, hashlib.sha256(repr(view).encode("utf-8", "surrogatepass")).hexdigest()


def _secrets() -> Iterator[tuple[str, int]]:
    """Yield (table, row) of sealed secrets that can be read with the site's key."""
    for model, field in ((Webhook, "sealed_secret"), (McpServer, "sealed_authorization")):
        for pk, sealed in model.objects.exclude(**{field: ""}).order_by("-pk").values_list("pk", field)[:SAMPLES]:
            if decrypt_secret_or_none(sealed) is not None:
                yield model._meta.db_table, pk


def find_wrong_sums() -> list[object]:
    """Return the sums that are not the ledger's."""
    return [
        *recompute_spending(mend=False),
        *recompute_ledger_sums(mend=False),
        *recompute_rolled_up_sums(mend=False),
    ]


def _raw_connection() -> Any:
    connection.ensure_connection()
    return connection.connection
