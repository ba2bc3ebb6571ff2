"""Live updates of open pages: fan-out of frames, threads for the database, sessions of open sockets."""
