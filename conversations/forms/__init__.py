"""Forms of scenarios and the choice of their tools, for pages and the admin."""
