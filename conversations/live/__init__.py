"""What open pages need: fan-out of frames, threads for the database, sessions of open sockets."""
