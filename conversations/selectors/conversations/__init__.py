"""Queries of conversations: lists, threads, versions, windows, sources and costs. Begin with `thread`."""
