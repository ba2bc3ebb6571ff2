"""Dates and times in English."""
