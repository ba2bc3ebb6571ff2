"""The page of a user's own usage: begin with `usage`. `period_form` also serves the admin's first page."""
