"""Sentences and labels for readers, in their language: errors, amounts, tool calls, windows."""
