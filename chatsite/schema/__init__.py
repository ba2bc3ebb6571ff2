"""The schema of a database: what made it, whether this code can work with it, and how it is migrated.

    problems.py    schema_problem(): one sentence on why a database can't be used, or none
    history.py     which migrations were applied, by which version, and what they looked like
    released.py    what databases have noted of the migrations of releases
    executor.py    migrates: short waits for locks, again after a kill
    move_note.py   the note of a database that its site was moved
    operations.py  what migrations after the initial ones are made of

`manage.py migrate` and a start do it.
"""
