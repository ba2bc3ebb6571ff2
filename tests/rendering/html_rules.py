"""What rendered HTML may contain, written down a second time and apart from the sanitiser."""

from html.parser import HTMLParser
from urllib.parse import urlsplit

_ELEMENT_NAMES = """
a blockquote br button code div em h3 h4 h5 h6 hr input li ol p pre s span strong table tbody td th thead tr ul
math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup
mtable mtd mtext mtr munder munderover
"""
_MATH_ATTRIBUTE_NAMES = """
accent columnalign columnlines columnspacing depth display displaystyle fence form height linethickness lspace
mathcolor mathvariant maxsize minsize movablelimits notation rowlines rspace scriptlevel stretchy voffset width
"""
_CLASS_NAMES = """
align-left align-center align-right citation code-block code-block-bar code-block-copy code-block-language
contains-task-list image-link link-host math-display math-error table-scroll task-list-item task-list-item-checkbox
c cp gd gh gi go gp gu k kc kt m na nb nc nd ne nf nn no nt nv o ow s sd se si sr
"""
ELEMENTS = set(_ELEMENT_NAMES.split())
MATH_ATTRIBUTES = set(_MATH_ATTRIBUTE_NAMES.split())
CLASSES = set(_CLASS_NAMES.split())
ATTRIBUTES = {
    "a": {"class", "href", "referrerpolicy", "rel", "target", "title"},
    "button": {"class", "data-citation", "data-copy", "type"},
    "input": {"checked", "class", "disabled", "type"},
    "ol": {"class", "start"},
}
VOID_ELEMENTS = {"br", "hr", "input"}
LINK_ATTRIBUTES = {"rel": "noopener noreferrer nofollow ugc", "target": "_blank", "referrerpolicy": "no-referrer"}


class RuleChecker(HTMLParser):
    """Collects every breach of the rules in *problems*."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.problems: list[str] = []
        self.open: list[str] = []
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.problems.append(f"element {tag}")
        if tag not in VOID_ELEMENTS:
            self.open.append(tag)
        for name, value in attrs:
            if name not in self._allowed_attributes(tag):
                self.problems.append(f"attribute {tag} {name}")
            if name == "class" and not CLASSES.issuperset((value or "").split()):
                self.problems.append(f"class {value}")
        if tag == "a" and dict(attrs).get("href") is not None:
            self._check_link({name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"unbalanced {tag}")

    def handle_comment(self, data: str) -> None:
        self.problems.append("comment")

    handle_decl = handle_pi = unknown_decl = handle_comment

    def _allowed_attributes(self, tag: str) -> set[str]:
        return ATTRIBUTES.get(tag, {"class"} | (MATH_ATTRIBUTES if tag.startswith("m") else set()))

    def _check_link(self, attrs: dict[str, str]) -> None:
        href = attrs.get("href", "")
        self.hrefs.append(href)
        if urlsplit(href).scheme not in {"http", "https", "mailto"}:
            self.problems.append(f"address {href}")
        if any(attrs.get(name) != value for name, value in LINK_ATTRIBUTES.items()):
            self.problems.append(f"link without protection {attrs}")


def problems_of(html: str) -> list[str]:
    """Return every breach of the rules in a piece of HTML, with what was left open."""
    checker = RuleChecker()
    checker.feed(html)
    checker.close()
    return checker.problems + [f"left open {tag}" for tag in checker.open]
