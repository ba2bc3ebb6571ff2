"""Outgoing requests to addresses that operators and admins name, guarded. Begin with `destinations`."""
