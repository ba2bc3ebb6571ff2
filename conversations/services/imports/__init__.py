"""Imports of other chat programs' exports: their files, the storing of conversations, and what became of each."""
