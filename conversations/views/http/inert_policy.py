"""Content-Security-Policy of answers that are no pages: files, pictures, what a model wrote.

Even if a browser shows one as a page, nothing in it runs or loads, and no other page shows it in a frame.
"""

from __future__ import annotations

INERT = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"
