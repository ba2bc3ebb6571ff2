"""Splitting documents into passages, and fusing the rankings of several searches."""
