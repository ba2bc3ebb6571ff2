"""Recall: keep the index of each conversation's messages. Begin with `index_messages`."""
