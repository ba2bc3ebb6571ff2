"""Views of the pages that users see, by subject. Begin with `conversations.pages`."""
