"""What needs more than the other tests: schemas that `make schemas` installs, the image's copy that `.ci/run` makes."""

from __future__ import annotations

import os

NEEDED = {"test_schemas.py": "WINDOWSEAT_SCHEMAS", "test_steps.py": "WINDOWSEAT_IMAGE"}
collect_ignore = [name for name, variable in NEEDED.items() if not os.environ.get(variable)]
