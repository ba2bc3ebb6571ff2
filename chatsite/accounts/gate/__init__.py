"""The gate: the beta password that admits an account, seats and the waiting list. Begin with `admission`."""
