"""The account page and what belongs to an account: changes, export, deletion, reauthentication, last admin."""
