"""Dates and times in Chinese."""
