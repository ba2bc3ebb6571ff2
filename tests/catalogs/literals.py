"""Words that stand in a template outside of everything that translates them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

READ_ALOUD = {"title", "alt", "placeholder", "aria-label", "aria-description", "aria-roledescription", "label"}
WORD = re.compile(r"[^\W\d_]{2,}")
TRANSLATED = re.compile(r"{%\s*blocktrans.*?{%\s*endblocktrans(?:late)?\s*%}", re.DOTALL)
COMMENT = re.compile(r"{#.*?#}|{%\s*comment.*?{%\s*endcomment\s*%}", re.DOTALL)
NOT_READ = re.compile(r"{%\s*block \w*(?:class|attributes)\w* %}.*?{% endblock %}", re.DOTALL)
CODE = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
ATTRIBUTE = re.compile(r"""[\w-]+=("[^"]*"|'[^']*')""")  # of a tag that another template opens
JSON_KEY = re.compile(r'"\w+":')
SILENT = {"script", "style", "code", "pre"}


def literals_in(template: str) -> Iterator[str]:
    """Yield each text of *template* that has words in it, between tags or in an attribute that is read aloud."""
    for pattern in (COMMENT, NOT_READ, TRANSLATED, CODE):
        template = pattern.sub(" ", template)
    reader = _Reader()
    reader.feed(template)
    reader.close()
    yield from (" ".join(text.split()) for text in reader.found if WORD.search(text))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in SILENT and ("type", "application/json") not in attrs
        self.found += [value for name, value in attrs if value and self._is_read(name)]

    def handle_endtag(self, tag: str) -> None:
        self._silent = max(0, self._silent - (tag in SILENT))

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.found.append(JSON_KEY.sub("", ATTRIBUTE.sub("", data)))

    @staticmethod
    def _is_read(name: str) -> bool:
        return name in READ_ALOUD or name == "data-announcement"
