"""Import: conversations of other chat programs, read from their export files as plain values.

Begin with `read_export.py`; each format has a file, and `imported.py` is what they all become.
"""
