"""Reconciliation of the ledger with providers' usage exports. Begin with `command`, its door."""
