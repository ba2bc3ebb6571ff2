"""`{% blocktranslate %}` with variables: its form in a language is looked up once, and filled for each page."""

from __future__ import annotations

from typing import cast

from django.template.base import FilterExpression, Node
from django.template.context import Context
from django.templatetags.i18n import BlockTranslateNode
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext, npgettext, pgettext

from .expressions import write_value
from .nodes import is_constant
from .reader_key import find_reader_key

MOST_FORMS_KEPT = 64  # forms of a node: a site has a few languages, and few numbers are counted often


class SentenceNode(BlockTranslateNode):
    """A sentence with variables in it; if something is counted, in a form for each number."""

    def __init__(self, node: BlockTranslateNode) -> None:
        vars(self).update(vars(node))
        self.counts = bool(node.plural and node.countervar and node.counter)
        self.message, self.names = self.render_token_list(self.singular)
        self.messages, more = self.render_token_list(self.plural) if self.counts else ("", [])
        self.names = [*dict.fromkeys([*self.names, *more])]
        self.forms: dict[tuple[str | None, int | None], str] = {}

    def render(self, context: Context, nested: bool = False) -> str:
        given = {name: value.resolve(context) for name, value in self.extra_context.items()}
        count = None
        if self.counts:
            with context.push(**given):
                count = cast(FilterExpression, self.counter).resolve(context)
            if type(count) is not int:
                return super().render(context, nested)
            given[cast(str, self.countervar)] = count
        values = {}
        for name in self.names:
            if name not in given and name not in context:
                return super().render(context, nested)
            values[name] = write_value(given[name] if name in given else context[name], context)
        try:
            text = self._find_form(find_reader_key(context)[0], count) % values
        except (KeyError, ValueError):  # of a translation that is wrong
            return super().render(context, nested)
        if self.asvar:
            context[self.asvar] = SafeString(text)
            return ""
        return text

    def _find_form(self, language: str | None, count: int | None) -> str:
        form = self.forms.get((language, count))
        if form is None:
            form = self._translate(count)
            if len(self.forms) < MOST_FORMS_KEPT:
                self.forms[language, count] = form
        return form

    def _translate(self, count: int | None) -> str:
        named = self.message_context.var if self.message_context else None
        if count is None:
            return pgettext(named, self.message) if named else gettext(self.message)
        if named:
            return npgettext(named, self.message, self.messages, count)
        return ngettext(self.message, self.messages, count)


def composed_sentence(node: Node) -> Node:
    """Return what composes the sentence *node*, or *node* if it is none."""
    if type(node) is BlockTranslateNode and is_constant(node.message_context):
        sentence = SentenceNode(node)
        return sentence if sentence.names or sentence.counts else node
    return node
