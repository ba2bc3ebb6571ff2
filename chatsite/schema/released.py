"""The migrations of releases, and what a database has noted of each: the checksum by which it is known.

1.0.0 noted a checksum of the text, comments and docstrings included; later versions note what `checksum_of_module`
gives. `tests/schema/test_released_migrations.py` holds both to the code, and has what 1.0.0's come to now.
"""

from __future__ import annotations

from collections.abc import Mapping

RELEASED: Mapping[tuple[str, str], str] = {
    ("accounts", "0001_initial"): "8c0134783c2743255d914a220797c0f99f9a9a298ea0f58145ff8cbc38774310",
    ("conversations", "0001_initial"): "3477c3510a7ee8ab8735e399bb31b2f0cc041cff9e68ee94942a73dd0ad28d62",
    ("conversations", "0002_privacy_page_names"): "1b399e131d75a327435f31348bdde4a4e6208da5d62c8817e0f3b52b6011b5f9",
}
