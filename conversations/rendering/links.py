"""Links and images: nothing is fetched by showing a message, and a link says where it leads.

An image becomes a link with its description and host. An address is shown as a link only if it is
absolute and its scheme is listed; anything else stays the text that was written. Every link carries
its full address as title, and its host in plain sight if its text names another one.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

LINK_SCHEMES = frozenset({"http", "https", "mailto"})
LINK_ATTRIBUTES = {"target": "_blank", "referrerpolicy": "no-referrer"}
MAX_ADDRESS_CHARACTERS = 2_000

# Needs no space before it where a script writes none; ends at white space, at angle brackets and at
# punctuation that only full-width scripts use.
_BARE_ADDRESS = re.compile(r"(?<![A-Za-z0-9_/@.])(?i:https?://|www\.)[^\s<>`\u3000-\u303f\uff00-\uffef]+")
_HOST = re.compile(r"[a-z0-9][a-z0-9._-]*|[0-9a-f:.]*:[0-9a-f:.]*")
# Only at the beginning of an address or a word: the file at the end of a path is not a host.
_HOST_IN_TEXT = re.compile(r"(?:(?<=//)|(?<![\w/.-]))(?:[\w-]{1,63}\.){1,10}[^\W\d_]{2,63}")
_TRAILING_PUNCTUATION = "?!.,:;*_~'\"[]"


def add_link_rules(parser: MarkdownIt) -> None:
    """Let the parser refuse foreign schemes, link bare addresses, and turn images into links."""
    parser.validateLink = is_allowed_address  # type: ignore[method-assign]
    parser.core.ruler.push("links", _rewrite_links)


def is_allowed_address(url: str) -> bool:
    """Tell whether an address may become a link: absolute, of a listed scheme, without a user name."""
    try:
        parts = urlsplit(url)
        host, user, _ = parts.hostname or "", parts.username, parts.port
    except ValueError:
        return False
    if len(url) > MAX_ADDRESS_CHARACTERS or parts.scheme not in LINK_SCHEMES or user is not None:
        return False
    return bool(parts.path) if parts.scheme == "mailto" else _HOST.fullmatch(host) is not None


def host_of(address: str) -> str:
    """Return the host of an allowed address; for mail, what stands for it."""
    parts = urlsplit(address)
    return parts.hostname or parts.path


def _rewrite_links(state: StateCore) -> None:
    for token in state.tokens:
        if token.children and any(_may_link(child) for child in token.children):
            linked = _link_bare_addresses(_replace_images(token.children), state.md)
            token.children = list(_explain_links(linked))


def _may_link(token: Token) -> bool:
    """Tell whether a token is a link or a picture, or a text with "://" or "www.", as each bare address has."""
    if token.type == "text":
        text = token.content.lower()
        return "://" in text or "www." in text
    return token.type in ("link_open", "image")


def _replace_images(tokens: list[Token]) -> Iterator[Token]:
    depth = 0
    for token in tokens:
        depth += _link_nesting(token)
        if token.type != "image":
            yield token
        elif depth:
            yield _text(_image_description(token))
        else:
            yield from _image_link(token)


def _image_link(image: Token) -> Iterator[Token]:
    address = str(image.attrs["src"])
    yield Token("link_open", "a", 1, attrs={"href": address, "class": "image-link"})
    yield _text(_image_description(image))
    yield from _host_label(address)
    yield Token("link_close", "a", -1)


def _image_description(image: Token) -> str:
    return "".join(child.content for child in image.children or ()).strip() or "image"


def _link_bare_addresses(tokens: Iterator[Token], parser: MarkdownIt) -> Iterator[Token]:
    depth = 0
    for token in tokens:
        depth += _link_nesting(token)
        if depth or token.type != "text":
            yield token
        else:
            yield from _linked_text(token.content, parser)


def _linked_text(text: str, parser: MarkdownIt) -> Iterator[Token]:
    shown = 0
    for match in _BARE_ADDRESS.finditer(text):
        written = _without_trailing_punctuation(match[0])
        scheme = "https://" if written[:4].lower() == "www." else ""
        address = parser.normalizeLink(scheme + written) if len(written) <= MAX_ADDRESS_CHARACTERS else ""
        if is_allowed_address(address):
            yield _text(text[shown : match.start()])
            yield Token("link_open", "a", 1, attrs={"href": address})
            yield _text(written)
            yield Token("link_close", "a", -1)
            shown = match.start() + len(written)
    yield _text(text[shown:])


def _without_trailing_punctuation(address: str) -> str:
    """Drop what ends the sentence and not the address: punctuation and unopened brackets."""
    unopened = address.count(")") - address.count("(")
    end = len(address)
    while end and (address[end - 1] in _TRAILING_PUNCTUATION or (address[end - 1] == ")" and unopened > 0)):
        unopened -= address[end - 1] == ")"
        end -= 1
    return address[:end]


def _explain_links(tokens: Iterator[Token]) -> Iterator[Token]:
    """Give each link its address as title, and its host where the text names another host."""
    address, text = "", ""
    for token in tokens:
        if token.type == "link_open":
            address, text = str(token.attrs["href"]), ""
            token.attrs |= {"title": address, **LINK_ATTRIBUTES}
        elif token.type == "link_close" and _names_another_host(text, host_of(address)):
            yield from _host_label(address)
        text += token.content
        yield token


def _names_another_host(text: str, host: str) -> bool:
    named = (match[0].lower().removeprefix("www.") for match in _HOST_IN_TEXT.finditer(text))
    return any(not f".{host}".endswith(f".{name}") for name in named)


def _host_label(address: str) -> Iterator[Token]:
    yield Token("host_open", "span", 1, attrs={"class": "link-host"})
    yield _text(f" ({host_of(address)})")
    yield Token("host_close", "span", -1)


def _link_nesting(token: Token) -> int:
    return token.nesting if token.type in ("link_open", "link_close") else 0


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
