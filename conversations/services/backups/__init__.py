"""Backups that the site makes by itself: when one is due."""
