"""Checks of an installation for `manage.py doctor`, one file for each subject.

`checks.py` has the table of all and runs them side by side, each for so many seconds. A check is a function that takes
`Options` and yields lines (`chatsite.checkup`); to add one, write it and name it in the table.
"""
