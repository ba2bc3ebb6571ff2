"""Find: what a user searches for among their own conversations. Begin with `find_messages`."""
