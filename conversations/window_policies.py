"""The window policies of this site, by name: those of the core, and classes of the site's own by dotted path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext, gettext_noop

from conversations.core.errors import PolicyFailed
from conversations.core.window.policies import BUILT_IN, WindowPolicy

LABELS = {
    "sliding": gettext_noop("Sliding: the newest messages that fit"),
    "sliding-with-summary": gettext_noop("Sliding, with a summary of what is out of view"),
    "last-n-messages": gettext_noop("The last n messages"),
    "full": gettext_noop("Everything, or nothing is sent"),
}


def policy_choices() -> Mapping[str, str]:
    """Return what may be chosen on a page, name → label: a path runs code, so only those of the settings."""
    own = gettext("Custom: %(name)s")
    return {
        **{name: gettext(label) for name, label in LABELS.items()},
        **{path: own % {"name": path.rpartition(".")[2]} for path in settings.WINDOW_POLICIES},
    }


def policy_class(name: str) -> type[WindowPolicy]:
    """Return the class of a built-in name or of a dotted path. Raises `PolicyFailed` if there is no such policy."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    try:
        found = import_string(name)
    except Exception as error:  # a module may raise anything when it is imported
        raise PolicyFailed(detail=f"the window policy {name!r} can't be loaded: {error!r}") from error
    if not (isinstance(found, type) and issubclass(found, WindowPolicy)):
        raise PolicyFailed(detail=f"{name!r} is not a subclass of WindowPolicy")
    return found


def make_policy(name: str, values: Mapping[str, Any]) -> WindowPolicy:
    """Return the policy with these values. Raises `ValueError` for one that makes no sense, `PolicyFailed`."""
    made = policy_class(name)
    try:
        return made(**values)
    except ValueError:
        raise
    except Exception as error:
        raise PolicyFailed(detail=f"the window policy {name!r} can't be made: {error!r}") from error
