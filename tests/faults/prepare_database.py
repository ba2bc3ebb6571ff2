"""Give the database of DATABASE_URL its tables and its default scenario, as a site that has been used has them.

A name that follows is of a database that is made on the way: as the migrations alone leave one.
"""

from __future__ import annotations

import sys

import django
from django.core.management import call_command
from django.db import connection

django.setup()

from conversations.services.conversations.default_scenario import default_scenario  # noqa: E402
from tests.faults.databases import Database, server_address, statement  # noqa: E402

call_command("migrate", verbosity=0)
for name in sys.argv[1:]:
    migrated = connection.settings_dict["NAME"]
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's
    Database("postgres", server_address()).rows(statement("CREATE DATABASE {} TEMPLATE {}", name, migrated))
default_scenario()
