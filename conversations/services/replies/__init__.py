"""Making replies: begin with `make_reply`. The run worker (`conversations.runs`) calls it; pages stop and approve."""
