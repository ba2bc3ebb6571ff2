"""Django's PostgreSQL backend on an embedded server, `DATABASE_URL`, and SQL that Django does not write itself.

Begin with `base` for the backend and with `embedded` for the server that it starts. `compiled_query`,
`compiled_queryset`, `linked_insert` and `append_only` work on any PostgreSQL.
"""
