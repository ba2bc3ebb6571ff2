"""What axe-core finds wrong with a page for people who use a keyboard, a screen reader or large text."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from playwright.sync_api import Page

# The package is there for the file alone: its own calls put it into the page as a script, which the pages' CSP forbids.
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
# What is never serious is not looked for. Where the other colour scheme changes nothing but colours, only the rules
# about them are asked again: axe-core takes a third of a second for all.
RUN = """() => {
    const shown = [document.documentElement.outerHTML];
    for (const element of document.querySelectorAll("*")) {
        const {x, y, width, height} = element.getBoundingClientRect();
        const style = getComputedStyle(element);
        const names = ["display", "visibility", "opacity", "position", "overflow", "clip", "clipPath", "pointerEvents"];
        shown.push([x, y, width, height, ...names.map(name => style[name])].join());
    }
    const isAsBefore = window.shownBefore === shown.join("\\n");
    window.shownBefore = shown.join("\\n");
    const never = axe._audit.rules.filter(rule => ["minor", "moderate"].includes(rule.impact));
    const aboutColours = axe._audit.rules.filter(rule => rule.enabled && rule.tags.includes("cat.color"));
    const without = Object.fromEntries(never.map(rule => [rule.id, {enabled: false}]));
    const all = {rules: {...without, "target-size": {enabled: true}}};
    const asked = isAsBefore ? {runOnly: aboutColours.map(rule => rule.id)} : all;
    return axe.run(document, {resultTypes: ["violations"], ...asked});
}"""
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
