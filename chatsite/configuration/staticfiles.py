"""Storage of static files with a hash in their name, so that browsers may cache them for ever."""

from servestatic.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # servestatic has no types
    """Also rewrites the imports between our ES modules, all of them under `static/js`.

    Other packages' files are left alone: some import by bare names, which only their own build tools can resolve.
    """

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )
