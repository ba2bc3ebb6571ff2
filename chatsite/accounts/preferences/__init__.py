"""The language and the time zone in which a reader sees pages."""
