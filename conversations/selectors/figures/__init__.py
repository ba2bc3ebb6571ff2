"""Figures over the ledger: begin with `figures`, whose SQL is in `statements` and `rolled_up_statements`."""
