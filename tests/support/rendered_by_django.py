"""Pages that our loader of templates compiled, rendered by Django's own as well: both must be the same."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from functools import cache

from django.conf import settings
from django.template import engines
from django.template.backends.django import DjangoTemplates, Template

# Each rendering gets another form of the same token.
TOKEN = re.compile(r'(name="csrfmiddlewaretoken" value="|data-csrf-token="|"X-CSRFToken": ")[A-Za-z0-9]+')


@contextmanager
def rendered_by_django(*, differing: list[str]) -> Iterator[None]:
    """Render each page by both loaders, and add to *differing* the lines of those that are not the same."""
    django_alone, render = _engine_of_django(), Template.render

    def render_by_both(self, context=None, request=None):
        text = render(self, context, request)
        if self.backend is engines["django"]:  # those of forms have a loader of their own
            as_django = django_alone.get_template(self.template.name)
            ours = text
            for _ in range(2):  # a page may tell how long ago something was
                texts = [TOKEN.sub(r"\1", each) for each in (ours, render(as_django, context, request))]
                if texts[0] == texts[1]:
                    break
                ours = render(self, context, request)
            else:
                lines = (each.splitlines() for each in texts)
                differing.extend(unified_diff(*lines, self.template.name, "of Django", n=0, lineterm=""))
        return text

    Template.render = render_by_both
    try:
        yield
    finally:
        Template.render = render


@cache  # it keeps the templates that it has parsed
def _engine_of_django() -> DjangoTemplates:
    """Return one that reads the same files, and compiles and keeps them as Django does."""
    [chosen] = copy.deepcopy(settings.TEMPLATES)
    [(_, files)] = chosen["OPTIONS"]["loaders"]
    chosen["OPTIONS"]["loaders"] = [("django.template.loaders.cached.Loader", files)]
    del chosen["BACKEND"]
    return DjangoTemplates({**chosen, "NAME": "of Django", "APP_DIRS": False})
