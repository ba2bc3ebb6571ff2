"""Sign-in by password: known devices, and limits on wrong passwords. Begin with `sign_in_attempts`."""
