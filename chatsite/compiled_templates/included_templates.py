"""`{% include %}` of a named template: its nodes are rendered in place, without looking for the template again."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.base import Node, NodeList
from django.template.context import Context
from django.template.defaulttags import CsrfTokenNode, FilterNode, FirstOfNode, ForNode, IfNode, WithNode
from django.template.engine import Engine
from django.template.library import SimpleNode
from django.template.loader_tags import IncludeNode, construct_relative_path
from django.templatetags.i18n import BlockTranslateNode, GetCurrentLanguageBidiNode, GetCurrentLanguageNode
from django.utils.safestring import SafeString

from .address_nodes import AddressNode
from .csrf_nodes import QuickCsrfTokenNode
from .expressions import QuickVariableNode
from .fixed_nodes import KNOWN, FixedNode
from .nodes import QuickIfNode, QuickNodeList, is_constant, lists_below
from .sentence_nodes import SentenceNode


class IncludedNodes(IncludeNode):
    """The nodes of an included template, which keep nothing for themselves while a page is being rendered."""

    child_nodelists = ()  # as of `IncludeNode`: blocks and nodes are looked for in each template by itself

    def __init__(self, node: IncludeNode, nodes: QuickNodeList) -> None:
        super().__init__(node.template, extra_context=node.extra_context)
        self.token, self.origin = node.token, node.origin
        self.values = [*node.extra_context.items()]
        self.nodes = nodes

    def render(self, context: Context) -> SafeString:
        return SafeString("".join(self.collect(context)))

    def collect(self, context: Context) -> list[str]:
        values = {name: value.resolve(context) for name, value in self.values}
        context.dicts.append(values)  # what the nodes set is forgotten after them
        try:
            return self.nodes.collect(context)
        finally:
            context.dicts.pop()


class IncludedTemplates:
    """Puts the nodes of included templates into the places of the includes.

    *compiling* are the names of the templates that are being compiled in this thread.
    """

    def __init__(self, engine: Engine, compiling: Collection[str]) -> None:
        self.engine = engine
        self.compiling = compiling

    def place(self, node: Node) -> Node:
        """Return the nodes that *node* includes, or *node* if it includes none, or one that needs Django's way."""
        if type(node) is not IncludeNode or node.isolated_context or not is_constant(node.template):
            return node
        name = construct_relative_path(cast(str, node.origin.template_name), node.template.var)
        if name in self.compiling:  # a template that includes itself
            return node
        try:
            nodes = cast(QuickNodeList, self.engine.get_template(name).nodelist)
        except (TemplateDoesNotExist, TemplateSyntaxError):
            return node  # said to those who open the page that includes it
        return IncludedNodes(node, nodes) if are_stateless(nodes) else node


def are_stateless(nodes: NodeList) -> bool:
    """Whether none of *nodes*, and none below them, keeps a state for its template, such as a block or a cycle."""
    return all(type(node) in WITHOUT_STATE and all(map(are_stateless, lists_below(node))) for node in nodes)


WITHOUT_STATE = {
    *KNOWN,
    *(AddressNode, FixedNode, IncludedNodes, QuickCsrfTokenNode, QuickVariableNode, SentenceNode),
    *(BlockTranslateNode, CsrfTokenNode, FilterNode, FirstOfNode, ForNode, IfNode, QuickIfNode, WithNode),
    *(GetCurrentLanguageNode, GetCurrentLanguageBidiNode, SimpleNode),
}
