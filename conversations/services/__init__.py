"""Services: what the product does, by subject. Begin with `messages.post_message`, then `replies.make_reply`."""
