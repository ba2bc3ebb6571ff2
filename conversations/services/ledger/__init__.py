"""The ledger of completions and the money reserved for them: begin with `ledger`, then `reservations`."""
