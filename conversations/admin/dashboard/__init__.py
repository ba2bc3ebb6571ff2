"""The admin's first page: what the site used and what it cost in a period, by whom, and what may be looked at next."""
