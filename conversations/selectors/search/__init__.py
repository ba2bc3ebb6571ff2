"""Search: a user's own messages and titles by their words. Begin with `search_own_messages`."""
