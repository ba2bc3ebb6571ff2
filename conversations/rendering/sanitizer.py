"""The allow-list that every piece of rendered HTML passes last.

It trusts nothing before it: were the Markdown parser to let foreign markup through, no element,
attribute, class or address that is not named here would survive.
"""

import nh3

from conversations.rendering.code_blocks import TOKEN_CLASSES
from conversations.rendering.formulas import MATH_ATTRIBUTES, MATH_ELEMENTS
from conversations.rendering.links import LINK_ATTRIBUTES, LINK_SCHEMES

_TEXT_ELEMENTS = (
    "a blockquote br button code div em h3 h4 h5 h6 hr input li ol p pre s span strong table tbody td th thead tr ul"
)
_ALIGNMENTS = {"align-left", "align-center", "align-right"}

_ATTRIBUTES = {
    "*": set(),  # or the library allows some everywhere
    "a": {"href", "title", *LINK_ATTRIBUTES},
    "ol": {"start"},
    "input": {"checked", "disabled", "type"},
    "button": {"data-citation", "data-copy", "type"},
    **{element: set(MATH_ATTRIBUTES) for element in MATH_ELEMENTS},
}

_CLASSES = {
    "a": {"image-link"},
    "button": {"citation", "code-block-copy"},
    "code": {"math-error"},
    "div": {"code-block", "code-block-bar", "math-display", "table-scroll"},
    "input": {"task-list-item-checkbox"},
    "li": {"task-list-item"},
    "ol": {"contains-task-list"},
    "span": {"code-block-language", "link-host", *TOKEN_CLASSES.values()},
    "td": _ALIGNMENTS,
    "th": _ALIGNMENTS,
    "ul": {"contains-task-list"},
}

# Set by the sanitiser itself, so that no rule before it can forget or change them.
_FORCED = {
    "a": LINK_ATTRIBUTES,
    "button": {"type": "button"},
    "input": {"type": "checkbox", "disabled": ""},
}

_CLEANER = nh3.Cleaner(
    tags=MATH_ELEMENTS.union(_TEXT_ELEMENTS.split()),
    attributes=_ATTRIBUTES,
    allowed_classes=_CLASSES,
    set_tag_attribute_values=_FORCED,
    link_rel="noopener noreferrer nofollow ugc",
    url_schemes=set(LINK_SCHEMES),
    url_relative="deny",
    generic_attribute_prefixes=set(),
    strip_comments=True,
)


def sanitize(html: str) -> str:
    """Remove everything that is not on the allow-list.

    The time grows with the square of the nesting depth, so the caller bounds the depth first.
    """
    return _CLEANER.clean(html)
