"""What axe-core finds wrong with a page for people who use a keyboard, a screen reader or large text."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from playwright.sync_api import Page

# The package is there for the file alone: its own calls put it into the page as a script, which the pages' CSP forbids.
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN = """() => axe.run(document, {
    resultTypes: ["violations"],
    rules: {"target-size": {enabled: true}},
})"""
SERIOUS = ("serious", "critical")
SCHEMES = ("light", "dark")
WIDTHS = (1280, 390)


def find_faults(page: Page, name: str) -> Iterator[str]:
    """Yield a line for each serious fault of what *page* shows, in both colour schemes and at both widths."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            if not page.evaluate("typeof axe !== 'undefined'"):
                page.evaluate(AXE)
            for violation in page.evaluate(RUN)["violations"]:
                if violation["impact"] in SERIOUS:
                    for node in violation["nodes"]:
                        yield f"{name}, {scheme}, {width}: {violation['id']} at {node['target']}: {node['html'][:160]}"
