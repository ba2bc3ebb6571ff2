"""The index of messages that recall looks in: kept up to date a batch at a time. Begin with `index_messages`."""
