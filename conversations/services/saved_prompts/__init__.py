"""Saved prompts: texts that a user keeps under names, to put them into the composer."""
