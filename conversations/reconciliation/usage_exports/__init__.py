"""Providers' exports of usage and cost, as CSV: which there are, what their cells say, a whole file read."""
