"""Settings by subject, and how they are read from the environment. Begin with `chatsite.settings` and with `env`."""
