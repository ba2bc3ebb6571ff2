"""What users do with messages: post, edit, pin, exclude, switch versions. Begin with `post_message`."""
