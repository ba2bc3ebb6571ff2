"""Looking up grounding for a question and storing it with the question: begin with `look_up`."""
