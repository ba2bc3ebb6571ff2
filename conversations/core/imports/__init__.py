"""Import: conversations of other chat programs, read from their export files as plain values.

Begin with `read_export.py`, which opens the files; `json_conversations.py` reads one of them. Each format has a file,
and `imported.py` is what they all become.
"""
