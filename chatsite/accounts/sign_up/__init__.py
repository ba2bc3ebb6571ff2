"""Sign-up: the policy of who may make an account, invitations, and the first admin's link. Begin with `policy`."""
