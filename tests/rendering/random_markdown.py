"""Random Markdown: lines that begin, continue and end blocks in any order, and characters that mean something."""

from hypothesis import strategies as st

LINES = [
    *("", "", "", "  ", "\t", "a", " b", "  c", "   d", "    e", "\tf", "- g", "- ", "-", "  - h", "* i", "+ j"),
    *("1. k", "2. l", "10) m", "   n", "```", "```py", "  ```", "    ```", "~~~", "~~~~", "> o", "> - p", "> ```"),
    *("- ```", "1. ```", "# q", "---", "===", "* * *", "$$", "\\[", "\\]", "$$r$$", "  $$", "| s | t |", "|---|---|"),
    *("[u]: https://v.example", "[u]", "- [ ] w", "**x", "y**", "&amp;", "<b>"),
]
MARKDOWN = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)
ANY_TEXT = st.text(max_size=80) | st.text(alphabet="\r\n `~-*>#$[]()!\\|:1.ab", max_size=120)
# Text in a block: words, and all that may begin something between or within them.
PIECES = [
    *("a", "b ", " c", ".", ": ", "\n", "  \n", "*", "**", "_", "~~", "`", "``", "[", "]", "](", ")", "!", "![", "\\"),
    *("&", "&amp;", "<", ">", "$", "$$", "$x$", "\\(", "\\)", "[1]", "{", "}", "^", "=", "#", "%", "+", "i@j.example"),
    *("https://d.example", "<https://e.example>", "www.f.example", "WWW.k.example", "HTTPS://l.example"),
    *("[g]", "](https://h.example)"),
]
PARAGRAPHS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
# What most text is made of, and what makes a line of it something else.
WORDS = st.text(alphabet="aZé你\"'(.,:!? \t|=-\n\r1#", max_size=40)
