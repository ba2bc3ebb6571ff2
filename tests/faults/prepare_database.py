"""Give the database of DATABASE_URL its tables and its default scenario, as a site that has been used has them."""

from __future__ import annotations

import django
from django.core.management import call_command

django.setup()

from conversations.services.conversations.default_scenario import default_scenario  # noqa: E402

call_command("migrate", verbosity=0)
default_scenario()
