"""The demo model's longer texts: enough of them to see rendering at work and to try the Stop button."""

from __future__ import annotations

from .demo_prompt import DemoPrompt

LARGEST_COUNT = 5_000
NUMBERS_PER_LINE = 10
RECITAL_ROUNDS = 40

MARKDOWN_TOUR = r"""# A tour of Markdown

This text is always the same. It shows what a reply can look like: **bold**, *italic*, ~~struck~~, `inline code`,
a [link](https://commonmark.org/), and a line of its own:

---

## Lists

1. First
2. Second
   - with a point below
   - and another one

## A quotation

> I can only quote what I was given.

## A table

| Part of the window | Goes first or last | Why |
| --- | --- | --- |
| System prompt | first | never changes |
| Older messages | middle | change slowly |
| Grounding | last | changes with every question |

## Code

```python
def newest_that_fit(tokens, budget):
    kept = []
    for count in reversed(tokens):
        if sum(kept) + count > budget:
            break
        kept.insert(0, count)
    return kept
```

## Mathematics

Inline, $e^{i\pi} + 1 = 0$, and displayed:

$$
\sum_{k=1}^{n} k = \frac{n(n+1)}{2}
$$

That is the whole tour.
"""


def count_up_to(number: int) -> str:
    """Return the numbers from 1 in lines of ten, up to `LARGEST_COUNT`."""
    last = min(number, LARGEST_COUNT)
    starts = range(1, last + 1, NUMBERS_PER_LINE)
    lines = [", ".join(map(str, range(start, min(start + NUMBERS_PER_LINE, last + 1)))) for start in starts]
    counted = ",\n".join(lines) or "There is nothing to count."
    return counted if number == last else f"{counted}\n\nThat is as far as the demo model counts."


def recite(prompt: DemoPrompt) -> str:
    """Return a long text made of nothing but what people said in *prompt*, read aloud again and again."""
    spoken = [message for message in prompt.messages if message.role in ("user", "assistant")]
    quotes = [f"{number}. *{message.role}*: {_first_line(message.content)}" for number, message in enumerate(spoken, 1)]
    rounds = (f"## Reading number {number}\n\n" + "\n".join(quotes) for number in range(1, RECITAL_ROUNDS + 1))
    opening = (
        "I am the demo model and can't make anything up, so I read back what I was given. "
        "Press Stop when you have seen enough."
    )
    return "\n\n".join([opening, *rounds])


def _first_line(content: str) -> str:
    line = content.strip().partition("\n")[0]
    return line if len(line) <= 200 else f"{line[:200]}…"
