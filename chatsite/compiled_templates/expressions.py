"""Variables of templates: looked up without what Django tries first in vain, and written without needless calls.

Django asks each object for an item before it asks for an attribute, and learns from an exception that there is none:
that is most of what a look-up costs. What is of no kind that is known here, can be called or is missing is left to
Django.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from copy import copy
from functools import lru_cache
from html import escape
from typing import Any, cast

from django.conf import settings
from django.template.base import (
    FilterExpression,
    Node,
    NodeList,
    Variable,
    VariableDoesNotExist,
    VariableNode,
    render_value_in_context,
)
from django.template.context import Context
from django.template.smartif import TokenBase
from django.utils.functional import SimpleLazyObject, empty
from django.utils.safestring import SafeString

KINDS_KEPT = 512
VALUE = "value"  # the name under which Django finds what was looked up already


class QuickVariable(Variable):
    """A variable with names to look up, which is no literal."""

    __slots__ = ()
    lookups: tuple[str, ...]

    def resolve(self, context: Any) -> Any:
        names = self.lookups
        first = names[0]
        for variables in reversed(context.dicts):
            if first in variables:
                value = variables[first]
                break
        else:
            return super().resolve(context)
        for position, name in enumerate(names[1:], 1):
            if type(value) is SimpleLazyObject:
                value = _wrapped(value)
            if callable(value) or not _has_attributes_alone(type(value)):  # type: ignore[arg-type]  # a class can be hashed
                return self._resolve_rest(value, position, context)
            try:
                value = getattr(value, name)
            except Exception:  # of some kinds Django writes nothing
                return self._resolve_rest(value, position, context)
        return self._resolve_rest(value, len(names), context) if callable(value) or self.translate else value

    def _resolve_rest(self, value: object, position: int, context: Any) -> Any:
        """Let Django look up what is left of the names, in the *value* of those before the *position*."""
        rest = copy(self)
        rest.lookups = (VALUE, *self.lookups[position:])
        return Variable.resolve(rest, _FoundValue({VALUE: value}, context))  # type: ignore[arg-type]  # it has all that Django reads of a context


class QuickExpression(FilterExpression):
    """An expression: a variable, if it has no filter."""

    __slots__ = ()

    def resolve(self, context: Context, ignore_failures: bool = False) -> Any:
        if self.filters or not self.is_var:
            return super().resolve(context, ignore_failures)
        try:
            return self.var.resolve(context)
        except VariableDoesNotExist:
            return None if ignore_failures else super().resolve(context)


class QuickVariableNode(VariableNode):
    """Writes the value of an expression."""

    def render(self, context: Context) -> str:
        try:
            value = self.filter_expression.resolve(context)
        except UnicodeDecodeError:
            return ""
        return write_value(value, context)


def write_value(value: object, context: Context) -> str:
    """Return *value* as Django writes it on a page. Text, UUIDs and numbers without separators skip its general way."""
    kind = type(value)
    if kind is SafeString:
        return cast(str, value)
    if kind is str:
        return escape(cast(str, value)) if context.autoescape else cast(str, value)
    if kind is uuid.UUID or (kind is int and not settings.USE_THOUSAND_SEPARATOR):
        return str(value)
    return render_value_in_context(value, context)


def quick_variable(node: Node) -> Node:
    """Return what writes the variable *node*, or *node* if it is none. Its expressions are made quick."""
    for expression in _expressions_in([*vars(node).values()]):
        if type(expression) is FilterExpression:
            expression.__class__ = QuickExpression
            if type(expression.var) is Variable and expression.var.lookups is not None:
                expression.var.__class__ = QuickVariable
    if type(node) is VariableNode:
        quick = QuickVariableNode(node.filter_expression)
        quick.token, quick.origin = node.token, node.origin
        return quick
    return node


def _expressions_in(value: object) -> Iterator[FilterExpression]:
    """Return the expressions of a node: its attributes, and in lists, dictionaries and conditions among them."""
    if isinstance(value, FilterExpression):
        yield value
    elif isinstance(value, dict):
        yield from _expressions_in([*value.values()])
    elif isinstance(value, (list, tuple)) and not isinstance(value, NodeList):
        for each in value:
            yield from _expressions_in(each)
    elif isinstance(value, TokenBase):
        yield from _expressions_in([value.first, value.second, value.value])


class _FoundValue(dict[str, object]):
    """A value for Django to look up names in, in the place of a *context*."""

    def __init__(self, values: dict[str, object], context: Context) -> None:
        super().__init__(values)
        self.template = context.template
        self.template_name = getattr(context, "template_name", "unknown")


def _wrapped(lazy: Any) -> Any:
    if lazy._wrapped is empty:
        lazy._setup()
    return lazy._wrapped


@lru_cache(maxsize=KINDS_KEPT)
def _has_attributes_alone(kind: type) -> bool:
    """Whether Django finds no item by a name in what is of this *kind*: items of tuples have numbers."""
    find_item = getattr(kind, "__getitem__", None)
    return find_item is None or find_item is tuple.__getitem__
