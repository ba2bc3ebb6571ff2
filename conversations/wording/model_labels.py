"""Language models and efforts by the names that people read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from conversations.providers.catalog.language_models import language_models

EFFORT_LABELS: Final[Mapping[str, Promise]] = {
    "": pgettext_lazy("effort", "Default"),
    "none": pgettext_lazy("effort", "None"),
    "minimal": pgettext_lazy("effort", "Minimal"),
    "low": pgettext_lazy("effort", "Low"),
    "medium": pgettext_lazy("effort", "Medium"),
    "high": pgettext_lazy("effort", "High"),
    "xhigh": pgettext_lazy("effort", "Very high"),
    "max": pgettext_lazy("effort", "Greatest"),
}


def model_label(name: str) -> str:
    """Return the label of the model *name*; the name itself of one that the settings do not name any more."""
    configured = language_models().get(name)
    return configured.label if configured else name
