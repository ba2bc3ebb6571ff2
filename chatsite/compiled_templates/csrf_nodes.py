"""`{% csrf_token %}`, written without Django's general way to format HTML."""

from __future__ import annotations

from html import escape

from django.template.base import Node
from django.template.context import Context
from django.template.defaulttags import CsrfTokenNode


class QuickCsrfTokenNode(CsrfTokenNode):
    """The hidden field with the token that a form brings back."""

    def render(self, context: Context) -> str:
        token = context.get("csrf_token")
        if not token or token == "NOTPROVIDED":  # noqa: S105  # what Django gives where there is none
            return str(super().render(context))
        return f'<input type="hidden" name="csrfmiddlewaretoken" value="{escape(str(token))}">'


def quick_csrf_token(node: Node) -> Node:
    """Return what writes the field quickly if *node* writes it, or else *node*."""
    if type(node) is not CsrfTokenNode:
        return node
    quick = QuickCsrfTokenNode()
    quick.token, quick.origin = node.token, node.origin
    return quick
