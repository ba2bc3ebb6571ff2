"""Providers' exports of usage and cost, as CSV. Begin with `read_export`; a new format is added to `formats`."""
