"""Parsers, one module per file format: each turns a file into blocks under their headings."""
