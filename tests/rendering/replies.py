"""Replies as language models write them: the ordinary case."""

EXPLANATION = """\
## Sorting in Python

Use `sorted()` for a **new** list and `.sort()` for *in place*:

```python
def by_age(people):
    \"\"\"Oldest first.\"\"\"
    # a blank line inside the fence must not end it

    return sorted(people, key=lambda person: -person.age)
```

[ref]: https://docs.python.org/3/library/functions.html#sorted "sorted"

Both are stable. See https://docs.python.org/3/howto/sorting.html, or [the reference][ref].
"""

STEPS = """\
Here is what to do:
1. Stop the server:

   ```bash
   systemctl stop app

   systemctl status app
   ```

2. Change the settings
   - `DEBUG` to `False`
   - `HOSTS` to your host

     (one per line)
3. Start it again.

Then check:

- [x] it answers
- [ ] it logs

> **Note**
> Backups first.

---
Done.
"""

TABLE = """\
| Model | Window | Price |
|:------|:------:|------:|
| small | 8,192  | $0.10 |
| large | 128,000 | $2.50 |

The large one costs $2.40 more, i.e. 25×.
Tabs:\tone, two

    indented code

    goes on
after it.
"""

PROOF = """\
For \\(n \\ge 1\\) the sum is
\\[
\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}
\\]
because $k + (n + 1 - k) = n + 1$:

$$
\\begin{aligned}
2S &= \\sum_{k=1}^{n} (n+1) \\\\
   &= n(n+1)
\\end{aligned}
$$

So $$S = 55$$ for $n = 10$. QED
"""

FOREIGN = """\
### Übersicht 概要

這是一個**重要**的例子：請看https://example.com/路徑。謝謝！

* مرحبا
* שלום
* 👩‍👩‍👧 emoji

~~~
plain ``` fence

~~~
~~gone~~ Last line without end"""

REPLIES = [EXPLANATION, STEPS, TABLE, PROOF, FOREIGN, EXPLANATION.replace("\n", "\r\n"), STEPS + TABLE + PROOF]
