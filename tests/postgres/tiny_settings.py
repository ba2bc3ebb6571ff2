"""Settings of the processes that these tests start: the embedded database and nothing else."""

import os
from pathlib import Path

SECRET_KEY = "only for tests"
USE_TZ = True
INSTALLED_APPS = ["chatsite.postgres"]
DATABASES = {
    "default": {
        "ENGINE": "chatsite.postgres",
        "NAME": "windowseat",
        "EMBEDDED_DIR": Path(os.environ["VAR_DIR"]) / "postgres",
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"pool": {"min_size": 1, "max_size": 2, "timeout": 10} if os.environ.get("POOL") else None},
    }
}
