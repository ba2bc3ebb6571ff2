"""Static files: their headers, and a storage with a hash in their name, so that browsers may cache them for ever."""

from collections.abc import MutableMapping

from servestatic.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # servestatic has no types
    """Also rewrites the imports between our ES modules, all of them under `static/js`.

    Other packages' files are left alone: some import by bare names, which only their own build tools can resolve.
    """

    support_js_module_import_aggregation = True
    max_post_process_passes = 40  # each pass gets one module further along a chain of imports; ours has 13
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )


def add_static_headers(headers: MutableMapping[str, str], path: str, url: str) -> None:
    """Keep a static file out of frames: it is answered before the middleware that does so for pages."""
    headers["Content-Security-Policy"] = "base-uri 'none'; frame-ancestors 'none'"
