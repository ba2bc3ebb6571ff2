"""What no page may have: scripts, handlers and styles that stand in its HTML."""

from __future__ import annotations

# Blocks of JSON are no script: the policy does not forbid them, and no browser runs them.
INLINE = r"""<style|\sstyle=|\son\w+=|<script(?![^>]*\s(src=|type="application/json"))"""
