"""What files of others are sent with: should a browser show one all the same, it does nothing."""

# Nothing in it runs, nothing is loaded, and it is no part of this site.
INERT = "default-src 'none'; sandbox"
