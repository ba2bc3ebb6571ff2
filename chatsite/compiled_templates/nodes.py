"""What nodes of compiled templates are made of: the lists of nodes below them, and expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from django.template.base import FilterExpression, Node, NodeList, TextNode, Variable, VariableDoesNotExist
from django.template.context import Context
from django.template.defaulttags import IfNode
from django.template.loader_tags import BlockNode
from django.utils.safestring import SafeString


class QuickNodeList(NodeList):
    """Nodes that stay as they are: what each of them writes is joined without asking of what kind it is."""

    parts: list[str | Callable[[Context], str | list[str]]]
    blocks: list[Node] | None = None

    def render(self, context: Context) -> SafeString:
        texts = self.collect(context)
        if len(texts) == 1 and type(texts[0]) is SafeString:
            return texts[0]
        return SafeString("".join(texts))

    def collect(self, context: Context) -> list[str]:
        """Return what the nodes write, unjoined: joined at each level, a long page would be copied again and again."""
        texts: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                texts.append(part)
            elif type(written := part(context)) is list:
                texts += written
            else:
                texts.append(cast(str, written))
        return texts

    def get_nodes_by_type(self, nodetype: type[Any]) -> list[Any]:
        """Return the nodes of that type, and those below; blocks, which Django looks for on each page, only once."""
        if nodetype is not BlockNode:
            return super().get_nodes_by_type(nodetype)
        blocks = self.blocks
        if blocks is None:
            blocks = self.blocks = super().get_nodes_by_type(nodetype)
        return blocks


class QuickIfNode(IfNode):
    """Conditions whose nodes are lists of the above."""

    def collect(self, context: Context) -> list[str]:
        for condition, nodes in self.conditions_nodelists:
            try:
                holds = condition is None or condition.eval(context)  # type: ignore[arg-type]  # as Django does
            except VariableDoesNotExist:
                holds = False
            if holds:
                return cast(QuickNodeList, nodes).collect(context)
        return []


def quicken(nodes: NodeList) -> None:
    """Make a quick list of *nodes*, and of each list below: conditions and blocks refer to these very lists."""
    for node in nodes:
        for below in lists_below(node):
            quicken(below)
        if type(node) is IfNode and all(type(below) is QuickNodeList for below in lists_below(node)):
            node.__class__ = QuickIfNode
    if type(nodes) is NodeList:
        nodes.__class__ = QuickNodeList
        cast(QuickNodeList, nodes).parts = [_part_of(node) for node in nodes]


def _part_of(node: Node) -> Any:
    """Return the text of *node*, or what collects or renders it."""
    return node.s if type(node) is TextNode else getattr(node, "collect", node.render)


def lists_below(node: Node) -> Iterator[NodeList]:
    """Return the lists that *node* renders: what is changed in them is rendered changed."""
    if isinstance(node, IfNode):  # its `nodelist` is a copy of these
        yield from (nodes for _, nodes in node.conditions_nodelists)
        return
    for name in node.child_nodelists:
        nodes = getattr(node, name, None)
        if isinstance(nodes, NodeList):
            yield nodes


def replace_nodes(nodes: NodeList, replacement: Callable[[Node], Node]) -> None:
    """Put what *replacement* returns in the places of *nodes* and of those below, in these very lists."""
    for node in nodes:
        for below in lists_below(node):
            replace_nodes(below, replacement)
    nodes[:] = map(replacement, nodes)


def is_constant(expression: FilterExpression | None) -> bool:
    """Whether *expression* is a string in quotes, and no filter does anything with it."""
    if expression is None:
        return True
    text = expression.var
    if isinstance(text, Variable):  # so is the string of `{% translate %}`
        text = text.literal if text.lookups is None else None
    return isinstance(text, str) and not expression.filters
