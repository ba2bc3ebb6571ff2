"""Grounding: passages and older messages retrieved for one question. Begin with `retrieve`."""
