"""The security log: a line and a row for each event. Begin with `security_log`."""
