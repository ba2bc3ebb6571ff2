"""Pages of retention: the rules of roles and scenarios, and legal holds."""
