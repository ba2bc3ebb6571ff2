"""Services of pictures: they are added, described, sent with a message, and swept if they never are."""
