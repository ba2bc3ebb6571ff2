"""Files into passages, in a child process that has nothing to lose."""
