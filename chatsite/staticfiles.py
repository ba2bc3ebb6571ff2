"""Static files with a hash in their name, so that browsers may keep them for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports between our ES modules."""

    support_js_module_import_aggregation = True
