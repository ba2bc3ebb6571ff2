"""Imports of other chat programs' exports: files come in by `import_files`, a worker claims one and runs it."""
