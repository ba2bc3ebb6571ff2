"""A page names every module that it will need at once."""

from __future__ import annotations

from pathlib import Path

from conversations.templatetags.modules import imported, module_script
from tests.support.source import PROJECT

PAGE = "js/shell/shell.js"


def test_every_module_of_the_conversation_page_is_preloaded_once_and_before_its_script():
    html = module_script(PAGE)
    assert len(imported(PAGE)) > 30
    assert [html.count(f'"modulepreload" href="/static/{path}"') for path in imported(PAGE)] == [1] * len(
        imported(PAGE)
    )
    assert html.index("modulepreload") < html.index(f'<script type="module" src="/static/{PAGE}">')


def test_a_module_is_preloaded_if_and_only_if_the_page_needs_it():
    there = {str(path.relative_to(PROJECT / "static")) for path in (PROJECT / "static/js").rglob("*.js")}
    assert set(imported(PAGE)) <= there
    assert "js/server/socket.js" in imported(PAGE)  # imported by one that is imported
    assert not [path for path in imported(PAGE) if Path(path).parts[1] in ("account", "admin", "scenarios")]
