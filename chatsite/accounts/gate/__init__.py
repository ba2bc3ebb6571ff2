"""The gate: who may come in with their account, and by which password."""
