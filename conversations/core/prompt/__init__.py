"""The messages of a prompt, in the form in which providers receive them."""
