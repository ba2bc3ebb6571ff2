"""The site of these documents: `make docs` builds it with Sphinx. No page of it asks another host for anything."""

from __future__ import annotations

import tomllib
from pathlib import Path

from sphinx.application import Sphinx

PROJECT = Path(__file__).parent.parent
DAY = {
    "color-brand-primary": "#b23a0a",
    "color-brand-content": "#b23a0a",
    "color-brand-visited": "#8f2d05",
    "color-foreground-primary": "#13212b",
    "color-foreground-secondary": "#3f505d",
    "color-foreground-muted": "#546572",
    "color-background-primary": "#f9fbfc",
    "color-background-secondary": "#e4ebee",
    "color-background-hover": "#d9e2e6",
    "color-background-border": "#d7e0e5",
    "color-sidebar-item-background--hover": "#d9e2e6",
    "color-sidebar-link-text": "#3f505d",
    "color-sidebar-link-text--top-level": "#3f505d",
    "color-highlighted-background": "#fcece3",
    "font-stack": "system-ui, sans-serif",
}
NIGHT = {
    "color-brand-primary": "#ff9d5c",
    "color-brand-content": "#ff9d5c",
    "color-brand-visited": "#ffb582",
    "color-foreground-primary": "#e7eef2",
    "color-foreground-secondary": "#b3c1cb",
    "color-foreground-muted": "#93a4b0",
    "color-background-primary": "#111b22",
    "color-background-secondary": "#080e12",
    "color-background-hover": "#1c2933",
    "color-background-border": "#24323c",
    "color-sidebar-item-background--hover": "#1c2933",
    "color-sidebar-link-text": "#b3c1cb",
    "color-sidebar-link-text--top-level": "#b3c1cb",
    "color-highlighted-background": "#2f2015",
}
FIRST_PAGE = (
    '<!doctype html><meta charset="utf-8"><title>Windowseat</title><meta http-equiv="refresh" content="0; url={}">'
)

# All of the project's Markdown is one tree, so that a link holds here as it does in the repository.
project = "Windowseat"
author = "the authors of Windowseat"
release = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md"]
extensions = ["myst_parser", "sphinx_copybutton"]
suppress_warnings = ["toc.not_included"]  # of decisions, which their own page lists
myst_heading_anchors = 4  # every heading can be linked to, as on the pages of a repository

html_theme = "furo"
html_title = f"Windowseat {release}"
html_static_path = ["site"]
html_css_files = ["site.css"]
html_favicon = "../static/icons/app-192.png"
html_copy_source = False
html_theme_options = {"light_css_variables": DAY, "dark_css_variables": NIGHT}


def write_first_page(app: Sphinx, failure: Exception | None) -> None:
    """Write `index.html` at the top, which leads to the first page."""
    if failure is None and app.builder.format == "html":
        (app.outdir / "index.html").write_text(FIRST_PAGE.format(f"{root_doc}.html"), encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_first_page)
