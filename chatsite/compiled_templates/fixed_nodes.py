"""Neighbouring nodes of a template that write the same for all readers of a language: their text is kept."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from itertools import groupby

from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.base import Node, NodeList, TextNode, TokenType
from django.template.context import Context
from django.template.defaultfilters import escapejs_filter
from django.template.defaulttags import CommentNode, FilterNode, LoadNode, URLNode
from django.template.engine import Engine
from django.template.loader_tags import IncludeNode
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.templatetags.static import StaticNode

from .nodes import is_constant, lists_below
from .reader_key import find_reader_key

MOST_TEXTS_KEPT = 32  # texts of a node: a site has a few languages and one prefix


class FixedNode(Node):
    """Neighbours in a template whose text depends on the language, and on where the site's addresses begin."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodelist = NodeList(nodes)
        self.texts: dict[Hashable, str] = {}

    def render(self, context: Context) -> str:
        key: Hashable = find_reader_key(context)
        if not context.autoescape:
            key = ("not escaped", key)
        text = self.texts.get(key)
        if text is None:
            text = self.nodelist.render(context)
            if len(self.texts) < MOST_TEXTS_KEPT:
                self.texts[key] = text
        return text


class FixedNodes:
    """Finds and joins the fixed nodes of a template, while those named *joining* are being joined in this thread."""

    def __init__(self, engine: Engine, joining: Collection[str]) -> None:
        self.engine = engine
        self.joining = joining

    def join(self, nodes: NodeList) -> None:
        """Join the fixed neighbours in *nodes* and below, in place: blocks and conditions refer to these very lists."""
        for node in nodes:
            for below in lists_below(node):
                self.join(below)
        joined: list[Node] = []
        for is_fixed, group in groupby(nodes, self.is_fixed):
            neighbours = list(group)
            joined += [_join_fixed(neighbours)] if is_fixed else neighbours
        nodes[:] = joined

    def is_fixed(self, node: Node) -> bool:
        """Whether *node* writes the same into every page, and does nothing else: reads no variable, and sets none."""
        match node:
            case _ if type(node) not in KNOWN:  # a class made from one of them may do something else
                return False
            case TranslateNode():
                return not node.asvar and is_constant(node.filter_expression) and is_constant(node.message_context)
            case BlockTranslateNode():
                has_variables = any(token.token_type != TokenType.TEXT for token in node.singular)
                sets = node.asvar or node.extra_context or node.counter
                return not sets and not has_variables and is_constant(node.message_context)
            case URLNode():
                return not node.asvar and not node.args and not node.kwargs and is_constant(node.view_name)
            case StaticNode():
                return not node.varname and is_constant(node.path)
            case FilterNode():
                functions = [function for function, _ in node.filter_expr.filters]
                return functions == [escapejs_filter] and all(map(self.is_fixed, node.nodelist))
            case IncludeNode():
                return not node.extra_context and is_constant(node.template) and self.includes_fixed(node)
        return True

    def includes_fixed(self, node: IncludeNode) -> bool:
        name = node.template.var
        if name in self.joining:  # a template that includes itself
            return False
        try:
            template = self.engine.get_template(name)
        except (TemplateDoesNotExist, TemplateSyntaxError):
            return False  # said to those who open the page that includes it
        return all(map(self.is_fixed, template.nodelist))


KNOWN = {
    *(TextNode, CommentNode, LoadNode, FixedNode),
    *(TranslateNode, BlockTranslateNode, URLNode, StaticNode, FilterNode, IncludeNode),
}


def _join_fixed(nodes: list[Node]) -> Node:
    if all(type(node) in (TextNode, CommentNode, LoadNode) for node in nodes):
        return TextNode("".join(node.s for node in nodes if isinstance(node, TextNode)))
    return FixedNode(nodes)
