"""Views of documents of conversations and scenarios. Begin with `documents`."""
