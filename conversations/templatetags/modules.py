"""`{% module_script path %}`: an ES module, and a preload of each module that it imports.

A browser learns of an imported module only once the module that imports it is here, so a page of forty modules would be
fetched in four or five waves. Named together, all are fetched at once.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()
IMPORT = re.compile(r"""^(?:import|export)\b[^"';]*["'](\.[^"']+)["'];""", re.MULTILINE)


@register.simple_tag
def module_script(path: str) -> SafeString:
    """Return the script *path* after preloads of what it imports."""
    preloads = format_html_join("\n  ", '<link rel="modulepreload" href="{}">', ((static(m),) for m in imported(path)))
    return format_html('{}\n  <script type="module" src="{}"></script>', preloads, static(path))


@cache
def imported(path: str) -> tuple[str, ...]:
    """Return the paths of all modules that the module *path* imports, and that those import."""
    found: dict[str, None] = {}
    waiting = [path]
    while waiting:
        for module in _imports(waiting.pop()):
            if module not in found and module != path:
                found[module] = None
                waiting.append(module)
    return tuple(sorted(found))


def _imports(path: str) -> list[str]:
    file = finders.find(path)
    if not file:
        raise template.TemplateSyntaxError(f"no static file {path}")
    names = IMPORT.findall(Path(file).read_text(encoding="utf-8"))
    return [posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for name in names]
