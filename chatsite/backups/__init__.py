"""Backups: the file, and the programs of PostgreSQL that fill the database of a site from it."""
