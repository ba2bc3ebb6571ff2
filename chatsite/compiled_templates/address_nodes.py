"""`{% url 'name' id %}`: an address whose arguments are ids is composed of a shape that is found once."""

from __future__ import annotations

from html import escape

from django.template.base import Node
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.utils.safestring import SafeString

from chatsite.addresses import shape_of

from .nodes import is_constant
from .reader_key import find_reader_key


class AddressNode(URLNode):
    """An address of a constant name, whose arguments, if it has any, have no names."""

    def __init__(self, node: URLNode) -> None:
        super().__init__(node.view_name, node.args, node.kwargs, node.asvar)
        self.token, self.origin = node.token, node.origin

    def render(self, context: Context) -> str:
        ids = tuple([argument.resolve(context) for argument in self.args])
        _, prefix, urlconf = find_reader_key(context)
        shape = shape_of(self.view_name.var, ids, prefix, urlconf)
        if shape is None:
            return super().render(context)
        address = shape % ids
        escaped = SafeString(escape(address))
        if self.asvar:
            context[self.asvar] = escaped if escaped == address else address
            return ""
        return escaped if context.autoescape else address


def composed_address(node: Node) -> Node:
    """Return what composes the address *node*, if it has arguments or is stored in a variable, or else *node*."""
    if type(node) is URLNode and not node.kwargs and is_constant(node.view_name) and (node.args or node.asvar):
        return AddressNode(node)
    return node
