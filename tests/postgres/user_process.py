"""A process that uses the database: answers each line of its standard input with a line of JSON.

`sql STATEMENT` runs on a connection of its own, `fork` leaves the work to a child, `check` runs Django's checks of the
database, `test-database NAME` has Django make and drop a test database. The answer is {"rows"} or {"error"}.
"""

import io
import json
import os
import sys

import django
from django.core.management import call_command
from django.db import connection


def answer(line: str) -> object:
    command, _, argument = line.partition(" ")
    if command == "fork":
        return leave_to_a_child()
    if command == "check":
        output = io.StringIO()
        call_command("check", databases=["default"], stdout=output)
        return output.getvalue()
    if command == "test-database":
        return in_test_database(argument)
    return rows(argument)


def rows(statement: str) -> list:
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


def leave_to_a_child() -> int:
    if os.fork():
        os._exit(0)
    return os.getpid()


def in_test_database(name: str) -> list:
    connection.settings_dict["TEST"]["NAME"] = name
    original = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    found = rows("SELECT current_database(), count(*) FROM pg_extension WHERE extname = 'vector'")
    connection.creation.destroy_test_db(original, verbosity=0)
    return found


def main() -> None:
    django.setup()
    for line in sys.stdin:
        try:
            reply = {"rows": answer(line.strip())}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply, default=str), flush=True)


if __name__ == "__main__":
    main()
