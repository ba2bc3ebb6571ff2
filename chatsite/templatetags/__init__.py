"""Template filters of both apps: names in sentences."""
