"""Retention and legal holds: begin with `sweep_retention`, then `legal_holds`."""
