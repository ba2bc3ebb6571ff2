"""The tools that every site has. Their descriptions are short: they go with every request of a conversation."""

from . import calculator, current_time, search_conversation, search_documents  # noqa: F401  # importing declares them
