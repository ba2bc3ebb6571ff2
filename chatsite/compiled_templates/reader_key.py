"""What texts that templates keep depend on: the reader's language, the script prefix and the URL configuration.

Each of them is looked up in variables of the thread or the task, which takes as long as a small node of a template: so
they are looked up once where rendering begins.
"""

from __future__ import annotations

from django.template import Template
from django.template.base import Node
from django.template.context import Context
from django.templatetags.i18n import LanguageNode
from django.urls import get_script_prefix, get_urlconf
from django.utils.safestring import SafeString
from django.utils.translation import get_language

ReaderKey = tuple[str | None, str, str | None]
NAME = "reader_key"  # of the context's attribute, while a template is being rendered


def find_reader_key(context: Context) -> ReaderKey:
    """Return language, prefix and URL configuration, as they were found when rendering began."""
    kept: ReaderKey | None = vars(context).get(NAME)
    return _find_now() if kept is None else kept


class KeyedTemplate(Template):
    """A template that looks up once for whom it is rendered."""

    def render(self, context: Context) -> SafeString:
        if context.template is not None:  # a part of another
            return super().render(context)
        vars(context)[NAME] = _find_now()
        try:
            return super().render(context)
        finally:
            vars(context).pop(NAME, None)


class KeyedLanguageNode(LanguageNode):
    """`{% language %}`, in which texts are those of the language that it names."""

    def render(self, context: Context) -> str:
        kept = vars(context).pop(NAME, None)
        try:
            return super().render(context)
        finally:
            if kept is not None:
                vars(context)[NAME] = kept


def keyed_language(node: Node) -> Node:
    """Return *node*, as one that knows of the key if it sets the language."""
    if type(node) is LanguageNode:
        node.__class__ = KeyedLanguageNode
    return node


def _find_now() -> ReaderKey:
    return get_language(), get_script_prefix(), get_urlconf()
