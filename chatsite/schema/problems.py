"""Why this code can't work with a database, as one sentence and what to do: for starts, commands and `/readyz`."""

from __future__ import annotations

from psycopg import Connection

from chatsite.command_line import spell_command
from chatsite.postgres.checks import ENCODING, MAKE_UTF8, NOT_ALL_LANGUAGES, OLDEST_VERSION, package_of_pgvector
from chatsite.version import product_version

from .columns import schema_difference
from .history import TABLE, MigrationHistory, read_migration_history, version_key
from .move_note import read_move_note

OLDEST_PGVECTOR = (0, 7)  # the first with half precision
MIGRATE = f"Run {spell_command('upgrade')}, or start a web process with MIGRATE_ON_START on."
ADD_EXTENSION = (
    "The database has no extension pgvector, and its role may not add it. As a superuser in it: "
    "CREATE EXTENSION vector. Then start again."
)
EXTENSION = """
SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
       EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector'),
       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
       OR EXISTS (SELECT FROM pg_available_extension_versions
                  WHERE name = 'vector' AND (trusted OR NOT superuser)
                  AND has_database_privilege(current_database(), 'CREATE'))
"""
# Of extensions, and of schemas that are not looked in, may be tables of others.
TABLES = """
SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relnamespace = ANY(current_schemas(false)::regnamespace[])
AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
ORDER BY relname
"""
OF_MIGRATIONS = {TABLE, "django_migrations"}  # a first start that was killed leaves them empty
# They have been there since the first commits, and no other project has them all.
OUR_TABLES = {"accounts_user", "conversations_conversation", "conversations_message"}


def schema_problem(
    connection: Connection, *, will_migrate: bool = False, allows_newer: bool = False, allows_moved: bool = False
) -> str:
    """Return a sentence on why this code can't work with the database behind *connection*, and what to do; else "".

    A process that *will_migrate* may find it empty, older or half upgraded. One that runs already while a newer
    version upgrades *allows_newer*: for one version the schema serves both. What moves a site *allows_moved*.
    """
    note = None if allows_moved else read_move_note(connection)
    history = read_migration_history(connection)
    server = connection.info.server_version // 10_000
    [(pgvector, is_available, may_add)] = connection.execute(EXTENSION)
    is_made = any(app == "conversations" for app, _ in history.applied)
    return (
        server_problem(server)
        or (note.problem if note else "")
        or foreign_problem(table_names(connection), history, database=connection.info.dbname)
        or ("" if is_made else encoding_problem(connection))
        or pgvector_problem(pgvector, is_available=is_available, may_add=may_add, is_made=is_made, server=server)
        or history_problem(history, will_migrate=will_migrate, allows_newer=allows_newer)
        or ("" if history.waiting else difference_problem(connection))
    )


def table_names(connection: Connection) -> list[str]:
    """Return the tables and views of the database that belong to no extension."""
    return [name for (name,) in connection.execute(TABLES)]


def server_problem(version: int) -> str:
    """*version* is the major version: 15 for 15.4."""
    if version >= OLDEST_VERSION:
        return ""
    return (
        f"The database server is PostgreSQL {version}, and Windowseat needs {OLDEST_VERSION} or later: "
        "upgrade the server."
    )


def encoding_problem(connection: Connection) -> str:
    """Return a sentence if a new database can't store all languages. One in use may have worked so far."""
    encoding = connection.info.parameter_status("server_encoding") or ENCODING
    return "" if encoding == ENCODING else f"The database has the encoding {encoding}: {NOT_ALL_LANGUAGES} {MAKE_UTF8}"


def foreign_problem(tables: list[str], history: MigrationHistory, *, database: str) -> str:
    """Return a sentence if the database has tables, and they are not ours.

    Tables of the same names are another's as long as no migration is noted that made them.
    """
    others = [name for name in tables if name not in OF_MIGRATIONS]
    if not others or history.made or (history.applied and set(tables) >= OUR_TABLES):
        return ""
    return (
        f"The database {database} has tables that are not Windowseat's, such as {others[0]}. Set DATABASE_URL to a "
        "database of its own, which is empty; nothing was changed in this one."
    )


def history_problem(
    history: MigrationHistory,
    *,
    what: str = "The database",
    will_migrate: bool = False,
    allows_newer: bool = False,
) -> str:
    """Return a sentence if the migrations that made *what*, a database or a backup, are not those of this code."""
    if history.applied and (history.made is None or (history.changed and not history.unknown)):
        return (
            f"{what} was made by an unreleased state of Windowseat, which no release can upgrade. Begin with an empty "
            "database; docs/upgrading.md says what can be taken along."
        )
    if not allows_newer and (problem := newer_problem(history, what=what)):
        return problem
    if will_migrate or not history.waiting:
        return ""
    return _unfinished_problem(history, what) or _waiting_problem(history, what)


def newer_problem(history: MigrationHistory, *, what: str = "The database") -> str:
    """Return a sentence if *what* has migrations that this code doesn't have."""
    if not history.unknown:
        return ""
    made = history.made or {}
    versions = [made[key].version for key in history.unknown if key in made]
    later = f"version {max(versions, key=version_key)}" if versions else "a later version"
    return (
        f"{what} was made by {later} of Windowseat, and this is {product_version()}. Use that version or a later one; "
        "to go back, restore the backup from before the upgrade."
    )


def pgvector_problem(
    installed: str | None, *, is_available: bool, may_add: bool = True, is_made: bool, server: int
) -> str:
    """*installed* is its version in the database; one that is not made yet gets it, if the role *may_add* it.

    *server* is the major version of PostgreSQL.
    """
    needed = ".".join(map(str, OLDEST_PGVECTOR))
    if installed is None:
        if not is_available:
            embedded = "" if is_made else ", or leave DATABASE_URL empty: the embedded PostgreSQL has it"
            return f"The database server has no pgvector. Install it there ({package_of_pgvector(server)}){embedded}."
        if is_made:
            return (
                "The extension pgvector is missing in the database. As a superuser in it: CREATE EXTENSION vector; "
                "what its columns held has to be restored from a backup."
            )
        return "" if may_add else ADD_EXTENSION
    if version_key(installed) < OLDEST_PGVECTOR:
        return (
            f"The database has pgvector {installed}, and Windowseat needs {needed} or later. Install it on the server "
            f"({package_of_pgvector(server)}), then in the database: ALTER EXTENSION vector UPDATE."
        )
    return ""


def difference_problem(connection: Connection) -> str:
    """Return a sentence if the database lacks what its migrations have made, or has more than fits."""
    if not (difference := schema_difference(connection)):
        return ""
    return (
        f"The database is not as its migrations have made it: {difference}. It was changed by hand, or restored in "
        "part: restore a backup."
    )


def _unfinished_problem(history: MigrationHistory, what: str) -> str:
    if not history.unfinished or history.made is None:
        return ""
    app, name = history.unfinished[0]
    began_at = history.made[app, name].began_at
    return (
        f"{what} is half upgraded: {app}.{name} began at {began_at} UTC and has not ended. If no process is at it, run "
        f"{spell_command('upgrade')}, which goes on with it."
    )


def _waiting_problem(history: MigrationHistory, what: str) -> str:
    count = len(history.waiting)
    if not history.applied:
        return f"{what} is empty: {count} migrations are not applied. {MIGRATE}"
    are = "migration is" if count == 1 else "migrations are"
    return f"{what} is older than this version of Windowseat: {count} {are} not applied. {MIGRATE}"
