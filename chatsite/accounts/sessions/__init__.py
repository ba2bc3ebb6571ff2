"""Sessions: the store, which finds their users, and the list on the account page. Begin with `session_store`."""
