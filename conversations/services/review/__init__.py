"""Readings: recorded access of reviewers to conversations of others."""
