"""Build windows from the database, and lock and change the active path."""
