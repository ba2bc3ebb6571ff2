"""A module of another package that is loaded when something of it is first used, however many modules import it.

allauth imports its part for passkeys, and with it fido2 and cryptography, for every sign-in: 10 MB, which only the
users of passkeys need. Python's own `importlib.util.LazyLoader` is safe in threads only from 3.11.9 and 3.12.3 on
(https://github.com/python/cpython/issues/114763).
"""

from __future__ import annotations

import sys
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import Any

_lock = Lock()


class DeferredModule(ModuleType):
    """Stands for a module of its name, which it loads when it is asked for anything of it."""

    def __getattr__(self, name: str) -> Any:
        # Python, and what looks through all modules, asks for such names.
        if name.startswith("__"):
            raise AttributeError(name)
        with _lock:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)  # which waits for a thread that is loading it


def defer_module(name: str) -> None:
    """Let those who import the module *name* from now on get it when they use it; not by `from name import …`."""
    if name not in sys.modules:
        sys.modules[name] = DeferredModule(name)
