"""The database backend of all sites, embedded or named by `DATABASE_URL`: Django's for PostgreSQL, with reused cursors.

Begin with `base` for the backend, with `reused_cursors` and `pool` for what it changes, and with `embedded` for the
server that it starts. `compiled_query`, `compiled_queryset`, `linked_insert` and `append_only` write SQL that Django
does not, for any PostgreSQL.
"""
