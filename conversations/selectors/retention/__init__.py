"""Retention: which conversations are due to be deleted, and which are held. Begin with `deadlines`."""
