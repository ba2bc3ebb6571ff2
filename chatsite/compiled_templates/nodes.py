"""What nodes of compiled templates are made of: the lists of nodes below them, and expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.template.base import FilterExpression, Node, NodeList, Variable
from django.template.defaulttags import IfNode


def lists_below(node: Node) -> Iterator[NodeList]:
    """Return the lists that *node* renders: what is changed in them is rendered changed."""
    if isinstance(node, IfNode):  # its `nodelist` is a copy of these
        yield from (nodes for _, nodes in node.conditions_nodelists)
        return
    for name in node.child_nodelists:
        nodes = getattr(node, name, None)
        if isinstance(nodes, NodeList):
            yield nodes


def replace_nodes(nodes: NodeList, replaced: Callable[[Node], Node]) -> None:
    """Put what *replaced* returns in the places of *nodes* and of those below, in these very lists."""
    for node in nodes:
        for below in lists_below(node):
            replace_nodes(below, replaced)
    nodes[:] = map(replaced, nodes)


def is_constant(expression: FilterExpression | None) -> bool:
    """Whether *expression* is a string in quotes, and no filter does anything with it."""
    if expression is None:
        return True
    text = expression.var
    if isinstance(text, Variable):  # so is the string of `{% translate %}`
        text = text.literal if text.lookups is None else None
    return isinstance(text, str) and not expression.filters
