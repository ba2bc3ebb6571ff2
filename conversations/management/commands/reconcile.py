"""`manage.py reconcile FILE`: compare the ledger with a provider's export. It lives in its own package."""

from conversations.management.database_command import DatabaseCommand
from conversations.reconciliation.command import Command as Reconciliation


class Command(DatabaseCommand, Reconciliation):
    """Its options and what it prints are in the package."""
