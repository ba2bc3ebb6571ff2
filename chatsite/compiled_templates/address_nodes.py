"""`{% url 'name' id %}`: an address whose arguments are ids is composed, once Django has made one of that kind.

Django matches each address against its pattern and quotes it, which ends in the same way whatever the digits of a UUID
or of a number are.
"""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Sequence

from django.template.base import Node
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse
from django.utils.html import escape
from django.utils.safestring import SafeString

from .nodes import is_constant

MOST_KEPT = 32  # shapes of a node: a site has one prefix, and most nodes have ids of one kind
NUMBER = 90817263540  # with digits that no other part of an address has


class AddressNode(URLNode):
    """An address of a constant name, whose arguments, if it has any, have no names."""

    def __init__(self, node: URLNode) -> None:
        super().__init__(node.view_name, node.args, node.kwargs, node.asvar)
        self.token, self.origin = node.token, node.origin
        self.shapes: dict[Hashable, str | None] = {}

    def render(self, context: Context) -> str:
        ids = tuple([argument.resolve(context) for argument in self.args])
        for each in ids:
            if type(each) is not uuid.UUID and (type(each) is not int or each < 0):
                return super().render(context)
        is_escaped = context.autoescape and not self.asvar
        key = (get_script_prefix(), get_urlconf(), is_escaped, *map(type, ids))
        try:
            shape = self.shapes[key]
        except KeyError:
            shape = _find_shape(self.view_name.var, ids, is_escaped=is_escaped)
            if len(self.shapes) < MOST_KEPT:
                self.shapes[key] = shape
        if shape is None:
            return super().render(context)
        address = shape % ids
        if self.asvar:
            context[self.asvar] = SafeString(address) if isinstance(shape, SafeString) else address
            return ""
        return address


def _find_shape(name: str, ids: Sequence[uuid.UUID | int], *, is_escaped: bool) -> str | None:
    """Return the address of *ids* of these kinds with `%s` in their places. None if there is none, or another form."""
    examples = [NUMBER + index if isinstance(each, int) else uuid.uuid4() for index, each in enumerate(ids)]
    try:
        rest = reverse(name, args=examples).replace("%", "%%")
    except NoReverseMatch:
        return None
    shape = ""
    for example in map(str, examples):
        before, found, rest = rest.partition(example)
        if not found or example in rest:
            return None
        shape += f"{before}%s"
    shape += rest
    escaped = escape(shape)
    return escaped if is_escaped or escaped == shape else shape


def composed_address(node: Node) -> Node:
    """Return what composes the address *node*, if it has arguments or is stored in a variable, or else *node*."""
    if type(node) is URLNode and not node.kwargs and is_constant(node.view_name) and (node.args or node.asvar):
        return AddressNode(node)
    return node
