"""Queries that change nothing: what pages, services and the admin read from the database, by subject."""
