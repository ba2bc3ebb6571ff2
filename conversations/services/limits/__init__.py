"""What a user may send: begin with `message_checks`. The limits themselves are in `chatsite.accounts.limits`."""
