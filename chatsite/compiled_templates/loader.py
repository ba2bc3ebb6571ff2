"""Loaders of templates: one does once what Django does for each page (text, sentences, addresses, includes).

What all readers of a language get is rendered once for the language (`fixed_nodes`). Addresses with ids and sentences
with values are composed of a form that is found once (`address_nodes`, `sentence_nodes`). Variables are looked up
without what Django tries in vain (`expressions`), and included templates are rendered in place (`included_templates`).
With `DEBUG`, templates stay as Django compiles them: files of translations may change while the process runs.

All read Django's nodes by their attributes: tests/chatsite/test_compiled_templates.py says what to do with another
Django.
"""

from __future__ import annotations

import re
import threading
from typing import Any

from django.template import Origin, Template
from django.template.engine import Engine
from django.template.loaders import base, cached, filesystem

from .address_nodes import composed_address
from .csrf_nodes import quick_csrf_token
from .expressions import quick_variable
from .fixed_nodes import FixedNodes
from .included_templates import IncludedTemplates
from .nodes import quicken, replace_nodes
from .reader_key import KeyedTemplate, keyed_language
from .sentence_nodes import composed_sentence


class _Compiling(base.Loader):
    """What compiles a template for `Loader`: it changes its nodes before another thread sees them."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._here = threading.local()

    def get_template(self, template_name: str, skip: Any = None) -> Template:
        template = super().get_template(template_name, skip)
        if not self.engine.debug:
            names: list[str] = self._here.__dict__.setdefault("names", [])
            names.append(template_name)
            try:
                for replacement in (
                    quick_variable,
                    quick_csrf_token,
                    composed_address,
                    composed_sentence,
                    keyed_language,
                ):
                    replace_nodes(template.nodelist, replacement)
                FixedNodes(self.engine, names).join(template.nodelist)
                replace_nodes(template.nodelist, IncludedTemplates(self.engine, names).place)
                quicken(template.nodelist)
                template.__class__ = KeyedTemplate
            finally:
                names.pop()
        return template


class Loader(cached.Loader, _Compiling):
    """Django's loader that keeps compiled templates, here with their nodes changed."""


INDENTATION = re.compile(r"\n\s+")


class UnindentedLoader(filesystem.Loader):
    """Django's loader of template files; HTML comes without empty lines and without what indents the others.

    That is 4 % of a page. With `DEBUG` they stay, so that an error names the line of the file.
    """

    def get_contents(self, origin: Origin) -> str:
        contents = super().get_contents(origin)
        is_left = self.engine.debug or not origin.name.endswith(".html")
        return contents if is_left else INDENTATION.sub("\n", contents)
