"""Who may make an account: the policy, and the links that open it."""
