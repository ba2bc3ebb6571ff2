"""`{% blocktranslate %}` with variables: its form in a language is looked up once, and filled for each page."""

from __future__ import annotations

from django.template.base import Node
from django.template.base import render_value_in_context as shown
from django.template.context import Context
from django.templatetags.i18n import BlockTranslateNode
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, pgettext

from .nodes import is_constant

MOST_KEPT = 32  # forms of a node: a site has a few languages


class SentenceNode(BlockTranslateNode):
    """A sentence of one form, with variables in it."""

    def __init__(self, node: BlockTranslateNode) -> None:
        vars(self).update(vars(node))
        self.message, self.names = self.render_token_list(self.singular)
        self.forms: dict[str | None, str] = {}

    def render(self, context: Context, nested: bool = False) -> str:
        given = {name: value.resolve(context) for name, value in self.extra_context.items()}
        values = {}
        for name in self.names:
            if name not in given and name not in context:
                return super().render(context, nested)
            values[name] = shown(given[name] if name in given else context[name], context)
        try:
            text = self._find_form() % values
        except (KeyError, ValueError):  # of a translation that is wrong
            return super().render(context, nested)
        if self.asvar:
            context[self.asvar] = SafeString(text)
            return ""
        return text

    def _find_form(self) -> str:
        language = get_language()
        form = self.forms.get(language)
        if form is None:
            form = pgettext(self.message_context.var, self.message) if self.message_context else gettext(self.message)
            if len(self.forms) < MOST_KEPT:
                self.forms[language] = form
        return form


def composed_sentence(node: Node) -> Node:
    """Return what composes the sentence *node*, or *node* if it is none."""
    if type(node) is BlockTranslateNode and not node.counter and is_constant(node.message_context):
        sentence = SentenceNode(node)
        return sentence if sentence.names else node
    return node
