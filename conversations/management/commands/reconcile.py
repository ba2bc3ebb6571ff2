"""`manage.py reconcile FILE`: compare the ledger with a provider's export. It lives in its own package."""

from conversations.reconciliation.command import Command

__all__ = ["Command"]
